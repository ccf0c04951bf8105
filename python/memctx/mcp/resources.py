"""Resources of the MCP server: recent sessions, facts and workspace notes."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

import mcp_types as types

from memctx.errors import StoreError
from memctx.tools import Tools

if TYPE_CHECKING:
    from memctx._core import Segment
    from memctx.hosts.openclaw import Workspace
    from memctx.memory import Memory
    from memctx.tools import SessionsResult

SCHEME = "memctx://"
MAX_SESSIONS = 100
MAX_FACTS = 500
MAX_CHARS = 40_000
"""Most characters of a transcript, and of all facts: the newest."""
JSON, MARKDOWN = "application/json", "text/markdown"

TEMPLATES = [
    types.ResourceTemplate(
        name="session",
        title="Session",
        uri_template="memctx://sessions/{id}",
        description="The newest messages of a session",
        mime_type=MARKDOWN,
    ),
    types.ResourceTemplate(
        name="note",
        title="Note",
        uri_template="memctx://notes/{name}",
        description="A file of the workspace",
        mime_type=MARKDOWN,
    ),
]


def list_resources(memory: Memory) -> list[types.Resource]:
    """Return the overviews, then the recent sessions and the notes."""
    found = [
        _resource("sessions", "Sessions", "Sessions in memory, newest first", JSON),
        _resource("facts", "Facts", "Facts that hold, newest first", JSON),
        _resource("notes", "Notes", "Files of the workspace", JSON),
    ]
    for session in _recent_sessions(memory)["sessions"]:
        path = f"sessions/{quote(session['id'], safe='')}"
        extent = f"{session['messages']} messages, the last at {session['last_time']}"
        found.append(_resource(path, session["first_words"] or session["id"], extent, MARKDOWN))
    notes = ((f"notes/{quote(name, safe='')}", name) for name in _note_names(memory))
    found += [_resource(path, name, "Workspace file", MARKDOWN) for path, name in notes]
    return found


def read_resource(memory: Memory, uri: str) -> types.TextResourceContents | None:
    """Return the text at an address; None if there is none, or if this memory may not read it."""
    kind, _, rest = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME):
        return None
    name = unquote(rest)
    if not name:
        overview = _overview(memory, kind)
        return (
            None if overview is None else _text(uri, JSON, json.dumps(overview, ensure_ascii=False))
        )
    if kind == "sessions":
        text = _transcript(memory, name)
    elif kind == "notes":
        text = _note(memory, name)
    else:
        text = None
    return None if text is None else _text(uri, MARKDOWN, text)


def _overview(memory: Memory, kind: str) -> object:
    if kind == "sessions":
        return _recent_sessions(memory)
    if kind == "notes":
        return {"notes": _note_names(memory)}
    if kind != "facts":
        return None
    return {"facts": newest_facts(memory, MAX_CHARS), "total": len(memory.facts)}


def newest_facts(memory: Memory, max_chars: int) -> list[dict[str, str]]:
    """Return the newest facts whose texts have no more than some characters together."""
    found: list[dict[str, str]] = []
    for fact in memory.facts.list(limit=MAX_FACTS):
        max_chars -= len(fact.content)
        if max_chars < 0:
            break
        found.append({"id": fact.id, "type": fact.type, "text": fact.content})
    return found


def _recent_sessions(memory: Memory) -> SessionsResult:
    result = Tools(memory).call("memory_sessions", {"limit": MAX_SESSIONS})
    if result.is_error:
        raise StoreError(result.data["error"]["message"])
    return cast("SessionsResult", result.data)


def _transcript(memory: Memory, session: str) -> str | None:
    """Return the newest messages of a session; None if this memory cannot read it."""
    if session not in memory.store.sessions():
        return None
    newest: deque[Segment] = deque()
    chars = 0
    for segment in memory.store.segments():
        if segment.session_id != session:
            continue
        newest.append(segment)
        chars += len(segment.content)
        while chars > MAX_CHARS and len(newest) > 1:
            chars -= len(newest.popleft().content)
    parts = [f"## {each.role} #{each.id[:8]}\n\n{each.content[:MAX_CHARS]}\n" for each in newest]
    return "\n".join(parts)


def _workspace(memory: Memory) -> Workspace | None:
    from memctx.hosts.openclaw import Workspace  # noqa: PLC0415 - the server is ready before

    return Workspace.of(memory.config)


def _note_names(memory: Memory) -> list[str]:
    workspace = _workspace(memory)
    return [] if workspace is None else workspace.names()


def _note(memory: Memory, name: str) -> str | None:
    workspace = _workspace(memory)
    # Only files that are listed: a name is not a path into the file system.
    if workspace is None or name not in workspace.names():
        return None
    try:
        return workspace.read(name)
    except StoreError:
        return None


def _resource(path: str, title: str, description: str, mime_type: str) -> types.Resource:
    return types.Resource(
        name=path, title=title, uri=f"{SCHEME}{path}", description=description, mime_type=mime_type
    )


def _text(uri: str, mime_type: str, text: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
