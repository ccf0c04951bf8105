"""Conversation trees: the current branch, and branches that the user abandoned."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def lineage(parents: Mapping[str, str | None], leaf: str | None) -> dict[str, None]:
    """Return the ids from a leaf up to the root; a cycle ends where it closes.

    >>> list(lineage({"a": None, "b": "a", "c": "a"}, "c"))
    ['c', 'a']
    """
    found: dict[str, None] = {}
    while leaf is not None and leaf not in found and leaf in parents:
        found[leaf] = None
        leaf = parents[leaf]
    return found


def conversation(parents: Mapping[str, str | None], leaf: str | None) -> set[str]:
    """Return the ids of the entries that belong to the conversation which leads to a leaf.

    In a whole tree these are the leaf and what is above it; the rest are branches that were left. A tree with several
    roots, an entry whose parent is lost, or a circle does not tell what was left: there, all of them belong to it.

    >>> sorted(conversation({"a": None, "b": "a", "x": "a"}, "b"))
    ['a', 'b']
    >>> sorted(conversation({"a": None, "b": "a", "x": "a", "c": "lost"}, "c"))
    ['a', 'b', 'c', 'x']
    """
    return set(lineage(parents, leaf)) if is_whole(parents) else set(parents)


def is_whole(parents: Mapping[str, str | None]) -> bool:
    """Return whether every entry leads up to the same root."""
    roots = [own for own, parent in parents.items() if parent is None]
    if len(roots) != 1:
        return False
    leads_up = set(roots)
    for own in parents:
        path: dict[str, None] = {}
        at: str | None = own
        while at is not None and at not in leads_up:
            if at in path or at not in parents:
                return False
            path[at] = None
            at = parents[at]
        leads_up.update(path)
    return True
