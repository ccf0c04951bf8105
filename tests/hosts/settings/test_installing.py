"""Installation round trips: install, install again, uninstall leaves every settings file as it was, to the byte."""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memctx.errors import ConfigError
from memctx.hosts.settings import (
    HOSTS,
    HostName,
    Place,
    install,
    is_installed,
    is_ours,
    plan_install,
    plan_uninstall,
    targets,
    uninstall,
)
from memctx.hosts.settings.checking import check_hooks
from memctx.hosts.settings.installing import backup_of
from memctx.hosts.settings.json_text import JsonText

JSON_FILES = {
    "empty": "{}",
    "empty with lines": "{\n}\n",
    "one line": '{"theme":"dark","list":[1,2]}',
    "no line end": '{\n  "theme": "dark"\n}',
    "four spaces": '{\n    "theme": "dark",\n    "permissions": {\n        "allow": []\n    }\n}\n',
    "tabs": '{\n\t"theme": "dark"\n}\n',
    "CRLF": '{\r\n  "theme": "dark",\r\n  "hooks": {}\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "theme": "dark"\n}\n',
    "comments": '// mine\n{\n  // look\n  "theme": "dark", // dark\n  /* more */\n  "a": [1, 2,], // list\n}\n// end\n',
    "comment at the end": '{\n  "theme": "dark" // dark\n  // nothing more\n}\n',
    "only a comment": "{\n  // nothing yet\n}\n",
    "hooks of others": """{
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}
    ],
    "stop": [{"command": "say done"}],
    "AfterAgent": []
  },
  "mcpServers": {"other": {"command": "other"}}
}
""",
    "other projects named memctx": '{\n  "projects": {\n    "/src/memctx": {"seen": 3}\n  }\n}\n',
    "unicode": '{\n  "name": "支付 – ü",\n  "escaped": "\\u00fc\\ud83d\\ude00"\n}\n',
}
TOML_FILES = {
    "empty": "",
    "comments": '# mine\nmodel = "m1" # one\n\n[model_providers.fake]\nname = "fake"\n# end\n',
    "no line end": 'model = "m1"',
    "CRLF": 'model = "m1"\r\n\r\n[tui]\r\ntheme = "dark"\r\n',
    "other servers": '[mcp_servers.other]\ncommand = "other"\nargs = []\n\n\n',
}


def place_of(tmp_path: Path, *, is_project: bool = False) -> Place:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    return Place(home, project if is_project else None, {})


def snapshot(place: Place) -> dict[str, bytes]:
    base = place.project or place.home
    return {
        str(path.relative_to(base)): path.read_bytes()
        for path in sorted(base.rglob("*"))
        if path.is_file()
    }


def write_files(host: HostName, place: Place, *, json_text: str, toml_text: str) -> None:
    for target in targets(host, place):
        if target.path.suffix == ".js":
            continue
        target.path.parent.mkdir(parents=True, exist_ok=True)
        text = toml_text if target.path.suffix == ".toml" else json_text
        target.path.write_bytes(text.encode())


def check_round_trip(host: HostName, place: Place) -> None:
    before = snapshot(place)
    assert not is_installed(host, place)
    install(plan_install(host, place))
    installed = snapshot(place)
    assert is_installed(host, place)
    assert plan_install(host, place) == []
    install(plan_install(host, place))
    assert snapshot(place) == installed
    uninstall(plan_uninstall(host, place))
    assert snapshot(place) == before
    assert plan_uninstall(host, place) == []


