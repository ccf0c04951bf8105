"""Words of a query in a text, as the text index matches them: other forms of a word count, function words do not."""

from __future__ import annotations

import re
from itertools import pairwise

from memctx import _core

# A run of Chinese, Japanese or Korean, which is matched pair by pair, or a word of another script.
RUN = re.compile(
    r"(?P<cjk>[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+)|[^\W_\u3040-\ud7af]+(?:[_'-][^\W_]+)*"
)
KEY = 0
MOST_CHARS = 20_000
"""Characters of a text that are looked at."""


def matched_spans(query: str, text: str) -> list[tuple[int, int]]:
    """Return start and end of each word of a text that a search for ``query`` looks up.

    >>> text = "The webhooks listen on port 8443"
    >>> [text[start:end] for start, end in matched_spans("Which port has the webhook?", text)]
    ['webhooks', 'port']
    """
    wanted = set(_core.query_term_hashes(query, KEY))
    found: list[tuple[int, int]] = []
    known: dict[str, bool] = {}

    def is_wanted(word: str) -> bool:
        if word not in known:
            known[word] = not wanted.isdisjoint(_core.term_hashes(word, KEY))
        return known[word]

    for run in RUN.finditer(text, 0, MOST_CHARS):
        start, word = run.start(), run[0]
        if run["cjk"] is None:
            if is_wanted(word):
                found.append(run.span())
            continue
        for at, (left, right) in enumerate(pairwise(word), start=start):
            if wanted.isdisjoint(_pair(left, right)):
                continue
            if found and found[-1][1] > at:
                found[-1] = (found[-1][0], at + 2)
            else:
                found.append((at, at + 2))
    return found


def matched_words(query: str, text: str) -> tuple[str, ...]:
    """Return the words of a text that a search for ``query`` looks up, each once.

    >>> matched_words("支付回调失败后怎么重试", "回调失败后按 5 分钟重试")
    ('回调失败后', '重试')
    """
    words = (text[start:end] for start, end in matched_spans(query, text))
    return tuple({word.casefold(): word for word in words}.values())


def _pair(left: str, right: str) -> set[int]:
    """Return the hash of two adjacent characters, without those of each alone."""
    alone = {*_core.term_hashes(left, KEY), *_core.term_hashes(right, KEY)}
    return set(_core.term_hashes(left + right, KEY)) - alone
