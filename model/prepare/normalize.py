"""One spelling of a text: the same as the core's, which cuts queries and messages with it.

Compatible forms are made one, camelCase and changes of script are split, letters are lower case and traditional
characters simplified; only letters and numbers stay.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HIRAGANA, KATAKANA, HAN, HANGUL = (
    "\u3041-\u309f",
    "\u30a0-\u30ff",
    "\u3005\u3400-\u4dbf\u4e00-\u9fff",
    "\uac00-\ud7af",
)
HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
SCRIPT = re.compile(
    f"(?<=[{HIRAGANA}])(?=[{KATAKANA}{HAN}])|(?<=[{KATAKANA}])(?=[{HIRAGANA}{HAN}])"
    f"|(?<=[{HAN}])(?=[{HIRAGANA}{KATAKANA}])"
    f"|(?<=[a-z0-9])(?=[{HIRAGANA}{KATAKANA}{HAN}{HANGUL}])"
    f"|(?<=[{HIRAGANA}{KATAKANA}{HAN}{HANGUL}])(?=[a-z0-9])"
)
WORD = re.compile(r"[^\W_]+")


class Normalizer:
    """Brings texts to one spelling."""

    def __init__(self, fold: Mapping[str, str]) -> None:
        """Take the characters that are written as others."""
        self.fold = dict(fold)
        self._table = str.maketrans(self.fold)

    def __call__(self, text: str, most: int = 1_000) -> str:
        """Return the words of a text, of which the first ``most`` characters count."""
        text = unicodedata.normalize("NFKC", text[:most])
        # One character after the other: a whole text is lowered by its context.
        text = "".join(map(str.lower, HUMP.sub(" ", text))).translate(self._table)
        return " ".join(WORD.findall(SCRIPT.sub(" ", text)))


def read_fold(lines: str) -> dict[str, str]:
    """Read OpenCC's table of characters: a traditional one, a tab, and its simplified forms, the usual one first."""
    fold: dict[str, str] = {}
    for line in lines.splitlines():
        traditional, _, simplified = line.partition("\t")
        first = simplified.split(" ")[0]
        if len(traditional) == len(first) == 1 and traditional != first:
            fold[traditional] = first
    return fold
