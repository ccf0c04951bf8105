"""Finding one thing by its id, or by the beginning of it that a table shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from memctx.commands import wording
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memctx import Fact, Memory, Segment

Named = TypeVar("Named", "Fact", "Segment")

SHORTEST = 4
"""Fewer characters of an id say too little."""


def segment(memory: Memory, id: str) -> Segment:
    """The segment of an id or of its beginning.

    Raises:
        ConfigError: there is none, or more than one.
    """
    return memory.store.get(id) or _only("segment", id, memory.store.segments())


def fact(memory: Memory, id: str) -> Fact:
    """The fact of an id or of its beginning, superseded or not.

    Raises:
        ConfigError: there is none, or more than one.
    """
    known = memory.facts.get(id)
    return known or _only("fact", id, memory.facts.list(include_superseded=True))


def _only(noun: str, id: str, among: Iterable[Named]) -> Named:
    if len(id) < SHORTEST:
        raise ConfigError(f"id is {id!r}; expected at least {SHORTEST} characters of an id")
    found = {each.id: each for each in among if each.id.startswith(id)}
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise ConfigError(f"id is {id!r}; no {noun} has it")
    told = ", ".join(sorted(found)[:5])
    raise ConfigError(f"id is {id!r}; {wording.counted(len(found), noun)} begin with it: {told}")
