"""`MemctxMiddleware`: memory for agents and chat clients."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack

from agent_framework import ChatMiddleware, ChatResponse

from memctx.bridge import Sessions
from memctx.errors import ConfigError
from memctx.integrations.agent_framework.views import MessageViews

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from os import PathLike

    from agent_framework import ChatContext

    from memctx.bridge import Options
    from memctx.memory import Memory

VIEWS = MessageViews()
LAST = 32
"""Messages at the end of a conversation that are archived with its answer, so that they are stored in order."""


class MemctxMiddleware(ChatMiddleware):
    """Prepares every model call, and archives the conversation with each answer.

    The history of the session stays as it is: only what is sent is pruned, trimmed and added to. The session is that of
    the framework; one that several agents share is told apart by ``agent_name``.

    >>> agent = Agent(client, middleware=[MemctxMiddleware("./memory")])  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        agent_name: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``agent_name`` is added to the session, which a chat call does not tell.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        self._agent_name = agent_name
        self.sessions = Sessions(memory, session_id=session_id, **options)

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Prepare a call, streamed or not."""

        def session() -> str:
            if is_continued(context):
                raise ConfigError(
                    'the request has only the end of the conversation; expected default_options={"store": False}, '
                    "and history that is not loaded for each call of the service"
                )
            thread = None if context.session is None else context.session.session_id
            return self.sessions.name(thread, self._agent_name)

        given = list(context.messages)
        model = (context.options or {}).get("model") or getattr(context.client, "model", None)
        prepared = await self.sessions.aprepare(
            session, given, format=VIEWS, model=model if isinstance(model, str) else None
        )
        if prepared.memory is None:
            await call_next()
            return

        async def finish(response: ChatResponse[Any]) -> None:
            prepared.observe(usage_of(response))
            if not _has_calls(response):
                said = [*given[-LAST:], *response.messages]
                await asyncio.to_thread(self.sessions.archive, session, said, format=VIEWS)

        context.messages = prepared.messages
        if context.stream:
            context.stream_result_hooks.append(finish)
        await call_next()
        if isinstance(context.result, ChatResponse):
            await finish(context.result)


def usage_of(response: ChatResponse[Any]) -> dict[str, int] | None:
    """Return the usage of an answer, in Anthropic's words; None if the provider reported none."""
    usage = response.usage_details
    if not usage or not usage.get("input_token_count"):
        return None
    counts = {"input_tokens": usage.get("input_token_count") or 0}
    if usage.get("total_token_count") is None:  # Anthropic's, which counts cached tokens apart
        counts["cache_read_input_tokens"] = usage.get("cache_read_input_token_count") or 0
        counts["cache_creation_input_tokens"] = usage.get("cache_creation_input_token_count") or 0
    return {**counts, "output_tokens": usage.get("output_token_count") or 0}


def is_continued(context: ChatContext) -> bool:
    """Return whether a request has only the end of a conversation: the provider or a later middleware adds the rest."""
    return bool((context.options or {}).get("conversation_id"))


def _has_calls(response: ChatResponse[Any]) -> bool:
    return any(
        content.type == "function_call" for each in response.messages for content in each.contents
    )
