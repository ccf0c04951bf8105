"""Explanations of a turn for its report and the log: indices become those of the given list, secrets are masked."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from memctx import _core
from memctx.context.recall import fact_id, passage_id
from memctx.context.report import Cache, LeftOut, Protected, Pruned, Tokens, Trimmed
from memctx.context.words import matched_words
from memctx.errors import StoreError
from memctx.providers import pricing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memctx._core import SearchHit
    from memctx.config import Config, Thinking
    from memctx.context.assemble import Binding, Outgoing
    from memctx.context.budget import Budget
    from memctx.context.cut import Cut
    from memctx.context.placement import Blocks
    from memctx.context.read import Source
    from memctx.context.recall import Candidates
    from memctx.context.report import Reason, Recalled
    from memctx.context.state import Block, State

# Characters of a text that are shown.
LONGEST = 500
# Characters that are searched for secrets, so that one that begins in the shown text is masked whole.
SEARCHED = 16_384
# Characters at their end that may be the beginning of a secret that was cut off.
UNSURE = 4_096
# Items found and not recalled that a report lists.
MOST_LEFT_OUT = 20
# Items that were not sure enough, which a report lists where nothing was.
MOST_UNSURE = 5


class Stopwatch:
    """Durations of the steps of a turn, in milliseconds."""

    __slots__ = ("_since", "laps")

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = perf_counter()

    def lap(self, step: str) -> None:
        """Add the time since the last lap to a step."""
        now = perf_counter()
        self.laps[step] = self.laps.get(step, 0.0) + (now - self._since) * 1000
        self._since = now


class Masking:
    """Masks secrets in text of the host for reports and logs, and shortens it."""

    def __init__(self, config: Config) -> None:
        self._redactor = _core.Redactor(
            config.redaction, pii=config.privacy.pii, patterns=config.privacy.patterns or None
        )
        self._last = ("", "")

    def mask(self, text: str) -> str:
        """Return at most `LONGEST` characters of a text, without secrets."""
        if text != self._last[0]:  # mostly the query of the turn before
            masked = self._redactor.mask(text[:SEARCHED]).text
            if len(text) > SEARCHED:
                masked = f"{masked[:-UNSURE]}…"
            cut = masked if len(masked) <= LONGEST else f"{masked[: LONGEST - 1]}…"
            self._last = (text, cut)
        return self._last[1]


def tokens(source: Source, cut: Cut, *, before: State, after: State, limit: int | None) -> Tokens:
    """Return the cost of the messages after each step."""
    saved = sum(item.tokens_before - item.tokens_after for _, item in cut.pruned)
    return Tokens(
        before=source.conversation.tokens,
        pruned=saved,
        trimmed=source.conversation.tokens - saved - cut.tokens,
        recalled=sum(block.tokens for block in after.blocks),
        after=after.estimate,
        excess=before.excess,
        limit=limit,
    )


def pruned(source: Source, cut: Cut, state: State) -> tuple[Pruned, ...]:
    """Return the results that are sent shortened."""
    return tuple(
        Pruned(
            index=index,
            form="clear" if item.form == "clear" else "soft",
            tokens_before=item.tokens_before,
            tokens_after=item.tokens_after,
            is_new=item.key not in state.pruned,
        )
        for at, item in cut.pruned
        for index in source.given([at])
    )


def trimmed(source: Source, cut: Cut, state: State) -> tuple[Trimmed, ...]:
    """Return the units that are not sent. A message that a repair added has no index, and is reported with its call."""
    return tuple(
        Trimmed(
            indices=source.given(unit.messages),
            tokens=unit.tokens,
            layer=unit.layer,
            score=unit.score,
            is_new=unit.is_new,
        )
        for unit in cut.removed(state.trimmed)
    )


def protected(source: Source, cut: Cut) -> tuple[Protected, ...]:
    """Return the messages that a trim had to keep; none where no trim was due."""
    if not cut.is_due:
        return ()
    return tuple(
        Protected(index, reason) for at, reason in cut.protected() for index in source.given([at])
    )


def recalled(query: str, items: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Return the recalled items with the words that they share with the query."""
    return tuple(replace(item, words=matched_words(query, item.text)) for item in items)


