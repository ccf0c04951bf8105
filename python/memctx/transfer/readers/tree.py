"""Conversations that are trees: whoever went back and asked again left a branch behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def lineage(parents: Mapping[str, str | None], leaf: str | None) -> dict[str, None]:
    """The ids from a leaf up to the root, in that order; a circle ends where it closes.

    >>> list(lineage({"a": None, "b": "a", "c": "a"}, "c"))
    ['c', 'a']
    """
    found: dict[str, None] = {}
    while leaf is not None and leaf not in found and leaf in parents:
        found[leaf] = None
        leaf = parents[leaf]
    return found
