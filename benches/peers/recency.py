"""The trim of a host without memory: the oldest messages leave until the rest fits, the task stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME = "oldest first"


def truncate(
    messages: Sequence[Any],
    tokens: Callable[[Any], int],
    limit: int,
    is_start: Callable[[Any], bool],
) -> list[Any]:
    """Return the first message and the longest tail that fit together; a tail begins where ``is_start`` allows it.

    Whatever happens, the tail is as long as the last place where it may begin.
    """
    costs = [tokens(message) for message in messages]
    if sum(costs) <= limit:
        return list(messages)
    left = limit - costs[0]
    start = None
    for place in range(len(messages) - 1, 0, -1):
        left -= costs[place]
        if left < 0 and start is not None:
            break
        if is_start(messages[place]):
            start = place
    return [messages[0], *messages[start:]] if start is not None else list(messages)


class Recency:
    """Truncation that cuts down to a share of the limit at once and keeps the cut until the limit is reached again."""

    def __init__(
        self,
        tokens: Callable[[Any], int],
        limit: int,
        is_start: Callable[[Any], bool],
        share: float = 1.0,
    ) -> None:
        self._tokens, self._limit, self._is_start, self._share = tokens, limit, is_start, share
        self._gone = 0

    def __call__(self, messages: Sequence[Any]) -> list[Any]:
        """Return the messages that are sent."""
        kept = [messages[0], *messages[1 + self._gone :]]
        if sum(map(self._tokens, kept)) <= self._limit:
            return kept
        low = int(self._limit * self._share)
        kept = truncate(messages, self._tokens, low, self._is_start)
        self._gone = len(messages) - len(kept)
        return kept