@pytest.mark.parametrize("is_project", [False, True], ids=["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
def test_missing_files_are_missing_again(host: HostName, tmp_path: Path, is_project: bool) -> None:  # noqa: FBT001
    check_round_trip(host, place_of(tmp_path, is_project=is_project))


@pytest.mark.parametrize("text", JSON_FILES.values(), ids=JSON_FILES)
@pytest.mark.parametrize("host", HOSTS)
def test_json_files_are_as_before_to_the_byte(host: HostName, tmp_path: Path, text: str) -> None:
    place = place_of(tmp_path)
    write_files(host, place, json_text=text, toml_text="")
    check_round_trip(host, place)


@pytest.mark.parametrize("text", TOML_FILES.values(), ids=TOML_FILES)
def test_toml_files_are_as_before_to_the_byte(tmp_path: Path, text: str) -> None:
    place = place_of(tmp_path)
    write_files("codex", place, json_text="{}", toml_text=text)
    check_round_trip("codex", place)


@pytest.mark.parametrize("name", JSON_FILES)
def test_everything_else_in_a_file_stays(tmp_path: Path, name: str) -> None:
    """Every line of the file is still there, comments included, and every value is the same."""
    place, text = place_of(tmp_path), JSON_FILES[name]
    write_files("claude-code", place, json_text=text, toml_text="")
    install(plan_install("claude-code", place))
    path = targets("claude-code", place)[0].path
    after = path.read_bytes().decode()
    for line in text.splitlines():
        if "//" in line or "/*" in line:
            assert line.partition("//")[2].strip() in after
    old, new = JsonText(text, "old").root.to_value(), JsonText(after, "new").root.to_value()
    for key, value in old.items():
        if key == "hooks":
            for event, entries in value.items():
                assert [each for each in new["hooks"][event] if not is_ours(each)] == entries
        else:
            assert new[key] == value
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")


@pytest.mark.parametrize("host", HOSTS)
def test_a_file_that_changed_meanwhile_loses_only_the_entries_of_memctx(
    host: HostName, tmp_path: Path
) -> None:
    place = place_of(tmp_path)
    text = JSON_FILES["comments"] if host in {"gemini", "opencode"} else JSON_FILES["four spaces"]
    write_files(host, place, json_text=text, toml_text=TOML_FILES["comments"])
    install(plan_install(host, place))
    changed = [each.path for each in targets(host, place) if each.path.suffix != ".js"]
    for path in changed:
        content = path.read_text("utf-8")
        if path.suffix == ".toml":
            path.write_text(content + "\n[later]\nnumber = 7\n", "utf-8")
        else:
            document = JsonText(content, str(path))
            document.set(("later",), 7)
            path.write_text(document.text, "utf-8")
    uninstall(plan_uninstall(host, place))
    for path in changed:
        left = path.read_text("utf-8")
        assert "memctx" not in left
        if path.suffix == ".toml":
            assert tomllib.loads(left) == {
                **tomllib.loads(TOML_FILES["comments"]),
                "later": {"number": 7},
            }
        else:
            value = JsonText(left, str(path)).root.to_value()
            expected = {**JsonText(text, "old").root.to_value(), "later": 7}
            assert {name: each for name, each in value.items() if name != "version"} == expected


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ('{\n  "a": }\n', "2:8"),
        ('{"a": 1} x', "1:10"),
        ("[1]", "1:1"),
        ("", None),
        ('{"a": 1, "a": 2}', "1:10"),
        ('{"hooks": []}', "1:11"),
        ('{"hooks": {"SessionStart": {}}}', "1:28"),
        ("{'a': 1}", "1:2"),
        ("\x00", "1:1"),
    ],
)
def test_files_that_are_not_understood_are_refused_with_their_position(
    tmp_path: Path, text: str, position: str | None
) -> None:
    place = place_of(tmp_path)
    path = targets("claude-code", place)[0].path
    path.parent.mkdir(parents=True)
    path.write_text(text)
    if position is None:  # an empty file is as good as none
        check_round_trip("claude-code", place)
        return
    with pytest.raises(ConfigError) as error:
        plan_install("claude-code", place)
    assert f"{path}:{position}: " in str(error.value)
    assert path.read_text() == text


def test_toml_that_is_not_understood_is_refused(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    write_files("codex", place, json_text="{}", toml_text="model = \n")
    with pytest.raises(ConfigError, match=r"config\.toml: .*line 1"):
        plan_install("codex", place)
    write_files(
        "codex", place, json_text="{}", toml_text="mcp_servers = {other = {command = 'x'}}\n"
    )
    with pytest.raises(ConfigError, match=r"config\.toml"):
        plan_install("codex", place)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    path = targets("gemini", place)[0].path
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(ConfigError, match="byte 7: expected UTF-8"):
        plan_install("gemini", place)


def test_a_plugin_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    path = targets("opencode", place)[0].path
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = 1;\n")
    with pytest.raises(ConfigError, match="it is not a plugin of memctx"):
        plan_install("opencode", place)


def test_entries_of_an_older_version_are_replaced(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    path = targets("claude-code", place)[0].path
    path.parent.mkdir(parents=True)
    old = {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/memctx hook Stop"}]}]}
    }
    path.write_text(json.dumps(old, indent=2))
    install(plan_install("claude-code", place))
    stops = json.loads(path.read_text())["hooks"]["Stop"]
    assert len(stops) == 1
    assert "/old/memctx" not in str(stops)
    assert not backup_of(path).exists()


def test_a_link_stays_a_link_and_a_mode_stays(tmp_path: Path) -> None:
    place = place_of(tmp_path)
    path = targets("claude-code", place)[0].path
    path.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.json"
    real.write_text('{"theme": "dark"}')
    real.chmod(0o600)
    path.symlink_to(real)
    install(plan_install("claude-code", place))
    assert path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    uninstall(plan_uninstall("claude-code", place))
    assert path.is_symlink()
    assert real.read_text() == '{"theme": "dark"}'


def test_the_folders_that_variables_name_are_used(tmp_path: Path) -> None:
    environ = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "c"),
        "CODEX_HOME": str(tmp_path / "x"),
        "XDG_CONFIG_HOME": str(tmp_path / "g"),
    }
    place = Place(tmp_path / "home", None, environ)
    found: dict[str, list[str]] = {
        host: [str(each.path.relative_to(tmp_path)) for each in targets(host, place)]
        for host in HOSTS
    }
    assert found == {
        "claude-code": ["c/settings.json", "c/.claude.json"],
        "codex": ["x/hooks.json", "x/config.toml"],
        "gemini": ["home/.gemini/settings.json"],
        "cursor": ["home/.cursor/hooks.json", "home/.cursor/mcp.json"],
        "opencode": ["g/opencode/plugin/memctx.js", "g/opencode/opencode.json"],
    }


