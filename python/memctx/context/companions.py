"""`Companions`: what is shown beside recalled passages, so that they can be understood.

To a tool call belongs its result and to a question its answer, and the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memctx._core import SearchHit, Segment, Store, VisibleSegments

    FindVisible = Callable[[Sequence[SearchHit | str]], Sequence[bool]]

Companion: TypeAlias = "tuple[int, Segment, bool]"
"""Index of a hit, the segment that belongs to it, and True if that was said before it."""

# Tokens of a companion with the line above it, about.
COMPANION = 80
# Companions of a block, those of the best passages: each takes as long to show as a passage.
MOST = 2


@dataclass(frozen=True, slots=True)
class Companions:
    """Finds the companions of hits that the model does not see yet."""

    store: Store
    visible: VisibleSegments | None
    """Segments that the model is known to see."""
    find_visible: FindVisible
    """Returns for each text whether the model sees it."""

    def arrange(
        self, hits: Sequence[SearchHit], known: Collection[str], room: int
    ) -> tuple[list[SearchHit], list[Companion]]:
        """Return hits in the order they were said, and companions for about ``room`` tokens.

        ``hits`` come best first; companions of the keys in ``known`` are left out.
        """
        companions = self.find(hits, known, min(MOST, room // COMPANION))
        order = self.store.log_order(hits)
        return [hits[index] for index in order], [
            (order.index(of), segment, is_before) for of, segment, is_before in companions
        ]

    def find(
        self, hits: Sequence[SearchHit], known: Collection[str], limit: int
    ) -> list[Companion]:
        """Return at most ``limit`` companions of hits that the model does not see, without the keys in ``known``."""
        if limit < 1:
            return []
        found = self.store.companions(hits, limit=limit, without=self.visible)
        if found and known:
            shown = {key.rpartition(":")[0] for key in known}.union(known)
            found = [each for each in found if each[1].id not in shown]
        if not found:
            return []
        seen = self.find_visible([segment.content for _, segment, _ in found])
        return [each for each, is_seen in zip(found, seen, strict=True) if not is_seen]


def excerpt_key(segment: Segment) -> str:
    """Return the key of a companion that was cut: other than a passage, it may still be recalled itself."""
    return f"{segment.id}:excerpt"
