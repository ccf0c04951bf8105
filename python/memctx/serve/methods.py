"""Methods of the resident helper that use a memory."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

from memctx import registry
from memctx.messages import FormatName

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from contextlib import AbstractContextManager

    from memctx.hosts import HostSession
    from memctx.memory import Memory

Params: TypeAlias = "Mapping[str, Any]"


class RequestError(Exception):
    """A request that cannot be answered as it is; the code tells programs why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def answer_hook(root: str, params: Params) -> dict[str, Any]:
    """Answer the call of a host's hook, as `memctx hook` does in its own process."""
    host, event = _text(params, "host"), _text(params, "event")
    from memctx.hosts import answer  # noqa: PLC0415 - plugins use other methods

    found = answer(host, event, _object(params, "payload"), root=Path(root))
    return {"stdout": found.stdout, "exit_code": found.exit_code}


def prepare(root: str, params: Params) -> dict[str, Any]:
    """Return the messages to send to the model, and a report."""
    messages = _messages(params)
    with _open(root, params) as memory:
        turn = memory.prepare(messages, format=_format(params))
        return {"messages": turn.messages, "report": turn.report.to_dict()}


def archive(root: str, params: Params) -> dict[str, Any]:
    """Store messages, and return the counts once they are durable."""
    messages = _messages(params)
    with _open(root, params) as memory:
        found = memory.archive(messages, format=_format(params))
        counts = {"added": found.added, "duplicates": found.duplicates, "skipped": found.skipped}
        return counts | {"reasons": dict(found.reasons)}


def call_tool(root: str, params: Params) -> dict[str, Any]:
    """Answer the call of a memory tool; an error of the tool is a result, for the model to read."""
    from memctx.tools import Tools  # noqa: PLC0415 - most helpers answer hooks alone

    name, arguments = _text(params, "name"), params.get("arguments")
    with _open_for_tools(root, params) as memory:
        found = Tools(memory).call(name, arguments)
        return {"data": found.data, "is_error": found.is_error}


METHODS: dict[str, Callable[[str, Params], dict[str, Any]]] = {
    "hook": answer_hook,
    "prepare": prepare,
    "archive": archive,
    "tool": call_tool,
}


class _Conversation:
    """A conversation of a host, of which one request is answered at a time."""

    __slots__ = ("lock", "window")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.window: int | None = None
        """The window that a request named last: a memory is open with one window at a time."""


_conversations: dict[str, _Conversation] = {}


@contextmanager
def _open(root: str, params: Params) -> Generator[Memory]:
    """Open the memory of a conversation; it stays open when the request is answered."""
    session_id = _session(params).session_id
    window = params.get("window")
    if window is not None and (type(window) is not int or window < 1):
        raise RequestError("invalid", "window is no number of tokens of at least 1")
    conversation = _conversations.setdefault(session_id, _Conversation())
    with conversation.lock:
        conversation.window = window or conversation.window
        window = conversation.window
        with registry.open(root, session_id=session_id, context_window=window) as memory:
            yield memory


def _open_for_tools(root: str, params: Params) -> AbstractContextManager[Memory]:
    """Open the memory of a conversation or, if the request and the settings allow that, of its project."""
    scope = params.get("scope", "conversation")
    if scope not in {"conversation", "project"}:
        raise RequestError("invalid", "scope is neither conversation nor project")
    if scope == "project":
        from memctx.hosts.hooks import ProjectMemory, load_config  # noqa: PLC0415 - most hosts ask for no tool

        session, config = _session(params), load_config(Path(root))
        if "cross_session" not in config.given():  # else each by itself, or all projects
            return ProjectMemory(config, session)
    return _open(root, params)


def _session(params: Params) -> HostSession:
    host, project, own = (_text(params, name) for name in ("host", "project", "conversation"))
    from memctx.hosts import HostSession  # noqa: PLC0415 - with the first request
    from memctx.hosts.hooks import find_project  # noqa: PLC0415 - as above

    return HostSession(host, find_project(project), own)


def _format(params: Params) -> FormatName | None:
    found: FormatName | None = params.get("format")
    if found is not None and found not in get_args(FormatName):
        raise RequestError("invalid", f"format is no one of {', '.join(get_args(FormatName))}")
    return found


def _text(params: Params, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise RequestError("invalid", f"{name} is missing or no text")
    return value


def _object(params: Params, name: str) -> dict[str, Any]:
    value = params.get(name)
    if not isinstance(value, dict):
        raise RequestError("invalid", f"{name} is missing or no object")
    return cast("dict[str, Any]", value)


def _messages(params: Params) -> list[Any]:
    value: list[Any] | None = params.get("messages")
    if not isinstance(value, list):
        raise RequestError("invalid", "messages is missing or no list")
    return value
