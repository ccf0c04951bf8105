"""Anthropic: a middleware for the official client, synchronous or not.

from memctx.integrations.anthropic import MemctxMiddleware

client = Anthropic(middleware=[MemctxMiddleware("./memory", session_id="alice", context_window=200_000)])
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

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

require("anthropic", "2.8", extra="anthropic")

import anyio.to_thread  # noqa: E402 - after the check
from anthropic import APIResponse, AsyncAPIResponse, Middleware  # noqa: E402

if TYPE_CHECKING:
    from os import PathLike

    from anthropic import APIRequest, AsyncCallNext, CallNext

    from memctx.bridge import Options
    from memctx.memory import Memory
    from memctx.messages import FormatName

__all__ = ["MemctxMiddleware", "session"]

FORMAT: FormatName = "anthropic"
MESSAGES = "/v1/messages"
REASONS = {
    f"{MESSAGES}/count_tokens": "tokens are counted of the messages as they are",
    f"{MESSAGES}/batches": "a batch holds many conversations",
}
"""Paths of requests with messages that are sent as they are, and the reasons."""


class MemctxMiddleware(Middleware):
    """Prepares every request of a client for a message, of its resources ``messages`` and ``beta.messages``.

    The session is that of the `session` block around the call, or else ``session_id``. A request to a thread, which the
    server keeps, or for a compaction by the server is sent as it is. List it before a middleware that repeats requests.

    >>> client = Anthropic(middleware=[MemctxMiddleware("./memory", session_id="alice")])  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        self.sessions = Sessions(memory, session_id=session_id, **options)

    def handle(self, request: APIRequest, call_next: CallNext) -> APIResponse[Any]:
        """Prepare a request, and observe the usage of its response."""
        prepared = self._prepare(request)
        response = call_next(_replace(request, prepared))
        if prepared is not None and isinstance(response, APIResponse):
            if request.stream and response.http_response.is_success:
                watch_stream(response.parse(), prepared, FORMAT)  # the one that the caller gets
            else:
                _observe(prepared, response)
        return response

    async def handle_async(
        self, request: APIRequest, call_next: AsyncCallNext
    ) -> AsyncAPIResponse[Any]:
        """Prepare a request of an asynchronous client, and observe the usage of its response."""
        prepared = await anyio.to_thread.run_sync(partial(self._prepare, request))
        response = await call_next(_replace(request, prepared))
        if prepared is not None and isinstance(response, AsyncAPIResponse):
            if request.stream and response.http_response.is_success:
                watch_stream(await response.parse(), prepared, FORMAT)
            else:
                _observe(prepared, response)
        return response

    def _prepare(self, request: APIRequest) -> Prepared[Any] | None:
        """Return the messages to send; None if the request is sent as it is."""
        path, body = request.url.partition("?")[0], request.json
        if request.method.lower() != "post" or path not in {MESSAGES, *REASONS}:
            return None
        given = cast("Mapping[str, Any]", body) if isinstance(body, Mapping) else {}
        messages = cast("object", given.get("messages"))
        reason = REASONS.get(path) or _find_state(given)
        if not isinstance(messages, list):
            reason = reason or f"messages is {type(messages).__name__}; expected a list"
            messages = []
        if reason:
            self.sessions.step_aside(messages, MessageFormatError(reason))
            return None
        return self.sessions.prepare(
            self.sessions.current, messages, format=FORMAT, model=given.get("model")
        )


def _find_state(body: Mapping[str, Any]) -> str | None:
    """Return the reason why memory stays away from a request whose conversation the server keeps or compacts."""
    if body.get("thread"):
        return "the server keeps the messages of a thread; expected a request with all messages"
    return "the server compacts the conversation" if body.get("compaction") else None


def _replace(request: APIRequest, prepared: Prepared[Any] | None) -> APIRequest:
    """Return a request with the prepared messages; the same one if memory changed none."""
    body = request.json
    if prepared is None or not isinstance(body, Mapping) or prepared.messages == body["messages"]:
        return request
    replaced = copy(request)  # its own method copies every message first
    update = {"json_data": {**body, "messages": prepared.messages}}
    replaced.options = request.options.model_copy(update=update)
    return replaced


def _observe(prepared: Prepared[Any], response: APIResponse[Any] | AsyncAPIResponse[Any]) -> None:
    """Observe the usage and the answer in a response whose body has been read."""
    if response.is_closed and response.http_response.is_success:
        try:
            body = response.http_response.json()
        except ValueError:
            return
        prepared.observe(usage_of(body), answer_of(body, FORMAT), FORMAT)
