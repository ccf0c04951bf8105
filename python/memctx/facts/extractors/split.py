"""Splitting of conversations for extraction: pieces that fit one request, and limits for very long messages."""

from __future__ import annotations

import logging
import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memctx.protocols import Message

logger = logging.getLogger("memctx.facts.extractors")

# Boundaries at which a text may be cut, best first: after a line, a sentence, a word.
LINE = re.compile(r"\n")
SENTENCE = re.compile(r"[.!?…](?=\s)|[。！？]")  # noqa: RUF001 - as Chinese and Japanese write them
WORD = re.compile(r"\s")
JOINER = "\N{ZERO WIDTH JOINER}"
# Length up to which a grapheme cluster is kept whole; a text of nothing but accents must be cut too.
MAX_CLUSTER = 32

MAX_CHARACTERS = 100_000
"""Characters of one message that are read: about as much as a person writes in a day."""
FENCE = "```"
_has_warned = False


def split(messages: Sequence[Message], limit: int) -> list[tuple[Message, ...]]:
    """Split messages, in order, into pieces of at most ``limit`` characters of text.

    A piece begins with a user message. Where a user message and its answers are longer than a piece, a piece may begin
    with another message. Only a message that alone is longer is cut, into messages of the same segment whose joined
    texts are its text.

    >>> from memctx.facts.extractors import Message
    >>> talk = [Message("user", "Port?", "a"), Message("assistant", "8443", "b"), Message("user", "Thanks", "c")]
    >>> [[message.text for message in piece] for piece in split(talk, 10)]
    [['Port?', '8443'], ['Thanks']]
    """
    if limit < 1:
        raise ConfigError(f"limit must be at least 1 character, not {limit!r}")
    pieces: list[list[Message]] = [[]]
    room = limit
    for unit in iter_units(messages):
        blocks = [unit]
        if _length(unit) > limit:
            blocks = [[part] for part in _cut_long_messages(unit, limit)]
            room = 0  # a unit that cannot stay whole begins a piece of its own
        for block in blocks:
            size = _length(block)
            if size > room:
                pieces.append([])
                room = limit
            pieces[-1] += block
            room -= size
    return [tuple(piece) for piece in pieces if piece]


def iter_units(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Yield units: a user message and what follows it, up to the next user message."""
    unit: list[Message] = []
    for message in messages:
        if message.role == "user" and unit:
            yield unit
            unit = []
        unit.append(message)
    if unit:
        yield unit


def _length(messages: Iterable[Message]) -> int:
    return sum(len(message.text) for message in messages)


def _cut_long_messages(messages: Iterable[Message], limit: int) -> Iterator[Message]:
    """Yield the messages, with those that are too long cut into parts."""
    for message in messages:
        if len(message.text) <= limit:
            yield message
        else:
            yield from (replace(message, text=part) for part in _cut_text(message.text, limit))


def _cut_text(text: str, limit: int) -> Iterator[str]:
    """Yield a text in parts of at most ``limit`` characters."""
    start = 0
    while len(text) - start > limit:
        end = _find_cut(text, start, start + limit)
        yield text[start:end]
        start = end
    yield text[start:]


def _find_cut(text: str, start: int, end: int) -> int:
    """Return the best index for a cut: the last end of a line, sentence or word in the second half of the part."""
    half = start + (end - start) // 2
    for boundary in (LINE, SENTENCE, WORD):
        # One character more, since a sentence ends where something follows.
        ends = [found.end() for found in boundary.finditer(text, half, end + 1)]
        ends = [index for index in ends if half < index <= end]
        if ends:
            return ends[-1]
    for index in range(end, max(half, end - MAX_CLUSTER), -1):
        if not _is_inside_cluster(text, index):
            return index
    return end


def _is_inside_cluster(text: str, index: int) -> bool:
    """Return whether a cut at an index would divide what is read as one character."""
    before, after = text[index - 1], text[index]
    return (
        unicodedata.combining(after) != 0
        or unicodedata.category(after) in {"Mn", "Me", "Sk"}
        or JOINER in (before, after)
        or (before == "\r" and after == "\n")
    )


def shorten(text: str, limit: int = MAX_CHARACTERS) -> str:
    r"""Return a text of at most about ``limit`` characters: the text itself, or its first and last lines.

    >>> shorten("Port 8443.\n" + "log\n" * 20 + "We decided to use Postgres.\n", limit=60)
    'Port 8443.\nlog\nlog\nlog\nlog\n\nWe decided to use Postgres.\n'
    """
    if len(text) <= limit:
        return text
    _warn_once(len(text), limit)
    half = limit // 2
    # Whole lines, unless one line is most of the text.
    end = text.rfind("\n", half // 2, half) + 1 or half
    begin = text.find("\n", len(text) - half, len(text) - half // 2) + 1 or len(text) - half
    # The tail may begin inside a block of code, which is not read.
    is_code = (text.startswith(FENCE) + text.count(f"\n{FENCE}", 0, begin)) % 2 == 1
    head_is_code = (text.startswith(FENCE) + text.count(f"\n{FENCE}", 0, end)) % 2 == 1
    seam = "\n" if is_code == head_is_code else f"\n{FENCE}\n"
    return f"{text[:end]}{seam}{text[begin:]}"


def _warn_once(length: int, limit: int) -> None:
    global _has_warned  # noqa: PLW0603 - once in a process
    if not _has_warned:
        _has_warned = True
        logger.warning(
            "a message of %s characters is too long; facts are extracted from the first and last %s of them",
            f"{length:,}",
            f"{limit // 2:,}",
        )
