"""Agents of deepagents with the middleware: each subagent has a session of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("deepagents")

from deepagents import create_deep_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

import memctx
from memctx.integrations.langchain import MemctxMiddleware

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"
THREAD: Any = {"configurable": {"thread_id": "t1"}}


class Model(FakeMessagesListChatModel):
    """A scripted model that keeps what it was sent."""

    sent: list[str] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        del tools, options
        return self

    def _generate(self, messages: Any, *given: Any, **options: Any) -> Any:
        del given, options
        self.sent.append("\n".join(each.text for each in messages if each.type != "system"))
        answer = self.responses[(len(self.sent) - 1) % len(self.responses)].model_copy()
        return ChatResult(generations=[ChatGeneration(message=answer)])


def delegate(*tasks: tuple[str, str]) -> AIMessage:
    """Return the answer of a model that gives subagents work, at once."""
    calls: list[Any] = [
        {"name": "task", "args": {"subagent_type": name, "description": text}, "id": f"c{n}{name}"}
        for n, (name, text) in enumerate(tasks)
    ]
    return AIMessage("", tool_calls=calls)


@pytest.mark.parametrize("is_async", [False, True])
def test_each_subagent_has_a_session_of_its_own(tmp_path: Path, *, is_async: bool) -> None:
    asked = delegate(("researcher", QUESTION), ("critic", QUESTION))
    done = AIMessage("Done.")
    main = Model(responses=[delegate(("researcher", STATED), ("critic", "Hi.")), done, asked, done])
    models = {name: Model(responses=[AIMessage("Noted.")]) for name in ("researcher", "critic")}
    remembering = MemctxMiddleware(tmp_path, context_window=32_000)
    subagents: list[Any] = [
        {
            "name": name,
            "description": name,
            "system_prompt": "Work.",
            "model": model,
            "tools": [],
            "middleware": [remembering],
        }
        for name, model in models.items()
    ]
    agent = create_deep_agent(
        main, middleware=[remembering], subagents=subagents, checkpointer=InMemorySaver()
    )
    for said in ("Begin.", "Go on."):
        given: Any = {"messages": [HumanMessage(said)]}
        if is_async:
            asyncio.run(agent.ainvoke(given, THREAD))
        else:
            agent.invoke(given, THREAD)
    sessions = set(remembering.sessions._memories)  # noqa: SLF001 - the ids
    remembering.sessions.close()
    assert sessions == {"t1", "t1/researcher", "t1/critic"}
    assert [len(model.sent) for model in models.values()] == [2, 2]
    assert "8443" in models["researcher"].sent[1]
    assert "8443" not in models["critic"].sent[1]
    with memctx.open(tmp_path, session_id="t1/critic") as memory:
        stored = [segment.content for segment in memory.store.segments()]
    assert stored == [QUESTION]
