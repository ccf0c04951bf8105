"""OpenAI: memory for the official client, synchronous or not: chat completions and responses.

from memctx.integrations.openai import remember

client = remember(OpenAI(), "./memory", session_id="alice", context_window=200_000)
"""

from __future__ import annotations

import inspect
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from memctx.bridge import (
    Prepared,
    Sessions,
    answer_of,
    require,
    session,
    usage_of,
    watch_stream,
)
from memctx.errors import MessageFormatError

require("openai", "3.0", extra="openai")

import anyio.to_thread  # noqa: E402 - after the check
from openai import AsyncOpenAI, AsyncStream, OpenAI, Stream  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from memctx.bridge import Options
    from memctx.memory import Memory
    from memctx.messages import FormatName

__all__ = ["remember", "session"]

Client = TypeVar("Client", bound=OpenAI | AsyncOpenAI)

FIELDS: dict[str, tuple[str, FormatName]] = {
    "/chat/completions": ("messages", "openai"),
    "/responses": ("input", "responses"),
}
"""Paths of requests that memory prepares, with the field and the format of their messages."""

KEPT = "the server keeps the conversation; expected a request with all messages"
REASONS = {
    "/responses/compact": "the server compacts the conversation",
    "/responses/input_tokens": "tokens are counted of the messages as they are",
    "/conversations": KEPT,
    "/threads": KEPT,
}
"""Paths of requests of a conversation that are sent as they are, and the reasons."""


def remember(
    client: Client,
    memory: Memory | str | PathLike[str] | None = None,
    *,
    session_id: str | None = None,
    **options: Unpack[Options],
) -> Client:
    """Return a copy of a client whose calls are prepared: of ``chat.completions`` and ``responses``, streamed or not.

    The session is that of the `session` block around the call, or else ``session_id``. A call of which the server keeps
    the conversation (``previous_response_id``, ``conversation``, references to items, threads) is sent as it is. The
    copy shares the connections of the client, which stays without memory.

    >>> client = remember(OpenAI(), "./memory", session_id="alice")  # doctest: +SKIP

    Raises:
        ConfigError: a setting is unknown or out of range.
        TypeError: ``client`` is none of OpenAI's.
    """
    if not isinstance(client, OpenAI | AsyncOpenAI):
        raise TypeError(f"client is {type(client).__name__}; expected OpenAI or AsyncOpenAI")
    sessions = Sessions(memory, session_id=session_id, **options)
    copied = cast("Any", client.copy())
    if not hasattr(copied, "memctx_sessions"):
        copied.__class__ = _with_memory(cast("Any", type(copied)))
    copied.memctx_sessions = sessions
    return cast("Client", copied)


@cache
def _with_memory(kind: Any) -> Any:  # noqa: ANN401 - the client's own type
    """Return the class of clients with memory: every call of the SDK goes through its method ``request``."""
    base: Any = _asynchronous(kind) if issubclass(kind, AsyncOpenAI) else _synchronous(kind)

    class Remembering(base):
        memctx_sessions: Sessions

        def copy(self, **changes: object) -> Any:  # noqa: ANN401
            """Return a copy with the same memory."""
            copied = super().copy(**changes)
            copied.memctx_sessions = self.memctx_sessions
            return copied

        with_options = copy

    Remembering.__name__, Remembering.__qualname__ = kind.__name__, kind.__qualname__
    return Remembering


def _synchronous(kind: Any) -> Any:  # noqa: ANN401
    class Synchronous(kind):
        def request(self, cast_to: object, options: Any, **ways: Any) -> Any:  # noqa: ANN401
            prepared, options = _prepare(self.memctx_sessions, options)
            response = super().request(cast_to, options, **ways)
            if prepared is not None:
                stream = response.parse() if _is_raw_stream(response, ways) else response
                if isinstance(stream, Stream):
                    watch_stream(stream, prepared, _format(options))
                else:
                    _observe(prepared, response, _format(options))
            return response

    return Synchronous


def _asynchronous(kind: Any) -> Any:  # noqa: ANN401
    class Asynchronous(kind):
        async def request(self, cast_to: object, options: Any, **ways: Any) -> Any:  # noqa: ANN401
            prepare = partial(_prepare, self.memctx_sessions, options)
            prepared, options = await anyio.to_thread.run_sync(prepare)
            response = await super().request(cast_to, options, **ways)
            if prepared is not None:
                stream = response.parse() if _is_raw_stream(response, ways) else response
                if inspect.isawaitable(stream):
                    stream = await stream
                if isinstance(stream, AsyncStream):
                    watch_stream(stream, prepared, _format(options))
                else:
                    _observe(prepared, response, _format(options))
            return response

    return Asynchronous


def _prepare(sessions: Sessions, options: Any) -> tuple[Prepared[Any] | None, Any]:  # noqa: ANN401 - private to openai
    """Return the prepared messages of a request, and its options with them; None if it is sent as it is."""
    path = options.url.partition("?")[0]
    name, kind = FIELDS.get(path, ("", None))
    reason = next((REASONS[it] for it in REASONS if f"{path}/".startswith(f"{it}/")), None)
    if options.method.lower() != "post" or not (name or reason):
        return None, options
    body = options.json_data if isinstance(options.json_data, dict) else {}
    extra = options.extra_json or {}
    given = extra.get(name, body.get(name))
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    reason = reason or _find_state({**body, **extra}, messages)
    if name in extra:
        reason = reason or f"{name} is in extra_body; expected an argument of the call"
    if not isinstance(messages, list):
        reason = reason or f"{name} is {type(messages).__name__}; expected a list"
        messages = []
    if reason:
        sessions.step_aside(messages, MessageFormatError(reason))
        return None, options
    prepared = sessions.prepare(sessions.current, messages, format=kind, model=body.get("model"))
    if prepared.messages != messages:
        options = options.model_copy(update={"json_data": {**body, name: prepared.messages}})
    return prepared, options


def _find_state(body: Mapping[str, Any], messages: object) -> str | None:
    """Return the reason why memory stays away from a call whose conversation the server keeps; None if it does not."""
    if name := next((it for it in ("previous_response_id", "conversation") if body.get(it)), None):
        return f"{name} is set: {KEPT}"
    items = cast("list[object]", messages) if isinstance(messages, list) else []
    if any(isinstance(it, dict) and it.get("type") == "item_reference" for it in items):
        return f"an item is a reference: {KEPT}"
    return None


def _is_raw_stream(response: object, kind: Mapping[str, Any]) -> bool:
    """Return whether a response is one of ``with_raw_response`` or ``with_streaming_response`` that holds a stream."""
    return bool(kind.get("stream")) and hasattr(response, "http_response")


def _format(options: Any) -> FormatName:  # noqa: ANN401 - private to openai
    """Return the format of the messages of a request that was prepared."""
    return FIELDS[options.url.partition("?")[0]][1]


def _observe(prepared: Prepared[Any], response: object, format: FormatName) -> None:
    """Observe the usage and the answer in a response, unless its body is not read."""
    raw = getattr(response, "http_response", None)
    body = response
    if raw is not None:
        try:
            body = raw.json() if raw.is_closed else None
        except ValueError:
            return
    prepared.observe(usage_of(body), answer_of(body, format), format)