def left_out(
    blocks: Blocks, candidates: Candidates, shown_items: Sequence[Recalled], sent: Sequence[Block]
) -> tuple[LeftOut, ...]:
    """Return the best items that a search found and that are not recalled, or that it was not sure enough of."""
    if blocks.find_unsure is not None:
        return _unsure(blocks.find_unsure, sent)
    hits, facts, unseen = candidates.found
    shown = {item.id for item in shown_items}
    known = {key for block in sent for key in block.items}
    told = {(hit.segment.role, hit.segment.content) for hit in hits if hit.segment.id in shown}
    current = {fact_id(hit.fact) for hit in candidates.facts}
    without_room: Reason = "prompt cache" if blocks.is_withheld else "no room"
    items: list[LeftOut] = []
    for hit, is_unseen in zip(hits, unseen[: len(hits)], strict=True):
        segment = hit.segment
        if segment.id not in shown:
            is_told = (segment.role, segment.content) in told
            other, of = candidates.reason(segment.id) or (
                "duplicate" if is_told else without_room,
                None,
            )
            reason = _reason(is_unseen=is_unseen, is_known=_is_known(hit, known), other=other)
            of = of if reason == other else None
            items.append(LeftOut(segment.id, segment.role, hit.score, reason, of))
    for fact_hit, is_unseen in zip(facts, unseen[len(hits) :], strict=True):
        key = fact_id(fact_hit.fact)
        if key not in shown:
            reason = _reason(
                is_unseen=is_unseen,
                is_known=key in known,
                other=without_room if key in current else "corrected",
            )
            items.append(LeftOut(key, fact_hit.fact.type, fact_hit.score, reason))
    items.sort(key=lambda item: item.score, reverse=True)
    return tuple(items[:MOST_LEFT_OUT])


def _unsure(find: Callable[[], Candidates], sent: Sequence[Block]) -> tuple[LeftOut, ...]:
    """Return the best items that a search was not sure enough of; none once the memory is closed."""
    known = {key for block in sent for key in block.items}
    try:
        hits = find().hits
    except StoreError:
        return ()
    return tuple(
        LeftOut(hit.segment.id, hit.segment.role, hit.score, "not sure")
        for hit in hits[:MOST_UNSURE]
        if not _is_known(hit, known)
    )


def _is_known(hit: SearchHit, known: Collection[str]) -> bool:
    return hit.segment.id in known or passage_id(hit) in known


def _reason(*, is_unseen: bool, is_known: bool, other: Reason) -> Reason:
    if not is_unseen:
        return "visible"
    return "in an earlier block" if is_known else other


def over_limit(cut: Cut, *, sent: int, excess: int, budget: Budget) -> str | None:
    """Return an error if more is sent than the limit allows, because there was too little to trim."""
    if not cut.is_over:
        return None
    beyond = f" and {excess:,} beyond the estimate by the provider's count" if excess > 0 else ""
    return (
        f"over the limit: {sent:,} tokens are sent{beyond}, the limit is {budget.limit:,} and the window "
        f"{budget.window:,}; nothing more can be trimmed, since the rest is protected (see report.protected): "
        "compact, or shorten or split the newest messages"
    )


def cache(  # noqa: PLR0913 - all that decides the cache's contents
    source: Source,
    outgoing: Outgoing,
    binding: Binding,
    state: State,
    *,
    is_cold: bool,
    thinking: Thinking,
) -> Cache:
    """Return the effect of the turn on the provider's cache."""
    stable = _common_prefix(binding.links, state.sent)
    first_changed = stable if stable < len(state.sent) else None
    again = 0
    if first_changed is not None:
        new = _first_new(source, state)
        again = sum(
            tokens
            for index, tokens in zip(
                outgoing.sources[stable:], outgoing.tokens[stable:], strict=True
            )
            if index < new
        )
    return Cache(
        stable_prefix=stable,
        first_changed=first_changed,
        rewritten_tokens=again,
        stale_thinking=source.given(binding.stale),
        thinking=thinking,
        is_cold=is_cold,
    )


def _common_prefix(now: Sequence[int], then: Sequence[int]) -> int:
    """Return the number of links that two chains share. A link stands for all before it."""
    length = min(len(now), len(then))
    return bisect_left(range(length), 1, key=lambda at: int(now[at] != then[at]))


def costs(outgoing: Outgoing, cache: Cache, state: State, *, is_cut: bool) -> tuple[float, float]:
    """Return the cost of the session after this turn, and that of retired blocks."""
    cached = sum(outgoing.tokens[: cache.stable_prefix]) + cache.rewritten_tokens
    tokens = sum(outgoing.tokens)
    turn, change = (
        pricing.turn_cost(tokens, tokens - cached),
        pricing.rewrite_cost(cache.rewritten_tokens),
    )
    if is_cut:  # necessary with or without blocks
        return state.spent + turn + change, state.rewritten
    return state.spent + turn, state.rewritten + change


def _first_new(source: Source, state: State) -> int:
    """Return the index of the first message after those of the turn before."""
    last = None if state.newest is None else source.find(state.newest)
    return len(source.messages) if last is None else last + 1
