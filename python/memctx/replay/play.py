"""`replay`: run the turn pipeline over a recorded session, in a store that is thrown away afterwards."""

from __future__ import annotations

import os
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

from memctx import Redactor, _core, registry
from memctx.config import Config
from memctx.errors import MessageShapeError
from memctx.replay.excerpt import Excerpts, passage
from memctx.replay.recording import Recording
from memctx.replay.result import FactThread, Gone, Replay, ReplayedTurn, Returned, Shortened, Stated
from memctx.replay.truncation import Truncation
from memctx.turn import price
from memctx.turn.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from memctx._core import Fact, Scanner
    from memctx.config.arguments import OpenArguments
    from memctx.memory import Memory
    from memctx.messages import Shape
    from memctx.turn import Recalled, Turn

SESSION = "replay"
# As many as any block has room for.
PASSAGES = 100


def replay(
    source: str | PathLike[str] | Recording | Sequence[Any],
    *,
    shape: Shape | None = None,
    context_window: int | None = None,
    config: Config | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[OpenArguments],
) -> Replay:
    """What memory would have done in every turn of a session: a file, a `Recording`, or messages of any shape.

    A turn is a call of the model: all messages up to each answer go through `Memory.prepare`, in a store of their own
    that is gone afterwards. Settings are those of `memctx.open`. Facts are found by rules, so that no model is called,
    unless ``knowledge_extraction`` says otherwise here. ``on_progress`` is told how many turns are done, and of how
    many. All turns follow one another at once: no cache expires between them.

    >>> said = [{"role": role, "content": f"Remark {n}. " * 90} for n in range(8) for role in ("user", "assistant")]
    >>> played = replay(said, context_window=4_000)
    >>> len(played.turns), max(turn.tokens.after for turn in played.turns) <= 4_000
    (8, True)

    Raises:
        StoreError: the file cannot be read.
        MessageShapeError: what was given holds no list of messages.
    """
    recording = _recording(source)
    wanted: OpenArguments = {"knowledge_extraction": "rules", "durability": "os", **settings}
    base = Config.load() if config is None else config
    base = base.replace(**wanted)
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="memctx-replay-") as folder,
        registry.open(
            folder, session_id=SESSION, context_window=context_window, config=base
        ) as memory,
    ):
        player = _Player.of(memory, recording.messages, shape)
        turns: list[ReplayedTurn] = []
        for turn in player.turns():
            turns.append(turn)
            if on_progress is not None:
                on_progress(len(turns), len(player.lengths))
        facts = player.facts()
    return Replay(
        name=recording.name,
        shape=player.shape,
        messages=len(recording.messages),
        window=memory.config.context_window,
        limit=turns[0].tokens.limit if turns else None,
        turns=tuple(turns),
        facts=facts,
        skipped=recording.skipped,
        seconds=time.perf_counter() - started,
    )


def _recording(source: str | PathLike[str] | Recording | Sequence[Any]) -> Recording:
    if isinstance(source, Recording):
        return source
    if isinstance(source, str | os.PathLike):
        return Recording.read(source)
    return Recording("session", list(source))


