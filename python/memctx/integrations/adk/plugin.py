"""`MemctxPlugin`: memory for the agents of a runner."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Unpack, cast

from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from memctx.bridge import Sessions
from memctx.errors import ConfigError
from memctx.integrations.adk.views import ContentViews

if TYPE_CHECKING:
    from os import PathLike

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events.event import Event
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.sessions.session import Session

    from memctx.bridge import Options, Prepared
    from memctx.memory import Memory
    from memctx.messages import FormatName

VIEWS = ContentViews()
MAX_CALLS = 256
"""Most calls whose usage is waited for: a call that is canceled never reports any."""


class MemctxPlugin(BasePlugin):
    """Prepares every model call of a runner's agents, and archives their answers when a run ends.

    The events of the session stay as they are: only what is sent is pruned, trimmed and added to. The session is that
    of the app, the user, ADK's session and the agent. List it after a plugin that filters the contents.

    >>> app = App(name="shop", root_agent=agent, plugins=[MemctxPlugin("./memory")])  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        name: str = "memctx",
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``name`` is that of the plugin.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        super().__init__(name)
        self.sessions = Sessions(memory, session_id=session_id, **options)
        # The actions of an event are the only object that all callbacks of one model call share.
        self._calls: OrderedDict[int, tuple[object, Prepared[types.Content]]] = OrderedDict()

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Prepare a call."""
        contents = llm_request.contents
        first = getattr(llm_request, "_static_instruction_prefix_end_index", None) or 0

        def session() -> str:
            if llm_request.previous_interaction_id:
                raise ConfigError(
                    "the provider keeps the conversation; expected a model without previous_interaction_id"
                )
            return self._session(callback_context.session, callback_context.agent_name)

        prepared = await self.sessions.aprepare(
            session, contents[first:], format=_format(llm_request.model), model=llm_request.model
        )
        if prepared.memory is None:
            return
        llm_request.contents = [*contents[:first], *map(_content, prepared.messages)]
        actions = callback_context.actions
        self._calls[id(actions)] = actions, prepared
        if len(self._calls) > MAX_CALLS:
            self._calls.popitem(last=False)

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """Learn the cost of a call from its whole answer."""
        if not llm_response.partial and llm_response.usage_metadata is not None:
            _, prepared = self._calls.pop(id(callback_context.actions), (None, None))
            if prepared is not None:
                prepared.observe(llm_response.usage_metadata)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Archive what was said in the run: its last answer was in no request. Calls and results were."""
        session, run = invocation_context.session, invocation_context.invocation_id
        events = [
            event for event in session.events if event.invocation_id == run and _is_text(event)
        ]
        for agent in {event.author for event in events} - {"user"}:
            contents = [event.content for event in events if event.author in {agent, "user"}]
            await asyncio.to_thread(
                self.sessions.archive, self._session(session, agent), contents, format="gemini"
            )

    async def close(self) -> None:
        """Close the memories that the plugin opened."""
        await asyncio.to_thread(self.sessions.close)

    def _session(self, session: Session, agent: str) -> str:
        return self.sessions.name((session.app_name, session.user_id, session.id), agent)


def _format(model: str | None) -> FormatName | ContentViews:
    """Return how contents are read: the thoughts of Claude are bound to what was sent before them, Gemini's are not."""
    name = (model or "").lower()
    return VIEWS if "claude" in name or "anthropic" in name else "gemini"


def _is_text(event: Event) -> bool:
    parts = (event.content.parts if event.content else None) or ()
    return bool(parts) and all(part.text is not None for part in parts)


def _content(message: object) -> types.Content:
    """Return a message of the turn as ADK has it: memory adds plain dictionaries."""
    if isinstance(message, dict):
        return types.Content.model_validate(message)
    content = cast("types.Content", message)
    if all(isinstance(part, types.Part) for part in content.parts or ()):
        return content
    return types.Content.model_validate(dict(content))
