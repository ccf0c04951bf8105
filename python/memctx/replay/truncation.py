"""`Truncation`: what plain truncation would send and cost, for a number to hold beside that of memory."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from memctx.turn import price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation


class Truncation:
    """Cuts the oldest messages so that the rest just fits, on every call, as hosts without anything better do.

    No tool call is parted from its results. Whatever is cut, the prompt begins otherwise than the one before and
    nothing of it is read from the cache.

    >>> from memctx._core import Scanner
    >>> said = [{"role": "user", "content": f"Remark {n}"} for n in range(9)]
    >>> truncation = Truncation(Scanner().scan(said), limit=30)
    >>> [truncation.cost(length) > 0 for length in (1, 9)]
    [True, True]
    """

    def __init__(self, conversation: Conversation, limit: int | None) -> None:
        self._sums = [0, *accumulate(conversation.message_tokens)]
        self._starts = _starts(conversation.units, len(conversation))
        self._limit = limit
        self._start = 0
        self._sent = 0

    def cost(self, length: int) -> float:
        """What the next call costs, of a host that has so many messages."""
        start = self._start
        if self._limit is not None:
            while start < length and self._sums[length] - self._sums[start] > self._limit:
                start = min(self._starts[start + 1], length)
        sent = self._sums[length] - self._sums[start]
        cached = min(self._sent, sent) if start == self._start else 0
        self._start, self._sent = start, sent
        return price.of_turn(sent, sent - cached)


def _starts(units: Sequence[Sequence[int]], length: int) -> list[int]:
    """For every place the first one, from there on, before which no unit is still open."""
    inside = {place for unit in units for place in range(unit[0] + 1, unit[-1] + 1)}
    starts = [length] * (length + 1)
    for place in range(length - 1, -1, -1):
        starts[place] = starts[place + 1] if place in inside else place
    return starts
