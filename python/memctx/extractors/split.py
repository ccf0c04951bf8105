"""Conversations longer than one call, in pieces that each make sense."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memctx.extractors.protocol import Message

# Where a text may be cut, best first: behind a line, behind a sentence, behind a word.
LINE = re.compile(r"\n")
SENTENCE = re.compile(r"[.!?…](?=\s)|[。！？]")  # noqa: RUF001 - as Chinese and Japanese write them
WORD = re.compile(r"\s")
JOINER = "\N{ZERO WIDTH JOINER}"
# Characters in a row that are kept together at most; a text of nothing but accents must be cut too.
LONGEST_CLUSTER = 32


def split(messages: Sequence[Message], limit: int) -> list[tuple[Message, ...]]:
    """The messages in order, in pieces of at most ``limit`` characters of text.

    A piece begins with a user message, unless what a user message opened is longer than a piece; then it begins with
    another message; and only a message that alone is longer is cut, into messages of the same segment whose texts
    joined are the text it had.

    >>> from memctx.extractors import Message
    >>> talk = [Message("user", "Port?", "a"), Message("assistant", "8443", "b"), Message("user", "Thanks", "c")]
    >>> [[message.text for message in piece] for piece in split(talk, 10)]
    [['Port?', '8443'], ['Thanks']]
    """
    if limit < 1:
        raise ConfigError(f"limit must be at least 1 character, not {limit!r}")
    pieces: list[list[Message]] = [[]]
    room = limit
    for unit in units(messages):
        blocks = [unit]
        if length_of(unit) > limit:
            blocks = [[part] for part in cut_long(unit, limit)]
            room = 0  # a unit that cannot stay whole begins a piece of its own
        for block in blocks:
            size = length_of(block)
            if size > room:
                pieces.append([])
                room = limit
            pieces[-1] += block
            room -= size
    return [tuple(piece) for piece in pieces if piece]


def length_of(messages: Iterable[Message]) -> int:
    """How many characters were said."""
    return sum(len(message.text) for message in messages)


def units(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """What belongs together: a user message and what follows it, up to the next."""
    unit: list[Message] = []
    for message in messages:
        if message.role == "user" and unit:
            yield unit
            unit = []
        unit.append(message)
    if unit:
        yield unit


def cut_long(messages: Iterable[Message], limit: int) -> Iterator[Message]:
    """The messages, those that are too long in parts."""
    for message in messages:
        if len(message.text) <= limit:
            yield message
        else:
            yield from (replace(message, text=part) for part in parts_of(message.text, limit))


def parts_of(text: str, limit: int) -> Iterator[str]:
    """The text in parts of at most ``limit`` characters."""
    start = 0
    while len(text) - start > limit:
        end = end_of_part(text, start, start + limit)
        yield text[start:end]
        start = end
    yield text[start:]


def end_of_part(text: str, start: int, end: int) -> int:
    """The best place for a cut: the last end of a line, sentence or word in the second half of the part."""
    half = start + (end - start) // 2
    for boundary in (LINE, SENTENCE, WORD):
        # One character more, since a sentence ends where something follows.
        places = [found.end() for found in boundary.finditer(text, half, end + 1)]
        places = [place for place in places if half < place <= end]
        if places:
            return places[-1]
    for place in range(end, max(half, end - LONGEST_CLUSTER), -1):
        if not is_inside_cluster(text, place):
            return place
    return end


def is_inside_cluster(text: str, place: int) -> bool:
    """Whether a cut here would part what is read as one character."""
    before, after = text[place - 1], text[place]
    return (
        unicodedata.combining(after) != 0
        or unicodedata.category(after) in {"Mn", "Me", "Sk"}
        or JOINER in (before, after)
        or (before == "\r" and after == "\n")
    )
