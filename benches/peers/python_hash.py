"""The hash embedding in Python, by hashlib: once as the algorithm reads, once with every trigram remembered."""

from __future__ import annotations

import re
from hashlib import sha256
from math import sqrt
from struct import unpack_from
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

_SPACE = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SPACES = re.compile(f"[{_SPACE}]+")
_OTHER = re.compile(rf"[^\w{_SPACE}@.+-]|_")


class Embedder:
    """The vectors of `memctx.lowlevel.HashEmbedder`."""

    def __init__(self, dim: int = 384, *, remember: bool = False) -> None:
        self._dim = dim
        self._place: Callable[[str], tuple[int, int]] = self._hashed
        if remember:
            self._place = _Memo(self._hashed).__getitem__

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text."""
        vector = [0] * self._dim
        for gram in _grams(text):
            index, sign = self._place(gram)
            vector[index] += sign
        length = sqrt(sum(value * value for value in vector)) or 1.0
        return np.array([value / length for value in vector], dtype=np.float32)

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row for each text."""
        return np.stack([self.embed(text) for text in texts])

    def _hashed(self, gram: str) -> tuple[int, int]:
        """Return the bucket of a gram, and its sign."""
        try:
            data = gram.encode()
        except UnicodeEncodeError:
            data = _with_halves_replaced(gram).encode()
        number, byte = unpack_from("<IB", sha256(data).digest())
        return number % self._dim, -1 if byte & 1 else 1


class _Memo(dict[str, tuple[int, int]]):
    def __init__(self, function: Callable[[str], tuple[int, int]]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, gram: str) -> tuple[int, int]:
        place = self[gram] = self._function(gram)
        return place


def _grams(text: str) -> Iterable[str]:
    """Every three UTF-16 units in a row of the text, cleaned and set between two spaces."""
    units = _utf16(_OTHER.sub(" ", _SPACES.sub(" ", text.lower())).strip(" "))
    if len(units) <= 3:
        return [units] if units else []
    units = f" {units} "
    return map("".join, zip(units, units[1:], units[2:], strict=False))


def _utf16(text: str) -> str:
    """Replace every character beyond U+FFFF by its two surrogates."""
    if not text or max(text) <= "\uffff":
        return text
    data = memoryview(text.encode("utf-16-le")).cast("H")
    return "".join(map(chr, data))


def _with_halves_replaced(gram: str) -> str:
    """Two surrogates that belong together as the character they are, one alone as U+FFFD."""
    return gram.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
