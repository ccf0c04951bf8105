"""`Turns`: the turns of one session, each prepared from the messages of the host and from what earlier ones decided."""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.errors import ConfigError, MemctxError, MessageShapeError, StoreError
from memctx.turn import account, placement, price, saved
from memctx.turn.binding import bind
from memctx.turn.budget import Budget
from memctx.turn.cut import Cut, Replay, cut
from memctx.turn.keeper import Keeper
from memctx.turn.listing import Listing
from memctx.turn.outgoing import ALTERNATING, Outgoing
from memctx.turn.report import Report
from memctx.turn.source import Source
from memctx.turn.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memctx._core import Conversation, Scanner
    from memctx.messages import Shape
    from memctx.turn.keeper import Archive
    from memctx.turn.placement import Blocks
    from memctx.turn.recollection import Candidates, Recall
    from memctx.turn.state import Block, State


logger = logging.getLogger("memctx.turn")

SHORTEST_QUERY = 3
# A shorter message, such as "go on", says too little to be asked alone.
FEW_TOKENS = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """What to send, and what was done to it."""

    messages: list[Any]
    """The messages for the model: those of the host, the very same objects where nothing was changed."""
    report: Report


class Turns:
    """Prepares the turns of one session, one at a time."""

    def __init__(self, recall: Recall, scanner: Scanner, archive: Archive) -> None:
        self._config = recall.config
        self._store = recall.store
        self._archive = archive
        self._budget = Budget.of(recall.config)
        self._recall = recall
        self._degraded: tuple[str, ...] = ()
        self._state: State | None = None
        self._before: State | None = None
        self._closed = False
        self.reopen(scanner)

    def reopen(self, scanner: Scanner) -> None:
        """After a fork: go on with what was decided, without the parent's threads and locks."""
        self._scanner = scanner
        self._replay = Replay()
        self._lock = threading.Lock()
        path = saved.path_of(self._store.path, self._store.session_id)
        self._keeper = Keeper(path, self._store.session_id, self._archive)

    def prepare(
        self,
        messages: Sequence[Any],
        *,
        shape: Shape | None,
        pinned: Collection[int],
        model: str | None,
    ) -> Turn:
        """The messages to send. A fault of memory is caught here, once: then they are sent as they came."""
        with self._lock:
            watch = Stopwatch()
            try:
                if self._closed:
                    raise StoreError("the memory is closed")  # noqa: TRY301 - one handler for every fault
                self._settle()
                source = Source.read(self._scanner, messages, shape)
                watch.lap("scan")
                return self._prepared(source, watch, pinned=pinned, model=model)
            except (MessageShapeError, ConfigError):
                raise  # the caller's fault, not memory's
            except Exception as error:
                logger.exception("memory failed; the messages are sent as they came")
                report = Report(shape or "unknown", errors=(f"{type(error).__name__}: {error}",))
                return Turn(list(messages), report)

    def observe(self, tokens: int) -> None:
        """Learn what the last turn cost by the provider's count."""
        with self._lock:
            self._state = self._current().observed(tokens)

    def settle(self) -> None:
        """Wait until what left the context is in the store, so that a search finds it."""
        with self._lock:
            try:
                self._settle()
            except Exception:
                logger.exception(
                    "what left the context is not stored; it comes back with the next turn"
                )

    def close(self) -> None:
        """Save the state, so that the next process goes on from here, and touch the store no more."""
        self.settle()
        with self._lock:
            self._closed = True
            if self._state:
                self._keeper.close(self._state)

    def _settle(self) -> None:
        """Wait for the archive of the last turn. If it failed, that turn is taken back: its messages are not lost."""
        before, self._before = self._before, None
        try:
            self._keeper.settle()
        except Exception:
            self._state = before
            raise

    def _current(self) -> State:
        if self._state is None:
            self._state = self._keeper.load()
        return self._state

    def _prepared(
        self, source: Source, watch: Stopwatch, *, pinned: Collection[int], model: str | None
    ) -> Turn:
        state, config, budget = self._current(), self._config, self._budget
        self._degraded = ()
        conversation, now = source.conversation, time.time()
        is_cold = _is_cold(state, now, config.cache_ttl, model)
        query = _query(conversation)
        pins = (
            {place for place, origin in enumerate(source.origins) if origin in pinned}
            if pinned
            else ()
        )
        done = cut(
            conversation,
            query,
            replay=self._replay,
            config=config,
            budget=budget,
            state=state,
            pinned=pins,
            is_cold=is_cold,
        )
        watch.lap("cut")
        new_pruned = {item.key for item in done.pruned} - state.pruned.keys()
        leaving = sorted(
            {
                *done.trimmed,
                *(done.places[item.message] for item in done.pruned if item.key in new_pruned),
            }
        )
        blocks = self._blocks(
            source, done, state, query, changed=0 if is_cold else min(leaving, default=None)
        )
        watch.lap("recall")
        outgoing = Outgoing.after(source, done)
        sent = tuple(block for block in blocks.sent if outgoing.insert(block, source))
        outgoing.merge_neighbours(source)
        binding = bind(outgoing, source, state, strip=config.thinking == "strip")
        watch.lap("assemble")
        is_new = bool(leaving or binding.stale or outgoing.shape in ALTERNATING)
        self._check(source, done, outgoing, is_new=is_new)
        watch.lap("check")
        cache = account.cache(
            source, outgoing, binding, state, is_cold=is_cold, thinking=config.thinking
        )
        spent, rewritten = account.costs(outgoing, cache, state, is_cut=bool(leaving))
        newest_user = conversation.newest_user
        after = replace(
            state,
            trimmed=done.units_out(state.trimmed),
            pruned={item.key: item.form for item in done.pruned},
            blocks=sent,
            bound=binding.bound,
            recalled_for=None if newest_user is None else source.place(newest_user),
            newest=source.place(len(conversation) - 1) if len(conversation) else None,
            sent=binding.links,
            estimate=sum(outgoing.tokens),
            spent=spent,
            rewritten=rewritten,
            touched=now,
            model=model or state.model,
        )
        self._state, self._before = after, state
        self._keeper.keep(after, conversation, leaving, is_new=not after.decides_as(state))
        watch.lap("keep")
        report = Report(
            shape=conversation.shape,
            query=query,
            tokens=account.tokens(source, done, before=state, after=after, limit=budget.limit),
            pruned=Listing(lambda: account.pruned(source, done, state)),
            trimmed=Listing(lambda: account.trimmed(source, done, state)),
            recalled=blocks.recalled if sent[-1:] == blocks.sent[-1:] else (),
            protected=Listing(lambda: account.protected(source, done)),
            repaired=source.repaired,
            cache=cache,
            archived=len(leaving),
            is_deferred=done.trim.is_deferred,
            degraded=self._degraded,
            milliseconds=watch.laps,
        )
        return Turn(outgoing.messages, report)

    def _blocks(
        self, source: Source, done: Cut, state: State, query: str, *, changed: int | None
    ) -> Blocks:
        """The blocks to send. From the message at ``changed`` on, the provider reads everything anew anyway."""
        conversation = source.conversation
        cap = self._budget.room(done.tokens + state.excess)
        source.find_all([block.anchor for block in state.blocks if block.anchor is not None])
        kept = [block for block in state.blocks if _stands(block, source, done)]
        newest_user = conversation.newest_user
        newest = None if newest_user is None else source.place(newest_user)

        room = (
            cap
            if self._config.placement != "stable"
            else placement.reach(() if done.trimmed else kept, cap)
        )

        def search() -> Candidates | None:
            if not self._config.auto_recall or len(query) < SHORTEST_QUERY:
                return None
            found = self._recall.search(query, done.kept, hidden=done.changed, room=room)
            if found.degraded is not None:
                self._degraded = (f"recalled by words alone: {found.degraded}",)
            return found

        if self._config.placement == "head":
            return placement.rebuilt(search, None, cap)
        if self._config.placement == "tail":
            return placement.rebuilt(search, newest, cap) if newest else placement.Blocks(())
        return placement.stable(
            search,
            state,
            kept,
            newest=newest,
            cap=cap,
            is_cut=bool(done.trimmed),
            may_retire=lambda block: _may_retire(block, source, done, state, changed),
        )

    def _check(self, source: Source, done: Cut, outgoing: Outgoing, *, is_new: bool) -> None:
        """No edit of ours may make a provider refuse what it would have taken.

        What is sent is read again where the turn decided anything; where it only repeats, what it leaves out is looked
        at and no more.
        """
        if is_new:
            found = _core.problems(self._scanner.scan(outgoing.messages, outgoing.shape))
        else:
            found = _core.problems(done.left)
        known = (
            {problem[1] for problem in _core.problems(source.conversation)} if found else set[str]()
        )
        worse = [problem for problem in found if problem[1] not in known]
        if worse:
            index, code, words, _ = worse[0]
            raise MemctxError(
                f"the edited messages would be refused: message {index}, {code}: {words}"
            )


