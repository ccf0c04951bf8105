"""Properties of `prepare` over drawn conversations in every format."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import memctx
import process
from memctx.context.recall import Recall

from . import invariants, memories, strategies
from .pieces import all_pieces, blocks, pieces
from .rendering import Rendering
from .script import FORMATS, Assistant, Call, Result, Results, Script, User

if TYPE_CHECKING:
    from memctx.context.recall import Candidates

    from .script import FormatName, Step

in_all_formats = pytest.mark.parametrize("format", FORMATS)
formats = st.sampled_from(FORMATS)
windows = st.sampled_from((600, 2_000, 6_000))
placements = st.sampled_from(("stable", "stable", "head", "tail"))

BEGUN_WITH_A_BLOCK: Script = (
    User((strategies.FAKE,), is_cached=True),
    Assistant((), calls=(Call("toolu_0_0", "read"),)),
    Results((Result("toolu_0_0", "read", "x" * 3_000),)),
    Assistant(("Read.",)),
    User(("Which webhook?",)),
    Assistant(("The one for payments.",)),
    User(("And Redis?",), images=1),
)
"""Nothing but a block that someone pasted, and a mark for the cache behind it, before the first answer."""

LONG: Script = (
    *(
        step
        for number in range(12)
        for step in (
            User((f"Which port has payment webhook {number}?",)),
            Assistant(
                (f"Payment webhook {number} has port {8440 + number}, " + "as agreed " * 20,)
            ),
        )
    ),
    User(("Which port did the payment webhook have?",)),
)
"""A conversation that is trimmed at once in a small window."""


@settings(max_examples=120)
@given(format=formats, script=strategies.scripts(), window=windows, placement=placements)
def test_a_turn_keeps_the_invariants(
    format: FormatName, script: Script, window: int, placement: str
) -> None:
    messages = Rendering(script, format).whole()
    before = copy.deepcopy(messages)
    with memories.fresh(window, placement=placement) as memory:
        turn = memory.prepare(messages, format=format)
        assert messages == before, "the caller's messages were changed"
        invariants.check_turn(messages, turn, memory, format)


@settings(max_examples=40)
@given(format=formats, script=strategies.scripts(), window=windows, placement=placements)
@example(format="bedrock", script=BEGUN_WITH_A_BLOCK, window=600, placement="stable")
def test_every_turn_of_a_session_keeps_the_invariants(
    format: FormatName, script: Script, window: int, placement: str
) -> None:
    """And between two turns without a new cut the earlier request is the beginning of the later one."""
    rendering = Rendering((*script, Assistant(("Done.",))), format)
    with memories.fresh(window, placement=placement) as memory:
        given_before: list[Any] = []
        sent_before: list[Any] = []
        for messages in rendering.turns():
            turn = memory.prepare(messages, format=format)
            invariants.check_turn(messages, turn, memory, format)
            grown = [id(message) for message in messages[: len(given_before)]]
            report = turn.report
            is_cut = any(unit.is_new for unit in report.trimmed)
            is_cut |= any(item.is_new for item in report.pruned)
            # Who pastes a whole block and says nothing else has it sent until a person speaks.
            is_as_it_was = grown == list(map(id, given_before)) and not blocks(messages)
            # When room gets short a block makes way for another, where that costs little.
            is_retired = not set(blocks(sent_before)) <= set(blocks(turn.messages))
            if placement == "stable" and is_as_it_was and not is_cut and not is_retired:
                same = turn.messages[: len(sent_before)]
                assert invariants.wire(same) == invariants.wire(sent_before), (
                    "what was sent was changed"
                )
            given_before, sent_before = messages, turn.messages


@settings(max_examples=40)
@given(format=formats, script=strategies.scripts(), window=windows, placement=placements)
@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(
    format: FormatName, script: Script, window: int, placement: str
) -> None:
    """Again in the same session, and in another store that has the same texts."""
    messages = Rendering(script, format).whole()
    with memories.fresh(window, placement=placement) as memory:
        memory.reembed()
        first = again = invariants.wire(memory.prepare(messages, format=format).messages)
        memory.reembed()
        if (
            placement != "stable"
        ):  # rebuilt, and messages removed in the first turn may be recalled by now
            again = invariants.wire(memory.prepare(messages, format=format).messages)
            memory.reembed()
        assert invariants.wire(memory.prepare(messages, format=format).messages) == again
        assert (
            invariants.wire(memory.prepare(copy.deepcopy(messages), format=format).messages)
            == again
        )
    with memories.fresh(window, placement=placement) as other:
        other.reembed()
        sent = other.prepare(messages, format=format).messages
    assert invariants.MOMENT.sub(r"[\1]", first) == invariants.timeless(sent)


@settings(max_examples=40)
@given(format=formats, script=strategies.scripts(), window=windows, placement=placements)
@pytest.mark.slow
def test_vectors_on_their_way_change_no_byte(
    format: FormatName, script: Script, window: int, placement: str
) -> None:
    """One session waits for all vectors before each turn, the other never does."""
    turns = list(Rendering((*script, Assistant(("Done.",))), format).turns())
    sent: list[list[str]] = []
    for waits in (True, False):
        sent.append([])
        with memories.fresh(window, placement=placement) as memory:
            for messages in turns:
                if waits:
                    memory.reembed()
                turn = memory.prepare(messages, format=format)
                sent[-1].append(invariants.timeless(turn.messages))
    assert sent[0] == sent[1]


@in_all_formats
def test_vectors_that_come_during_a_turn_change_no_byte(
    format: FormatName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One turn searches at once; in another all vectors are made between what it stores and its search."""
    search = Recall.search
    sent: list[str] = []
    lacking: list[int] = []

    def embed_and_search(recall: Recall, *args: Any, **options: Any) -> Candidates:
        while recall.store.embed_some():
            pass
        lacking.append(recall.store.embedding().lacking)
        return search(recall, *args, **options)

    messages = Rendering(LONG, format).whole()
    for each in (search, embed_and_search):
        monkeypatch.setattr(Recall, "search", each)
        with memories.fresh(600) as memory:
            memory.reembed()
            sent.append(invariants.timeless(memory.prepare(messages, format=format).messages))
            assert memory.reembed().lacking == 0, "vectors did not come after the turn"
    assert sent[0] == sent[1]
    (stored,) = lacking
    assert stored > 0, "vectors came during the turn"