@dataclass(frozen=True, slots=True)
class _Player:
    """One session and the memory it is played to."""

    memory: Memory
    scanner: Scanner
    messages: Sequence[Any]
    shape: Shape
    lengths: Sequence[int]
    """How many messages the host had at each call of the model."""
    roles: Sequence[str]
    excerpts: Excerpts
    truncation: Truncation

    @classmethod
    def of(cls, memory: Memory, messages: Sequence[Any], shape: Shape | None) -> _Player:
        if not messages:
            raise MessageShapeError("no message to replay; expected at least one")
        config = memory.config
        scanner = _core.Scanner(config.estimator)
        conversation = scanner.scan(messages, shape)
        redactor = Redactor(
            config.redaction, pii=config.pii, patterns=config.redaction_patterns or None
        )
        return cls(
            memory,
            scanner,
            messages,
            conversation.shape,
            _calls(conversation.roles),
            conversation.roles,
            Excerpts(redactor, conversation.records()),
            Truncation(conversation, Budget.of(config).limit),
        )

    def turns(self) -> Iterator[ReplayedTurn]:
        """Every turn, each played when it is asked for."""
        host = 0
        for number, length in enumerate(self.lengths, start=1):
            turn = self.memory.prepare(self.messages[:length], shape=self.shape)
            yield self._told(number, turn, host)
            host = turn.report.tokens.before
            if turn.report.archived:
                self.memory.flush().result()  # so that the same facts are known in every replay

    def _told(self, number: int, turn: Turn, host: int) -> ReplayedTurn:
        report = turn.report
        tokens = report.tokens
        cached = self._cached(turn)
        # Listing all that left so far is the dearest part of a report, and only what leaves now is told.
        pruned, trimmed = (report.pruned, report.trimmed) if report.archived else ((), ())
        return ReplayedTurn(
            number=number,
            messages=self.lengths[number - 1],
            query=self.excerpts.of_text(report.query),
            tokens=tokens,
            cache=report.cache,
            cached_tokens=cached,
            cost=price.of_turn(tokens.after, tokens.after - cached),
            unedited_cost=price.of_turn(tokens.before, max(tokens.before - host, 0)),
            truncated_cost=self.truncation.cost(self.lengths[number - 1]),
            pruned=tuple(
                Shortened(
                    item.index,
                    item.form,
                    item.tokens_before,
                    item.tokens_after,
                    self.excerpts.of_message(item.index),
                )
                for item in pruned
                if item.is_new
            ),
            trimmed=tuple(
                Gone(
                    item.indices,
                    self.roles[item.indices[0]],
                    item.tokens,
                    item.score,
                    item.reason,
                    self.excerpts.of_messages(item.indices),
                )
                for item in trimmed
                if item.is_new
            ),
            recalled=self._recalled(turn),
            protected=dict(Counter(item.reason for item in report.protected)) if trimmed else {},
            errors=report.errors,
            is_deferred=report.is_deferred,
            milliseconds=report.milliseconds,
        )

    def _cached(self, turn: Turn) -> int:
        """What is sent as in the turn before, as a part of what the report says is sent."""
        tokens = self.scanner.scan(turn.messages, self.shape).message_tokens
        same = sum(tokens[: turn.report.cache.stable_prefix])
        # Thinking that was taken out still counts in the report, so that only the share is the same by both.
        return round(turn.report.tokens.after * same / sum(tokens)) if same else 0

    def _recalled(self, turn: Turn) -> tuple[Returned, ...]:
        report = turn.report
        passages: dict[str, tuple[int, int]] = {}
        if any(item.is_cut for item in report.recalled):
            found = self.memory.search(report.query, limit=PASSAGES)
            passages = {hit.segment.id: hit.passage for hit in found}
        return tuple(self._returned(item, passages.get(item.id)) for item in report.recalled)

    def _returned(self, item: Recalled, span: tuple[int, int] | None) -> Returned:
        segment = self.memory.store.get(item.id)
        fact = None if segment else self.memory.facts.get(item.id.partition(".")[0])
        content = segment.content if segment else fact.content if fact else ""
        said_in = self._fact_turn(fact) if fact else self._turn_of(content)
        return Returned(
            kind="segment" if segment else "fact",
            role=item.role,
            match=item.match,
            is_cut=item.is_cut,
            said_in=said_in,
            excerpt=passage(content, span if item.is_cut else None),
        )

    def facts(self) -> tuple[FactThread, ...]:
        """What is known of the whole session at its end, those that were corrected with what they said before."""
        self.memory.archive(self.messages, shape=self.shape)
        self.memory.flush().result()
        threads = [
            self._thread(fact, self.memory.facts.history(fact.id)) for fact in self.memory.facts
        ]
        return tuple(sorted(threads, key=lambda thread: thread.states[0].turn or 0))

    def _thread(self, fact: Fact, history: Sequence[Fact]) -> FactThread:
        firsts = [
            state
            for before, state in pairwise([None, *history])
            if state is not None and (before is None or before.content != state.content)
        ]
        states = tuple(Stated(state.content, self._fact_turn(state)) for state in firsts)
        return FactThread(fact.type, states)

    def _fact_turn(self, fact: Fact) -> int | None:
        segments = map(self.memory.store.get, reversed(fact.sources))
        turns = (self._turn_of(segment.content) for segment in segments if segment)
        return next((turn for turn in turns if turn is not None), None)

    def _turn_of(self, content: str) -> int | None:
        """The turn in which something was said: an answer is that of the call before it."""
        place = self.excerpts.place_of(content)
        if place is None:
            return None
        before = bisect_right(self.lengths, place)
        number = before if self.roles[place] == "assistant" else before + 1
        return min(max(number, 1), len(self.lengths))


def _calls(roles: Sequence[str]) -> list[int]:
    """How many messages stand before each answer, and all of them where the last waits for one."""
    lengths = [
        place + 1
        for place, (before, after) in enumerate(pairwise(roles))
        if after == "assistant" != before
    ]
    return lengths if roles[-1] == "assistant" else [*lengths, len(roles)]
