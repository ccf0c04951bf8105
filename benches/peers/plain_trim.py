"""Trimming by relevance in plain Python, as one writes it well without an index.

One pass with a compiled pattern cuts each text into lower-case words and pairs of CJK characters; only the words of the
question are counted. It is spared tool groups, thinking and all other rules of providers: each text may go alone.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log
from operator import add
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "plain Python"
K1, B = 1.2, 0.75

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TERM = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")


def tokenize(text: str) -> list[str]:
    """Lower-case words, and pairs of neighbors where words have no blanks between them."""
    terms = _TERM.findall(text.lower())
    if text.isascii():
        return terms
    tokens: list[str] = []
    for term in terms:
        if len(term) > 1 and _IS_CJK.match(term):
            tokens += map(add, term, term[1:])
        else:
            tokens.append(term)
    return tokens


def trim(texts: Sequence[str], query: str, share: float = 0.6, protected: int = 6) -> list[int]:
    """The numbers of the texts that stay when the least relevant leave until a share of all tokens is left."""
    costs = [max(1, -(-len(text) // 3)) for text in texts]
    target = int(sum(costs) * share)
    free = range(1, len(texts) - protected)
    wanted = set(tokenize(query))
    lengths: list[int] = []
    counts: list[Counter[str]] = []
    for number in free:
        tokens = tokenize(texts[number])
        lengths.append(len(tokens))
        counts.append(Counter(token for token in tokens if token in wanted))
    seen = Counter(term for found in counts for term in found)
    idf = {term: log((len(free) - n + 0.5) / (n + 0.5) + 1) for term, n in seen.items()}
    average = sum(lengths) / max(1, len(lengths)) or 1.0
    scores = [
        sum(
            idf[term] * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))
            for term, tf in found.items()
        )
        for found, length in zip(counts, lengths, strict=True)
    ]
    left = sum(costs)
    gone = set()
    for _, number in sorted(zip(scores, free, strict=True)):
        if left <= target:
            break
        gone.add(number)
        left -= costs[number]
    return [number for number in range(len(texts)) if number not in gone]
