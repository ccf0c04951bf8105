"""`replay`: the turn pipeline over a recorded session, in a scratch store."""

from __future__ import annotations

import os
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

from memctx import _core, registry
from memctx._core import Redactor
from memctx.cli.replay.recording import Compaction, Excerpts, Recording, Truncation, passage_excerpt
from memctx.cli.replay.result import (
    FactHistory,
    FactState,
    PrunedResult,
    RecalledItem,
    Replay,
    ReplayedTurn,
    SentPart,
    TrimmedMessages,
)
from memctx.config import Config, DiskSettings
from memctx.context import Budget
from memctx.errors import MessageFormatError
from memctx.providers import pricing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from memctx._core import Fact, MessageReader
    from memctx.config.settings import OpenArguments
    from memctx.context import Recalled, Turn
    from memctx.memory import Memory
    from memctx.messages import FormatName

SESSION = "replay"
# More than any block holds.
PASSAGES = 100


def replay(  # noqa: PLR0913 - the options
    source: str | PathLike[str] | Recording | Sequence[Any],
    *,
    format: FormatName | None = None,
    context_window: int | None = None,
    config: Config | None = None,
    session: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_turn: Callable[[ReplayedTurn, Turn], None] | None = None,
    **settings: Unpack[OpenArguments],
) -> Replay:
    """Replay every turn of a session: a file, a `Recording`, or messages of any format.

    A turn is a call of the model: all messages up to each answer go through `Memory.prepare`, in a scratch store.
    Settings are those of `memctx.open`. Facts are extracted by rules, without a model, unless ``knowledge_extraction``
    is given. ``session`` names one of several sessions in a file. ``on_progress`` is called with the number of turns
    done and in total, ``on_turn`` with each turn and the messages that it sends; what they raise ends the replay. No
    prompt cache expires between turns.

    >>> said = [{"role": role, "content": f"Remark {n}. " * 90} for n in range(8) for role in ("user", "assistant")]
    >>> played = replay(said, context_window=4_000)
    >>> len(played.turns), max(turn.tokens.after for turn in played.turns) <= 4_000
    (8, True)

    Raises:
        ConfigError: the file holds several sessions, or none of that name.
        StoreError: the file cannot be read.
        MessageFormatError: what was given holds no list of messages.
    """
    recording = _recording(source, session)
    base = Config.load() if config is None else config
    scratch = base.replace(knowledge_extraction="rules", disk=DiskSettings(durability="os"))
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="memctx-replay-") as folder,
        registry.open(
            folder, session_id=SESSION, context_window=context_window, config=scratch, **settings
        ) as memory,
    ):
        player = _Player.of(memory, recording.messages, format or recording.format)
        turns: list[ReplayedTurn] = []
        for turn, sent in player.turns():
            turns.append(turn)
            if on_turn is not None:
                on_turn(turn, sent)
            if on_progress is not None:
                on_progress(len(turns), len(player.lengths))
        facts = player.facts()
        name = player.excerpts.of_name(recording.session)
    return Replay(
        name=name or recording.name,
        source=recording.name if name else "",
        format=player.format,
        messages=len(recording.messages),
        window=memory.config.context_window,
        limit=turns[0].tokens.limit if turns else None,
        turns=tuple(turns),
        facts=facts,
        skipped=recording.skipped,
        seconds=time.perf_counter() - started,
        truncated_tokens=player.truncation.tokens,
        compacted_tokens=player.compaction.tokens,
        compactions=player.compaction.count,
    )


def _recording(
    source: str | PathLike[str] | Recording | Sequence[Any], session: str | None
) -> Recording:
    if isinstance(source, Recording):
        return source
    if isinstance(source, str | os.PathLike):
        return Recording.read(source, session=session)
    return Recording("session", list(source))


