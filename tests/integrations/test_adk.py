"""The plugin and the memory service of Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.sessions.session import Session
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.load_memory_tool import load_memory_tool
from google.genai import types

import memctx
from memctx.integrations.adk import MemctxMemoryService, MemctxPlugin
from memctx.integrations.adk.views import ContentViews

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"
PICTURE = types.FunctionResponsePart(
    inline_data=types.FunctionResponseBlob(mime_type="image/png", data=b"png")
)


def said(text: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


def call(name: str, id: str | None = None, **arguments: Any) -> LlmResponse:
    made = types.FunctionCall(id=id, name=name, args=arguments)
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=made)]))


class Fake(BaseLlm):
    """A model with scripted answers, which keeps the contents of every request."""

    model: str = "fake"
    answers: list[Any]
    sent: list[list[Any]]

    async def generate_content_async(
        self, llm_request: Any, **options: Any
    ) -> AsyncIterator[LlmResponse]:
        del options
        self.sent.append(list(llm_request.contents))
        answer = (
            self.answers.pop(0) if self.answers else LlmResponse(content=said("Noted.", "model"))
        )
        if isinstance(answer, BaseException):
            raise answer
        for each in answer if isinstance(answer, list) else [answer]:
            yield each


def fake(*answers: Any) -> Fake:
    return Fake(answers=list(answers), sent=[])


def hold(
    agent: LlmAgent,
    plugins: list[BasePlugin],
    *texts: str,
    names: tuple[str, str] = ("u", "s"),
    service: Any = None,
    stream: bool = False,
) -> Session:
    """Hold a conversation in a new session, and return it; ``names`` are those of the user and the session."""

    async def run() -> Session:
        app = App(name="shop", root_agent=agent, plugins=plugins)
        runner = InMemoryRunner(app=app)
        runner.memory_service = service or runner.memory_service
        sessions = runner.session_service
        known: Any = {"user_id": names[0], "session_id": names[1]}
        await sessions.create_session(app_name="shop", **known)
        mode = StreamingMode.SSE if stream else StreamingMode.NONE
        for text in texts:
            async for _ in runner.run_async(
                **known, new_message=said(text), run_config=RunConfig(streaming_mode=mode)
            ):
                pass
        held = await sessions.get_session(app_name="shop", **known)
        assert held is not None
        await runner.close()
        return held

    return asyncio.run(run())


def test_users_sessions_and_agents_do_not_share_memory(tmp_path: Path) -> None:
    plugin = MemctxPlugin(tmp_path, context_window=16_000)
    hold(LlmAgent(name="a", model=fake()), [plugin], STATED)
    found = {}
    for agent, user, session in ("a", "u", "s"), ("a", "u", "t"), ("a", "v", "s"), ("b", "u", "s"):
        model = fake()
        hold(LlmAgent(name=agent, model=model), [plugin], QUESTION, names=(user, session))
        found[agent, user, session] = "8443" in str(model.sent)
    assert list(found.values()) == [True, False, False, False]
    with memctx.open(tmp_path, session_id="shop/u/s/b") as memory:
        stored = [segment.content for segment in memory.store.segments()]
    assert stored == [QUESTION]


def test_run_is_archived_once_and_in_order(tmp_path: Path) -> None:
    def read() -> str:
        """Read the log."""
        return "The log says that all workers are fine."

    answer = LlmResponse(content=said("All workers are fine, says the log.", "model"))
    model = fake(call("read"), answer, call("read"), answer)
    plugin = MemctxPlugin(tmp_path, context_window=16_000)
    hold(LlmAgent(name="a", model=model, tools=[read]), [plugin], "Read the log.", "And again?")
    with memctx.open(tmp_path, session_id="shop/u/s/a") as memory:
        first, _, result, *rest = [segment.content for segment in memory.store.segments()]
    assert (first, result) == ("Read the log.", read())
    assert rest == ["All workers are fine, says the log.", "And again?"]


def test_agents_that_are_tools_have_sessions_of_their_own(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    plugin = MemctxPlugin(tmp_path, context_window=16_000, on_turn=turns.append)
    helper = LlmAgent(name="helper", model=fake(), description="Helps.")
    model = fake(call("helper", request="Look it up."), LlmResponse(content=said("Done.", "model")))
    hold(LlmAgent(name="a", model=model, tools=[AgentTool(helper)]), [plugin], STATED)
    assert [turn.report.errors for turn in turns] == [(), (), ()]
    with memctx.open(tmp_path, session_id="shop/u/s/a") as memory:
        assert "Look it up." not in [segment.content for segment in memory.store.segments()]


@pytest.mark.parametrize("stream", [False, True])
def test_usage_is_counted_once_and_the_last_answer_archived(tmp_path: Path, stream: bool) -> None:  # noqa: FBT001
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1_234, candidates_token_count=5
    )
    whole = LlmResponse(content=said("The codename is quokka-77.", "model"), usage_metadata=usage)
    first = LlmResponse(content=said("The code", "model"), usage_metadata=usage, partial=True)
    model = fake([first, whole] if stream else whole)
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        agent = LlmAgent(name="a", model=model)
        hold(agent, [MemctxPlugin(memory)], "Pick a codename.", stream=stream)
        assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1_234, 5)
        stored = [segment.content for segment in memory.store.segments()]
    assert stored == ["Pick a codename.", "The codename is quokka-77."]


class Adding(BasePlugin):
    """Changes every request before memory sees it."""

    def __init__(self, *, content: object = None, interaction: str | None = None) -> None:
        super().__init__("adding")
        self._content = content
        self._interaction = interaction

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        del callback_context
        llm_request.contents += [self._content] if self._content is not None else []
        llm_request.previous_interaction_id = self._interaction


@pytest.mark.parametrize(
    ("adding", "reason"),
    [
        (Adding(content=said("Which port?", "critic")), "critic"),
        (Adding(interaction="i1"), "the provider keeps the conversation"),
    ],
    ids=["unknown role", "conversation of the provider"],
)
def test_memory_steps_aside(adding: Adding, reason: str, tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    plugin = MemctxPlugin(tmp_path, context_window=16_000, on_turn=turns.append)
    model = fake()
    hold(LlmAgent(name="a", model=model), [adding, plugin], QUESTION)
    assert reason in turns[0].report.errors[0]
    assert model.sent[0][0].parts[0].text == QUESTION
    assert len(model.sent[0]) == (1 if adding._content is None else 2)  # noqa: SLF001 - what was added


def test_failure_of_the_model_passes_through(tmp_path: Path) -> None:
    plugin = MemctxPlugin(tmp_path, context_window=16_000)
    model = fake(ConnectionError("the provider is away"))
    with pytest.raises(ConnectionError, match="the provider is away"):
        hold(LlmAgent(name="a", model=model), [plugin], "Hello.")
    plugin.sessions.close()


def test_canceled_call_ends_and_the_next_one_is_prepared(tmp_path: Path) -> None:
    class Waiting(Fake):
        """A model that never answers its first call."""

        async def generate_content_async(
            self, llm_request: Any, **options: Any
        ) -> AsyncIterator[LlmResponse]:
            if not started.is_set():
                started.set()
                await asyncio.sleep(60)
            async for answer in super().generate_content_async(llm_request, **options):
                yield answer

    async def cancel() -> None:
        runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=[plugin]))
        await runner.session_service.create_session(app_name="shop", user_id="u", session_id="s")

        async def ask() -> None:
            async for _ in runner.run_async(user_id="u", session_id="s", new_message=said(STATED)):
                pass

        task = asyncio.create_task(ask())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = asyncio.Event()
    model = Waiting(answers=[], sent=[])
    plugin = MemctxPlugin(tmp_path, context_window=16_000)
    agent = LlmAgent(name="a", model=model)
    asyncio.run(cancel())
    hold(agent, [plugin], QUESTION)
    assert "8443" in str(model.sent[-1])


def test_calls_without_ids_and_pictures_of_results_survive(tmp_path: Path) -> None:
    """Older models give their calls no ids, and ADK removes its own from requests."""

    def read(n: int) -> dict[str, Any]:
        """Read number n."""
        return {"text": f"{n} " * 700}

    turns: list[memctx.Turn] = []
    answers = [
        each
        for step in range(20)
        for each in (call("read", n=step), LlmResponse(content=said("Fine.", "model")))
    ]
    model = fake(*answers)

    class Pictures(BasePlugin):
        """Adds a picture to every result of a request."""

        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
            del callback_context
            for content in llm_request.contents:
                for part in content.parts:
                    if part.function_response:
                        part.function_response.parts = [PICTURE]

    plugin = MemctxPlugin(tmp_path, context_window=8_000, on_turn=turns.append)
    agent = LlmAgent(name="a", model=model, tools=[read])
    held = hold(agent, [Pictures("pictures"), plugin], *(f"Read {n}." for n in range(20)))
    assert not any(turn.report.errors for turn in turns)
    assert any(turn.report.trimmed for turn in turns)
    assert all(memctx.validate(sent, "gemini") == [] for sent in model.sent)
    parts = [part for sent in model.sent for content in sent for part in content.parts]
    calls = [part.function_call for part in parts if part.function_call]
    results = [part.function_response for part in parts if part.function_response]
    assert {made.id for made in calls} == {None}
    assert all(result.parts == [PICTURE] for result in results)
    events = [each for event in held.events for each in event.get_function_responses()]
    assert [each.response for each in events] == [read(n) for n in range(20)]


def test_contents_of_a_static_instruction_stay_in_front(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png"))
    static = types.Content(role="user", parts=[types.Part(text="Look at it."), picture])
    model = fake()
    agent = LlmAgent(name="a", model=model, static_instruction=static)
    plugin = MemctxPlugin(tmp_path, context_window=2_000, on_turn=turns.append)
    hold(agent, [plugin], *(f"{n} {'words ' * 300}" for n in range(12)))
    assert any(turn.report.trimmed for turn in turns)
    assert all(picture in sent[0].parts for sent in model.sent)


def test_views_keep_pictures_thoughts_and_calls() -> None:
    views = ContentViews()
    picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"png"))
    result = types.FunctionResponse(id="c1", name="read", response={"result": "Long."})
    user = types.Content(
        role="user",
        parts=[types.Part(function_response=result), types.Part(text="Look."), picture],
    )
    tool, seen = views.view(user)
    assert tool == {"role": "tool", "tool_call_id": "c1", "content": "Long."}
    added = {"type": "text", "text": "Recalled."}
    rebuilt = views.rebuild(
        user,
        [
            (tool, {**tool, "content": "L."}),
            (seen, {**seen, "content": [added, *seen["content"]]}),
        ],
    )
    assert rebuilt.parts is not None
    assert rebuilt.parts[0].function_response == result.model_copy(
        update={"response": {"result": "L."}}
    )
    assert rebuilt.parts[1:] == [types.Part(text="Recalled."), types.Part(text="Look."), picture]
    made = types.Part(function_call=types.FunctionCall(id="c1", name="read", args={"n": 1}))
    thought = types.Part(text="Hm.", thought=True, thought_signature=b"s")
    answer = types.Content(role="model", parts=[thought, made])
    [told] = views.view(answer)
    assert told["thinking_blocks"] == [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]
    assert told["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"n": 1}'}
    bare = {name: value for name, value in told.items() if name != "thinking_blocks"}
    assert views.rebuild(answer, [(told, bare)]).parts == [made]
    anonymous = types.Part(function_call=types.FunctionCall(name="read"))
    with pytest.raises(memctx.MessageFormatError, match="no id"):
        views.view(types.Content(role="model", parts=[anonymous]))


def searched(service: MemctxMemoryService, user: str = "u", app: str = "shop") -> list[MemoryEntry]:
    found = asyncio.run(service.search_memory(app_name=app, user_id=user, query=QUESTION))
    return found.memories


def test_memory_service_finds_what_the_user_said_in_other_sessions(tmp_path: Path) -> None:
    service = MemctxMemoryService(tmp_path)
    held = hold(LlmAgent(name="a", model=fake()), [], STATED, names=("u", "monday"))
    for _ in range(2):
        asyncio.run(service.add_session_to_memory(held))
    [entry, *_] = searched(service)
    assert entry.content == said(STATED)
    assert entry.author == "user"
    assert entry.timestamp is not None
    assert len(searched(service)) == len(
        {each.content.model_dump_json() for each in searched(service)}
    )
    assert searched(service, user="v") == searched(service, app="shop/u", user="") == []
    model = fake(call("load_memory", query=QUESTION))
    agent = LlmAgent(name="a", model=model, tools=[load_memory_tool])
    hold(agent, [], QUESTION, names=("u", "friday"), service=service)
    assert "8443" in str(model.sent[-1][-1].parts[0].function_response.response)
    service.close()


def test_memory_service_takes_events_and_memories(tmp_path: Path) -> None:
    service = MemctxMemoryService(tmp_path, limit=1)
    names: Any = {"app_name": "shop", "user_id": "u"}
    event = Event(author="a", content=said(STATED, "model"), timestamp=1_760_000_000)
    partial = Event(author="a", content=said("The payment webhook", "model"), partial=True)
    asyncio.run(service.add_events_to_memory(**names, events=[event, partial, Event(author="a")]))
    [found] = searched(service)
    assert (found.author, found.timestamp) == ("model", "2025-10-09T08:53:20+00:00")
    old = MemoryEntry(content=said("The search service runs in eu-west-9."), timestamp="2024-01-02")
    asyncio.run(service.add_memory(**names, memories=[old]))
    query = "Where does the search service run?"
    [found] = asyncio.run(service.search_memory(**names, query=query)).memories
    assert (found.content, found.timestamp) == (old.content, "2024-01-02T00:00:00+00:00")
    with pytest.raises(NotImplementedError):
        asyncio.run(service.delete_memory(**names, memory_id=found.id))
    service.close()


def test_damaged_store_fails_no_search(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    service = MemctxMemoryService(tmp_path / "store")
    held = Session(
        id="s", app_name="shop", user_id="u", events=[Event(author="user", content=said(STATED))]
    )
    asyncio.run(service.add_session_to_memory(held))
    assert searched(service) == []
