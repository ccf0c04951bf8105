"""Tell languages apart, and clean and judge text."""

import html
import re

SHORTEST = 4
SHORTEST_WORD = 2
LONGEST = 1200

_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LATIN = re.compile(r"[A-Za-z]")
_SPACE = re.compile(r"[\s\u200b\ufeff\x00-\x1f]+")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,400}>")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(])|(?<=[。！？])|(?<=[가-힣][.!?])\s+")  # noqa: RUF001 - people write these marks
_SYMBOL = re.compile(r"[{}\[\]();=<>|\\/_$#@*&^~+]")
_NUMBER = re.compile(r"\d+")
_URL = re.compile(r"https?://\S+|www\.\S+")
_BOILERPLATE = re.compile(
    r"all rights reserved|copyright \(c\)|licensed under|permission is hereby granted|"
    r"this source code form|SPDX-License|creativecommons\.org|lorem ipsum",
    re.IGNORECASE,
)

_HANGUL_SHARE = 0.15
_KANA_SHARE = 0.06
_HAN_SHARE = 0.15
_SYMBOL_SHARE = 0.09
_LETTER_SHARE = 0.45
_SHORTEST_RATIO = 0.12
_LONGEST_RATIO = 2.0


def normalize(text: str) -> str:
    """Make every run of white space one space."""
    return _SPACE.sub(" ", text).strip()


def language(text: str) -> str:
    """Name the language of a text by its scripts: en, zh, ja or ko; anything Latin is en."""
    size = max(1, len(text))
    if len(_HANGUL.findall(text)) > _HANGUL_SHARE * size:
        return "ko"
    if len(_KANA.findall(text)) > _KANA_SHARE * size:
        return "ja"
    if len(_HAN.findall(text)) > _HAN_SHARE * size:
        return "zh"
    return "en"


def plain(text: str) -> str:
    """Drop HTML tags and entities."""
    return html.unescape(_TAG.sub(" ", text))


def shorten(text: str, longest: int = LONGEST) -> str:
    """Cut a text that is too long, at the end of a sentence if one is near, else at a space."""
    if len(text) <= longest:
        return text
    ends = [match.start() for match in _END.finditer(text, 0, longest)]
    if ends and ends[-1] > longest // 3:
        return text[: ends[-1]].strip()
    space = text.rfind(" ", longest // 2, longest)
    return text[: space if space > 0 else longest].strip()


def sentences(text: str) -> list[str]:
    """Split a text at the ends of its sentences."""
    return [part.strip() for part in _END.split(text) if part.strip()]


def is_prose(text: str) -> bool:
    """Say whether a text is prose: no code, no list of links, no license header."""
    bare = _URL.sub("", text)
    size = max(1, len(bare))
    letters = len(_LATIN.findall(bare)) + 2 * sum(
        len(script.findall(bare)) for script in (_HAN, _KANA, _HANGUL)
    )
    return (
        len(_SYMBOL.findall(bare)) <= _SYMBOL_SHARE * size
        and letters >= _LETTER_SHARE * size
        and len(bare) >= len(text) // 2
        and _BOILERPLATE.search(text) is None
    )


def is_long_enough(text: str) -> bool:
    """Say whether a text says something: 25 characters of English, 10 of the others."""
    return len(text) >= (25 if language(text) == "en" else 10)


def may_translate(english: str, other: str, code: str) -> bool:
    """Say whether two texts can be translations: right languages, near lengths, same numbers."""
    if language(english) != "en" or language(other) != code:
        return False
    if not _SHORTEST_RATIO < len(other) / max(1, len(english)) < _LONGEST_RATIO:
        return False
    here, there = set(_NUMBER.findall(english)), set(_NUMBER.findall(other))
    return len(here ^ there) <= max(1, len(here | there) // 3)
