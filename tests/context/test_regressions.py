"""Known failures of other memory tools, each as a test."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import memctx

from . import invariants, memories
from .pieces import blocks, has_thinking, pieces
from .rendering import Rendering
from .script import FORMATS, Assistant, Call, Result, Results, Thought, User

if TYPE_CHECKING:
    from pathlib import Path

    from .script import FormatName, Script, Step

in_all_formats = pytest.mark.parametrize("format", FORMATS)
FILLER = "The build went on and nothing of note happened there, said the log. " * 12
SIGNATURE = "c2lnbmVk"


def looped(
    count: int, *, thought: bool = False, ids: str = "toolu_{n}", end: str = "Which port?"
) -> Script:
    """Return a task, then so many loops of a call, its result and an answer, and a question."""
    steps: list[Step] = [User(("The task: make the payment webhook work.",))]
    thoughts = (Thought("Let me see.", SIGNATURE),) if thought else ()
    for number in range(count):
        call = Call(ids.format(n=number), "read", {"path": f"src/{number}.rs"})
        steps += [
            Assistant((), (call,), thoughts),
            Results((Result(call.id, call.name, f"{number}: {FILLER}"),)),
            Assistant((f"Read {number}.",), thoughts=thoughts),
            User((f"Go on with {number + 1}.",)),
        ]
    return (*steps[:-1], User((end,)))


@in_all_formats
def test_call_ids_repeated_in_every_answer_keep_their_pairs(
    format: FormatName, tmp_path: Path
) -> None:
    """Some providers count calls from 0 in every turn: a result belongs to the call right before it."""
    messages = Rendering(looped(20, ids="call_0"), format).whole()
    with memories.opened(tmp_path / "memory", 4_000) as memory:
        turn = memory.prepare(messages, format=format)
        assert turn.report.trimmed
        invariants.check_turn(messages, turn, memory, format)


@in_all_formats
def test_the_task_is_never_trimmed(format: FormatName, tmp_path: Path) -> None:
    messages = Rendering(looped(40), format).whole()
    with memories.opened(tmp_path / "memory", 4_000) as memory:
        turn = memory.prepare(messages, format=format)
        assert turn.report.trimmed
        assert "make the payment webhook work" in json.dumps(turn.messages)


@in_all_formats
def test_thinking_behind_an_edit_is_not_sent_on(format: FormatName, tmp_path: Path) -> None:
    """Signed thinking is bound to all before it: it goes with the first edit, and does not come back."""
    script = looped(20, thought=True)
    if format not in {"anthropic", "bedrock", "pi"}:
        pytest.skip("this provider does not bind thinking to what was before it")
    with memories.opened(tmp_path / "memory", 4_000) as memory:
        messages = Rendering(script, format).whole()
        assert sum(map(has_thinking, messages)) == 40
        sent = memory.prepare(messages, format=format).messages
        edited = next(n for n, (a, b) in enumerate(zip(sent, messages, strict=False)) if a is not b)
        assert not any(map(has_thinking, sent[edited:]))
        grown = [
            *messages,
            *Rendering((Assistant(("Port 8443.",)), User(("And?",))), format).whole(),
        ]
        assert sum(map(has_thinking, memory.prepare(grown, format=format).messages)) <= edited


def test_a_thought_that_is_still_bound_stays(tmp_path: Path) -> None:
    """Nothing was edited before it: taking it out would be an edit of ours."""
    messages = Rendering(looped(3, thought=True), "anthropic").whole()
    with memories.opened(tmp_path / "memory", 100_000) as memory:
        turn = memory.prepare(messages, format="anthropic")
        assert sum(map(has_thinking, turn.messages)) == 6


def test_reasoning_stays_with_the_item_after_it(tmp_path: Path) -> None:
    messages = Rendering(looped(20, thought=True), "responses").whole()
    with memories.opened(tmp_path / "memory", 4_000) as memory:
        turn = memory.prepare(messages, format="responses")
        assert turn.report.trimmed
        kinds = [item["type"] for item in turn.messages]
        assert "reasoning" in kinds
        assert kinds[-1] != "reasoning"
        invariants.check_turn(messages, turn, memory, "responses")


@in_all_formats
def test_no_trim_inside_a_tool_loop_that_still_fits(format: FormatName, tmp_path: Path) -> None:
    """The model is in the middle of something: only a window that would overflow is a reason to cut now."""
    script = (*looped(11)[:-1], User(("Read one more.",)))
    call = Call("toolu_last", "read", {})
    loop = (Assistant((), (call,)), Results((Result("toolu_last", "read", FILLER),)))
    messages = Rendering((*script, *loop), format).whole()
    tokens = memctx._core.MessageReader().read(messages, format).tokens  # noqa: SLF001
    window = int((tokens + 200) / 0.95)
    with memories.opened(tmp_path / "memory", window, trim={"reply_reserve_tokens": 0}) as memory:
        turn = memory.prepare(messages, format=format)
        assert turn.report.is_deferred
        assert not turn.report.trimmed
        ended = (*script, *loop, Assistant(("Done.",)), User(("Which port?",)))
        turn = memory.prepare(Rendering(ended, format).whole(), format=format)
        assert turn.report.trimmed


def test_recall_is_not_repeated_while_it_is_seen(tmp_path: Path) -> None:
    """One question, four calls of the model: the same request grows, and nothing recalled is recalled again."""
    with memories.opened(tmp_path / "memory", 40_000) as memory:
        memory.archive(memories.earlier(), format="pi")
        steps: list[Step] = [User(("Which port has the payment webhook?",))]
        sent: list[list[Any]] = []
        for number in range(4):
            sent.append(memory.prepare(Rendering(tuple(steps), "anthropic").whole()).messages)
            call = Call(f"toolu_{number}", "read", {})
            steps += [Assistant((), (call,)), Results((Result(call.id, "read", "nothing"),))]
        assert blocks(sent[0])
        for before, after in pairwise(sent):
            assert invariants.wire(after[: len(before)]) == invariants.wire(before)


def test_another_passage_of_a_long_message_is_recalled_too(tmp_path: Path) -> None:
    """The excerpt of a long message answered one question; the next one asks for another part."""
    long = " ".join(f"Crate {number} went to the colder cellar." for number in range(400))
    told = ("The payment webhook listens on port 8443.", "Ottoline approves the invoice exporter.")
    steps: list[Step] = []
    with memories.opened(tmp_path / "memory", 200_000) as memory:
        memory.archive([{"role": "user", "content": f"{told[0]} {long} {told[1]}"}])
        for question, answer, other in (
            ("Which port does the payment webhook listen on?", told[0], told[1]),
            ("Who approves the invoice exporter?", told[1], None),
            ("Which port does the payment webhook listen on, please?", told[0], None),
        ):
            steps.append(User((question,)))
            sent = blocks(memory.prepare(Rendering(tuple(steps), "anthropic").whole()).messages)
            assert sum(answer in block for block in sent) == 1
            assert not any((other or "nothing") in block for block in sent)
            steps.append(Assistant(("So it is.",)))


def test_recalled_text_is_not_archived_again(tmp_path: Path) -> None:
    """Recalled text that is stored and recalled again was most of what an audit of one memory found in it."""
    with memories.opened(tmp_path / "memory", 4_000) as memory:
        memory.archive(memories.earlier(), format="pi")
        messages: list[Any] = Rendering(looped(10), "anthropic").whole()
        sent: list[Any] = []
        for number in range(6):
            sent = memory.prepare(messages, format="anthropic").messages
            memory.archive(sent, format="anthropic")
            answer = (Assistant((f"{number} {FILLER}",)), User((f"Which port, {number}?",)))
            messages = [*sent, *Rendering(answer, "anthropic").whole()]
        contents = [segment.content for segment in memory.store.segments()]
        assert not any(text in content for text in blocks(sent) for content in contents)
        assert len(contents) == len(set(contents))


def test_two_characters_of_chinese_are_enough_to_recall(tmp_path: Path) -> None:
    """Indexes of three characters find nothing for most Chinese words."""
    with memories.opened(tmp_path / "memory", 40_000) as memory:
        memory.archive([{"role": "user", "content": "退款单的审批人换成了财务部的周敏。"}])
        turn = memory.prepare([{"role": "user", "content": "谁管退款？"}], format="openai")
        assert any("周敏" in text for text in blocks(turn.messages))


@in_all_formats
def test_invalid_messages_are_sent_repaired(format: FormatName, tmp_path: Path) -> None:
    """A call without result, in the middle: answered by a result that says so; real results are never dropped."""
    script = list(looped(4))
    place = next(n for n, step in enumerate(script) if isinstance(step, Results))
    broken = Rendering((*script[:place], *script[place + 1 :]), format).whole()
    with memories.opened(tmp_path / "memory", 40_000) as memory:
        turn = memory.prepare(broken, format=format)
        assert not turn.report.errors
        invariants.is_valid(turn, format)
        given = [piece for piece in pieces(broken) if piece[0] == "result"]
        sent = [piece for piece in pieces(turn.messages) if piece[0] == "result"]
        assert [piece for piece in sent if piece in given] == given


def test_two_compactions_by_the_host_are_followed(tmp_path: Path) -> None:
    """Messages kept by the first compaction may vanish with the second; the archive recalls them when asked."""
    with memories.opened(tmp_path / "memory", 6_000) as memory:
        first = looped(12)
        secret = User(("The staging port of the webhook is 8443, said Ingrid.",))
        messages = Rendering((*first[:9], secret, Assistant(("Noted.",)), *first[9:]), "pi").whole()
        memory.prepare(messages, format="pi")
        for number in range(2):
            memory.archive(messages, format="pi")
            summary = {
                "role": "compactionSummary",
                "summary": f"Summary {number}",
                "tokensBefore": 1,
            }
            messages = [summary, *messages[-3:]]
            turn = memory.prepare(messages, format="pi")
            assert any(message is summary for message in turn.messages)
        asked = Rendering((User(("Which staging port has the webhook?",)),), "pi").whole()
        turn = memory.prepare([*messages, answer(), *asked], format="pi")
        assert "8443, said Ingrid" in json.dumps(turn.messages)


def answer() -> dict[str, Any]:
    return Rendering((Assistant(("Yes.",)),), "pi").whole()[0]


@pytest.mark.parametrize("format", ["bedrock", "gemini"])
def test_answers_separated_only_by_a_recalled_block_are_merged(
    format: FormatName, tmp_path: Path
) -> None:
    """The host kept a block that an earlier turn had sent; without it two answers would follow each other."""
    field, model = ("content", "assistant") if format == "bedrock" else ("parts", "model")
    with memctx.open(
        tmp_path, session_id="s", context_window=50_000, recall={"min_score": 0.0}
    ) as memory:
        memory.archive(
            [{"role": "user", "content": "The webhook of the shop listens on port 3000"}]
        )
        asked = [{"role": "user", field: [{"text": "Which port has the webhook of the shop?"}]}]
        (block,) = blocks(memory.prepare(asked, format=format).messages)
        said = [(model, "One."), ("user", block), (model, "Two."), ("user", "Why?")]
        messages = asked + [{"role": role, field: [{"text": text}]} for role, text in said]
        turn = memory.prepare(messages, format=format)
    assert turn.report.errors == ()
    assert memctx.validate(turn.messages, format) == []
    assert [text["text"] for text in turn.messages[1][field]] == ["One.", "Two."]
