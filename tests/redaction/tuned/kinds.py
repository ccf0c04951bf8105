"""The first set of secrets: the corpus, and functions that add a kind to it by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redaction.corpus import Corpus
from redaction.surroundings import HELD_OUT, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from redaction.draw import Draw

TUNED = Corpus("tuned", PLAIN, HELD_OUT)
KINDS = TUNED.secrets
prefix = TUNED.prefix


def structural(name: str, make: Callable[[Draw], str], *places: str, other: str) -> None:
    TUNED.placed("structural", name, make, *places, other=other)


def context(name: str, make: Callable[[Draw], str], *places: str, other: str) -> None:
    TUNED.placed("context", name, make, *places, other=other)


def prose(name: str, make: Callable[[Draw], str], *places: str, other: str) -> None:
    TUNED.placed("prose", name, make, *places, other=other)
