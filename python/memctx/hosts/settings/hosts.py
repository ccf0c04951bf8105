"""The settings files of each host: where they are, and the entries of memctx in them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memctx import files
from memctx.errors import ConfigError
from memctx.hosts.settings.json_text import JsonText
from memctx.hosts.settings.toml_text import add_table, read_toml, remove_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Scope: TypeAlias = Literal["user", "project"]
HostName: TypeAlias = Literal["claude-code", "codex", "gemini", "cursor", "opencode"]
HOSTS: tuple[HostName, ...] = ("claude-code", "codex", "gemini", "cursor", "opencode")

SERVER = "memctx"
"""Name of the MCP server in the settings of hosts."""
OURS = re.compile(r"\bmemctx(?:\.exe)?[\"']?\s+hook\b")
MCP_ARGUMENTS = ["mcp", "--project", "."]
PLUGIN = Path(__file__).with_name("plugin.js")
PLUGIN_SIGN = "// memctx:"

# Seconds that a host waits for each of its hooks. None is asynchronous: Claude Code kills those that still run when
# `claude -p` ends, and takes 1.5 s over it.
CLAUDE_CODE = {
    "SessionStart": 15,
    "UserPromptSubmit": 10,
    "PreCompact": 60,
    "Stop": 60,
    "SubagentStop": 60,
    "SessionEnd": 10,
}
# Codex waits no longer than 3 seconds for the last one.
CODEX = {
    "SessionStart": 15,
    "UserPromptSubmit": 10,
    "PreCompact": 60,
    "Stop": 30,
    "SubagentStop": 30,
    "SessionEnd": 3,
}
GEMINI = {"BeforeAgent": 10, "AfterAgent": 30, "SessionEnd": 10}
CURSOR = {
    "sessionStart": 15,
    "beforeSubmitPrompt": 10,
    "afterAgentResponse": 10,
    "postToolUse": 10,
    "preCompact": 10,
    "stop": 30,
    "sessionEnd": 10,
}
HOOKS: dict[str, dict[str, int]] = {
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini": GEMINI,
    "cursor": CURSOR,
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where settings are looked for."""

    home: Path
    project: Path | None
    """The project folder; None for the settings of the user."""
    environ: Mapping[str, str]

    def folder(self, name: str, variable: str | None = None) -> Path:
        """Return the folder of a host: in the project, where a variable says, or in the home folder."""
        if self.project is not None:
            return self.project / name
        moved = self.environ.get(variable or "")
        return Path(moved).expanduser() if moved else self.home / name


@dataclass(frozen=True, slots=True)
class Target:
    """A settings file, and what installing and uninstalling make of its text."""

    path: Path
    add: Callable[[str], str]
    """Return a text with the entries of memctx, given one without them."""
    remove: Callable[[str], str]
    """Return a text without them; an empty one if nothing is left."""
    empty: str = ""
    """Text of a file that holds nothing."""


def targets(
    host: HostName, place: Place, *, with_mcp: bool = True, trust: bool = False
) -> list[Target]:
    """Return the settings files of a host; with ``trust``, Codex is told that the user trusts the hooks."""
    made = {
        "claude-code": _claude_code,
        "gemini": _gemini,
        "cursor": _cursor,
        "opencode": _opencode,
    }
    if host not in HOSTS:
        raise ConfigError(f"host is {host!r}; expected one of {', '.join(HOSTS)}")
    command = find_command(place)
    if host == "codex":
        return _codex(place, command, with_mcp=with_mcp, trust=trust)
    return made[host](place, command, with_mcp=with_mcp)


def has_mcp() -> bool:
    """Return whether the extra of the MCP server is installed."""
    return importlib.util.find_spec("mcp") is not None


def find_command(place: Place) -> list[str]:
    """Return the command line that runs memctx: of this installation, or from the path for files that are shared."""
    if place.project is not None and shutil.which("memctx") is not None:
        return ["memctx"]
    beside = Path(sys.executable).with_name("memctx.exe" if sys.platform == "win32" else "memctx")
    return [str(beside)] if beside.is_file() else [sys.executable, "-m", "memctx"]


def hook_command(command: list[str], host: str, event: str) -> str:
    """Return the command line of a hook, as a shell reads it."""
    return shlex.join([*command, "hook", event, "--host", host])


