"""LangChain agents with the middleware."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from integrations.case import Case, read_log
from memctx.integrations.langchain import MemctxMiddleware
from providers import conversation

if TYPE_CHECKING:
    from integrations.case import Talk

THREAD: Any = {"configurable": {"thread_id": "t1"}}


def _model(name: str, url: str) -> Any:
    if name.startswith("anthropic"):
        thinking: Any = (
            {"type": "enabled", "budget_tokens": 1024} if name.endswith("thinking") else None
        )
        return ChatAnthropic(
            model_name="loopback",
            base_url=url,
            api_key="x",
            max_retries=0,
            timeout=30,
            stop=None,
            thinking=thinking,
        )
    is_responses = name == "responses"
    return ChatOpenAI(
        model="loopback",
        base_url=f"{url}/v1",
        api_key="x",
        max_retries=0,
        use_responses_api=is_responses,
        store=False if is_responses else None,
        include=["reasoning.encrypted_content"] if is_responses else None,
    )


def _agent(name: str, talk: Talk, summarized: int | None = 0) -> Any:
    model = _model(name, talk.url)
    middleware: list[Any] = [MemctxMiddleware(talk.path, **talk.options)] if talk.has_memory else []
    if summarized != 0:
        # As much as memctx sends: a request takes at most two thirds of the window.
        trigger: Any = ("tokens", conversation.WINDOW * 2 // 3)
        summarization = SummarizationMiddleware(
            model, trigger=trigger, keep=("messages", 10), trim_tokens_to_summarize=summarized
        )
        middleware = [summarization]
    return create_agent(
        model,
        [read_log],
        system_prompt="You read logs.",
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )


def _deep_agent(talk: Talk) -> Any:
    middleware = [MemctxMiddleware(talk.path, **talk.options)] if talk.has_memory else []
    return create_deep_agent(
        _model("anthropic", talk.url),
        [read_log],
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )


def _state(agent: Any) -> str:
    return "\n".join(str(message.content) for message in agent.get_state(THREAD).values["messages"])


def _invoke(name: str, talk: Talk, summarized: int | None = 0) -> str:
    """Hold it with `invoke`; ``summarized`` is how much of the conversation LangChain's own memory summarizes."""
    agent = _deep_agent(talk) if name == "deepagents" else _agent(name, talk, summarized)
    for said in talk.said:
        agent.invoke({"messages": [HumanMessage(said)]}, THREAD)
    return _state(agent)


def _ainvoke(name: str, talk: Talk) -> str:
    async def hold() -> str:
        agent = _agent(name, talk)
        for said in talk.said:
            await agent.ainvoke({"messages": [HumanMessage(said)]}, THREAD)
        return _state(agent)

    return asyncio.run(hold())


def _stream(name: str, talk: Talk) -> str:
    agent = _agent(name, talk)
    for said in talk.said:
        for _ in agent.stream({"messages": [HumanMessage(said)]}, THREAD, stream_mode="messages"):
            pass
    return _state(agent)


CASES = [
    Case("langchain-anthropic", partial(_invoke, "anthropic")),
    Case("langchain-anthropic-async", partial(_ainvoke, "anthropic")),
    Case("langchain-anthropic-stream", partial(_stream, "anthropic")),
    Case("langchain-anthropic-thinking", partial(_invoke, "anthropic-thinking"), reasoning=True),
    Case("langchain-deepagents", partial(_invoke, "deepagents")),
    Case("langchain-chat", partial(_invoke, "chat")),
    Case("langchain-responses", partial(_invoke, "responses")),
    Case("langchain-responses-reasoning", partial(_invoke, "responses"), reasoning=True),
]

COMPARED = [CASES[0]]
"""Cases that are held with memctx and without any memory."""
OWN = [
    Case("langchain, SummarizationMiddleware", partial(_invoke, "anthropic", summarized=4_000)),
    Case("langchain, the same of everything", partial(_invoke, "anthropic", summarized=None)),
]
"""The framework's own memory: with its default, which summarizes the newest 4,000 tokens, and with all."""
