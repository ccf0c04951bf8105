"""Agents of smolagents with the model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from integrations.case import Case
from memctx.integrations.smolagents import MemctxModel
from providers import conversation

if TYPE_CHECKING:
    from smolagents.models import ChatMessage

    from integrations.case import Talk


class Model(OpenAIModel):  # type: ignore[misc] # without types
    """A model whose text is its final answer: agents of smolagents insist on a call for that."""

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Return the answer with the call that ends a run."""
        function = ChatMessageToolCallFunction({"answer": message.content}, "final_answer")
        message.tool_calls = [ChatMessageToolCall(function, "final", "function")]
        return message


@tool  # type: ignore[untyped-decorator, unused-ignore] # without types
def read_log(n: int) -> str:
    """Read a log.

    Args:
        n: Number of the log.
    """
    return f"{conversation.read_log(n)}."  # smolagents strips the results of tools


def model(url: str) -> Any:
    """Return a model of the loopback provider."""
    client = {"max_retries": 0}
    return Model("loopback", f"{url}/v1", "x", client_kwargs=client, retry=False)


def _run(talk: Talk, *, stream: bool = False) -> str:
    own = model(talk.url)
    agent: Any = ToolCallingAgent(
        [read_log],
        model=MemctxModel(own, talk.path, **talk.options) if talk.has_memory else own,
        stream_outputs=stream,
        verbosity_level=LogLevel.OFF,
    )
    for said in talk.said:
        agent.run(said, reset=False)
    return str(agent.memory.get_succinct_steps())


MORE = 4
"""smolagents joins the results of parallel calls to one text, which is long enough to be pruned. That happens four
times, and saves a trim; without pruning there are three breaks less."""

CASES = [
    Case("smolagents-chat", _run, more_breaks=MORE),
    Case("smolagents-chat-stream", partial(_run, stream=True), more_breaks=MORE),
]
