"""The hooks of CrewAI: sessions, usage, the agent's messages, and what they do not understand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("crewai")

from crewai import Crew, Task
from crewai.hooks import get_after_llm_call_hooks, get_before_llm_call_hooks

import memctx
from memctx.bridge import session
from memctx.integrations.crewai import MemctxHooks
from providers.api import Asked, Reply
from providers.conversation import read_log
from providers.server import Provider

from .cases import crewai as cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"
STEP = "Step 1: read log 1 and say whether it is fine."


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def turns() -> list[memctx.Turn]:
    return []


@pytest.fixture
def hooks(tmp_path: Path, turns: list[memctx.Turn]) -> Iterator[MemctxHooks]:
    hooks = MemctxHooks(tmp_path, context_window=16_000, on_turn=turns.append).register()
    yield hooks
    hooks.unregister()
    assert get_before_llm_call_hooks() == get_after_llm_call_hooks() == []


def is_told(provider: Provider) -> bool:
    return "8443" in str(provider.requests[-1].body)


@pytest.mark.usefixtures("hooks")
def test_sessions_and_agents_are_kept_apart(provider: Provider) -> None:
    def ask(text: str, name: str, role: str = "Reader") -> bool:
        with session(name):
            cases.agent(provider.url, role=role).kickoff(text)
        return is_told(provider)

    ask(STATED, "alice")
    assert ask(QUESTION, "alice")
    assert not ask(QUESTION, "bob")
    assert not ask(QUESTION, "alice", "Reviewer")


@pytest.mark.usefixtures("hooks")
def test_agents_without_a_session_do_not_see_each_other(provider: Provider) -> None:
    one, other = cases.agent(provider.url), cases.agent(provider.url)
    one.kickoff(STATED)
    other.kickoff(QUESTION)
    assert not is_told(provider)
    one.kickoff(QUESTION)
    assert is_told(provider)


@pytest.mark.usefixtures("hooks")
def test_tasks_of_a_crew_recall_earlier_ones(provider: Provider, turns: list[memctx.Turn]) -> None:
    """CrewAI begins each task of an agent without messages."""
    own = cases.agent(provider.url)
    texts = (STATED, QUESTION)
    tasks = [Task(description=it, expected_output="It.", agent=own, context=[]) for it in texts]
    Crew(agents=[own], tasks=tasks).kickoff()
    assert is_told(provider)
    assert [turn.report.errors for turn in turns] == [(), ()]


@pytest.mark.parametrize("stream", [False, True])
def test_usage_is_observed_and_the_last_answer_archived(
    provider: Provider, tmp_path: Path, *, stream: bool
) -> None:
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        hooks = MemctxHooks(memory).register()
        answer = cases.agent(provider.url, stream=stream).kickoff(STEP)
        hooks.unregister()
        tokens = [request.tokens for request in provider.requests]
        stored = [segment.content for segment in memory.store.segments()]
        assert memory.counters.input_tokens == sum(tokens)
        assert memory.counters.output_tokens == 20 * len(tokens)
    assert answer.raw in stored
    assert [message["role"] for message in answer.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_calls_written_as_text_are_prepared(
    hooks: MemctxHooks, turns: list[memctx.Turn], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Model:
        def reply(self, asked: Asked, sent: str) -> Reply:
            del asked
            if "[log 1]" in sent:
                return Reply("Thought: I know.\nFinal Answer: fine")
            return Reply('Thought: I read.\nAction: read_log\nAction Input: {"n": 1}')

    del hooks
    with Provider(model=Model()) as provider:
        own = cases.agent(provider.url)
        monkeypatch.setattr(type(own.llm), "supports_function_calling", lambda _: False)
        answer = own.kickoff(STEP)
    assert provider.refused == []
    assert answer.raw == "fine"
    assert read_log(1).strip() in str(answer.messages)
    assert [turn.report.errors for turn in turns] == [(), ()]


@pytest.mark.usefixtures("hooks")
def test_calls_without_an_agent_are_sent_as_they_are(
    provider: Provider, turns: list[memctx.Turn]
) -> None:
    cases.model(provider.url).call(STATED)
    assert len(provider.requests) == 1
    assert turns == []


def test_unknown_message_steps_aside(hooks: MemctxHooks, turns: list[memctx.Turn]) -> None:
    """CrewAI refuses unknown roles itself before it calls hooks, so the call is made up."""
    context: Any = SimpleNamespace(
        executor=object(),
        messages=[{"role": "critic", "content": "Hm."}, {"role": "user", "content": QUESTION}],
        llm=None,
        agent=SimpleNamespace(role="Reader", id="a"),
        crew=None,
        response="Fine.",
    )
    given = list(context.messages)
    hooks.before_llm_call(context)
    assert context.messages == given
    hooks.after_llm_call(context)
    assert context.messages == given
    assert 'role is "critic"' in turns[0].report.errors[0]


@pytest.mark.usefixtures("hooks")
def test_error_of_the_provider_passes_through() -> None:
    with Provider() as provider:
        own = cases.agent(f"{provider.url}/nowhere")
        own.llm.base_url = provider.url
    with pytest.raises(Exception, match=r"(?i)connect"):
        own.kickoff(QUESTION)


@pytest.mark.usefixtures("hooks")
def test_pictures_survive(provider: Provider, turns: list[memctx.Turn]) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    said: Any = [
        {"role": "user", "content": [{"type": "text", "text": "Look."}, picture]},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": QUESTION},
    ]
    cases.agent(provider.url).kickoff(said)
    assert provider.refused == []
    assert turns[0].report.errors == ()
    assert "iVBORw0KGgo" in str(provider.requests[0].body)