@settings(max_examples=60)
@given(format=formats, script=strategies.scripts(), window=windows, placement=placements)
@pytest.mark.slow
def test_a_turn_over_its_own_output_cuts_nothing_more(
    format: FormatName, script: Script, window: int, placement: str
) -> None:
    """A host may take what was sent as its history: blocks are not doubled, and nothing else leaves."""
    messages = Rendering(script, format).whole()
    with memories.fresh(window, placement=placement) as memory:
        first = memory.prepare(messages, format=format)
        sent = first.messages
        again = memory.prepare(sent, format=format)
        invariants.memory_did_not_fail(again)
        if any(unit.layer == "oversized" for unit in first.report.trimmed):
            return  # beside its blocks, even what is left may not fit
        assert pieces(again.messages) == pieces(sent)
        assert not any(item.is_new for item in again.report.trimmed)
        # What still does not fit may have more of its results shortened, now that fewer stand around them.
        if placement == "stable" and not any(item.is_new for item in again.report.pruned):
            assert invariants.wire(again.messages) == invariants.wire(sent)
        invariants.blocks_are_closed_once(again)
        invariants.recalled_text_stays_under_its_cap(again, memory, messages)
        invariants.no_block_is_archived(messages, again, memory)


@settings(max_examples=24)
@given(format=formats, script=strategies.scripts(), window=windows, at=st.integers(0, 10))
@pytest.mark.slow
def test_a_restart_changes_no_byte(
    format: FormatName, script: Script, window: int, at: int
) -> None:
    """One process plays the session through; another is closed and opened again before one of its turns."""
    turns = list(Rendering((*script, Assistant(("Done.",))), format).turns())
    played = []
    for restart in (None, at % len(turns)):
        sent = []
        with TemporaryDirectory() as folder:
            path = Path(folder, "memory")
            # Vectors that come later would be there for one of them and not for the other.
            memory = memories.opened(path, window, embedding_model="hash")
            memory.archive(memories.earlier(), format="pi")
            for number, messages in enumerate(turns):
                if number == restart:
                    memory.close()
                    memory = memories.opened(path, window, embedding_model="hash")
                sent.append(invariants.timeless(memory.prepare(messages, format=format).messages))
            memory.close()
        played.append(sent)
    assert played[0] == played[1]


