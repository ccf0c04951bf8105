"""The second set of secrets: the corpus, and functions that add a kind to it by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redaction.corpus import Corpus
from redaction.draw import LOWER, UPPER
from redaction.surroundings import FRESH as PLACES

if TYPE_CHECKING:
    from collections.abc import Callable

    from redaction.draw import Draw

FRESH = Corpus("fresh", PLACES)
prefix = FRESH.prefix


def structural(name: str, make: Callable[[Draw], str], *places: str) -> None:
    FRESH.placed("structural", name, make, *places)


def context(name: str, make: Callable[[Draw], str], *places: str) -> None:
    FRESH.placed("context", name, make, *places)


def prose(name: str, make: Callable[[Draw], str], *places: str) -> None:
    FRESH.placed("prose", name, make, *places)


def lower(d: Draw, low: int, high: int | None = None) -> str:
    return d.text(LOWER, low, high)


def upper(d: Draw, low: int, high: int | None = None) -> str:
    return d.text(UPPER, low, high)
