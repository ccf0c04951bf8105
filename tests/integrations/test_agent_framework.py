"""The chat middleware and the context provider of Microsoft Agent Framework."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
)

import memctx
from memctx.integrations.agent_framework import MemctxContextProvider, MemctxMiddleware
from memctx.integrations.agent_framework.views import MessageViews

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"
PICTURE = Content.from_uri("data:image/png;base64,AAAA", media_type="image/png")
USAGE: Any = {"input_token_count": 1_234, "output_token_count": 5, "total_token_count": 1_239}


class Fake(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """A client with scripted answers, which keeps the messages of every request."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.answers = list(answers)
        self.sent: list[list[Message]] = []
        self.usage = USAGE
        self.started = asyncio.Event()

    def _inner_get_response(self, *, messages: Any, stream: bool, **options: Any) -> Any:
        del options
        self.sent.append(list(messages))
        answer = self.answers.pop(0) if self.answers else Content.from_text("Noted.")

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(contents=[answer], role="assistant")
            yield ChatResponseUpdate(contents=[Content.from_usage(self.usage)], role="assistant")

        async def whole() -> ChatResponse[Any]:
            self.started.set()
            if isinstance(answer, Exception):
                raise answer
            if answer is None:
                await asyncio.sleep(60)
            return ChatResponse(messages=[Message("assistant", [answer])], usage_details=self.usage)

        if stream:
            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)
        return whole()


def call(id: str, **arguments: Any) -> Content:
    return Content.from_function_call(id, "read", arguments=arguments)


def hold(agent: Agent[Any], *texts: str, session: AgentSession | None = None) -> None:
    async def run() -> None:
        for text in texts:
            await agent.run(text, session=session or agent.create_session())

    asyncio.run(run())


def test_sessions_and_agents_do_not_share_memory(tmp_path: Path) -> None:
    def ask(session: str, name: str | None, text: str) -> str:
        client = Fake()
        middleware = MemctxMiddleware(tmp_path, context_window=16_000, agent_name=name)
        hold(Agent(client, middleware=[middleware]), text, session=AgentSession(session_id=session))
        middleware.sessions.close()
        return " ".join(message.text for message in client.sent[-1])

    ask("s", "a", STATED)
    found = ["8443" in ask(*names, QUESTION) for names in (("s", "a"), ("t", "a"), ("s", "b"))]
    assert found == [True, False, False]
    with memctx.open(tmp_path, session_id="s/b") as memory:
        assert [segment.content for segment in memory.store.segments()] == [QUESTION]


@pytest.mark.parametrize("stream", [False, True])
def test_usage_is_counted_and_the_last_answer_archived(tmp_path: Path, stream: bool) -> None:  # noqa: FBT001
    client = Fake(Content.from_text("The codename is quokka-77."))

    async def run(agent: Agent[Any]) -> None:
        if stream:
            async for _ in agent.run("Pick a codename.", stream=True):
                pass
        else:
            await agent.run("Pick a codename.")

    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        asyncio.run(run(Agent(client, middleware=[MemctxMiddleware(memory)])))
        assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1_234, 5)
        stored = [segment.content for segment in memory.store.segments()]
    assert stored == ["Pick a codename.", "The codename is quokka-77."]


def test_usage_of_anthropic_includes_cached_tokens(tmp_path: Path) -> None:
    client = Fake()
    client.usage = {"input_token_count": 34, "cache_read_input_token_count": 1_200}
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        hold(Agent(client, middleware=[MemctxMiddleware(memory)]), "Hello there, how are you?")
        assert memory.counters.input_tokens == 1_234


