"""`Call`: one call of a tool, with the memory, the room for its answer, progress and cancellation."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from memctx._core import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.memory import Memory

    Progress: TypeAlias = Callable[[int, int], object]

Item = TypeVar("Item")

MIN_TOKENS = 12
"""Least room for a text: less says nothing."""


class Canceled(Exception):  # noqa: N818 - as `asyncio.CancelledError`, no failure
    """The caller no longer waits for the answer."""


def clip(text: str, tokens: int) -> str:
    """Return the beginning of a text that is estimated at no more than some tokens.

    >>> clip("one two three four five six", 3)
    'one two t'
    """
    cost = estimate_tokens(text)
    end = len(text) if cost <= tokens else len(text) * max(tokens, 0) // cost
    while end and estimate_tokens(text[:end]) > tokens:
        end = end * 9 // 10
    return text[:end]


@dataclass(slots=True)
class Call:
    """A call that is being answered."""

    memory: Memory
    tokens_left: int
    """Room for the rest of the answer."""
    progress: Progress | None = None
    stopped: threading.Event = field(default_factory=threading.Event)
    omitted: int = 0
    """Number of items that did not fit."""

    def advance(self, done: int, total: int) -> None:
        """Report progress.

        Raises:
            Canceled: the caller no longer waits.
        """
        if self.stopped.is_set():
            raise Canceled
        if self.progress is not None:
            self.progress(done, total)

    def fit(self, item: Item, *, most: int | None = None) -> Item | None:
        """Shorten the ``text`` of an item to the room left, to at most ``most`` tokens; None if there is no room.

        Where an item has the key ``is_cut``, it is True if the text was shortened.
        """
        fields = cast("dict[str, Any]", item)
        text: str = fields["text"]
        cost = estimate_tokens(json.dumps({**fields, "text": ""}, ensure_ascii=False))
        room = self.tokens_left - cost
        if room < min(MIN_TOKENS, estimate_tokens(text)):
            self.omitted += 1
            return None
        shown = clip(text, room if most is None else min(room, most))
        self.tokens_left = room - estimate_tokens(shown)
        fitted = {**fields, "text": shown}
        if "is_cut" in fields:
            fitted["is_cut"] = fields["is_cut"] or len(shown) < len(text)
        return cast("Item", fitted)

    def take(self, item: object) -> bool:
        """Return whether a whole item has room, and give it its room."""
        left = self.tokens_left - estimate_tokens(json.dumps(item, ensure_ascii=False))
        if left < 0:
            return False
        self.tokens_left = left
        return True

    def fit_all(self, items: list[Item], *, most: int | None = None) -> list[Item]:
        """Return the items that fit, in order, each shortened to at most ``most`` tokens."""
        fitted = (self.fit(item, most=most) for item in items)
        return [item for item in fitted if item is not None]
