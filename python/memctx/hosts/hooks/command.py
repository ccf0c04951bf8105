"""The command `memctx hook`: reads a payload from stdin, prints the answer, and exits with 0 whatever happens.

It asks the resident helper first, and imports the memory only if there is none.
"""

from __future__ import annotations

import gc
import json
import os
import sys

from memctx.serve import client

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ASK_SECONDS = 5.0
"""Most seconds to wait for the resident helper."""
PROJECT_VARIABLES = {
    "claude-code": "CLAUDE_PROJECT_DIR",
    "cursor": "CURSOR_PROJECT_DIR",
    "gemini": "GEMINI_PROJECT_DIR",
}
"""The variable in which a host names the project folder. One host may run inside another."""


class Arguments:
    """Arguments of the command."""

    __slots__ = ("event", "host", "store")

    def __init__(self, event: str = "", host: str | None = None, store: str | None = None) -> None:
        self.event = event
        self.host = host
        self.store = store


def run_command(arguments: Sequence[str]) -> None:
    """Answer the payload on stdin. Nothing is raised, and the exit code is 0: others would stop the host."""
    gc.disable()  # the process ends before there is garbage worth collecting
    parsed = Arguments()
    try:
        parsed = parse(arguments)
        payload = read_payload(sys.stdin.buffer.read())
        written, is_helped = answer_payload(parsed, payload, os.environ)
        if written:
            sys.stdout.buffer.write(written.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
        if not is_helped:
            client.start(parsed.store)
    except Exception as error:  # noqa: BLE001 - a fault of memory must not become one of the host
        _log(parsed, error)


def read_payload(data: bytes) -> dict[str, Any]:
    """Return the payload of an event; raise a `ValueError` if it is no JSON object."""
    payload: dict[str, Any] = json.loads(data or b"{}")
    if type(payload) is not dict:
        raise ValueError("expected a JSON object on stdin")
    return payload


def parse(arguments: Sequence[str]) -> Arguments:
    """Return the arguments ``[--host H] [--store DIR] EVENT``, in any order.

    >>> found = parse(["Stop", "--host", "codex"])
    >>> found.event, found.host, found.store
    ('Stop', 'codex', None)
    """
    given: dict[str, str] = {}
    rest = iter(arguments)
    for each in rest:
        name, is_joined, value = each.partition("=")
        if name in {"--host", "--store"}:
            given[name[2:]] = value if is_joined else next(rest, "")
        elif each.startswith("-") or "event" in given:
            raise ValueError(f"unexpected argument {each!r}")
        else:
            given["event"] = each
    return Arguments(given.get("event", ""), given.get("host"), given.get("store"))


def answer_payload(
    arguments: Arguments, payload: dict[str, Any], environ: Mapping[str, str]
) -> tuple[str, bool]:
    """Return what the host reads, and whether the resident helper has answered instead of this process."""
    host = arguments.host
    if host is None or environ.get("CURSOR_VERSION"):
        from memctx.hosts.hooks.events import detect_host  # noqa: PLC0415 - not needed with a host's name

        host = detect_host(arguments.host, payload, environ)
    event = arguments.event or str(payload.get("hook_event_name") or "")
    if host is None:
        raise ValueError("nothing tells which host this is; expected --host")
    folder = environ.get(PROJECT_VARIABLES.get(host, ""))
    if folder:
        payload.setdefault("project_dir", folder)
    asked = {"host": host, "event": event, "payload": payload}
    found = client.ask("hook", asked, ASK_SECONDS, root=arguments.store)
    if found is not None:
        return str(found["stdout"]), True
    from pathlib import Path  # noqa: PLC0415 - as above

    from memctx.hosts.hooks.answering import answer  # noqa: PLC0415 - imports the memory

    root = None if arguments.store is None else Path(arguments.store).expanduser()
    return answer(host, event, payload, root=root).stdout, False


def _log(arguments: Arguments, error: Exception) -> None:
    from pathlib import Path  # noqa: PLC0415 - only errors need them

    from memctx.hosts.hooks.log import log_error  # noqa: PLC0415 - as above
    from memctx.hosts.hooks.opening import default_root  # noqa: PLC0415 - as above

    root = default_root() if arguments.store is None else Path(arguments.store).expanduser()
    log_error(root, f"hook {arguments.event}", error)
