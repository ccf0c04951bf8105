"""From what a turn decided to the lines of its report. Indices become those of the list that was given."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from memctx.turn import price
from memctx.turn.report import Cache, Protected, Pruned, Tokens, Trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.config import Thinking
    from memctx.turn.binding import Binding
    from memctx.turn.cut import Cut
    from memctx.turn.outgoing import Outgoing
    from memctx.turn.source import Source
    from memctx.turn.state import State


def tokens(source: Source, cut: Cut, *, before: State, after: State, limit: int | None) -> Tokens:
    """What the messages cost after each step."""
    saved = sum(item.tokens_before - item.tokens_after for item in cut.pruned)
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
    """The results that are sent shorter."""
    return tuple(
        Pruned(
            index=source.origins[cut.places[item.message]],
            form=item.form,
            tokens_before=item.tokens_before,
            tokens_after=item.tokens_after,
            is_new=item.key not in state.pruned,
        )
        for item in cut.pruned
    )


def trimmed(source: Source, cut: Cut, state: State) -> tuple[Trimmed, ...]:
    """The units that are not sent."""
    origins = source.origins
    earlier = [
        Trimmed(
            indices=tuple(origins[index] for index in unit.messages),
            tokens=unit.tokens,
            layer=state.trimmed[unit.key][0],
            score=state.trimmed[unit.key][1],
            is_new=False,
        )
        for unit in cut.replayed.removed
    ]
    new = [
        Trimmed(
            indices=tuple(origins[cut.places[index]] for index in unit.messages),
            tokens=unit.tokens,
            layer=unit.layer,
            score=unit.score,
            is_new=True,
        )
        for unit in cut.trim.removed
    ]
    return (*earlier, *new)


def protected(source: Source, cut: Cut) -> tuple[Protected, ...]:
    """What a trim had to leave alone; nothing where none was made."""
    if not cut.is_due:
        return ()
    return tuple(
        Protected(source.origins[cut.places[index]], reason) for index, reason in cut.trim.protected
    )


def cache(  # noqa: PLR0913 - all that decides what the provider's cache still holds
    source: Source,
    outgoing: Outgoing,
    binding: Binding,
    state: State,
    *,
    is_cold: bool,
    thinking: Thinking,
) -> Cache:
    """What the turn does to the provider's cache."""
    stable = _stable(binding.links, state.sent)
    first_changed = stable if stable < len(state.sent) else None
    again = 0
    if first_changed is not None:
        new = _new_since(source, state)
        again = sum(
            tokens
            for origin, tokens in zip(
                outgoing.origins[stable:], outgoing.tokens[stable:], strict=True
            )
            if origin < new
        )
    return Cache(
        stable_prefix=stable,
        first_changed=first_changed,
        rewritten_tokens=again,
        stale_thinking=tuple(source.origins[place] for place in binding.stale),
        thinking=thinking,
        is_cold=is_cold,
    )


def _stable(now: Sequence[int], then: Sequence[int]) -> int:
    """How many links two chains have in common. Links stand for all before them, so once they differ they always do."""
    length = min(len(now), len(then))
    return bisect_left(range(length), 1, key=lambda place: int(now[place] != then[place]))


def costs(outgoing: Outgoing, cache: Cache, state: State, *, is_cut: bool) -> tuple[float, float]:
    """What the session has spent after this turn, and what of it went into retiring blocks."""
    cached = sum(outgoing.tokens[: cache.stable_prefix]) + cache.rewritten_tokens
    tokens = sum(outgoing.tokens)
    turn, change = price.of_turn(tokens, tokens - cached), price.of_change(cache.rewritten_tokens)
    if is_cut:  # that had to be, with or without blocks
        return state.spent + turn + change, state.rewritten
    return state.spent + turn, state.rewritten + change


def _new_since(source: Source, state: State) -> int:
    """The first message of the source that came after the turn before."""
    last = None if state.newest is None else source.find(state.newest)
    return len(source.messages) if last is None else last + 1
