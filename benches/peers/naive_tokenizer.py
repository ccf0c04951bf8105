"""The two tokenizers in pure Python, written for speed: compiled patterns, one pass, no work on plain words.

On the benchmark corpus the output equals `memctx.tokenize` token for token. The rules are those at the top of
``rust/memctx-core/src/text/tokenizer.rs``; a final sigma and the dotted capital I are left to `str.lower`.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from operator import add
from typing import TYPE_CHECKING
from unicodedata import category, normalize

if TYPE_CHECKING:
    from collections.abc import Callable


def _characters(test: Callable[[str], object], end: int = sys.maxunicode) -> str:
    """Return all characters that pass, as ranges to stand inside a character class."""
    ranges: list[list[int]] = []
    for code in filter(lambda code: test(chr(code)), range(end + 1)):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


# `re` looks characters up to U+FFFF up in a table and walks the ranges above: those are kept few.
_CJK_BLOCKS = "\u1100-\u11ff\u2e80-\u31ff\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
_CJK_BEYOND = "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
_IN_CJK_BLOCK = re.compile(f"[{_CJK_BLOCKS}]")
_CJK = _characters(lambda c: c.isalnum() and _IN_CJK_BLOCK.match(c), 0xFFFF) + _CJK_BEYOND
_WORD = rf"[^\W_{_CJK_BLOCKS}{_CJK_BEYOND}]"
_CAPITAL = "[" + _characters(lambda c: c.isalpha() and c.lower() != c) + "]"
_SMALL = "[" + _characters(lambda c: c.isalpha() and c.lower() == c, 0xFFFF) + "]"
_NUMBER = "[" + _characters(str.isnumeric, 0xFFFF) + "]"
_SKIPPED = "[" + _characters(lambda c: category(c) in {"Mn", "Mc", "Me", "Cf"}) + "]+"
_CONNECTOR = r"[-_./:\\@]"

_TERM = re.compile(rf"[{_CJK}]+|{_WORD}+(?:{_CONNECTOR}{_WORD}+)*")
_STARTS_CJK = re.compile(f"[{_CJK}]")
_UNUSUAL = re.compile(r"[^\w\s\x00-\x7f\u2010-\u2027\u3000-\u3029]")
_SKIP = re.compile(_SKIPPED)
_SKIP_AFTER_CONNECTOR = re.compile(rf"(?<={_CONNECTOR}){_SKIPPED}")
_JOINT = re.compile(_CONNECTOR)
_JOINT_OR_HUMP = re.compile(
    rf"{_CONNECTOR}"
    rf"|(?<={_SMALL})(?={_CAPITAL})"
    rf"|(?<={_WORD})(?={_CAPITAL}(?!s(?!{_SMALL}|{_NUMBER})){_SMALL})"
)

_ORIGINAL_CJK = "\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff"
_ORIGINAL_TERM = re.compile(rf"([{_ORIGINAL_CJK}]+)|([^\W_{_ORIGINAL_CJK}]+)")
_PUNCTUATION = _characters(lambda c: category(c)[0] == "P")
_ORIGINAL_SKIP = re.compile(rf"[^\w\s{_ORIGINAL_CJK}{_PUNCTUATION}]+")


def tokenize(text: str) -> list[str]:
    """Return the tokens of ``memctx.tokenize(text)``."""
    return _tokenize(text, _with_parts)


def tokenize_remembering(text: str) -> list[str]:
    """Return the same, with the parts of identifiers seen before looked up."""
    return _tokenize(text, _remembered_parts)


def _tokenize(text: str, with_parts: Callable[[str], tuple[str, ...]]) -> list[str]:
    if not text.isascii():
        text = normalize("NFKC", text)
        if _UNUSUAL.search(text):
            text = _SKIP.sub("", _SKIP_AFTER_CONNECTOR.sub(" ", text))
    tokens: list[str] = []
    for term in _TERM.findall(text):
        if term.islower() and term.isalpha():
            tokens.append(term)
        elif not term.isascii() and _STARTS_CJK.match(term):
            tokens += _with_pairs(term)
        else:
            tokens += with_parts(term)
    return tokens


def tokenize_openclaw(text: str) -> list[str]:
    """Return the tokens of ``memctx.tokenize(text, "openclaw")``."""
    tokens: list[str] = []
    for cjk, word in _ORIGINAL_TERM.findall(_ORIGINAL_SKIP.sub("", text.lower())):
        if cjk:
            tokens += _with_pairs(cjk)
        else:
            tokens.append(word)
    return tokens


def _with_pairs(run: str) -> list[str]:
    """Split CJK text: 飞书消 gives 飞, 书, 飞书, 消, 书消."""
    tokens = [run[0]] * (2 * len(run) - 1)
    tokens[1::2] = run[1:]
    tokens[2::2] = map(add, run, run[1:])
    return tokens


def _with_parts(name: str) -> tuple[str, ...]:
    """Split identifiers: ``payHook.rs`` gives ``pay``, ``hook``, ``rs`` and ``payhook.rs``."""
    whole = name.lower()
    parts = _JOINT.split(name) if whole == name else _JOINT_OR_HUMP.split(name)
    if len(parts) == 1:
        return (whole,)
    return (*map(str.lower, parts), whole)


_remembered_parts = lru_cache(maxsize=1 << 16)(_with_parts)
