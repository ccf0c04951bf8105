"""Checks of an installation: every hook of memctx in the settings of a host is run once, in a scratch store."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx import files
from memctx.errors import MemctxError
from memctx.hosts.settings.hosts import HOOKS, find_command, is_ours, targets
from memctx.hosts.settings.json_text import JsonText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.hosts.settings.hosts import HostName, Place

SECONDS = 60.0
OPENCODE = ("chat.message", "session.idle")
MARKS = ("CURSOR_VERSION", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")


@dataclass(frozen=True, slots=True)
class HookCheck:
    """The result of one hook."""

    event: str
    is_ok: bool
    words: str


def check_hooks(host: HostName, place: Place) -> list[HookCheck]:
    """Run every hook of memctx in the settings of a host once, and return the results."""
    with tempfile.TemporaryDirectory(prefix="memctx-doctor-") as scratch:
        folder = Path(scratch)
        try:
            commands = list(_commands(host, place))
        except (MemctxError, OSError) as error:
            return [HookCheck("settings", is_ok=False, words=str(error))]
        found = {event for event, _ in commands}
        missing = [each for each in HOOKS.get(host, {}) if each not in found]
        return [
            *(HookCheck(each, is_ok=False, words="missing: install again") for each in missing),
            *(_run(event, command, folder) for event, command in commands),
        ]


def _commands(host: HostName, place: Place) -> Iterator[tuple[str, list[str] | str]]:
    """Yield each event with its command, as a list of words or for a shell."""
    path = targets(host, place, with_mcp=False)[0].path
    if host == "opencode":
        for event in OPENCODE:
            yield event, [*find_command(place), "hook", event, "--host", host]
        return
    document = JsonText(files.read(path).decode("utf-8"), str(path))
    events: dict[str, list[dict[str, Any]]] = document.get(("hooks",)) or {}
    for event, entries in events.items():
        for entry in filter(is_ours, entries):
            hooks: list[dict[str, Any]] = entry.get("hooks", [entry])
            for hook in hooks:
                if is_ours(hook):
                    arguments: list[str] | None = hook.get("args")
                    command = str(hook["command"])
                    yield event, command if arguments is None else [command, *arguments]


def _run(event: str, command: list[str] | str, folder: Path) -> HookCheck:
    store = folder / "store"
    payload = {
        "session_id": "doctor",
        "conversation_id": "doctor",
        "sessionID": "doctor",
        "cwd": str(folder),
        "workspace_roots": [str(folder)],
        "directory": str(folder),
        "hook_event_name": event,
        "source": "startup",
        "prompt": "Which port has the webhook?",
        "text": "The webhook listens on port 8443.",
        "messages": [],
    }
    environ = {name: value for name, value in os.environ.items() if name not in MARKS}
    environ |= {"MEMCTX_STORAGE_PATH": str(store), "MEMCTX_SERVE": "off"}
    try:
        done = subprocess.run(  # noqa: S603 - the command of the settings, which the host runs too
            command,
            shell=isinstance(command, str),  # as the host runs it
            input=json.dumps(payload).encode(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            cwd=folder,
            env=environ,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return HookCheck(event, is_ok=False, words=str(error))
    fault = _fault(done, store / "hosts" / "hooks.log")
    return HookCheck(event, is_ok=fault is None, words=fault or "works")


def _fault(done: subprocess.CompletedProcess[bytes], log: Path) -> str | None:
    """Return what is wrong with a run; None if nothing is."""
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"exit code {done.returncode}: {words[-1] if words else 'no message'}"
    if done.stdout.strip():
        try:
            answer: object = json.loads(done.stdout)
        except ValueError:
            return "its answer is no JSON"
        if not isinstance(answer, dict):
            return "its answer is no JSON object"
    if log.exists():
        return log.read_text("utf-8", "replace").splitlines()[0]
    return None
