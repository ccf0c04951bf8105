"""Lookup of segments and facts by id or by a prefix of one, as recalled blocks and tables show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memctx._core import Fact, Segment
    from memctx.memory import Memory

Identified = TypeVar("Identified", "Fact", "Segment")

MIN_PREFIX = 4
"""Least number of characters of an id."""
MAX_NAMED = 5


def find_segment(memory: Memory, id: str) -> Segment:
    """Return the segment with an id or a prefix of one.

    Raises:
        ConfigError: there is none, or more than one.
    """
    return memory.store.get(id) or find_by_prefix("segment", id, memory.store.segments())


def find_fact(memory: Memory, id: str) -> Fact:
    """Return the fact with an id or a prefix of one, superseded or not.

    Raises:
        ConfigError: there is none, or more than one.
    """
    known = memory.facts.get(id)
    return known or find_by_prefix("fact", id, memory.facts.list(include_superseded=True))


def neighbors(
    memory: Memory, segment: Segment, distance: int
) -> tuple[list[Segment], list[Segment]]:
    """Return the segments of a session up to ``distance`` before and after one, each in order."""
    if distance < 1:
        return [], []
    near = memory.store.neighbors(segment.id, distance)
    split = _count_before(memory, segment, near)
    return near[:split], near[split:]


def find_by_prefix(noun: str, id: str, items: Iterable[Identified]) -> Identified:
    """Return the only item whose id begins with ``id``; ``noun`` names the items in errors.

    Raises:
        ConfigError: there is none, or more than one.
    """
    if len(id) < MIN_PREFIX:
        raise ConfigError(f"id is {id!r}; expected at least {MIN_PREFIX} characters of an id")
    found = {each.id: each for each in items if each.id.startswith(id)}
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise ConfigError(f"id is {id!r}; no {noun} has it")
    some = ", ".join(sorted(found)[:MAX_NAMED])
    raise ConfigError(f"id is {id!r}; {len(found)} {noun}s begin with it: {some}")


def _count_before(memory: Memory, found: Segment, near: list[Segment]) -> int:
    """Return the number of neighbors, which are in order, before a segment."""
    if not near:
        return 0
    next_to = [each.id for each in memory.store.neighbors(found.id, 1)]
    ids = [each.id for each in near]
    if len(next_to) > 1:
        return ids.index(next_to[1])
    if len(near) > 1:  # it is the first or the last of its session
        return 0 if ids[0] == next_to[0] else len(near)
    pair = {found.id, *ids}
    first = next((each.id for each in memory.store.segments() if each.id in pair), found.id)
    return 0 if first == found.id else len(near)
