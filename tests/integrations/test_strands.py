"""The conversation manager of Strands: sessions, usage, state, and what it does not understand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("strands")

from strands import Agent, tool
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import ContextWindowOverflowException

import memctx
from memctx.integrations.strands import MemctxConversationManager
from providers.server import Provider

from .cases import strands as cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


def make(provider: Provider, manager: Any, name: str = "anthropic", **options: Any) -> Agent:
    return Agent(
        cases.model(name, provider.url),
        callback_handler=None,
        conversation_manager=manager,
        **options,
    )


def is_told(provider: Provider) -> bool:
    return "8443" in str(provider.requests[-1].body)


def test_sessions_and_agents_are_kept_apart(provider: Provider, tmp_path: Path) -> None:
    manager = MemctxConversationManager(tmp_path / "memory", context_window=16_000)

    def ask(session: str, text: str, agent_id: str = "main") -> None:
        stored = FileSessionManager(session, storage_dir=str(tmp_path / agent_id / text[:4]))
        make(provider, manager, session_manager=stored, agent_id=agent_id)(text)

    ask("alice", STATED)
    ask("alice", QUESTION)
    assert is_told(provider)
    ask("bob", QUESTION)
    assert not is_told(provider)
    ask("alice", QUESTION, "reviewer")
    assert not is_told(provider)
    manager.sessions.close()


def test_agents_without_a_session_do_not_see_each_other(provider: Provider, tmp_path: Path) -> None:
    manager = MemctxConversationManager(tmp_path, context_window=16_000)
    one, other = make(provider, manager), make(provider, manager)
    one(STATED)
    one.messages.clear()
    other(QUESTION)
    assert not is_told(provider)
    one(QUESTION)
    assert is_told(provider)
    manager.sessions.close()


@pytest.mark.parametrize("name", ["anthropic", "chat", "responses"])
def test_usage_is_observed_and_the_last_answer_archived(
    provider: Provider, tmp_path: Path, name: str
) -> None:
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        agent = make(provider, MemctxConversationManager(memory), name)
        agent("Hello there.")
        answer = str(agent("What did you read?"))
        tokens = [request.tokens for request in provider.requests]
        stored = [segment.content for segment in memory.store.segments()]
        assert memory.counters.input_tokens == sum(tokens)
        assert memory.counters.output_tokens == 20 * len(tokens)
        assert memory.counters.total_tokens == tokens[-1] + 20
    assert answer.strip() in stored


def test_unknown_message_steps_aside(provider: Provider, tmp_path: Path) -> None:
    """The provider refuses the role as well: it was sent as it is."""
    turns: list[memctx.Turn] = []
    manager = MemctxConversationManager(tmp_path, context_window=16_000, on_turn=turns.append)
    strange: Any = [{"role": "critic", "content": [{"text": "Which port?"}]}]
    agent = make(provider, manager, messages=strange)
    with pytest.raises(Exception, match='must use the "user" role'):
        agent(QUESTION)
    manager.sessions.close()
    assert provider.requests[0].body["messages"][0]["role"] == "critic"
    assert 'role is "critic"' in turns[0].report.errors[0]


def test_overflow_passes_through_and_nothing_is_removed(tmp_path: Path) -> None:
    manager = MemctxConversationManager(tmp_path, context_window=16_000)
    with Provider(window=10) as provider:
        agent = make(provider, manager)
        with pytest.raises(ContextWindowOverflowException):
            agent(QUESTION * 10)
    manager.sessions.close()
    assert len(agent.messages) == 1


def test_session_of_another_manager_is_restored_whole(provider: Provider, tmp_path: Path) -> None:
    def stored() -> FileSessionManager:
        return FileSessionManager("alice", storage_dir=str(tmp_path / "sessions"))

    make(provider, None, session_manager=stored())(STATED)
    manager = MemctxConversationManager(tmp_path / "memory", context_window=16_000)
    agent = make(provider, manager, session_manager=stored())
    agent(QUESTION)
    manager.sessions.close()
    assert STATED in str(agent.messages)
    assert is_told(provider)


def test_pictures_in_results_survive(provider: Provider, tmp_path: Path) -> None:
    picture = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}

    def look(n: int) -> dict[str, Any]:
        """Read log number n."""
        return {"status": "success", "content": [{"text": f"Log {n}"}, picture]}

    manager = MemctxConversationManager(tmp_path, context_window=16_000)
    agent = make(provider, manager, tools=[tool(name="read_log")(look)])
    agent("Step 1: read log 1 and say whether it is fine.")
    manager.sessions.close()
    assert provider.refused == []
    result = provider.requests[-1].body["messages"][-1]["content"][0]["content"]
    assert [part["type"] for part in result] == ["text", "image"]
    assert "PNG" in str(agent.messages)
