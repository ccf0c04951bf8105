"""A replay tells what memory would have done, and leaves nothing behind."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memctx
from context import transcripts
from context.rendering import Rendering
from context.script import FORMATS, Assistant, Script, User
from memctx import registry
from memctx._core import MessageReader
from memctx.cli.replay import RecalledItem, Recording, Replay, replay
from memctx.cli.replay.play import _call_lengths
from memctx.cli.replay.recording import Truncation
from memctx.providers import pricing

from . import session

if TYPE_CHECKING:
    from pathlib import Path

    from context.script import FormatName
    from memctx.cli.replay.result import SentPart

MINUTE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


def without_times(played: Replay) -> dict[str, Any]:
    def dated(item: RecalledItem) -> RecalledItem:
        # Scores fall with age, so that the last digit depends on the moment.
        return replace(item, score=round(item.score, 3))

    def timeless(part: SentPart) -> SentPart:
        # A block names the minute in which a message was archived.
        return replace(part, text=MINUTE.sub("MINUTE", part.text))

    turns = tuple(
        replace(
            turn,
            milliseconds={},
            recalled=tuple(map(dated, turn.recalled)),
            sent=tuple(map(timeless, turn.sent)),
        )
        for turn in played.turns
    )
    return replace(played, turns=turns, seconds=0.0).to_dict()


def test_replayed_turns_match_those_of_a_host(played: Replay, tmp_path: Path) -> None:
    """The oracle is a host that calls `prepare` itself."""
    messages = session.messages()
    with memctx.open(
        tmp_path,
        session_id="host",
        context_window=session.WINDOW,
        trim={"reply_reserve_tokens": 500},
        knowledge_extraction="rules",
    ) as memory:
        for turn in played.turns:
            report = memory.prepare(messages[: turn.messages]).report
            assert (report.tokens, report.cache) == (turn.tokens, turn.cache)
            new = [item.indices for item in report.trimmed if item.is_new]
            assert new == [gone.messages for gone in turn.trimmed]
            scores = [item.score for item in turn.recalled]
            assert [item.score for item in report.recalled] == pytest.approx(scores, abs=1e-5)
            memory.wait_for_facts().result()
            memory.reembed()


def test_a_turn_is_a_call_of_the_model(played: Replay) -> None:
    roles = [message["role"] for message in session.messages()]
    assert [turn.number for turn in played.turns] == list(range(1, len(played.turns) + 1))
    assert all(roles[turn.messages] == "assistant" for turn in played.turns[:-1])
    assert played.turns[-1].messages == len(roles) == played.messages
    assert len(played.turns) == roles.count("assistant") + 1


@given(st.lists(st.sampled_from(["system", "user", "assistant", "tool"]), min_size=1, max_size=12))
def test_opencode_calls_precede_their_results(roles: list[str]) -> None:
    answers = [n for n in range(1, len(roles)) if roles[n] == "assistant" != roles[n - 1]]
    assert _call_lengths(roles) == answers + [len(roles)] * (roles[-1] != "assistant")


def test_replay_keeps_the_window_and_recalls_trimmed_messages(played: Replay) -> None:
    assert played.window == session.WINDOW
    assert played.limit is not None
    assert played.trims > 3
    assert max(turn.tokens.after for turn in played.turns) <= session.WINDOW
    assert played.overfull > 10
    assert played.errors == 0
    returned = [item for turn in played.turns for item in turn.recalled]
    found = [item for item in played.turns[-1].recalled if session.SETTING in item.excerpt]
    assert [(item.kind, item.role, item.said_in) for item in found] == [("segment", "tool", 8)]
    assert all(item.said_in and 0 < item.score <= 1 for item in returned)


def test_trimmed_messages_are_reported_once_with_an_excerpt(played: Replay) -> None:
    gone = [place for turn in played.turns for unit in turn.trimmed for place in unit.messages]
    assert len(gone) == len(set(gone)) > 20
    units = [unit for turn in played.turns for unit in turn.trimmed]
    assert all(unit.excerpt and unit.tokens > 0 for unit in units)
    assert all(("recent" in turn.protected) == bool(turn.trimmed) for turn in played.turns)
    assert {unit.reason.split(",")[0] for unit in units} <= {"least relevant", "oldest"}


def test_the_page_shows_fact_histories(played: Replay) -> None:
    found = [[state.content for state in thread.states] for thread in played.facts]
    assert [session.DECIDED.rstrip("."), session.CORRECTED.rstrip(".")] in found
    thread = next(thread for thread in played.facts if len(thread.states) > 1)
    assert [state.turn for state in thread.states] == [6, 63]


def test_replay_cost_is_that_of_a_cached_prompt(played: Replay) -> None:
    first = played.turns[0]
    assert first.cost == pytest.approx(pricing.CACHE_WRITE * first.tokens.after)
    for turn in played.turns:
        assert 0 <= turn.cached_tokens <= turn.tokens.after
        written = turn.tokens.after - turn.cached_tokens
        assert turn.cost == pytest.approx(
            pricing.CACHE_READ * turn.cached_tokens + pricing.CACHE_WRITE * written
        )
    assert played.cost < played.truncated_cost / 2
    assert played.cached_share > 0.7


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=25),
    st.one_of(st.none(), st.integers(10, 200)),
)
def test_truncation_cost_matches_the_reference_implementation(
    sizes: list[int], limit: int | None
) -> None:
    messages = [{"role": "user", "content": "word " * size} for size in sizes]
    conversation = MessageReader().read(messages)
    tokens = conversation.message_tokens
    truncation = Truncation(conversation, limit)
    before: list[int] = []
    for length in range(1, len(sizes) + 1):
        sent = list(range(length))
        while limit is not None and sent and sum(tokens[place] for place in sent) > limit:
            sent.pop(0)
        is_same = before[:1] == sent[:1] if before and sent else not (before or sent[:-1])
        cached = sum(tokens[place] for place in before) if is_same and sent else 0
        total = sum(tokens[place] for place in sent)
        assert truncation.cost(length) == pytest.approx(pricing.turn_cost(total, total - cached))
        before = sent


def test_truncation_parts_no_call_from_its_results() -> None:
    conversation = MessageReader().read(session.messages())
    truncation = Truncation(conversation, 2_000)
    starts = set[int]()
    for length in range(1, len(conversation) + 1, 2):
        truncation.cost(length)
        starts.add(truncation._start)  # noqa: SLF001 - what it decides
    assert len(starts) > 10
    roles = conversation.roles
    assert not [start for start in starts if start < len(roles) and roles[start] == "tool"]


def test_replay_is_deterministic(played: Replay) -> None:
    again = replay(
        session.messages(), context_window=session.WINDOW, trim={"reply_reserve_tokens": 500}
    )
    assert without_times(again) == without_times(played)


def test_replay_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    messages = session.messages()[:40]
    was, opened = json.dumps(messages), registry.memories()
    replay(messages, context_window=2_000, storage_path=tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []
    assert registry.memories() == opened
    assert json.dumps(messages) == was


def test_no_model_is_called_for_the_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(_: object) -> None:
        pytest.fail("a replay called a model")

    config = memctx.Config(knowledge_extraction=True, extractor=called, context_window=2_000)
    assert replay(session.messages()[:40], config=config).window == 2_000
    monkeypatch.setenv("MEMCTX_CONTEXT_WINDOW", "3000")
    assert replay(session.messages()[:4]).window == 3_000


def test_replay_reports_progress() -> None:
    reported: list[tuple[int, int]] = []
    replay(session.messages()[:9], on_progress=lambda *done: reported.append(done))
    assert reported == [(n, 5) for n in range(1, 6)]


def test_a_failed_turn_is_reported_in_the_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("memctx.context.cut.CutPlanner.plan", failing)
    played = replay(session.messages()[:3])
    assert played.errors == 2
    assert "2 errors: OSError: the disk is gone" in str(played)


def test_secrets_reach_neither_table_nor_json(played: Replay) -> None:
    assert "[REDACTED:" in played.to_json()
    assert session.SECRET not in played.to_json()
    assert session.SECRET[-20:] not in played.to_json() + str(played)


def test_replay_json_holds_every_turn(played: Replay) -> None:
    reported = json.loads(played.to_json())
    assert len(reported["turns"]) == len(played.turns)
    assert reported["totals"]["trims"] == played.trims
    assert reported["totals"]["trimmed_messages"] == sum(
        len(unit["messages"]) for turn in reported["turns"] for unit in turn["trimmed"]
    )
    assert reported["turns"][0]["tokens"]["limit"] == played.limit


def test_the_table_shows_the_turns_that_decided_something(played: Replay) -> None:
    heading, *lines = str(played).splitlines()
    assert heading.startswith(
        f"session · openai · 163 messages, {len(played.turns)} turns · window 6,000"
    )
    head = next(place for place, line in enumerate(lines) if line.lstrip().startswith("turn"))
    rows = [line.split() for line in lines[head + 1 :]]
    eventful = [turn for turn in played.turns if turn.is_eventful]
    assert [row[0] for row in rows if row[0] != "and"] == [
        str(turn.number) for turn in eventful[:30]
    ]


def test_the_page_of_a_fitting_session_reports_no_decisions() -> None:
    played = replay([{"role": "user", "content": "Which port?"}])
    assert str(played).endswith("nothing was pruned, trimmed or recalled")
    assert (played.window, played.limit, played.overfull, played.trims) == (None, None, 0, 0)


def test_a_session_of_answers_has_no_turn() -> None:
    played = replay([{"role": "assistant", "content": "Hello."}])
    assert (played.turns, played.cost, played.latency()) == ((), 0, 0.0)


@pytest.mark.parametrize("format", FORMATS)
def test_every_message_format_is_replayed(format: FormatName) -> None:
    script: Script = tuple(
        step
        for n in range(20)
        for step in (User((f"Question {n}? " * 40,)), Assistant((f"Answer {n}. " * 40,)))
    )
    played = replay(Rendering(script, format).whole(), format=format, context_window=3_000)
    assert (played.format, len(played.turns), played.errors) == (format, 20, 0)
    assert played.trims > 0


@pytest.mark.slow
def test_a_long_session_is_replayed(data: Path) -> None:
    path = transcripts.pi_file(data, "before-compaction")
    recording = Recording.read(path)
    played = replay(recording, context_window=100_000, embedding_model="hash")
    assert (played.format, played.errors) == ("pi", 0)
    assert played.name.startswith("pi · ")
    assert played.source.startswith("before-compaction")
    assert (
        max(turn.tokens.after for turn in played.turns) <= 100_000 < played.turns[-1].tokens.before
    )
    assert all(item.said_in for turn in played.turns for item in turn.recalled)
    quiet = [
        (before, turn)
        for before, turn in pairwise(played.turns)
        if turn.cache.first_changed is None
    ]
    assert len(quiet) > 400
    for before, turn in quiet:  # all of the prompt before is read from the cache
        assert turn.cached_tokens == pytest.approx(before.tokens.after, rel=0.02)
