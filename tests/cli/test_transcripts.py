"""Import, export and replay, as a person types them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from memctx.cli import main
from memctx.cli.verbs.shell import ShellRequest
from memctx.cli.verbs.transcripts import export_store
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


SAID = [
    {"role": "user", "content": "The payment webhook listens on port 8443."},
    {"role": "assistant", "content": "Noted; the dashboard is next."},
    {"role": "user", "content": "Which port was it?"},
    {"role": "assistant", "content": "It was 8443."},
]


def transcript(folder: Path) -> Path:
    path = folder / "talk.jsonl"
    path.write_text("".join(f"{json.dumps(message)}\n" for message in SAID))
    return path


def run(*arguments: object) -> dict[str, object]:
    result = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.output)
    return found


def test_imported_messages_are_searchable_and_exportable(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    source = transcript(tmp_path)
    first = run("import", source, "--store", store)
    assert (first["messages"], first["added"], first["failed"]) == (4, 4, [])
    again = run("import", source, "--store", store)
    assert (again["added"], again["unchanged"]) == (0, 1)
    assert "8443" in json.dumps(run("search", "payment webhook port", "--store", store))
    assert run("export", tmp_path / "all.jsonl", "--store", store)["messages"] == 4
    copy = run("import", tmp_path / "all.jsonl", "--store", tmp_path / "copy")
    assert copy["added"] == 4
    run("export", tmp_path / "all.md", "--markdown", "--store", store)
    assert "The payment webhook listens on port 8443." in (tmp_path / "all.md").read_text()


def test_a_search_says_how_many_passages_have_no_vectors_yet(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    run("import", transcript(tmp_path), "--store", store)
    command = ["search", "webhook", "--store", str(store)]
    assert (
        "4 passages without vectors: run `memctx reembed`"
        in CliRunner().invoke(main, command).output
    )
    assert CliRunner().invoke(main, ["reembed", "--store", str(store)]).exit_code == 0
    found = CliRunner().invoke(main, command).output
    assert "8443" in found
    assert "without vectors" not in found


def test_an_export_replaces_no_file_unless_forced(tmp_path: Path) -> None:
    store, target = tmp_path / "memory", tmp_path / "all.jsonl"
    run("import", transcript(tmp_path), "--store", store)
    target.write_text("mine")
    for more in ((), ("--markdown",)):
        command = ["export", str(target), *more, "--store", str(store)]
        refused = CliRunner().invoke(main, command)
        assert (refused.exit_code, refused.stdout, target.read_text()) == (2, "", "mine")
        assert str(target) in refused.stderr
        assert "--force" in refused.stderr
        assert CliRunner().invoke(main, [*command, "--force"]).exit_code == 0
        assert "8443" in target.read_text("utf-8")
        target.write_text("mine")
    folder = CliRunner().invoke(main, ["export", str(tmp_path), "--force", "--store", str(store)])
    assert folder.exit_code == 2


class Terminal(io.StringIO):
    """A stdin at which a person sits."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("reply", ["y", "n"])
def test_a_person_at_a_terminal_is_asked_before_a_file_is_replaced(
    tmp_path: Path, reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, target = tmp_path / "memory", tmp_path / "all.jsonl"
    run("import", transcript(tmp_path), "--store", store)
    target.write_text("mine")
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        return reply

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    if reply == "y":
        assert export_store(ShellRequest(store), target=target).is_ok
        assert "8443" in target.read_text("utf-8")
    else:
        with pytest.raises(ConfigError, match="--force"):
            export_store(ShellRequest(store), target=target)
        assert target.read_text() == "mine"
    assert [str(target) in words for words in asked] == [True]


@pytest.mark.parametrize("config", [None, "mine.toml"])
def test_replays_with_two_settings_stand_side_by_side(tmp_path: Path, config: str | None) -> None:
    tail, page = tmp_path / "tail.toml", tmp_path / "page.html"
    tail.write_text('placement = "tail"')
    (tmp_path / "mine.toml").write_text("working_budget = 5000")
    given = [] if config is None else ["--config", str(tmp_path / config)]
    command = ["replay", str(transcript(tmp_path)), "--beside", str(tail), "--html", str(page)]
    assert CliRunner().invoke(main, [*command, *given]).exit_code == 0
    text = page.read_text("utf-8")
    for name in (config or "defaults", "tail.toml"):
        assert f'<th scope="col">{name}</th>' in text
    assert "placement = &quot;tail&quot;" in text
    assert ("working_budget = 5000" in text) is (config is not None)


def test_import_reports_skips_by_reason(tmp_path: Path) -> None:
    said = [{"role": "system", "content": "Be brief."}, *SAID, {"role": "user", "content": "ok"}]
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(f"{json.dumps(message)}\n" for message in said))
    found = run("import", path, "--store", tmp_path / "memory")
    reasons = found["skips"]
    assert isinstance(reasons, dict)
    assert found["skipped"] == sum(reasons.values()) > 0
    shown = CliRunner().invoke(main, ["import", str(path), "--store", str(tmp_path / "other")])
    for reason, count in reasons.items():
        assert f"  {reason}" in shown.stdout
        assert str(count) in shown.stdout


def test_import_of_a_picture_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "picture.png"
    source.write_bytes(b"\x89PNG\r\n\x1a\n")
    result = CliRunner().invoke(main, ["import", str(source), "--store", str(tmp_path / "memory")])
    assert result.exit_code != 0
    assert "picture.png" in result.output


def test_replay_prints_a_table_and_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "talk.html"
    found = run("replay", transcript(tmp_path), "--window", 8_000, "--html", page)
    assert len(found["turns"]) == 2  # type: ignore[arg-type]
    assert page.read_text("utf-8").lower().startswith("<!doctype html>")
    plain = CliRunner().invoke(main, ["replay", str(transcript(tmp_path)), "--window", "8000"])
    assert plain.exit_code == 0
    assert "2 turns" in plain.output


def test_search_for_nonsense_finds_nothing_above_the_minimum_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_EMBEDDING_MODEL", "hash")
    store = tmp_path / "memory"
    run("import", transcript(tmp_path), "--store", store)
    nothing = CliRunner().invoke(main, ["search", "zzzqqq", "--store", str(store)])
    assert nothing.exit_code == 1
    everything = ["search", "zzzqqq", "--min-score", "0", "--store", str(store)]
    assert CliRunner().invoke(main, everything).exit_code == 0


def test_min_score_filters_on_the_shown_score(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    run("import", transcript(tmp_path), "--store", store)
    # So that no vector comes between two searches.
    CliRunner().invoke(main, ["reembed", "--store", str(store)])
    every = run("search", "webhook port", "--min-score", "0", "--store", store)["hits"]
    assert isinstance(every, list)
    matches = sorted(hit["score"] for hit in every)
    for least in (matches[0], matches[-1]):
        command = ["search", "webhook port", "--min-score", str(least), "--store", str(store)]
        shown = CliRunner().invoke(main, command).stdout.splitlines()
        assert shown[0].split() == ["id", "when", "role", "score", "text"]
        column = slice(shown[0].index("score"), shown[0].index("score") + 5)
        found = [float(line[column]) for line in shown[1:]]
        assert len(found) == sum(match >= least for match in matches)
        assert all(match >= round(least, 2) for match in found)
