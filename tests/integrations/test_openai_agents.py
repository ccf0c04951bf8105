"""Memory of OpenAI's agents: sessions, handoffs, usage, conversations of the server, and the session that archives."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    AgentHooks,
    ModelResponse,
    ModelSettings,
    RunConfig,
    RunHooks,
    Runner,
    Session,
    SQLiteSession,
    Usage,
    function_tool,
)
from agents.run import CallModelData, ModelInputData
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

import memctx
from memctx.integrations.openai_agents import MemctxMemory, MemctxSession

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"
ANSWER = "That is now in the minutes of the project."
QUIET = RunConfig(tracing_disabled=True)


class Recorder(ScriptedModel):
    """A model with scripted answers, and then the same one."""

    async def _next_resolved_step(self, call: Any) -> ModelStep:
        if not self.remaining_steps:
            self.enqueue([assistant_message(ANSWER, item_id=f"msg_{len(self.calls)}")])
        return await super()._next_resolved_step(call)

    @property
    def sent(self) -> list[Any]:
        """The input of every call."""
        return [call.input for call in self.calls]


@function_tool  # type: ignore[untyped-decorator]
def read_log(n: int) -> str:
    """Read log number n."""
    return f"Log {n} is fine."


def talk(model: Any, *said: Any, name: str = "reader", **options: Any) -> list[Any]:
    """Hold a conversation, and return the results."""
    agent = Agent(name=name, model=model, tools=[read_log])

    async def hold() -> list[Any]:
        return [await Runner.run(agent, each, **options) for each in said]

    return asyncio.run(hold())


def stored(path: Path, session_id: str) -> list[str]:
    with memctx.open(path, session_id=session_id) as memory:
        return [segment.content for segment in memory.store.segments()]


def test_threads_and_agents_have_sessions_of_their_own(tmp_path: Path) -> None:
    model, memory = Recorder(), MemctxMemory(tmp_path, context_window=16_000)

    def fresh(name: str) -> Any:
        """Return arguments with a session that has forgotten everything."""
        return memory.options(session=SQLiteSession(name), run_config=QUIET)

    talk(model, STATED, **fresh("t1"))
    talk(model, QUESTION, **fresh("t1"))
    talk(model, QUESTION, **fresh("t2"))
    talk(model, QUESTION, name="other", **fresh("t1"))
    memory.sessions.close()
    assert ["8443" in str(sent) for sent in model.sent] == [True, True, False, False]
    assert stored(tmp_path, "t1/other") == [QUESTION, ANSWER]


def test_handoff_gives_the_other_agent_a_session_of_its_own(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    handing = [function_call("transfer_to_expert", {}, call_id="c1")]
    expert = Agent(name="expert", model=Recorder())
    triage = Agent(name="triage", model=Recorder([handing]), handoffs=[expert])
    memory = MemctxMemory(tmp_path, session_id="alice", context_window=16_000, on_turn=turns.append)
    asyncio.run(Runner.run(triage, STATED, **memory.options(run_config=QUIET)))
    memory.sessions.close()
    assert [turn.report.errors for turn in turns] == [(), ()]
    assert stored(tmp_path, "alice/triage")[0] == STATED
    assert stored(tmp_path, "alice/expert")[0] == STATED
    assert ANSWER in stored(tmp_path, "alice/expert")


def test_agent_as_a_tool_has_a_session_of_its_own(tmp_path: Path) -> None:
    inner = Agent(name="expert", model=Recorder([[assistant_message("It is 8443.")]]))
    ask = inner.as_tool("ask", "Ask the expert.")
    asking = [function_call("ask", {"input": QUESTION}, call_id="c1")]
    outer = Agent(name="triage", model=Recorder([asking]), tools=[ask])
    usage = Usage(requests=1, input_tokens=700, output_tokens=3, total_tokens=703)
    outer.model.set_default_usage(usage)  # type: ignore[union-attr]
    memory = MemctxMemory(tmp_path, session_id="alice", context_window=16_000)
    asyncio.run(
        Runner.run(outer, "Ask the expert about the webhook.", **memory.options(run_config=QUIET))
    )
    memory.sessions.close()
    assert QUESTION in stored(tmp_path, "alice/expert")
    assert "Ask the expert about the webhook." in stored(tmp_path, "alice/triage")
    assert QUESTION not in stored(tmp_path, "alice/triage")


@pytest.mark.parametrize("is_streamed", [False, True])
def test_usage_is_counted_with_its_turn_and_the_answer_archived(
    tmp_path: Path,
    is_streamed: bool,  # noqa: FBT001 - drawn from a table
) -> None:
    usage = Usage(requests=1, input_tokens=1_234, output_tokens=5, total_tokens=1_239)
    model = Recorder([[assistant_message("The codename is quokka-77.")]], default_usage=usage)
    agent = Agent(name="reader", model=model)
    with memctx.open(tmp_path, session_id="s", context_window=16_000) as memory:
        options = MemctxMemory(memory).options(run_config=QUIET)

        async def hold() -> None:
            if is_streamed:
                async for _ in Runner.run_streamed(agent, "Pick one.", **options).stream_events():
                    pass
            else:
                await Runner.run(agent, "Pick one.", **options)

        asyncio.run(hold())
        assert (memory.counters.input_tokens, memory.counters.output_tokens) == (1_234, 5)
        assert "The codename is quokka-77." in [each.content for each in memory.store.segments()]


def test_filter_and_hooks_of_the_user_run_too(tmp_path: Path) -> None:
    class Heard(RunHooks[Any]):
        """Keeps the names of events."""

        def __init__(self) -> None:
            self.events: list[str] = []

        async def on_tool_end(self, *given: Any) -> None:
            self.events.append(f"tool {given[-1]}")

        async def on_llm_end(self, *given: Any) -> None:
            del given
            self.events.append("answer")

    def shout(data: CallModelData[Any]) -> ModelInputData:
        return ModelInputData(data.model_data.input, "SHOUT")

    heard = Heard()
    model = Recorder([[function_call("read_log", {"n": 1}, call_id="c1")]])
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000)
    config = RunConfig(tracing_disabled=True, call_model_input_filter=shout, workflow_name="w")
    options = memory.options(run_config=config, hooks=heard)
    talk(model, "Read log 1.", **options)
    memory.sessions.close()
    assert heard.events == ["answer", "tool Log 1 is fine.", "answer"]
    assert {call.system_instructions for call in model.calls} == {"SHOUT"}
    assert config.call_model_input_filter is shout
    chosen = options["run_config"]
    assert isinstance(chosen, RunConfig)
    assert chosen.workflow_name == "w"


def test_hooks_of_an_agent_are_refused_by_the_sdk(tmp_path: Path) -> None:
    hooks: Any = AgentHooks()
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000)
    with pytest.raises(TypeError, match="AgentHooks"):
        talk(Recorder(), "Hello.", **memory.options(run_config=QUIET, hooks=hooks))


def test_runs_at_once_count_their_own_usage(tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path, context_window=16_000)

    async def hold(n: int) -> None:
        async def reply(call: Any) -> Any:
            del call
            await asyncio.sleep(0.2 - n / 50)
            return [assistant_message(ANSWER)]

        model = Recorder(
            [ModelStep.respond(reply)], default_usage=Usage(requests=1, input_tokens=1_000 + n)
        )
        options = memory.options(session=SQLiteSession(f"t{n}"), run_config=QUIET)
        await Runner.run(Agent(name="reader", model=model), STATED, **options)

    async def hold_all() -> None:
        await asyncio.gather(*map(hold, range(8)))

    asyncio.run(hold_all())
    counted = [memory.sessions.open(f"t{n}/reader").counters.input_tokens for n in range(8)]
    memory.sessions.close()
    assert counted == [1_000 + n for n in range(8)]


def test_run_that_waited_for_an_approval_goes_on(tmp_path: Path) -> None:
    @function_tool(needs_approval=True)  # type: ignore[untyped-decorator]
    def wipe() -> str:
        """Wipe the disk."""
        return "The disk has been wiped as you wanted."

    turns: list[memctx.Turn] = []
    memory = MemctxMemory(tmp_path, context_window=16_000, on_turn=turns.append)
    model = Recorder([[function_call("wipe", {}, call_id="c1")]])
    agent = Agent(name="reader", model=model, tools=[wipe])
    session = SQLiteSession("alice")

    async def hold() -> Any:
        options = memory.options(session=session, run_config=QUIET)
        waiting = await Runner.run(agent, "Wipe the disk, please.", **options)
        state = waiting.to_state()
        state.approve(waiting.interruptions[0])
        return await Runner.run(agent, state, **options)

    assert asyncio.run(hold()).final_output == ANSWER
    memory.sessions.close()
    assert [turn.report.errors for turn in turns] == [(), ()]
    assert "The disk has been wiped as you wanted." in stored(tmp_path, "alice/reader")


@pytest.mark.parametrize(
    "server",
    [
        {"conversation_id": "conv_1"},
        {"previous_response_id": "resp_1"},
        {"auto_previous_response_id": True},
    ],
    ids=lambda server: next(iter(server)),
)
@pytest.mark.parametrize("way", ["options", "filter"])
def test_conversation_that_the_server_keeps_is_sent_as_it_is(
    tmp_path: Path, server: dict[str, Any], way: str
) -> None:
    turns: list[memctx.Turn] = []
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000, on_turn=turns.append)
    model = Recorder([[function_call("read_log", {"n": 1}, call_id="c1")]])
    if way == "options":
        options: Any = memory.options(run_config=QUIET, **server)  # type: ignore[typeddict-item]
    else:
        config = RunConfig(tracing_disabled=True, call_model_input_filter=memory.filter)
        options = {"run_config": config, "hooks": memory.hooks, **server}
    talk(model, "Read log 1.", **options)
    memory.sessions.close()
    assert [call.conversation_id for call in model.calls] == [server.get("conversation_id")] * 2
    assert [item["type"] for item in model.sent[1]] == ["function_call_output"]
    assert "the server keeps the conversation" in turns[1].report.errors[0]
    if way == "options":
        assert "the server keeps the conversation" in turns[0].report.errors[0]
        assert not list(tmp_path.iterdir())


def test_conversation_without_an_id_is_sent_as_it_is(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    memory = MemctxMemory(tmp_path, context_window=16_000, on_turn=turns.append)
    model = Recorder()
    talk(model, QUESTION, **memory.options(run_config=QUIET))
    assert model.sent == [[{"content": QUESTION, "role": "user"}]]
    assert "expected session_id" in turns[0].report.errors[0]


def test_group_of_traces_is_the_thread_of_a_run_without_a_session(tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path, context_window=16_000)
    given: Any = {"tracing_disabled": True, "group_id": "chat-7"}
    talk(Recorder(), STATED, **memory.options(run_config=given))
    memory.sessions.close()
    assert stored(tmp_path, "chat-7/reader") == [STATED, ANSWER]


def test_unknown_class_of_items_steps_aside(tmp_path: Path) -> None:
    class Strange:
        """No item of any API."""

    turns: list[memctx.Turn] = []
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000, on_turn=turns.append)
    said: list[Any] = [{"role": "user", "content": QUESTION}, Strange()]
    data = CallModelData(ModelInputData(said, "Be brief."), Agent(name="reader"), None)
    sent = asyncio.run(memory.filter(data))
    memory.sessions.close()
    assert (sent.input, sent.instructions) == (said, "Be brief.")
    assert "Strange" in turns[0].report.errors[0]


def test_unknown_type_of_items_is_sent_as_it_is(tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000)
    strange: Any = {"type": "hologram", "beam": 7}
    model = Recorder()
    said = [{"role": "user", "content": QUESTION}, strange]
    talk(model, said, **memory.options(run_config=QUIET))
    memory.sessions.close()
    assert model.sent == [said]


def test_failure_of_the_model_passes_through(tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000)
    model = Recorder([ConnectionError("the provider is away")])
    with pytest.raises(ConnectionError, match="the provider is away"):
        talk(model, "Hello.", **memory.options(run_config=QUIET))
    memory.sessions.close()


def test_answer_that_memory_cannot_read_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(response: ModelResponse) -> Any:
        raise ValueError(f"cannot read {type(response).__name__}")

    monkeypatch.setattr(ModelResponse, "to_input_items", fail)
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000)
    [result] = talk(Recorder(), "Hello.", **memory.options(run_config=QUIET))
    memory.sessions.close()
    assert result.final_output == ANSWER
    assert "cannot read ModelResponse" in caplog.text


def test_canceled_run_ends_and_the_next_one_goes_on(tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000)

    async def stall(call: Any) -> Any:
        del call
        await asyncio.sleep(60)

    model = Recorder([ModelStep.respond(stall)])
    agent = Agent(name="reader", model=model)

    async def hold() -> Any:
        options = memory.options(run_config=QUIET)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Runner.run(agent, STATED, **options), 1)
        return await Runner.run(agent, QUESTION, **options)

    assert asyncio.run(hold()).final_output == ANSWER
    memory.sessions.close()
    assert "8443" in str(model.sent[-1])


def test_pictures_in_results_survive(tmp_path: Path) -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    text = {"type": "input_text", "text": "A chart."}
    result = {"type": "function_call_output", "call_id": "c1", "output": [text, picture]}
    said: list[Any] = [{"role": "user", "content": "Look."}, call, result]
    memory = MemctxMemory(tmp_path, session_id="s", context_window=16_000)
    model = Recorder()
    talk(model, said, **memory.options(run_config=QUIET))
    memory.sessions.close()
    assert model.sent == [said]


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_session_archives_what_is_added(
    tmp_path: Path,
    is_wrapped: bool,  # noqa: FBT001 - drawn from a table
) -> None:
    inner = SQLiteSession("alice") if is_wrapped else None
    session = MemctxSession(tmp_path, session_id="alice", session=inner)
    assert isinstance(session, Session)
    model = Recorder([[function_call("read_log", {"n": 1}, call_id="c1")]])
    talk(model, STATED, QUESTION, session=session, run_config=QUIET)
    items = asyncio.run(session.get_items())
    assert model.sent[-1] == items[:-1]
    assert len(asyncio.run(session.get_items(2))) == 2
    assert asyncio.run(session.pop_item()) == items[-1]
    session.sessions.close()
    assert not hasattr(session, "run_compaction")
    found = stored(tmp_path, "alice")
    assert found[0] == STATED
    assert {QUESTION, ANSWER} < set(found)
    if not is_wrapped:
        again = MemctxSession(tmp_path, session_id="alice")
        assert asyncio.run(again.get_items()) == items[:-1]
        assert asyncio.run(MemctxSession(tmp_path, session_id="bob").get_items()) == []
        asyncio.run(again.clear_session())
        assert asyncio.run(again.get_items()) == []
        assert (tmp_path / "openai_agents.sqlite3").stat().st_mode & 0o077 == 0
        again.sessions.close()
    assert STATED in stored(tmp_path, "alice")


def test_run_with_memory_archives_once_although_its_session_archives(tmp_path: Path) -> None:
    session = MemctxSession(tmp_path, session_id="alice")
    memory = MemctxMemory(tmp_path, context_window=16_000)
    talk(Recorder(), STATED, **memory.options(session=session, run_config=QUIET))
    items = asyncio.run(session.get_items())
    memory.sessions.close()
    session.sessions.close()
    assert STATED in json.dumps(items)
    assert stored(tmp_path, "alice") == []
    assert stored(tmp_path, "alice/reader") == [STATED, ANSWER]


def test_session_that_cannot_archive_keeps_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("no folder")
    session = MemctxSession(tmp_path / "memory", session=SQLiteSession("alice"))
    talk(Recorder(), STATED, session=session, run_config=QUIET)
    assert len(asyncio.run(session.get_items())) == 2


def test_settings_of_the_model_stay_as_they_are(tmp_path: Path) -> None:
    model, memory = Recorder(), MemctxMemory(tmp_path, session_id="s", context_window=16_000)
    config = RunConfig(tracing_disabled=True, model_settings=ModelSettings(temperature=0.5))
    talk(model, STATED, **memory.options(run_config=config, max_turns=3))
    memory.sessions.close()
    assert model.calls[0].model_settings.temperature == 0.5
