"""Strands Agents: a conversation manager that changes what is sent, and leaves the agent's messages alone.

from memctx.integrations.strands import MemctxConversationManager

agent = Agent(model, tools=tools, conversation_manager=MemctxConversationManager("./memory"))
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4
from weakref import WeakKeyDictionary

from memctx.bridge import require

require("strands-agents", "1.62", extra="strands")

from strands.agent.conversation_manager import ConversationManager  # noqa: E402 - after the check
from strands.hooks import AgentInitializedEvent  # noqa: E402
from strands.middleware import InvokeModelStage, ModelStopReason  # noqa: E402
from strands.models import BedrockModel  # noqa: E402

from memctx.bridge import Sessions  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from os import PathLike

    from strands import Agent
    from strands.hooks import HookRegistry
    from strands.middleware import InvokeModelContext

    from memctx.bridge import Options
    from memctx.memory import Memory

__all__ = ["MemctxConversationManager"]

UNNAMED = ("default", "Strands Agents")
"""Id and name of an agent that was given none."""
LAST = 32
"""Messages at the end of an invocation that are archived: those that no model call has seen are among them."""


class MemctxConversationManager(ConversationManager):
    """Prepares every model call of an agent, and archives the conversation when an invocation ends.

    ``agent.messages`` keeps every message: only what is sent is pruned, trimmed and added to. The session is that of
    the session manager, or else of the agent object, and of the agent's id or name.

    >>> agent = Agent(conversation_manager=MemctxConversationManager("./memory"))  # doctest: +SKIP
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
        super().__init__()
        self.sessions = Sessions(memory, session_id=session_id, **options)
        self._threads: WeakKeyDictionary[object, str] = WeakKeyDictionary()

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:  # noqa: ANN401 - Strands' own
        """Add the middleware once the agent is complete."""
        super().register_hooks(registry, **kwargs)
        registry.add_callback(AgentInitializedEvent, self._add_middleware)

    def apply_management(self, agent: Agent, **kwargs: Any) -> None:  # noqa: ANN401
        """Archive what was said since the last model call; no message is removed."""
        del kwargs
        messages = agent.messages[-LAST:]
        self.sessions.archive(partial(self._session, agent), messages, format="bedrock")

    def reduce_context(self, agent: Agent, e: Exception | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        """Raise the overflow that the provider reported, since removing messages would lose them."""
        del agent, kwargs
        if e is not None:
            raise e

    def restore_from_session(self, state: dict[str, Any]) -> None:
        """Restore every message, including those that another conversation manager had removed."""
        del state

    def _add_middleware(self, event: AgentInitializedEvent[Agent]) -> None:
        event.agent.add_middleware(InvokeModelStage, self._invoke_model)

    async def _invoke_model(
        self,
        context: InvokeModelContext,
        next_fn: Callable[[InvokeModelContext], AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        """Prepare a call, and observe its usage."""
        prepared = await self.sessions.aprepare(
            partial(self._session, context.agent),
            context.messages,
            format="bedrock",
            model=_model_name(context.model),
            window=getattr(context.model, "context_window_limit", None),
        )
        async for event in next_fn(context.replace(messages=prepared.messages)):
            if isinstance(event, ModelStopReason):
                prepared.observe(_usage(context.model, event["stop"][2]))
            yield event

    def _session(self, agent: Any) -> str:  # noqa: ANN401 - any that Strands runs
        """Return the session of an agent."""
        manager = getattr(agent, "_session_manager", None)
        thread = getattr(manager, "session_id", None)
        if thread is None:
            thread = self._threads.setdefault(agent, str(uuid4()))
        names = (name for name in (agent.agent_id, agent.name) if name not in UNNAMED)
        return self.sessions.name(str(thread), next(names, None))


def _model_name(model: Any) -> str | None:  # noqa: ANN401 - any of Strands' providers
    config = model.get_config()
    name = config.get("model_id") if isinstance(config, dict) else None
    return name if isinstance(name, str) else None


def _usage(model: object, usage: dict[str, int]) -> object:
    """Return the usage of a call.

    Bedrock counts cached tokens apart. All other providers of Strands have them in the total, and some of those also in
    the input.
    """
    if isinstance(model, BedrockModel) or not usage.get("totalTokens"):
        return usage
    answer = usage.get("outputTokens", 0)
    return {"prompt_tokens": usage["totalTokens"] - answer, "completion_tokens": answer}