def _query(conversation: Conversation) -> str:
    """What memory is asked: what the person said last or, if that is a word or two, the last three things."""
    newest = conversation.query(1)
    return (
        newest if _core.estimate_tokens(newest, "script") >= FEW_TOKENS else conversation.query(3)
    )


def _may_retire(
    block: Block,
    source: Source,
    done: Cut,
    state: State,
    changed: int | None,
) -> bool:
    """Whether what must be written again without a block is little, beside what the session costs anyway."""
    index = 0 if block.anchor is None else source.find(block.anchor) or 0
    if changed is not None and changed <= index:
        return True
    again = sum(done.tokens_sent[bisect_left(done.stays, index) :])
    cost = state.rewritten + price.of_change(again + block.tokens)
    return cost <= price.RETIRING_SHARE * state.spent


def _is_cold(state: State, now: float, ttl: float, model: str | None) -> bool:
    """Whether the provider has forgotten the prompt: a long pause, or another model."""
    if state.touched is None:
        return False
    is_other_model = model is not None and state.model is not None and model != state.model
    return is_other_model or now - state.touched > ttl


def _stands(block: Block, source: Source, done: Cut) -> bool:
    """Whether the message that a block stands before is still sent."""
    if block.anchor is None:
        return True
    index = source.find(block.anchor)
    return index is not None and done.sends(index)