@dataclass(frozen=True, slots=True)
class _Player:
    """One session and the memory that replays it."""

    memory: Memory
    reader: MessageReader
    messages: Sequence[Any]
    format: FormatName
    lengths: Sequence[int]
    """Number of messages at each call of the model."""
    roles: Sequence[str]
    excerpts: Excerpts
    truncation: Truncation
    compaction: Compaction
    blocks: set[str] = field(default_factory=set[str])
    """Blocks of the turn before."""

    @classmethod
    def of(cls, memory: Memory, messages: Sequence[Any], format: FormatName | None) -> _Player:
        if not messages:
            raise MessageFormatError("no message to replay; expected at least one")
        config = memory.config
        reader = _core.MessageReader(config.trim.estimator)
        conversation = reader.read(messages, format)
        redactor = Redactor(
            config.redaction, pii=config.privacy.pii, patterns=config.privacy.patterns or None
        )
        return cls(
            memory,
            reader,
            messages,
            conversation.format,
            _call_lengths(conversation.roles),
            conversation.roles,
            Excerpts(redactor, conversation.records()),
            Truncation(conversation, Budget.of(config).limit),
            Compaction(conversation.message_tokens, Budget.of(config).limit),
        )

    def turns(self) -> Iterator[tuple[ReplayedTurn, Turn]]:
        """Yield every turn and what it sends, replayed on demand."""
        host = 0
        for number, length in enumerate(self.lengths, start=1):
            turn = self.memory.prepare(self.messages[:length], format=self.format)
            yield self._describe_turn(number, turn, host), turn
            host = turn.report.tokens.before
            if turn.report.archived:
                self.memory.wait_for_facts().result()  # facts are the same in every replay
                while self.memory.store.embed_some():  # and so are vectors
                    pass

    def _describe_turn(self, number: int, turn: Turn, host: int) -> ReplayedTurn:
        report = turn.report
        tokens = report.tokens
        cached, sent = self._prompt(turn)
        # Listing everything trimmed so far is the slowest part of a report; only new items are needed.
        pruned, trimmed = (report.pruned, report.trimmed) if report.archived else ((), ())
        return ReplayedTurn(
            number=number,
            messages=self.lengths[number - 1],
            query=self.excerpts.of_text(report.query),
            tokens=tokens,
            cache=report.cache,
            cached_tokens=cached,
            cost=pricing.turn_cost(tokens.after, tokens.after - cached),
            unedited_cost=pricing.turn_cost(tokens.before, max(tokens.before - host, 0)),
            truncated_cost=self.truncation.cost(self.lengths[number - 1]),
            pruned=tuple(
                PrunedResult(
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
                TrimmedMessages(
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
            recalled=self._recalled_items(turn),
            protected=dict(Counter(item.reason for item in report.protected)) if trimmed else {},
            # An oversized prompt is visible by its size.
            errors=() if report.is_over_limit else report.errors,
            is_deferred=report.is_deferred,
            milliseconds=report.milliseconds,
            compacted_cost=self.compaction.cost(self.lengths[number - 1]),
            sent=sent if trimmed or pruned or report.recalled else (),
        )

    def _prompt(self, turn: Turn) -> tuple[int, tuple[SentPart, ...]]:
        """Return the tokens that are sent unchanged from the turn before, and the parts of the prompt."""
        conversation = self.reader.read(turn.messages, self.format)
        tokens = conversation.message_tokens
        parts: list[SentPart] = []
        blocks: set[str] = set()
        for message, origin, cost in zip(turn.messages, turn.origins, tokens, strict=True):
            last = parts[-1] if parts else None
            if origin is None:
                text = "\n".join(_block_texts(message))
                blocks.add(text)
                shown = "" if text in self.blocks else text
                parts.append(SentPart(None, None, cost, shown))
            elif last is not None and last.last is not None and origin == last.last + 1:
                parts[-1] = SentPart(last.first, origin, last.tokens + cost)
            else:
                parts.append(SentPart(origin, origin, cost))
        self.blocks.clear()
        self.blocks.update(blocks)
        same = sum(tokens[: turn.report.cache.stable_prefix])
        # Removed thinking still counts in the report, so only the share is comparable.
        cached = round(turn.report.tokens.after * same / sum(tokens)) if same else 0
        return cached, tuple(parts)

    def _recalled_items(self, turn: Turn) -> tuple[RecalledItem, ...]:
        report = turn.report
        passages: dict[str, tuple[int, int]] = {}
        if any(item.is_cut for item in report.recalled):
            found = self.memory.search(report.query, limit=PASSAGES)
            passages = {hit.segment.id: hit.passage for hit in found}
        return tuple(
            self._describe_recalled(item, passages.get(item.id)) for item in report.recalled
        )

    def _describe_recalled(self, item: Recalled, span: tuple[int, int] | None) -> RecalledItem:
        segment = self.memory.store.get(item.id)
        fact = None if segment else self.memory.facts.get(item.id.partition(".")[0])
        content = segment.content if segment else fact.content if fact else ""
        said_in = self._fact_turn(fact) if fact else self._turn_of(content)
        return RecalledItem(
            kind="segment" if segment else "fact",
            role=item.role,
            score=item.score,
            is_cut=item.is_cut,
            said_in=said_in,
            excerpt=passage_excerpt(content, span if item.is_cut else None),
            similarity=item.similarity,
            words=item.words,
        )

    def facts(self) -> tuple[FactHistory, ...]:
        """Return the facts of the whole session with their histories."""
        self.memory.archive(self.messages, format=self.format)
        self.memory.wait_for_facts().result()
        threads = [
            self._fact_history(fact, self.memory.facts.history(fact.id))
            for fact in self.memory.facts
        ]
        return tuple(sorted(threads, key=lambda thread: thread.states[0].turn or 0))

    def _fact_history(self, fact: Fact, history: Sequence[Fact]) -> FactHistory:
        firsts = [
            state
            for before, state in pairwise([None, *history])
            if state is not None and (before is None or before.content != state.content)
        ]
        states = tuple(FactState(state.content, self._fact_turn(state)) for state in firsts)
        return FactHistory(fact.type, states)

    def _fact_turn(self, fact: Fact) -> int | None:
        segments = map(self.memory.store.get, reversed(fact.sources))
        turns = (self._turn_of(segment.content) for segment in segments if segment)
        return next((turn for turn in turns if turn is not None), None)

    def _turn_of(self, content: str) -> int | None:
        """Return the turn of a message; an answer belongs to the call before it."""
        place = self.excerpts.index_of(content)
        if place is None:
            return None
        before = bisect_right(self.lengths, place)
        number = before if self.roles[place] == "assistant" else before + 1
        return min(max(number, 1), len(self.lengths))


def _block_texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - a message of any format
    """Yield the texts of a message that memory added."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _block_texts(each)
    elif isinstance(value, dict):
        for key in ("content", "parts", "text"):
            yield from _block_texts(value.get(key))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def _call_lengths(roles: Sequence[str]) -> list[int]:
    """Return the number of messages before each answer, and the total if the last one is unanswered."""
    lengths = [
        place + 1
        for place, (before, after) in enumerate(pairwise(roles))
        if after == "assistant" != before
    ]
    return lengths if roles[-1] == "assistant" else [*lengths, len(roles)]