def is_ours(entry: object) -> bool:
    """Return whether an entry of a settings file runs `memctx hook`."""
    if isinstance(entry, dict):
        fields = cast("dict[str, Any]", entry)
        command, arguments = fields.get("command"), fields.get("args")
        if isinstance(command, str):
            words = [command]
            if isinstance(arguments, list):
                words += map(str, cast("list[object]", arguments))
            return OURS.search(" ".join(words)) is not None
        return any(map(is_ours, cast("list[object]", fields.get("hooks") or [])))
    return False


def _claude_code(place: Place, command: list[str], *, with_mcp: bool) -> list[Target]:
    def entry(event: str, seconds: int) -> dict[str, Any]:
        hook: dict[str, Any] = {
            "type": "command",
            # Without a shell, which every prompt would have to start.
            "command": command[0],
            "args": [*command[1:], "hook", event, "--host", "claude-code"],
            "timeout": seconds,
        }
        return {"hooks": [hook]}

    folder = place.folder(".claude", "CLAUDE_CONFIG_DIR")
    entries = {event: entry(event, seconds) for event, seconds in CLAUDE_CODE.items()}
    found = [_hooks_file(folder / "settings.json", entries)]
    server = {"type": "stdio", "command": command[0], "args": [*command[1:], *MCP_ARGUMENTS]}
    if place.project is not None:
        servers = place.project / ".mcp.json"
    elif place.environ.get("CLAUDE_CONFIG_DIR"):
        servers = folder / ".claude.json"
    else:
        servers = place.home / ".claude.json"
    return [*found, _member_file(servers, ("mcpServers", SERVER), server)] if with_mcp else found


def _codex(place: Place, command: list[str], *, with_mcp: bool, trust: bool) -> list[Target]:
    folder = place.folder(".codex", "CODEX_HOME")
    entries = {
        event: {
            "hooks": [
                {
                    "type": "command",
                    "command": hook_command(command, "codex", event),
                    "timeout": seconds,
                }
            ]
        }
        for event, seconds in CODEX.items()
    }
    hooks = _hooks_file(folder / "hooks.json", entries)
    path, table = folder / "config.toml", ("mcp_servers", SERVER)
    values = {"command": command[0], "args": [*command[1:], *MCP_ARGUMENTS]}

    def tables(text: str) -> dict[tuple[str, ...], dict[str, Any]]:
        found: dict[tuple[str, ...], dict[str, Any]] = {table: values} if with_mcp else {}
        return found | (_trust_tables(hooks.path, text) if trust else {})

    def add(text: str) -> str:
        for each, wanted in tables(hooks.add(_read(hooks.path))).items():
            # Another program may have written the table.
            if _table(text, str(path), each) != wanted:
                text = add_table(remove_table(text, str(path), each), str(path), each, wanted)
        return text

    def remove(text: str) -> str:
        known = {table, *_trust_tables(hooks.path, _read(hooks.path))}
        for each in known:
            text = remove_table(text, str(path), each)
        return text

    return [hooks, Target(path, add, remove)] if with_mcp or trust else [hooks]


