"""Invented words of four languages, the common ones first, drawn from a Zipf-Mandelbrot distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Language = Literal["en", "zh", "ja", "ko"]

ONSETS = "b c d f g h k l m n p r s t v w z br ch cl dr fl gr pl pr sh st th tr qu".split()
VOWELS = "a e i o u ai ea ee io ou".split()
CODAS = ["", "", "", "l", "m", "n", "r", "s", "t", "ck", "nd", "ng", "st", "x"]
COMMON = {
    "en": (
        "the to of and a in is it for on that with as this be not are we you can have if from at or by was but do "
        "will what so then when there now just only also more how into out up all some one about its get use need"
    ).split(),
    "zh": list("的了在是我不有和就这也要都会到说上去你对来把还能没那为从被让给用再先很"),
    "ja": "の に は を た が で て と し れ さ ある いる も する から な こと として い や など まで です ます".split(),
    "ko": "이 그 저 것 수 등 및 를 을 은 는 가 에서 으로 하다 있다 없다 되다 같은 그리고 하지만 때문에 다시".split(),
}
GENERAL = {"en": 24_000, "zh": 9_000, "ja": 6_000, "ko": 6_000}
SHIFT, POWER = 2.7, 1.05
HANZI = [chr(0x4E00 + step * 7) for step in range(2_900)]
KANJI = HANZI[::2]
HIRAGANA = [chr(code) for code in range(0x3042, 0x3093)]
KATAKANA = [chr(code) for code in range(0x30A2, 0x30F3)]
HANGUL = [chr(0xAC00 + step * 11) for step in range(1_000)]


@dataclass(frozen=True)
class Words:
    """Words with cumulative weights."""

    words: list[str]
    sums: list[float]

    @classmethod
    def of(cls, words: list[str]) -> Words:
        """Return weighted words, the first one the most common."""
        weights = ((rank + SHIFT) ** -POWER for rank in range(len(words)))
        return cls(words, list(accumulate(weights)))

    def draw(self, chance: Random, count: int) -> list[str]:
        """Draw words."""
        return chance.choices(self.words, cum_weights=self.sums, k=count)


def english(chance: Random) -> str:
    """Return a word of one to four syllables."""
    count = chance.choice((1, 2, 2, 2, 3, 3, 4))
    pieces = (chance.choice(ONSETS) + chance.choice(VOWELS) for _ in range(count))
    return "".join(pieces) + chance.choice(CODAS)


def chinese(chance: Random) -> str:
    """Return a word of two or three characters."""
    return "".join(chance.choices(HANZI, k=chance.choice((2, 2, 2, 3))))


def japanese(chance: Random) -> str:
    """Return a word in kanji, in kanji with an ending, or in katakana."""
    kind = chance.random()
    if kind < 0.4:
        return "".join(chance.choices(KANJI, k=2))
    if kind < 0.7:
        return chance.choice(KANJI) + "".join(chance.choices(HIRAGANA, k=2))
    return "".join(chance.choices(KATAKANA, k=chance.choice((3, 4, 5))))


def korean(chance: Random) -> str:
    """Return a word of two to four syllables."""
    return "".join(chance.choices(HANGUL, k=chance.choice((2, 2, 3, 4))))


MAKERS: dict[Language, Callable[[Random], str]] = {
    "en": english,
    "zh": chinese,
    "ja": japanese,
    "ko": korean,
}


def some(language: Language, chance: Random, count: int) -> list[str]:
    """Return different words of a language."""
    make = MAKERS[language]
    found: dict[str, None] = {}
    while len(found) < count:
        found[make(chance)] = None
    return list(found)


@cache
def general(language: Language, seed: int) -> Words:
    """Return the general vocabulary of a language."""
    chance = Random(f"{seed} general {language}")
    return Words.of([*COMMON[language], *some(language, chance, GENERAL[language])])


@cache
def topic(language: Language, seed: int, number: int) -> Words:
    """Return the vocabulary of a topic."""
    return Words.of(some(language, Random(f"{seed} topic {language} {number}"), 80))