@pytest.mark.parametrize("text", TOML_FILES.values(), ids=TOML_FILES)
def test_trusted_hooks_of_codex_are_as_before_to_the_byte(tmp_path: Path, text: str) -> None:
    place = place_of(tmp_path)
    write_files("codex", place, json_text=JSON_FILES["hooks of others"], toml_text=text)
    before = snapshot(place)
    install(plan_install("codex", place, trust=True))
    assert plan_install("codex", place, trust=True) == []
    hooks, config = (each.path for each in targets("codex", place))
    state = tomllib.loads(config.read_text())["hooks"]["state"]
    # The hook of another program stands before.
    assert f"{hooks}:stop:1:0" in state
    assert f"{hooks}:user_prompt_submit:0:0" in state
    assert all(each["trusted_hash"].startswith("sha256:") for each in state.values())
    config.write_text(config.read_text() + "\n[later]\nnumber = 7\n")
    changed = tomllib.loads(config.read_text())
    uninstall(plan_uninstall("codex", place))
    left = tomllib.loads(config.read_text())
    assert left["later"] == changed["later"]
    assert "hooks" not in left
    config.write_bytes(text.encode())
    install(plan_install("codex", place, trust=True))
    uninstall(plan_uninstall("codex", place))
    assert snapshot(place) == before


def test_the_hash_of_a_trusted_hook_is_that_of_codex(tmp_path: Path) -> None:
    """Compact JSON with sorted names, as compared with Codex 0.166."""
    place = place_of(tmp_path)
    install(plan_install("codex", place, trust=True))
    hooks, config = (each.path for each in targets("codex", place))
    command = json.loads(hooks.read_text())["hooks"]["PreCompact"][0]["hooks"][0]["command"]
    body = (
        f'{{"event_name":"pre_compact","hooks":[{{"async":false,"command":{json.dumps(command)},'
        '"timeout":60,"type":"command"}]}'
    )
    found = tomllib.loads(config.read_text())["hooks"]["state"][f"{hooks}:pre_compact:0:0"]
    assert found == {"trusted_hash": f"sha256:{sha256(body.encode()).hexdigest()}"}


def test_codex_accepts_the_hooks_file() -> None:
    """Its schema knows no other keys (`deny_unknown_fields`)."""
    place = Place(Path("/nowhere"), None, {})
    document: dict[str, Any] = json.loads(targets("codex", place)[0].add(""))
    assert list(document) == ["hooks"]
    for entries in document["hooks"].values():
        [entry] = entries
        assert set(entry) == {"hooks"}
        assert set(entry["hooks"][0]) == {"type", "command", "timeout"}
    assert document["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] <= 3


def test_claude_code_waits_for_every_hook() -> None:
    """One that runs in the background is killed when `claude -p` ends."""
    place = Place(Path("/nowhere"), None, {})
    document: dict[str, Any] = json.loads(targets("claude-code", place)[0].add(""))
    for [entry] in document["hooks"].values():
        assert set(entry["hooks"][0]) == {"type", "command", "args", "timeout"}


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("host", ["claude-code", "cursor"])
@pytest.mark.slow
def test_the_check_runs_each_hook_and_names_the_broken_one(host: HostName, tmp_path: Path) -> None:
    place = place_of(tmp_path)
    install(plan_install(host, place))
    assert {each.words for each in check_hooks(host, place)} == {"works"}
    path = targets(host, place)[0].path
    document = JsonText(path.read_text("utf-8"), str(path))
    event = "SessionStart" if host == "claude-code" else "sessionStart"
    document.remove(("hooks", event))
    path.write_text(document.text.replace('"Stop"', '"/nowhere/memctx hook"', 1), "utf-8")
    found = check_hooks(host, place)
    assert (found[0].event, found[0].is_ok) == (event, False)
