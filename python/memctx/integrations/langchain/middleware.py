"""`MemctxMiddleware`: memory for agents of `create_agent` and deepagents."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack, cast

from memctx.bridge import Sessions, require

require("langchain", "1.2", extra="langchain")

from langchain.agents.middleware import AgentMiddleware, AgentState  # noqa: E402 - after the check
from langchain_core.messages import ToolMessage  # noqa: E402
from langgraph.config import get_config  # noqa: E402

from memctx.integrations.langchain.models import model_name, usage_of, window_of  # noqa: E402
from memctx.integrations.langchain.views import LangChainViews  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from os import PathLike

    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import AnyMessage, BaseMessage
    from langgraph.runtime import Runtime
    from langgraph.types import Command

    from memctx.bridge import Options
    from memctx.memory import Memory

VIEWS = LangChainViews()
LAST = 32
"""Messages at the end of a run that are archived: those that no model call has seen are among them."""


class MemctxMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Prepares every model call of an agent, and archives the conversation when it ends.

    The agent's state stays as it is: only what is sent is pruned, trimmed and added to. The session is that of the
    thread, or else of the first message, and of the agent's name. List it before a middleware that marks the prompt for
    the cache.

    >>> agent = create_agent(model, tools, middleware=[MemctxMiddleware("./memory")])  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        max_tool_chars: int | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``max_tool_chars`` is the longest tool result to keep whole, by default half a window.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        super().__init__()
        self._max_tool_chars = max_tool_chars
        self.sessions = Sessions(memory, session_id=session_id, **options)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Prepare a call."""
        prepared = self.sessions.prepare(
            lambda: self._session(request.messages),
            request.messages,
            format=VIEWS,
            model=model_name(request.model),
            window=window_of(request.model),
        )
        response = handler(request.override(messages=cast("list[AnyMessage]", prepared.messages)))
        prepared.observe(usage_of(response.result))
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Prepare an asynchronous call."""
        prepared = await self.sessions.aprepare(
            lambda: self._session(request.messages),
            request.messages,
            format=VIEWS,
            model=model_name(request.model),
            window=window_of(request.model),
        )
        response = await handler(
            request.override(messages=cast("list[AnyMessage]", prepared.messages))
        )
        prepared.observe(usage_of(response.result))
        return response

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Shorten a result that would fill half of the window; it is archived whole."""
        return self._shorten(request, handler(request))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Shorten the result of an asynchronous call."""
        return await asyncio.to_thread(self._shorten, request, await handler(request))

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Archive what was said since the last model call."""
        del runtime
        messages = state["messages"]
        self.sessions.archive(lambda: self._session(messages), messages[-LAST:], format=VIEWS)

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Archive what was said since the last model call."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _session(self, messages: Sequence[BaseMessage]) -> str:
        """Return the session of the running call: LangGraph's thread, or the id of the first message."""
        config = get_config()
        thread = config.get("configurable", {}).get("thread_id")
        if thread is None and messages:
            thread = messages[0].id
        agent = config.get("metadata", {}).get("lc_agent_name")
        return self.sessions.name(None if thread is None else str(thread), agent)

    def _shorten(
        self, request: ToolCallRequest, result: ToolMessage | Command[Any]
    ) -> ToolMessage | Command[Any]:
        if not isinstance(result, ToolMessage):
            return result
        state = request.state
        messages = state.get("messages", ()) if isinstance(state, dict) else ()
        cut = self.sessions.truncate(
            lambda: self._session(messages), result, format=VIEWS, max_chars=self._max_tool_chars
        )
        return cast("ToolMessage", cut)
