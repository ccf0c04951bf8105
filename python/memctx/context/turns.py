"""`Turns`: prepares the turns of one session from the host's messages and the decisions of earlier turns.

The steps: read, cut, recall, place, assemble, report.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, cast, get_args

from memctx import _core
from memctx.context import explain, state_writer
from memctx.context.assemble import Outgoing
from memctx.context.budget import Budget, Observed, Outstanding, Sent, excess_of, find_implausible
from memctx.context.capture import Capture
from memctx.context.corrections import Corrections
from memctx.context.cut import CutPlanner, Replay
from memctx.context.explain import LONGEST, SEARCHED, Masking, Stopwatch
from memctx.context.placement import Placement
from memctx.context.read import Source, SourceIndex
from memctx.context.report import LazyList, Report
from memctx.context.sent_blocks import SentBlocks
from memctx.context.state import MOST, TAIL, TOO_MANY, State, choose_state, update_states
from memctx.context.state_writer import StateWriter
from memctx.errors import ConfigError, MemctxError, MessageFormatError, StoreError
from memctx.messages import FormatName

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager

    from memctx._core import Conversation
    from memctx.context.assemble import Binding
    from memctx.context.capture import Archive
    from memctx.context.cut import Cut
    from memctx.context.placement import Blocks
    from memctx.context.recall import Recall
    from memctx.context.report import Cache, LeftOut, Unsearched
    from memctx.context.state import Block, States
    from memctx.context.store_mark import Sizes

logger = logging.getLogger("memctx.context")

NO_WINDOW = (
    "context_window is not set, so nothing is ever trimmed; expected the model's window in tokens, "
    "such as context_window=200_000"
)
UNSEARCHED: dict[Unsearched, str] = {
    "late": "recalled without the messages on disk: their index did not answer within disk.turn_deadline_ms; "
    "the next step that searches for the same has its answer",
    "unindexed": "recalled without some of the messages on disk, which are not indexed yet",
    "unavailable": "recalled without the messages on disk: their index is not there yet, or is being rebuilt",
}
UNANCHORED = "nothing was recalled: the message that the block belongs before is not sent"

_numbers = count(1)


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """The messages to send, and a report of the changes."""

    messages: list[Any]
    """Messages for the model: the host's own objects where nothing was changed."""
    report: Report
    number: int = 0
    """Number for `Memory.observe`, unique in the process."""
    origins: Sequence[int | None] = field(default=(), repr=False, compare=False)
    """For each of ``messages``, its index in the given list; None for what memory added."""

    def __repr__(self) -> str:
        return f"<Turn {self.number}: {len(self.messages)} messages to send, {self.report!r}>"

    def _repr_html_(self) -> str:
        from memctx.context.report_html import report_html  # noqa: PLC0415 - for notebooks only

        return report_html(self.report)


