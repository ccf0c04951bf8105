"""Align a document with its translation by structure."""

from collections.abc import Iterator

from gather.items import TRANSLATION, Pair
from gather.markdown import Block, BlockKind
from gather.text import is_prose, may_translate, sentences

_PROSE = (BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM)


def translations(english: str, other: str, language: str) -> Iterator[Pair]:
    """Pair two texts, and their sentences where there are as many on both sides."""
    if not (is_prose(english) and is_prose(other) and may_translate(english, other, language)):
        return
    yield Pair(TRANSLATION, "en", language, english, other)
    here, there = sentences(english), sentences(other)
    if len(here) == len(there) > 1:
        for a, b in zip(here, there, strict=True):
            if may_translate(a, b, language):
                yield Pair(TRANSLATION, "en", language, a, b)


def align(english: list[Block], other: list[Block], language: str) -> Iterator[Pair]:
    """Pair the blocks of a document with those of its translation.

    Sections go together if there are as many, else only the first ones do. Within a section the blocks go together if
    their kinds are the same, else those of each kind of which there are as many.
    """
    here, there = _sections(english), _sections(other)
    if len(here) != len(there):
        here, there = here[:1], there[:1]
    for a, b in zip(here, there, strict=False):
        for one, two in _match(a, b):
            yield from translations(one, two, language)


def _sections(document: list[Block]) -> list[list[Block]]:
    """Split a document before each heading."""
    found: list[list[Block]] = []
    for block in document:
        if block.kind is BlockKind.HEADING or not found:
            found.append([])
        found[-1].append(block)
    return found


def _match(a: list[Block], b: list[Block]) -> Iterator[tuple[str, str]]:
    """Pair the blocks of two sections."""
    same = [block.kind for block in a] == [block.kind for block in b]
    for kind in _PROSE:
        here = [block.text for block in a if block.kind is kind]
        there = [block.text for block in b if block.kind is kind]
        if same or len(here) == len(there):
            yield from zip(here, there, strict=True)