@pytest.mark.parametrize(
    ("messages", "options", "reason"),
    [
        ([Message("critic", ["Which port?"])], {}, "critic"),
        ([Message("tool", ["Which port?"])], {}, "tool"),
        ([Message("user", ["Which port?"])], {"conversation_id": "c1"}, "end of the conversation"),
        ([Message("user", ["Which port?"])], {}, "expected session_id"),
    ],
    ids=["unknown role", "tool without results", "conversation of the provider", "no session"],
)
def test_memory_steps_aside(
    messages: list[Message], options: Any, reason: str, tmp_path: Path
) -> None:
    turns: list[memctx.Turn] = []
    client = Fake()
    given: Any = {} if reason == "expected session_id" else {"session_id": "s"}
    middleware = MemctxMiddleware(tmp_path, context_window=16_000, on_turn=turns.append, **given)
    response: Any = asyncio.run(
        client.get_response(messages, options=options, client_kwargs={"middleware": [middleware]})
    )
    assert response.text == "Noted."
    assert reason in turns[0].report.errors[0]
    assert [message.to_dict() for message in client.sent[0]] == [m.to_dict() for m in messages]


def test_failure_and_cancellation_of_a_call_pass_through(tmp_path: Path) -> None:
    client = Fake(ConnectionError("the provider is away"), None)
    middleware = MemctxMiddleware(tmp_path, session_id="s", context_window=16_000)
    agent = Agent(client, middleware=[middleware])
    with pytest.raises(ConnectionError, match="the provider is away"):
        hold(agent, "Hello.")

    async def cancel() -> None:
        client.started.clear()
        task = asyncio.ensure_future(agent.run(STATED))
        await client.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    hold(agent, QUESTION)
    middleware.sessions.close()
    assert "8443" in " ".join(message.text for message in client.sent[-1])


def test_history_stays_and_pictures_of_results_survive(tmp_path: Path) -> None:
    def read(n: int) -> list[Content]:
        """Read number n."""
        return [Content.from_text(f"{n} " * 1_200), PICTURE]

    turns: list[memctx.Turn] = []
    answers = [
        each
        for step in range(20)
        for each in (call(f"c{step}", n=step), Content.from_text("It is fine."))
    ]
    client, session = Fake(*answers), AgentSession(session_id="s")
    middleware = MemctxMiddleware(tmp_path, context_window=12_000, on_turn=turns.append)
    history = InMemoryHistoryProvider()
    agent = Agent(client, tools=[read], middleware=[middleware], context_providers=[history])
    hold(agent, *(f"Read {n}." for n in range(20)), session=session)
    middleware.sessions.close()
    assert not any(turn.report.errors for turn in turns)
    assert any(turn.report.trimmed for turn in turns)
    results = [
        content
        for sent in client.sent
        for message in sent
        for content in message.contents
        if content.type == "function_result"
    ]
    assert all(result.items[-1].uri == PICTURE.uri for result in results if result.items)
    kept = [
        content
        for message in session.state["in_memory"]["messages"]
        for content in message.contents
        if content.type == "function_result"
    ]
    assert [each.items[0].text for each in kept] == [read(n)[0].text for n in range(20)]


