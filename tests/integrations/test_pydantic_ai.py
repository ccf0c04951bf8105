"""Pydantic AI: sessions, usage, parts of every kind, and failures."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import memctx

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    CompactionPart,
    FilePart,
    ImageUrl,
    InstructionDeltaPart,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage

from memctx.integrations.pydantic_ai import MemctxCapability
from memctx.integrations.pydantic_ai.views import PydanticViews

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

pytestmark = pytest.mark.integrations

PICTURE = BinaryContent(b"\x89PNG", media_type="image/png")
VIEWS = PydanticViews()


class Loopback:
    """A model in process that answers "Noted." and keeps what it was sent."""

    def __init__(self, reply: Callable[[list[Any]], ModelResponse] | None = None) -> None:
        self.sent: list[list[Any]] = []
        self._reply = reply
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    def _answer(self, messages: list[Any], info: object) -> ModelResponse:
        del info
        self.sent.append(messages)
        if self._reply is not None:
            return self._reply(messages)
        usage = RequestUsage(input_tokens=100, cache_read_tokens=90, output_tokens=7)
        return ModelResponse([TextPart("Noted.")], usage=usage)

    async def _stream(self, messages: list[Any], info: object) -> AsyncIterator[str]:
        del info
        self.sent.append(messages)
        yield "Noted."


def agent_of(
    loopback: Loopback, capability: MemctxCapability, name: str = "reader", **options: Any
) -> Agent[None, str]:
    return Agent(loopback.model, name=name, capabilities=[capability], **options)


def texts(capability: MemctxCapability, session: str) -> str:
    memory = capability.sessions.open(session)
    return "\n".join(segment.content for segment in memory.store.segments())


def test_each_conversation_and_agent_has_a_session(tmp_path: Path) -> None:
    capability = MemctxCapability(tmp_path, context_window=200_000)
    loopback = Loopback()
    reader, writer = (agent_of(loopback, capability, name) for name in ("reader", "writer"))
    reader.run_sync("The reader was told about port 8443.", conversation_id="c1")
    reader.run_sync("Another person said quokka-77 here.", conversation_id="c2")
    writer.run_sync("The writer was told about eu-west-9.", conversation_id="c1")
    assert "8443" in texts(capability, "c1/reader")
    assert "quokka-77" not in texts(capability, "c1/reader")
    assert "quokka-77" in texts(capability, "c2/reader")
    assert "8443" not in texts(capability, "c1/writer")
    assert "eu-west-9" in texts(capability, "c1/writer")
    capability.sessions.close()


def test_history_goes_on_in_its_conversation(tmp_path: Path) -> None:
    """Without any id, the one that Pydantic AI writes into the history names the session."""
    capability = MemctxCapability(tmp_path, context_window=200_000)
    agent = agent_of(Loopback(), capability)
    first = agent.run_sync("The first prompt of this conversation.")
    agent.run_sync("The second prompt of this conversation.", message_history=first.all_messages())
    session = f"{first.conversation_id}/reader"
    assert "first prompt" in texts(capability, session)
    assert "second prompt" in texts(capability, session)
    capability.sessions.close()


def test_usage_is_observed_with_its_turn(tmp_path: Path) -> None:
    capability = MemctxCapability(tmp_path, session_id="s", context_window=200_000)
    agent = agent_of(Loopback(), capability)
    agent.run_sync("Which port has the webhook?")
    counters = capability.sessions.open("s/reader").counters
    assert (counters.input_tokens, counters.output_tokens) == (100, 7)
    capability.sessions.close()


def test_usage_of_a_stream_is_observed_and_its_answer_archived(tmp_path: Path) -> None:
    capability = MemctxCapability(tmp_path, session_id="s", context_window=200_000)

    async def hold() -> None:
        agent = agent_of(Loopback(), capability)
        async with agent.run_stream("Which port has the payment webhook?") as streamed:
            assert await streamed.get_output() == "Noted."

    asyncio.run(hold())
    assert (capability.sessions.open("s/reader").counters.input_tokens or 0) > 0
    assert "payment webhook" in texts(capability, "s/reader")
    capability.sessions.close()


def test_runs_at_the_same_time_observe_their_own_turns(tmp_path: Path) -> None:
    capability = MemctxCapability(tmp_path, context_window=200_000)
    agent = agent_of(Loopback(), capability)

    async def hold() -> None:
        said = (agent.run(f"Prompt {n}", conversation_id=f"c{n}") for n in range(8))
        await asyncio.gather(*said)

    asyncio.run(hold())
    for n in range(8):
        assert capability.sessions.open(f"c{n}/reader").counters.input_tokens == 100
    capability.sessions.close()


@dataclass
class Strange:
    """A part that no version of Pydantic AI has."""

    content: str = "strange"
    part_kind: str = "strange"


def test_unknown_parts_are_sent_as_they_are(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    capability = MemctxCapability(
        tmp_path, session_id="s", context_window=200_000, on_turn=turns.append
    )
    loopback = Loopback()
    history = [ModelRequest([Strange()]), ModelResponse([TextPart("Fine.")])]
    agent_of(loopback, capability).run_sync("Go on.", message_history=history)
    assert "Strange" in turns[0].report.errors[0]
    assert loopback.sent[0][0].parts == [Strange()]
    assert len(loopback.sent[0]) == 3
    capability.sessions.close()


def test_errors_of_the_model_pass_through(tmp_path: Path) -> None:
    class OutOfOrderError(Exception):
        """A failure of the provider."""

    def fail(messages: list[Any]) -> ModelResponse:
        del messages
        raise OutOfOrderError

    capability = MemctxCapability(tmp_path, session_id="s", context_window=200_000)
    with pytest.raises(OutOfOrderError):
        agent_of(Loopback(fail), capability).run_sync("Which port has the webhook?")
    agent_of(Loopback(), capability).run_sync("And again: which port?")
    assert capability.sessions.open("s/reader").counters.input_tokens == 100
    capability.sessions.close()


def test_a_canceled_run_stays_canceled(tmp_path: Path) -> None:
    capability = MemctxCapability(tmp_path, session_id="s", context_window=200_000)

    async def hang(messages: list[Any], info: object) -> ModelResponse:
        del messages, info
        await asyncio.sleep(60)
        raise AssertionError

    async def hold() -> None:
        agent = Agent(FunctionModel(hang), name="reader", capabilities=[capability])
        await asyncio.wait_for(agent.run("Which port has the webhook?"), 0.5)

    with pytest.raises(TimeoutError):
        asyncio.run(hold())
    capability.sessions.close()


def test_a_huge_result_is_shortened_and_archived_whole(tmp_path: Path) -> None:
    capability = MemctxCapability(
        tmp_path, session_id="s", context_window=200_000, max_tool_chars=1_000
    )

    def reply(messages: list[Any]) -> ModelResponse:
        if isinstance(messages[-1].parts[0], ToolReturnPart):
            return ModelResponse([TextPart("Read.")])
        return ModelResponse([ToolCallPart("dump", {}, "c1"), ToolCallPart("number", {}, "c2")])

    def dump() -> str:
        """Dump."""
        return f"head {'x' * 5_000} tail"

    def number() -> int:
        """Return a number."""
        return 7

    loopback = Loopback(reply)
    agent = agent_of(loopback, capability, tools=[dump, number])
    agent.run_sync("Dump it.")
    long, short = loopback.sent[-1][-1].parts
    assert long.content.startswith("head")
    assert len(long.content) < 1_500
    assert short.content == 7
    assert "x" * 5_000 in texts(capability, "s/reader")
    capability.sessions.close()


def test_parts_of_every_kind_are_sent_as_the_same_objects(tmp_path: Path) -> None:
    delta = InstructionDeltaPart(id=None, content="From now on, be brief.")
    feedback = RetryFeedbackPart("No.", retry=RetryInfo(cause="model_retry"))
    messages: list[Any] = [
        ModelRequest([SystemPromptPart("You read logs."), UserPromptPart("Look at this.")]),
        ModelResponse(
            [
                ThinkingPart("Hm.", signature="s", provider_name="anthropic"),
                TextPart("I look."),
                ToolCallPart("shot", {"n": 1}, "c1"),
                ToolCallPart("shot", '{"n": 2}', "c2"),
            ]
        ),
        ModelRequest(
            [
                UserPromptPart(["Well?", TextContent("And?"), PICTURE, CachePoint()]),
                ToolReturnPart("shot", ["A picture:", PICTURE], "c1"),
                ToolReturnPart("shot", [{"loc": ("n",)}], "c2", outcome="retried"),
                delta,
            ]
        ),
        ModelResponse(
            [
                ThinkingPart("Hm.", id="rs_1", signature="x", provider_name="openai"),
                NativeToolCallPart("web_search", {"query": "port"}, "w1"),
                NativeToolReturnPart("web_search", [{"title": "Ports"}], "w1"),
                FilePart(PICTURE),
                CompactionPart("A summary."),
            ]
        ),
        ModelRequest([feedback]),
        ModelResponse([]),
        ModelRequest([], instructions="Go on."),
        ModelRequest([UserPromptPart([ImageUrl("https://example.org/a.png"), "Which port?"])]),
    ]
    with memctx.open(tmp_path, session_id="s", context_window=200_000) as memory:
        sent, turn = VIEWS.prepare(memory, messages)
    assert turn.report.errors == ()
    assert all(one is two for one, two in zip(sent, messages, strict=True))


def test_one_of_two_results_is_cut_and_keeps_its_picture(tmp_path: Path) -> None:
    message = ModelRequest(
        [
            ToolReturnPart("shot", ["head " + "x" * 5_000, PICTURE], "c1"),
            ToolReturnPart("shot", {"n": 1}, "c2"),
            UserPromptPart("Well?"),
        ]
    )
    with memctx.open(tmp_path, session_id="s", context_window=200_000) as memory:
        cut = VIEWS.truncate(memory, message, 1_000)
    first, second, third = cut.parts
    assert isinstance(first, ToolReturnPart)
    text, picture = first.content  # type: ignore[misc]
    assert text.startswith("head")
    assert len(text) < 1_500
    assert picture is PICTURE
    assert (second, third) == tuple(message.parts[1:])
    assert len(message.parts[0].content[0]) > 5_000  # type: ignore[index, union-attr]


def test_standing_parts_stay_when_the_rest_is_trimmed(tmp_path: Path) -> None:
    """Instructions that changed in the middle of the conversation, and a compaction, hold from their place on."""
    delta = InstructionDeltaPart(id=None, content="From now on, be brief.")
    messages: list[Any] = []
    with memctx.open(tmp_path, session_id="s", context_window=4_000) as memory:
        for step in range(30):
            parts = [UserPromptPart(f"Step {step}: {'read the log. ' * 60}")]
            messages.append(ModelRequest([delta, *parts] if step == 2 else parts))
            if step == 29:
                break
            VIEWS.prepare(memory, messages)
            answer = [TextPart(f"Done with step {step}. {'All is well. ' * 40}")]
            summary = [CompactionPart("Summary.")] if step == 3 else []
            messages.append(ModelResponse([*summary, *answer]))
        sent, turn = VIEWS.prepare(memory, messages)
    assert turn.report.trimmed
    kept = [part.part_kind for message in sent for part in message.parts]
    assert kept.count("instruction-delta") == 1
    assert kept.count("compaction") == 1
    assert len(kept) < 30