def _trust_tables(path: Path, text: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the tables by which Codex knows that the user trusts the hooks of memctx in a file.

    Codex compares a hash of each hook: of its event, command and time limit, as compact JSON with sorted names.
    """
    document = JsonText(text, str(path)) if text.strip() else None
    events: dict[str, list[dict[str, Any]]] = {} if document is None else document.get(("hooks",))
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for event, entries in (events or {}).items():
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
        for number, entry in enumerate(entries):
            if is_ours(entry):
                hook = {"async": False, "timeout": 600, **entry["hooks"][0]}
                body = {"event_name": label, "hooks": [hook]}
                shown = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                digest = sha256(shown.encode()).hexdigest()
                key = f"{path}:{label}:{number}:0"
                found["hooks", "state", key] = {"trusted_hash": f"sha256:{digest}"}
    return found


def _table(text: str, name: str, path: tuple[str, ...]) -> object:
    found: object = read_toml(text, name)
    for each in path:
        found = cast("dict[str, object]", found).get(each) if isinstance(found, dict) else None
    return found


def _read(path: Path) -> str:
    try:
        return files.read(path).decode("utf-8", "replace")
    except OSError:
        return ""


def _gemini(place: Place, command: list[str], *, with_mcp: bool) -> list[Target]:
    entries = {
        event: {
            "hooks": [
                {
                    "type": "command",
                    "name": "memctx",
                    "command": hook_command(command, "gemini", event),
                    "timeout": seconds * 1000,
                }
            ]
        }
        for event, seconds in GEMINI.items()
    }
    server = {"command": command[0], "args": [*command[1:], *MCP_ARGUMENTS]}
    path = place.folder(".gemini") / "settings.json"
    hooks = _hooks_file(path, entries)
    if not with_mcp:
        return [hooks]
    servers = _member_file(path, ("mcpServers", SERVER), server)
    return [_both(hooks, servers)]


def _cursor(place: Place, command: list[str], *, with_mcp: bool) -> list[Target]:
    folder = place.folder(".cursor")
    entries = {
        event: {"command": hook_command(command, "cursor", event), "timeout": seconds}
        for event, seconds in CURSOR.items()
    }
    found = [_hooks_file(folder / "hooks.json", entries, base='{\n  "version": 1\n}\n')]
    server = {"command": command[0], "args": [*command[1:], *MCP_ARGUMENTS]}
    servers = _member_file(folder / "mcp.json", ("mcpServers", SERVER), server)
    return [*found, servers] if with_mcp else found


def _opencode(place: Place, command: list[str], *, with_mcp: bool) -> list[Target]:
    if place.project is not None:
        folder, settings = place.project / ".opencode", place.project
    else:
        base = place.environ.get("XDG_CONFIG_HOME")
        folder = (Path(base) if base else place.home / ".config") / "opencode"
        settings = folder
    written = PLUGIN.read_text(encoding="utf-8").replace("__COMMAND__", json.dumps(command))
    source = folder / "plugin" / "memctx.js"

    def add(text: str) -> str:
        if text.strip() and not text.startswith(PLUGIN_SIGN):
            raise ConfigError(f"{source}:1:1: it is not a plugin of memctx; nothing was changed")
        return written

    plugin = Target(source, add, lambda text: "" if text.startswith(PLUGIN_SIGN) else text)
    path = settings / "opencode.jsonc"
    path = path if path.exists() else settings / "opencode.json"
    server = {"type": "local", "command": [*command, *MCP_ARGUMENTS], "enabled": True}
    servers = _member_file(path, ("mcp", SERVER), server)
    return [plugin, servers] if with_mcp else [plugin]


def _hooks_file(path: Path, entries: dict[str, dict[str, Any]], base: str = "{}\n") -> Target:
    def add(text: str) -> str:
        document = JsonText(text if text.strip() else base, str(path))
        for event, entry in entries.items():
            known: list[object] = document.get(("hooks", event)) or []
            if [each for each in known if is_ours(each)] == [entry]:
                continue
            document.drop_items(("hooks", event), is_ours)
            document.append(("hooks", event), entry)
        return document.text

    def remove(text: str) -> str:
        document = JsonText(text, str(path))
        events: dict[str, object] = document.get(("hooks",)) or {}
        for event in events:
            known = document.get(("hooks", event))
            if not isinstance(known, list) or not any(map(is_ours, cast("list[object]", known))):
                continue
            document.drop_items(("hooks", event), is_ours)
            if document.get(("hooks", event)) == []:
                document.remove(("hooks", event))
        if document.text != text and document.get(("hooks",)) == {}:
            document.remove(("hooks",))
        return document.text

    return Target(path, add, remove, empty=base)


def _member_file(path: Path, member: tuple[str, ...], value: object) -> Target:
    def add(text: str) -> str:
        document = JsonText(text if text.strip() else "{}\n", str(path))
        document.set(member, value)
        return document.text

    def remove(text: str) -> str:
        document = JsonText(text, str(path))
        document.remove(member)
        if document.text != text and document.get(member[:-1]) == {}:
            document.remove(member[:-1])
        return document.text

    return Target(path, add, remove, empty="{}\n")


def _both(first: Target, second: Target) -> Target:
    return Target(
        first.path,
        lambda text: second.add(first.add(text)),
        lambda text: first.remove(second.remove(text)),
        empty=first.empty,
    )


def default_place(scope: Scope, project: Path | None = None) -> Place:
    """Return where the settings of this user, or of a project, by default the current folder, are."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - $HOME, also where there is no such user
    folder = (project or Path.cwd()).absolute() if scope == "project" else None
    return Place(home, folder, os.environ)