class Turns:
    """Prepares the turns of one session, one at a time."""

    def __init__(self, recall: Recall, archive: Archive) -> None:
        self._config = recall.config
        self._store = recall.store
        self._archive = archive
        self._budget = Budget.of(recall.config)
        self._planner = CutPlanner(recall.config, self._budget)
        self._recall = recall
        self._states: States | None = None
        self._before: States | None = None
        self._masking: Masking | None = None
        self._warned: set[str] = set()
        self._warnings: list[str] = []
        self._closed = False
        self._has_cut = False
        self._is_resumed = False
        self.reopen()

    def reopen(self) -> None:
        """Go on after a fork with the decisions made so far, without the parent's threads and locks."""
        self._replays: dict[int, Replay] = {}
        self._capture = Capture(self._store, self._config, self._archive)
        corrections = Corrections(self._recall)
        self._placement = Placement(self._recall, self._budget, corrections, self._capture)
        self._outstanding = Outstanding()
        self._lock = threading.Lock()
        path = state_writer.path_of(self._store.path, self._store.session_id)
        self._writer = StateWriter(path, self._store.session_id, self._capture.store)
        self._sent_blocks = SentBlocks(path.with_suffix(".blocks"))
        self._reader = self._new_reader()

    def prepare(
        self,
        messages: Sequence[Any],
        *,
        format: FormatName | None,
        pinned: Collection[int],
        model: str | None,
    ) -> Turn:
        """Return the messages to send. A failure of memory is caught here: then they are sent unchanged."""
        with self._lock:
            watch = Stopwatch()
            try:
                if self._closed:
                    raise StoreError("the memory is closed")  # noqa: TRY301 - one handler for every failure
                self._settle()
                states = self._current()
                self._recognize(self._sent_blocks.refresh())
                source = Source.read(self._reader, messages, format)
                if self._is_resumed:
                    self._is_resumed = False
                    self._capture.recognize(source.conversation)
                watch.lap("read")
                return self._run(source, states, watch, pinned=pinned, model=model)
            except (MessageFormatError, ConfigError):
                raise  # an error of the caller, not of memory
            except Exception as error:  # noqa: BLE001 - the host goes on after any failure
                text = self._log_error("memory failed; the messages are sent unchanged", error)
                report = Report(format or "unknown", errors=(text,), warnings=self._take_warnings())
                return self._number(list(messages), report, None, range(len(messages)))

    def read(self, messages: Sequence[Any], format: FormatName | None) -> Conversation:
        """Parse messages as a turn does: only the blocks that this session sent count as recalled."""
        with self._lock:
            self._current()
            self._recognize(self._sent_blocks.refresh())
            reader = self._reader
        return reader.read(messages, format)

    def replace(self, turn: Turn, messages: list[Any]) -> Turn:
        """Return the turn with other messages to send."""
        message_format = turn.report.format  # unknown if memory failed
        known = (
            cast("FormatName", message_format) if message_format in get_args(FormatName) else None
        )
        tokens = self.read(messages, known).tokens
        with self._lock:
            self._outstanding.set_estimate(turn.number, tokens)
        known_origins = dict(zip(map(id, turn.messages), turn.origins, strict=True))
        origins = tuple(known_origins.get(id(message)) for message in messages)
        return replace(turn, messages=messages, origins=origins)

    def observe(
        self, tokens: int, output_tokens: int, turn: Turn | None, count: Callable[[Observed], None]
    ) -> Observed:
        """Learn the cost of a turn by the provider's count.

        A plausible count of a turn that was not observed before is passed to ``count``, in the background.
        """
        with self._lock:
            sent = self._outstanding.take(None if turn is None else turn.number)
            observed, is_plausible = self._compare(tokens, output_tokens, sent)
            if is_plausible and not (turn is not None and isinstance(sent, str)):
                self._writer.count(lambda: count(observed))
            return observed

    def keep_answer(self, messages: Sequence[Any], format: FormatName | None) -> None:
        """Archive the model's answer in the background, if new messages are archived; a failure is logged."""
        if self._config.capture != "all":
            return
        with self._lock:
            if self._closed:
                raise StoreError("the memory is closed")
            answer = self._reader.read(messages, format)

            def keep() -> None:
                try:
                    self._capture.store_answer(answer)
                except Exception as error:  # noqa: BLE001 - no caller waits for it
                    self._log_error(
                        "an answer is not stored; a turn that has it tries again", error
                    )

            self._writer.keep_answer(keep)

    def _compare(self, tokens: int, output_tokens: int, sent: Sent | str) -> tuple[Observed, bool]:
        """Compare a count with the estimate of its turn; return also whether it is plausible."""
        estimate = 0 if isinstance(sent, str) else sent.estimate
        wrong = find_implausible(tokens, estimate, self._config.context_window)
        if wrong is not None:
            self._warn("usage", wrong)
            return Observed(tokens, output_tokens, is_used=False, note=wrong), False
        if isinstance(sent, str):
            self._warn("observe", sent)
            return Observed(tokens, output_tokens, is_used=False, note=sent), True
        state = next((each for each in self._current() if each.id == sent.conversation), None)
        note = None
        if state is None:
            note = "the conversation of the turn is forgotten"
        elif sent.number <= state.observed:
            note = "a later turn of the conversation was observed before"
        else:
            self._learn(sent, excess_of(tokens, sent.estimate))
        return Observed(tokens, output_tokens, is_used=note is None, note=note), True

    def _learn(self, sent: Sent, excess: int) -> None:
        """Add the excess of a turn to all later turns of its conversation."""

        def learned(states: States | None) -> States | None:
            return states and tuple(
                replace(state, excess=excess, observed=sent.number)
                if state.id == sent.conversation
                else state
                for state in states
            )

        self._states, self._before = learned(self._states), learned(self._before)

    def wait_for_counts(self) -> None:
        """Wait until everything observed is counted."""
        with self._lock:
            self._writer.wait_for_counts()

    def settle(self) -> None:
        """Wait until the messages of the last turn are in the store, so that a search finds them."""
        with self._lock:
            try:
                self._settle()
            except Exception as error:  # noqa: BLE001 - the next turn tries again
                self._log_error(
                    "removed messages are not stored; the next turn sends them again", error
                )

    def close(self) -> None:
        """Save the state for the next process, and use the store no more."""
        self.settle()
        with self._lock:
            self._closed = True
            self._writer.close(self._states)

    def _settle(self) -> None:
        """Wait for the archive of the last turn. If it failed, undo what that turn removed, so that nothing is lost."""
        before, self._before = self._before, None
        try:
            self._writer.wait_for_archive()
        except Exception as error:
            if self._has_cut:
                self._states = before
                raise
            text = self._log_error("new messages are not stored; the next turn tries again", error)
            self._warn("capture", f"new messages are not stored: {text}")
        self._count_stored()

    def _count_stored(self) -> None:
        """Note in the state of the last turn what it stored: its model sees that, so no search could newly find it."""
        stored = self._capture.mark.take_messages()
        if stored and self._states:
            last, *others = self._states
            searched = last.searched._replace(segments=last.searched.segments + stored)
            self._states = (replace(last, searched=searched), *others)

    def _current(self) -> States:
        """Return the states of the session, loading them first if need be."""
        if self._states is None:
            self._states = states = self._writer.load()
            self._is_resumed = bool(states)
            known = self._sent_blocks.refresh()
            sent = (block.text for state in states for block in state.blocks)
            self._recognize([*known, *self._sent_blocks.add(sent)])
        return self._states

    def _vector_hold(self) -> AbstractContextManager[object]:
        """Return what keeps new vectors out of memory; a closed store takes none anyway."""
        try:
            return self._store.hold_vectors()
        except StoreError:
            return nullcontext()

    def _new_reader(self) -> _core.MessageReader:
        return _core.MessageReader(
            self._config.trim.estimator, own_blocks=list(self._sent_blocks.keys)
        )

    def _recognize(self, keys: Sequence[int]) -> None:
        """Treat blocks with some keys as recalled from now on."""
        if keys and not self._reader.add_own_blocks(keys):
            # Another process sent one that was taken for a person's text: drop what was parsed so.
            self._reader = self._new_reader()

    def _number(
        self,
        messages: list[Any],
        report: Report,
        conversation: int | None,
        origins: Sequence[int | None],
    ) -> Turn:
        turn = Turn(messages, report, next(_numbers), origins)
        if logger.isEnabledFor(logging.DEBUG):
            session = self._mask(self._store.session_id)
            logger.debug("turn %d of session %r: %r", turn.number, session, report)
            for line in report.decisions():
                logger.debug("turn %d: %s", turn.number, line)
        self._outstanding.add(Sent(turn.number, conversation, report.tokens.after))
        return turn

    def _mask(self, text: str) -> str:
        if self._masking is None:
            self._masking = Masking(self._config)
        return self._masking.mask(text)

    def _log_error(self, words: str, error: Exception) -> str:
        """Log an error and its traceback, and return its text; all of it without secrets."""
        text = self._mask(f"{type(error).__name__}: {error}")
        trace = "".join(traceback.format_tb(error.__traceback__))
        logger.error("%s: %s\n%s", words, text, trace)
        return text

    def _warn(self, kind: str, words: str) -> None:
        """Log a warning and add it to the next report, once for each kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            self._warnings.append(words)
            logger.warning("session %r: %s", self._mask(self._store.session_id), words)

    def _take_warnings(self) -> tuple[str, ...]:
        warnings, self._warnings = tuple(self._warnings), []
        return warnings

    def _run(
        self,
        source: Source,
        states: States,
        watch: Stopwatch,
        *,
        pinned: Collection[int],
        model: str | None,
    ) -> Turn:
        """Run the steps of a turn: each is timed under its name."""
        state, now = choose_state(states, source), time.time()
        if self._budget.limit is None:
            self._warn("context_window", NO_WINDOW)
        is_cold = _is_cold(state, now, self._config.trim.cache_ttl, model)
        query, shown = self._query(source)
        cut = self._planner.plan(
            source.conversation,
            query,
            state,
            self._replays.setdefault(state.id, Replay()),
            pinned=source.from_given(pinned),
            is_cold=is_cold,
        )
        watch.lap("cut")
        removed = _find_removed(cut, state)
        new = self._capture.find_new(source.conversation, removed)
        archived = len(new)
        is_compacted = _is_compacted(state, source)
        first_changed = 0 if is_cold or is_compacted else min(removed, default=None)
        sizes = self._capture.mark.sizes()
        is_new = self._is_new_in_store(source, state, sizes) or is_compacted
        # What is recalled must not depend on which vectors are made before the search.
        with self._vector_hold():
            new = self._capture.store_answers(source.conversation, new, removed, query)
            blocks = self._placement.place(
                source, cut, state, query, first_changed=first_changed, is_new_in_store=is_new
            )
        watch.lap("recall")
        outgoing = Outgoing.after(source, cut)
        tail = tuple(outgoing.keys[-TAIL:])
        sent = tuple(block for block in blocks.sent if outgoing.insert(block, source))
        outgoing.merge_neighbors(source)
        strip = self._config.trim.thinking == "strip"
        binding = outgoing.bind_thinking(source, state, strip=strip)
        watch.lap("assemble")
        is_edited = bool(removed or binding.stale or outgoing.alternates)
        self._check(source, cut, outgoing, is_edited=is_edited)
        watch.lap("check")
        done = _Done(
            source,
            state,
            is_cold,
            shown,
            cut,
            removed,
            archived,
            sizes,
            blocks,
            sent,
            outgoing,
            binding,
        )
        cache = explain.cache(
            source, outgoing, binding, state, is_cold=is_cold, thinking=self._config.trim.thinking
        )
        after = done.next_state(cache, tail=tail, touched=now, model=model or state.model)
        self._recognize(self._sent_blocks.add(block.text for block in sent))
        self._remember(states, after)
        self._has_cut = bool(removed)
        self._writer.write(
            self._states or (),
            source.conversation,
            new,
            is_new=bool(removed) or not after.decides_as(state),
        )
        watch.lap("keep")
        report = self._report(done, after, cache, watch, query=query)
        origins = LazyList(partial(outgoing.origins, source))
        return self._number(outgoing.messages, report, after.id, origins)

    def _is_new_in_store(self, source: Source, state: State, now: Sizes) -> bool:
        """Return whether a search could find what that of the last turn could not."""
        answers = self._capture.mark.take_answers()
        if source.newest == source.newest_user:  # no step, whose list has the answers
            return now != state.searched
        return now.segments != state.searched.segments + answers

    def _query(self, source: Source) -> tuple[str, str]:
        """Return the text to search memory for, and the text to mask and show in the report.

        Of a long text the search gets both ends, which may cut a secret in two: only its head is shown.
        """
        count = source.query_count(self._config.recall.query_messages)
        query = source.conversation.query(count)
        is_long = len(query) > LONGEST
        return query, source.conversation.query(count, head=SEARCHED) if is_long else query

    def _is_short(self, query: str) -> bool:
        """Return whether a query is too short for a trim by the settings."""
        config = self._config
        return not config.trim.short_queries and len(query) < config.recall.min_query_chars

    def _report(
        self, done: _Done, after: State, cache: Cache, watch: Stopwatch, *, query: str
    ) -> Report:
        source, cut, state, limit = done.source, done.cut, done.before, self._budget.limit
        degraded: list[str] = []
        if cut.is_due and self._is_short(query):
            degraded.append("not trimmed: the query is short and trim.short_queries is off")
        candidates, recalled = done.blocks.candidates, done.blocks.recalled
        if candidates is not None and candidates.degraded is not None:
            degraded.append(self._mask(f"recalled by words alone: {candidates.degraded}"))
        if candidates is not None and candidates.unembedded:
            count = candidates.unembedded
            degraded.append(
                f"recalled with {count:,} passages compared by words alone: their vectors are not made yet"
            )
        if done.blocks.unsearched is not None:
            degraded.append(done.blocks.unsearched)
        unsearched = None if candidates is None else candidates.unsearched
        if unsearched is not None:
            degraded.append(UNSEARCHED[unsearched])
        over = explain.over_limit(
            cut, sent=after.estimate, excess=state.excess, budget=self._budget
        )
        if over is not None:
            degraded.append(f"over the limit of {limit:,} tokens")
        if recalled and done.sent[-1:] != done.blocks.sent[-1:]:
            recalled = ()
            degraded.append(UNANCHORED)
        left_out: Sequence[LeftOut] = ()
        if candidates is not None:
            left_out = LazyList(
                partial(explain.left_out, done.blocks, candidates, recalled, done.sent)
            )
        return Report(
            format=source.conversation.format,
            find_query=partial(self._mask, done.shown_query),
            tokens=explain.tokens(source, cut, before=state, after=after, limit=limit),
            pruned=LazyList(lambda: explain.pruned(source, cut, state)),
            trimmed=LazyList(lambda: explain.trimmed(source, cut, state)),
            recalled=LazyList(partial(explain.recalled, query, recalled)) if recalled else (),
            left_out=left_out,
            protected=LazyList(lambda: explain.protected(source, cut)),
            unsearched=unsearched,
            repaired=source.repaired,
            cache=cache,
            archived=done.archived,
            is_deferred=cut.is_deferred,
            is_over_limit=over is not None,
            degraded=tuple(degraded),
            warnings=self._take_warnings(),
            errors=() if over is None else (over,),
            milliseconds=watch.laps,
        )

    def _remember(self, states: States, after: State) -> None:
        """Keep a state for the next turn of its conversation."""
        self._before, self._states = states, update_states(states, after)
        known = {state.id for state in self._states}
        if len(states) == MOST and after.id not in {state.id for state in states}:
            self._warn("conversations", TOO_MANY)
        if len(self._replays) > len(known):
            self._replays = {key: each for key, each in self._replays.items() if key in known}

    def _check(self, source: Source, cut: Cut, outgoing: Outgoing, *, is_edited: bool) -> None:
        """Raise if an edit would make a provider refuse messages that it would have accepted.

        The messages to send are parsed again if the turn edited any; if it only repeats, the cut alone is checked.
        """
        if is_edited:
            found = _core.problems(self._reader.read(outgoing.messages, outgoing.format))
        else:
            found = cut.find_problems()
        known = (
            {problem[1] for problem in _core.problems(source.conversation)} if found else set[str]()
        )
        worse = [problem for problem in found if problem[1] not in known]
        if worse:
            index, code, words, _ = worse[0]
            raise MemctxError(
                f"the edited messages would be refused: message {index}, {code}: {words}"
            )


@dataclass(frozen=True, slots=True)
class _Done:
    """Outcome of the steps of a turn."""

    source: Source
    before: State
    is_cold: bool
    shown_query: str
    cut: Cut
    removed: Sequence[SourceIndex]
    """Messages that the turn removed, whole or in part."""
    archived: int
    """Number of messages that the turn archives."""
    sizes: Sizes
    """Sizes of the store's logs at the beginning of the turn."""
    blocks: Blocks
    sent: tuple[Block, ...]
    """The blocks whose anchors are sent."""
    outgoing: Outgoing
    binding: Binding

    def next_state(
        self, cache: Cache, *, tail: tuple[int, ...], touched: float, model: str | None
    ) -> State:
        """Return the state after the turn."""
        state, outgoing, source = self.before, self.outgoing, self.source
        spent, rewritten = explain.costs(outgoing, cache, state, is_cut=bool(self.removed))
        return replace(
            state,
            head=source.head,
            trimmed=self.cut.decisions(state.trimmed),
            pruned={item.key: item.form for _, item in self.cut.pruned},
            blocks=self.sent,
            bound=self.binding.bound,
            recalled_for=source.newest_user,
            searched=self.sizes,
            is_recall_late=self.blocks.is_late,
            newest=source.newest,
            sent=self.binding.links,
            estimate=sum(outgoing.tokens),
            spent=spent,
            rewritten=rewritten,
            tail=tail,
            touched=touched,
            model=model,
        )


def _find_removed(cut: Cut, state: State) -> list[SourceIndex]:
    """Return the messages that a turn removes, whole or in part."""
    known = state.pruned.keys()
    return sorted({*cut.trimmed, *(index for index, item in cut.pruned if item.key not in known)})


def _is_compacted(state: State, source: Source) -> bool:
    """Return whether the host has taken away the oldest messages, and the provider's cache of all behind them."""
    return state.head is not None and source.head != state.head


def _is_cold(state: State, now: float, ttl: float, model: str | None) -> bool:
    """Return whether the provider's cache has expired: after a long pause, or with another model."""
    if state.touched is None:
        return False
    is_other_model = model is not None and state.model is not None and model != state.model
    return is_other_model or now - state.touched > ttl
