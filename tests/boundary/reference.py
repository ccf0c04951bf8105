"""Reference implementations: the library in a few slow lines of Python each."""

from __future__ import annotations

import itertools
import math
import re
import struct
import zlib
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, name, normalize

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

Ranking = list[tuple[str, float]]


# Text. A character becomes a letter that says what it is, and terms are patterns of these letters.

_CJK_NAME = re.compile(
    "((HALFWIDTH|VERTICAL) )?"
    "(CJK|KANGXI|HANGZHOU|HIRAGANA|KATAKANA|HENTAIGANA|KANA|MASU|HANGUL|BOPOMOFO"
    "|IDEOGRAPHIC (?!ANNOTATION|TALLY))"
)
_ORIGINAL_CJK = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff]")
_SPACE = re.compile("[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")
_CONNECTOR = re.compile(r"[-_./:\\@]")


def readable(text: str) -> str:
    """Replace each lone surrogate by U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def utf16(text: str) -> str:
    """Return the text as JavaScript sees it: a character beyond U+FFFF is two surrogates."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(unit) for (unit,) in struct.iter_unpack("<H", data))


def is_word(c: str) -> bool:
    return category(c)[0] in "LN"


@cache
def is_cjk(c: str) -> bool:
    return is_word(c) and _CJK_NAME.match(name(c, "")) is not None


@cache
def shape(c: str) -> str:
    """Return ``C`` for CJK, ``U`` a capital, ``l`` another letter, ``d`` a number, ``j`` joins words, ``-`` none."""
    if is_word(c):
        letter = "l" if c.lower() == c else "U"
        return "C" if is_cjk(c) else "d" if category(c)[0] == "N" else letter
    if _CONNECTOR.match(c):
        return "j"
    return "-" if category(c)[0] == "M" or category(c) == "Cf" else " "


@cache
def original_shape(c: str) -> str:
    """Classify: ``C`` CJK, ``w`` a letter or number, a blank ends a word, ``-`` is skipped."""
    if _ORIGINAL_CJK.match(c):
        return "C"
    if _SPACE.match(c) or category(c)[0] == "P":
        return " "
    return "w" if is_word(c) else "-"


def tokenize(text: str) -> list[str]:
    terms = _terms(normalize("NFKC", readable(text)), shape, "C[C-]*|[Uld][Uld-]*(j[Uld][Uld-]*)*")
    return [
        token
        for term in terms
        for token in (_with_pairs(term) if is_cjk(term[0]) else _with_parts(term))
    ]


def tokenize_openclaw(text: str) -> list[str]:
    terms = _terms(readable(text).lower(), original_shape, "C[C-]*|w[w-]*")
    return [
        token
        for term in terms
        for token in (_with_pairs(term) if _ORIGINAL_CJK.match(term) else [term])
    ]


def _terms(text: str, shape: Callable[[str], str], pattern: str) -> Iterator[str]:
    """Return the stretches that match the pattern, without skipped ones."""
    for match in re.finditer(pattern, "".join(map(shape, text))):
        yield "".join(c for c in text[slice(*match.span())] if shape(c) != "-")


def _with_pairs(run: str) -> list[str]:
    """Split CJK text: 飞书消 gives 飞, 书, 飞书, 消, 书消."""
    return [run[0], *(token for a, b in itertools.pairwise(run) for token in (b, a + b))]


def _with_parts(term: str) -> list[str]:
    """Split identifiers: ``payHook.rs`` gives ``pay``, ``hook``, ``rs``, ``payhook.rs``."""
    humps = re.finditer("(?<=l)(?=U)|(?<=[Ud])(?=Ul)", "".join(map(shape, term)))
    cuts = [at.start() for at in humps if not _is_plural(term, at.start())]
    stretches = [term[start:end] for start, end in itertools.pairwise([0, *cuts, len(term)])]
    parts = [_lower(part) for stretch in stretches for part in _CONNECTOR.split(stretch)]
    return parts if len(parts) == 1 else [*parts, _lower(term)]


def _is_plural(term: str, capital: int) -> bool:
    """Return True if only the ``s`` of a plural follows the capital, as in APIs."""
    before, behind = shape(term[capital - 1]), "".join(map(shape, term[capital + 2 :]))
    return before != "l" and term[capital + 1] == "s" and not behind.startswith(("l", "d"))


def _lower(text: str) -> str:
    return "".join(small for c in text for small in c.lower() if shape(small) != "-")


def estimate(text: str, *, is_whole: Callable[[str], bool] = lambda _: False) -> int:
    """Return a token for each character that counts as a whole one, and for every three UTF-16 units of the rest."""
    rest = "".join(c for c in readable(text) if not is_whole(c))
    return max(1, len(text) - len(rest) + math.ceil(len(utf16(rest)) / 3))


# Text search: every count is taken when it is needed.


class Document(NamedTuple):
    tokens: list[str]
    group: str


