"""Fitting texts into what a model and a request take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Bytes of UTF-8 that make a token: English and code have more of them, Chinese has about as many.
TOKEN_BYTES = 3


@dataclass(frozen=True, slots=True)
class Batch:
    """How much one request takes."""

    texts: int
    chars: int


def cut(text: str, size: int) -> str:
    """As much of a text as fits into so many bytes of UTF-8, whole characters only.

    >>> cut("支付回调", 7)
    '支付'
    """
    encoded = text.encode(
        "utf-8", "replace"
    )  # half of a surrogate pair is nothing that can be sent
    return encoded[:size].decode("utf-8", "ignore")


def batches(texts: Sequence[str], batch: Batch) -> Iterator[Sequence[str]]:
    """The texts in order, in parts that fit; a text that is too long for any is a part of its own.

    >>> list(batches(["one", "two", "three", "four"], Batch(texts=2, chars=8)))
    [['one', 'two'], ['three'], ['four']]
    """
    start = chars = 0
    for end, text in enumerate(texts):
        if end > start and (end - start >= batch.texts or chars + len(text) > batch.chars):
            yield texts[start:end]
            start, chars = end, 0
        chars += len(text)
    if start < len(texts):
        yield texts[start:]
