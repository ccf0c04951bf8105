"""`MemctxCapability`: memory for agents of Pydantic AI."""

from __future__ import annotations

import asyncio
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, cast

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelRequest, ToolReturnPart

from memctx.bridge import Sessions
from memctx.integrations.pydantic_ai.views import SERVER_TOOLS, PydanticViews

if TYPE_CHECKING:
    from os import PathLike

    from pydantic_ai import AgentRunResult, RunContext
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import ToolDefinition

    from memctx.bridge import Options, Prepared
    from memctx.memory import Memory

VIEWS = PydanticViews()
LAST = 4
"""Messages at the end of a run that are archived: those that no request has sent are among them."""


class MemctxCapability(AbstractCapability[Any]):
    """Prepares every model request of an agent, and archives the conversation when a run ends.

    The history stays as it is: only what is sent is pruned, trimmed and added to. The session is that of Pydantic AI's
    conversation and of the agent's name. A conversation goes on with ``message_history`` or ``conversation_id``; any
    other run begins a new one.

    >>> agent = Agent(model, capabilities=[MemctxCapability("./memory")])  # doctest: +SKIP
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
        self._prepared: Prepared[ModelMessage] | None = None
        self.sessions = Sessions(memory, session_id=session_id, **options)

    async def for_run(self, ctx: RunContext[Any]) -> MemctxCapability:
        """Return a copy that knows the request of one run; the memories are the same."""
        del ctx
        return copy(self)

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Prepare a request."""
        model = request_context.model
        self._prepared = await self.sessions.aprepare(
            lambda: self._session(ctx),
            request_context.messages,
            format=VIEWS,
            model=model.model_name,
            window=model.context_window,
        )
        return replace(request_context, messages=self._prepared.messages)

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        response: ModelResponse,
    ) -> ModelResponse:
        """Learn the cost of a request; that of a response with server-side tools is the sum of several prompts."""
        del ctx, request_context
        prepared, self._prepared = self._prepared, None
        usage = response.usage
        is_sum = any(part.part_kind in SERVER_TOOLS for part in response.parts)
        if prepared is not None and usage.input_tokens and not is_sum:
            tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
            await asyncio.to_thread(prepared.observe, tokens)
        return response

    async def after_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        result: Any,  # noqa: ANN401 - whatever the tool returns
    ) -> Any:  # noqa: ANN401
        """Shorten a text that would fill half of the window; it is archived whole."""
        del tool_def, args
        if not isinstance(result, str):
            return result
        message = ModelRequest([ToolReturnPart(call.tool_name, result, call.tool_call_id)])
        cut = await asyncio.to_thread(
            self.sessions.truncate,
            lambda: self._session(ctx),
            message,
            format=VIEWS,
            max_chars=self._max_tool_chars,
        )
        return cast("ToolReturnPart[Any]", cut.parts[0]).content

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Archive what was said since the last model request."""
        last = result.all_messages()[-LAST:]
        await asyncio.to_thread(
            self.sessions.archive, lambda: self._session(ctx), last, format=VIEWS
        )
        return result

    def _session(self, ctx: RunContext[Any]) -> str:
        return self.sessions.name(ctx.conversation_id, ctx.agent.name if ctx.agent else None)