class Bm25:
    K1, B = 1.2, 0.75

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}

    def add(self, id: str, text: str, group: str = "") -> None:
        self.documents.pop(id, None)  # so that a replaced document is the newest
        self.documents[id] = Document(tokenize(text), group)

    def remove(self, id: str) -> bool:
        return self.documents.pop(id, None) is not None

    def search(
        self, query: str, group: str | None = None, within: Collection[str] | None = None
    ) -> Ranking:
        """Return every document with a score above zero, best first."""
        terms = tokenize(query)
        idf = {term: self.idf(term) for term in terms}
        lengths = [len(document.tokens) for document in self.documents.values()]
        average = sum(lengths) / max(len(lengths), 1)
        scores: Ranking = []
        for key, (tokens, own) in self.documents.items():
            norm = self.K1 * (1 - self.B + self.B * len(tokens) / (average or 1))
            tfs = [(term, tokens.count(term)) for term in terms]
            score = sum(idf[term] * tf * (self.K1 + 1) / (tf + norm) for term, tf in tfs if tf)
            if score > 0 and group in (None, own) and (within is None or key in within):
                scores.append((key, score))
        return sorted(scores, key=lambda item: -item[1])

    def idf(self, term: str) -> float:
        count = sum(term in document.tokens for document in self.documents.values())
        return math.log((len(self.documents) - count + 0.5) / (count + 0.5) + 1)


# Vectors.


def cosines(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine of every row to the vector in double precision; 0 where one of the two is zero."""
    rows, query = matrix.astype(np.float64), vector.astype(np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1)) * np.sqrt(query @ query)
    found = np.zeros(len(rows))
    np.divide((rows * query).sum(axis=1), lengths, out=found, where=lengths > 0)
    return found


def embed(text: str, dim: int) -> NDArray[np.float32]:
    """Count every three UTF-16 units of the cleaned text up or down in a bucket that their hash decides."""
    text = re.sub(f"{_SPACE.pattern}+", " ", readable(text).lower())
    text = "".join(c if is_word(c) or c in "@.+-" else " " for c in text).strip(" ")
    units = utf16(text)
    grams = [f" {units} "[at : at + 3] for at in range(len(units))] if len(units) > 3 else [units]
    counts = np.zeros(dim)
    for gram in filter(None, grams):
        whole = gram.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        number, sign = struct.unpack_from("<IB", sha256(whole.encode()).digest())
        counts[number % dim] += -1 if sign & 1 else 1
    length = math.sqrt(counts @ counts) or 1.0
    return (counts / length).astype(np.float32)


# Files.


def vmem_file(ids: Sequence[str], matrix: NDArray[np.float32], *, checksum: bool = False) -> bytes:
    """Return the bytes of a VMEM v1 file."""
    count, dim = matrix.shape
    entries = b"".join(
        struct.pack("<H", len(key)) + key + row.astype("<f4").tobytes()
        for key, row in zip(map(str.encode, ids), matrix, strict=True)
    )
    trailer = b"VMCK" + struct.pack("<IIQ", 1, count, len(entries))
    trailer += struct.pack("<I", zlib.crc32(struct.pack("<I", dim) + entries))
    trailer += struct.pack("<I", zlib.crc32(trailer))
    return b"VMEM" + struct.pack("<III", 1, dim, count) + entries + (trailer if checksum else b"")


# Fusion.


def blend(vector: Ranking, bm25: Ranking, weights: tuple[float, float] = (0.7, 0.3)) -> Ranking:
    sides = dict(vector), dict(bm25)
    scores = [
        (key, weights[0] * sides[0].get(key, 0) + weights[1] * sides[1].get(key, 0))
        for key in dict.fromkeys([*sides[0], *sides[1]])
    ]
    return sorted(scores, key=lambda item: -item[1])


def mmr(
    scores: Sequence[float], k: int, balance: float, likeness: Callable[[int, int], float]
) -> list[int]:
    """Return indexes in the order of choice, every comparison repeated."""
    low, high = min(scores, default=0), max(scores, default=0)
    chosen: list[int] = []

    def value(index: int) -> float:
        relevance = (scores[index] - low) / ((high - low) or 1)
        alike = max((likeness(index, other) for other in chosen), default=0.0)
        return balance * relevance - (1 - balance) * max(alike, 0.0)

    while len(chosen) < min(k, len(scores)):
        chosen.append(max((i for i in range(len(scores)) if i not in chosen), key=value))
    return chosen


def trigrams(text: str) -> set[str]:
    folded = " ".join(text.split()).lower()
    return {folded[at : at + 3] for at in range(max(len(folded) - 2, 1))} - {""}


def likeness(a: str, b: str) -> float:
    """Return the share of all trigrams of two texts that both have."""
    either = trigrams(a) | trigrams(b)
    return len(trigrams(a) & trigrams(b)) / len(either) if either else 0.0
