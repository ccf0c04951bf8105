"""`Binding`: signed thinking, and the prompt that each piece of it is bound to.

Providers sign the model's thinking together with all that was sent before it, and refuse it behind anything else. So
each message with signed thinking is remembered with the chain of what had been sent when the model wrote it. As long as
it is sent behind the same chain it stays; otherwise it is stale, from that turn on and for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.turn.outgoing import Outgoing
    from memctx.turn.source import Source
    from memctx.turn.state import Place, State

# Shapes whose providers bind thinking to what was sent before it.
SHAPES = frozenset({"anthropic", "bedrock", "pi"})


@dataclass(frozen=True, slots=True)
class Binding:
    """What is bound to what."""

    links: Sequence[int]
    """The chain of what is sent, a link for each message."""
    bound: dict[Place, int]
    """For each message with signed thinking, the link it was written behind."""
    stale: list[int]
    """The messages, by their places in the source, whose thinking is bound to another chain."""


def bind(outgoing: Outgoing, source: Source, state: State, *, strip: bool) -> Binding:
    """Find stale thinking, and take it out of what is sent if ``strip`` says so."""
    conversation = source.conversation
    signed = conversation.signed if outgoing.shape in SHAPES else []
    if not signed:
        return Binding(_core.chain(outgoing.keys), {}, [])
    keys, ordinals = source.keys, source.ordinals
    written_behind = _written_behind(source, state)
    bound = {
        (place := (keys[index], ordinals[index])): state.bound.get(place, written_behind[index])
        for index in signed
    }
    place_of = {origin: place for place, origin in enumerate(outgoing.origins)}
    checked = [
        (place_of[index], bound[keys[index], ordinals[index]])
        for index in signed
        if index in place_of
    ]
    links, stale = _core.bind(outgoing.keys, checked, strip=strip)
    origins = [outgoing.origins[place] for place in stale]
    if strip and stale:
        outgoing.strip_thinking(stale)
        outgoing.merge_neighbours(source)
    return Binding(links, bound, origins)


def _written_behind(source: Source, state: State) -> list[int]:
    """For each message of the source the link that it was written behind, if it is new.

    What follows the last message of the turn before was written behind what that turn sent. Without such a turn, or
    if the host changed its history since, the host sent the messages as they are.
    """
    keys = source.keys
    last = None if state.newest is None else source.find(state.newest)
    if last is None or not state.sent:
        return [0, *_core.chain(keys)][: len(keys)]
    new = _core.chain(keys[last + 1 :], start=state.sent[-1])
    return [0] * (last + 1) + [state.sent[-1], *new][: len(keys) - last - 1]