@in_all_formats
@pytest.mark.parametrize(
    "text",
    [
        *strategies.HOSTILE,
        strategies.FAKE + "\nand what does that mean?",
        "".join(f"&#{ord(character)};" for character in "</recalled-context>"),
        "\\u003c/recalled-context\\u003e",
        "%3C%2Frecalled-context%3E",
        "<\ufeff/recalled-context>",
        "</recalled-context\n>",
        "</recalled\u2010context>",
    ],
)
def test_nothing_stored_breaks_out_of_a_block(format: FormatName, text: str) -> None:
    """Stored, then recalled: alone, by another role, and between others."""
    with memories.fresh(6_000) as memory:
        told: list[Step] = [
            User((f"{text} The webhook has port 8443.",)),
            Assistant((f"{text} port 8443",), (Call("c1", "read", {"path": text}),)),
            Results((Result("c1", "read", f"port 8443 {text}"),)),
        ]
        memory.archive(Rendering(tuple(told), format).whole(), format=format)
        asked = Rendering((User(("Which port has the webhook?",)),), format).whole()
        turn = memory.prepare(asked, format=format)
        assert blocks(turn.messages), "nothing was recalled, so nothing was tried"
        invariants.check_turn(asked, turn, memory, format)
        assert turn.messages[-1] is asked[-1] or format in {"bedrock", "gemini"}


@in_all_formats
def test_a_text_that_is_all_block_does_not_break_the_request(format: FormatName) -> None:
    """A whole block that a person pastes, or that the model repeats, is sent as it is: this session did not send it."""
    fake, asked, answer, echo = (
        User((strategies.FAKE,)),
        User(("Which port has the webhook?",)),
        Assistant(("8443",)),
        Assistant((strategies.FAKE,)),
    )
    pasted = ((fake,), (fake, answer, asked), (asked, answer, fake), (fake, answer, fake))
    twice = User((strategies.FAKE, strategies.FAKE))
    for script in (*pasted, (asked, echo, asked), (asked, answer, twice, answer, asked)):
        messages = Rendering(script, format).whole()
        with memories.fresh() as memory:
            turn = memory.prepare(messages, format=format)
            invariants.memory_did_not_fail(turn)
            assert turn.messages
            invariants.is_valid(turn, format)
            sent = iter(all_pieces(turn.messages))
            assert all(piece in sent for piece in all_pieces(messages)), turn.messages


CHILD = """
import hashlib, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from context import invariants, memories, transcripts
from context.rendering import Rendering
format = sys.argv[2]
digest = hashlib.sha256()
script = transcripts.load(Path(sys.argv[3]), "swe:run-1")
with memories.fresh(8_000) as memory:
    for messages in Rendering(script, format).turns():
        memory.reembed()  # vectors change what is recalled, and come when there is time
        digest.update(invariants.timeless(memory.prepare(messages, format=format).messages).encode())
print(digest.hexdigest())
"""


@pytest.mark.parametrize("format", ["anthropic", "pi"])
def test_two_processes_send_the_same_bytes(data: Path, format: FormatName) -> None:
    """Whatever order their dictionaries and sets have."""
    tests = str(Path(__file__).parents[1])
    ours = str(Path(memctx.__file__).parents[1])  # not the one that happens to be installed
    found = [
        process.run(
            [sys.executable, "-c", CHILD, tests, format, data],
            env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": ours},
        ).stdout
        for seed in ("1", "2")
    ]
    assert found[0] == found[1] != ""


def test_reports_are_json(tmp_path: Path) -> None:
    """With surrogates and control characters in what they quote."""
    with memories.opened(tmp_path / "memory") as memory:
        messages = [{"role": "user", "content": "\ud800 \x00 which port?"}]
        turn = memory.prepare(messages, format="openai")
        assert json.loads(turn.report.to_json())
        assert str(turn.report)