def test_views_keep_pictures_reasoning_and_calls() -> None:
    views = MessageViews()
    user = Message("user", [Content.from_text("Look."), PICTURE], author_name="alice")
    [seen] = views.view(user)
    assert seen["content"][1]["image_url"] == {"url": PICTURE.uri}
    added = {"type": "text", "text": "Recalled."}
    rebuilt = views.rebuild(user, [(seen, {**seen, "content": [added, *seen["content"]]})])
    assert [each.text for each in rebuilt.contents[:2]] == ["Recalled.", "Look."]
    assert rebuilt.contents[2] is PICTURE
    assert rebuilt.author_name == "alice"
    results = Message(
        "tool",
        [
            Content.from_function_result("c1", result=[Content.from_text("Long."), PICTURE]),
            Content.from_function_result("c2", result="Short."),
        ],
    )
    first, second = views.view(results)
    cut = {**first, "content": [{"type": "text", "text": "L."}, first["content"][1]]}
    shorter = views.rebuild(results, [(first, cut), (second, second)])
    assert shorter.contents[0].result == "L."
    assert shorter.contents[0].items[1] is PICTURE
    assert shorter.contents[1] is results.contents[1]
    assert results.contents[0].result == "Long."
    bound = Content.from_text_reasoning(text="Hm.", protected_data="s")
    item = Content.from_text_reasoning(id="rs_1", text="", protected_data="s")
    answer = Message("assistant", [bound, item, call("c1", n=1)])
    [told] = views.view(answer)
    assert told["thinking_blocks"] == [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]
    assert told["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"n": 1}'}
    bare = {name: value for name, value in told.items() if name != "thinking_blocks"}
    assert views.rebuild(answer, [(told, bare)]).contents == answer.contents[1:]
    with pytest.raises(memctx.MessageFormatError, match="nothing but reasoning"):
        views.view(Message("assistant", [item]))


def test_context_provider_recalls_what_is_not_in_the_history(tmp_path: Path) -> None:
    def read() -> str:
        """Read the log."""
        return "All workers are fine."

    provider = MemctxContextProvider(tmp_path)
    client = Fake()
    agents = [Agent(client, name=name, context_providers=[provider], tools=[read]) for name in "ab"]
    session = AgentSession(session_id="s")
    hold(agents[0], STATED, QUESTION, session=session)
    assert sum("8443" in message.text for message in client.sent[-1]) == 1
    client.answers.append(call("c1"))
    hold(agents[0], QUESTION, session=AgentSession(session_id="s"))
    for sent in client.sent[-2:]:
        assert "8443" in sent[0].text
        assert sent[1].text == QUESTION
    hold(agents[0], QUESTION, session=AgentSession(session_id="t"))
    hold(agents[1], QUESTION, session=AgentSession(session_id="s"))
    assert [[message.text for message in sent] for sent in client.sent[-2:]] == [[QUESTION]] * 2
    provider.sessions.close()
    with memctx.open(tmp_path, session_id="s/a") as memory:
        stored = [segment.content for segment in memory.store.segments()]
    assert len(stored) == len(set(stored))
    assert stored[:2] == [STATED, QUESTION]
    assert "All workers are fine." in stored


@pytest.mark.parametrize("kind", [MemctxMiddleware, MemctxContextProvider])
def test_history_that_is_loaded_for_each_call_is_not_damaged(kind: Any, tmp_path: Path) -> None:
    """The middleware of the history comes later, and the request of a tool's result has nothing else."""

    def read(n: int) -> str:
        """Read number n."""
        return f"Log {n} says that the payment webhook is fine."

    fine = Content.from_text("It is fine.")
    client = Fake(call("c1", n=1), fine, call("c2", n=2), fine)
    memory = kind(tmp_path, context_window=16_000)
    is_provider = kind is MemctxContextProvider
    agent = Agent(
        client,
        tools=[read],
        middleware=[] if is_provider else [memory],
        context_providers=[InMemoryHistoryProvider(), *([memory] if is_provider else [])],
        require_per_service_call_history_persistence=True,
    )
    first, second = AgentSession(session_id="s"), AgentSession(session_id="s")
    hold(agent, STATED, session=first)
    hold(agent, QUESTION, session=second)
    memory.sessions.close()
    roles = [[message.role for message in sent] for sent in client.sent]
    assert roles[1] == roles[3] == ["user", "assistant", "tool"]
    assert roles[2] == ["user", "user"]
    assert "8443" in client.sent[2][0].text
    kept = second.state["in_memory"]["messages"]
    assert [message.role for message in kept] == ["user", "assistant", "tool", "assistant"]


def test_damaged_store_fails_no_run(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    client = Fake()
    provider = MemctxContextProvider(tmp_path / "store")
    hold(Agent(client, context_providers=[provider]), QUESTION)
    assert [message.text for message in client.sent[0]] == [QUESTION]
