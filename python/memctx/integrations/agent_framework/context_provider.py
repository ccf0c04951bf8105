"""`MemctxContextProvider`: recalls for each run of an agent, and trims nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack

from agent_framework import ChatMiddleware, ContextProvider

from memctx.bridge import Sessions
from memctx.integrations.agent_framework.middleware import VIEWS, is_continued
from memctx.integrations.agent_framework.views import SOURCE, recalled_message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from os import PathLike

    from agent_framework import AgentSession, ChatContext, Message, SessionContext, SupportsAgentRun

    from memctx.bridge import Options
    from memctx.memory import Memory


class MemctxContextProvider(ContextProvider):
    """Adds what the input of a run needs of earlier runs, and archives each run.

    It is for agents whose history is compacted by other means: only text that the model would not see is recalled, and
    it stands before the input. The session is that of the framework and the agent's name.

    >>> agent = Agent(client, context_providers=[MemctxContextProvider("./memory")])  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        source_id: str = SOURCE,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``source_id`` is the name of the provider in the framework.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        super().__init__(source_id)
        self.sessions = Sessions(memory, session_id=session_id, **options)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Have the calls of the run recall: only they know all of its messages."""
        del state
        name = self.sessions.name(session.session_id, agent.name)
        context.extend_middleware(
            self.source_id, _Recall(self.sessions, name, len(context.input_messages))
        )

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Archive the run."""
        del state
        name = self.sessions.name(session.session_id, agent.name)
        answer = [] if context.response is None else context.response.messages
        said = [*context.input_messages, *answer]
        await asyncio.to_thread(self.sessions.archive, name, said, format=VIEWS)


class _Recall(ChatMiddleware):
    """Adds the same recalled text to every call of one run, before the input."""

    def __init__(self, sessions: Sessions, name: str, inputs: int) -> None:
        self._sessions = sessions
        self._name = name
        self._inputs = inputs
        self._place = 0
        self._recalled: list[Message] | None = None

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        messages = list(context.messages)
        is_sent = self._recalled is not None and is_continued(context)
        if self._recalled is None:
            self._place = max(len(messages) - self._inputs, 0)
            self._recalled = await self._recall(messages)
        if self._recalled and not is_sent:
            before, after = messages[: self._place], messages[self._place :]
            context.messages = [*before, *self._recalled, *after]
        await call_next()

    async def _recall(self, messages: list[Message]) -> list[Message]:
        prepared = await self._sessions.aprepare(self._name, messages, format=VIEWS)
        known = {content.text for message in messages for content in message.contents}
        recalled = [
            content.text
            for message in prepared.messages
            for content in message.contents
            if message.role == "user" and content.text and content.text not in known
        ]
        return [recalled_message(recalled)] if recalled else []
