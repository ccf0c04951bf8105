"""The model of smolagents: sessions, usage, the agent's memory, and what it does not understand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("smolagents")

import smolagents
from smolagents import ChatMessage, CodeAgent, LogLevel, MessageRole, ToolCallingAgent
from smolagents.memory import ActionStep, TaskStep, Timing, ToolCall

import memctx
from memctx.bridge import session
from memctx.integrations.smolagents import MemctxModel
from providers.api import Asked, Reply
from providers.server import Provider

from .cases import smolagents as cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Image = pytest.importorskip("PIL.Image")

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


def agent(model: MemctxModel, *, stream: bool = False) -> Any:
    return ToolCallingAgent(
        [cases.read_log], model=model, stream_outputs=stream, verbosity_level=LogLevel.OFF
    )


def says(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": text}])


def is_told(provider: Provider) -> bool:
    return "8443" in str(provider.requests[-1].body)


def test_sessions_and_agents_are_kept_apart(provider: Provider, tmp_path: Path) -> None:
    def ask(text: str, name: str, agent_name: str | None = None) -> bool:
        own = cases.model(provider.url)
        model = MemctxModel(own, tmp_path, session_id=name, agent=agent_name, context_window=16_000)
        agent(model).run(text)
        model.close()
        return is_told(provider)

    ask(STATED, "alice")
    assert ask(QUESTION, "alice")
    assert not ask(QUESTION, "bob")
    assert not ask(QUESTION, "alice", "reviewer")


def test_session_block_names_the_conversation(provider: Provider, tmp_path: Path) -> None:
    model = MemctxModel(cases.model(provider.url), tmp_path, context_window=16_000)
    with session("alice"):
        agent(model).run(STATED)
    agent(model).run(QUESTION)
    assert not is_told(provider)
    with session("alice"):
        agent(model).run(QUESTION)
    assert is_told(provider)
    model.close()


@pytest.mark.parametrize("stream", [False, True])
def test_usage_is_observed_and_the_last_answer_archived(
    provider: Provider, tmp_path: Path, *, stream: bool
) -> None:
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        own = agent(MemctxModel(cases.model(provider.url), memory), stream=stream)
        answer = own.run("Step 1: read log 1 and say whether it is fine.")
        tokens = [request.tokens for request in provider.requests]
        stored = [segment.content for segment in memory.store.segments()]
        assert memory.counters.input_tokens == sum(tokens)
        assert memory.counters.output_tokens == 20 * len(tokens)
        own.run("Which log was it?", reset=False)
        again = [segment.content for segment in memory.store.segments()]
    assert answer in stored
    assert again.count(answer) == 1


def test_final_answer_by_a_call_is_archived_once(provider: Provider, tmp_path: Path) -> None:
    """Of a model that calls the tool itself, as most do."""

    class Model(smolagents.Model):
        def generate(self, messages: Any, **kwargs: Any) -> ChatMessage:
            del messages, kwargs
            call = {"name": "final_answer", "arguments": {"answer": STATED}}
            calls: Any = [{"id": "f1", "type": "function", "function": call}]
            return ChatMessage(role=MessageRole.ASSISTANT, tool_calls=calls)

    del provider
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        own = agent(MemctxModel(Model(), memory))
        assert not hasattr(own.model, "generate_stream")
        own.run("Where?")
        first = [segment.content for segment in memory.store.segments()]
        assert any(STATED in text for text in first)
        own.run("Is that so?", reset=False)
        later = [segment.content for segment in memory.store.segments()]
        assert set(first) <= set(later)
        assert len(later) == len(set(later))


def test_code_agents_are_prepared(tmp_path: Path) -> None:
    class Model:
        def reply(self, asked: Asked, sent: str) -> Reply:
            del asked
            port = "8443" if "8443" in sent else "unknown"
            return Reply(f"Thought: I know.\n<code>\nfinal_answer('{port}')\n</code>")

    with Provider(model=Model()) as provider:
        own = MemctxModel(
            cases.model(provider.url), tmp_path, session_id="a", context_window=16_000
        )
        code = CodeAgent([], model=own, verbosity_level=LogLevel.OFF)
        code.run(STATED)
        assert str(code.run(QUESTION)) == "8443"
        own.close()
    assert provider.refused == []


def test_unknown_role_steps_aside(provider: Provider, tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    model = MemctxModel(
        cases.model(provider.url), tmp_path, context_window=16_000, on_turn=turns.append
    )
    strange: Any = [ChatMessage(role="critic", content="Which port?")]  # type: ignore[arg-type, unused-ignore]
    with pytest.raises(ValueError, match="Incorrect role critic"):
        model(strange)
    model.close()
    assert "MessageFormatError" in turns[0].report.errors[0]


def test_plain_dictionaries_are_understood(provider: Provider, tmp_path: Path) -> None:
    """Recalled text is joined with a question that is no list of blocks."""
    turns: list[memctx.Turn] = []
    model = MemctxModel(
        cases.model(provider.url), tmp_path, context_window=16_000, on_turn=turns.append
    )
    model([{"role": "user", "content": STATED}])
    asked = {"role": "user", "content": QUESTION}
    model([asked])
    model.close()
    assert [turn.report.errors for turn in turns] == [(), ()]
    assert is_told(provider)
    assert asked["content"] == QUESTION


def test_error_of_the_provider_passes_through(tmp_path: Path) -> None:
    with Provider(window=10) as provider:
        model = MemctxModel(cases.model(provider.url), tmp_path, context_window=16_000)
        with pytest.raises(Exception, match="maximum context length"):
            model([says(QUESTION * 10)])
        with pytest.raises(Exception, match="maximum context length"):
            list(model.generate_stream([says(QUESTION * 10)]))
        model.close()


def test_pictures_and_the_agents_steps_survive(provider: Provider, tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    model = MemctxModel(
        cases.model(provider.url), tmp_path, context_window=16_000, on_turn=turns.append
    )
    own = agent(model)
    picture = Image.new("RGB", (2, 2))
    step = ActionStep(1, Timing(0), tool_calls=[ToolCall("read_log", {"n": 1}, "c1")])
    step.observations, step.observations_images = "Log 1", [picture]
    own.memory.steps += [TaskStep("Look.", task_images=[picture]), step]
    own.run(QUESTION, reset=False)
    model.close()
    assert provider.refused == []
    assert turns[0].report.errors == ()
    assert str(provider.requests[-1].body).count("image_url") == 4
    assert own.memory.steps[1].observations_images == [picture]


def test_attributes_are_those_of_the_model(provider: Provider, tmp_path: Path) -> None:
    own = cases.model(provider.url)
    model = MemctxModel(own, tmp_path)
    assert model.model_id == "loopback"
    assert model.to_dict() == own.to_dict()
    assert model.supports_stop_parameter == own.supports_stop_parameter
