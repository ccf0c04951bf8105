"""What a message says in its own words, sentence by sentence."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE = re.compile(r"^[ \t]*(```|~~~).*?(^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
TAGGED = re.compile(r"^[ \t]*<([a-z][\w-]*)(?: [^<>]*)?>.*?(</\1>|\Z)", re.MULTILINE | re.DOTALL)
# Quotations, headings, tables, shell prompts, diffs, numbered listings, indented code.
NOT_SAID = re.compile(
    r"^(?:\s*[>|#$%]|\s*(?:\+|-)\s*[\w/]*[{}();=<]|@@|\s*\d+[:|]\s|\t| {4,}(?![-*\d]))"
)
BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)、])\s+|^\s*\[[ xX]\]\s+")
EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
# A full stop ends a sentence where a space and no small letter follow: not in "3.11", not in "e.g. this".
END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<=[。！？；])\s*")
SHORTEST, LONGEST = 8, 300


def sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without code, quotations, tables, headings and marks of emphasis."""
    text = TAGGED.sub("\n", FENCE.sub("\n", text))
    for line in text.splitlines():
        if NOT_SAID.match(line):
            continue
        plain = " ".join(EMPHASIS.sub("", BULLET.sub("", line)).split())
        for sentence in END.split(plain):
            stripped = sentence.strip()
            if len(stripped) <= LONGEST and _width(stripped) >= SHORTEST:
                yield stripped


def _width(text: str) -> int:
    """How much is said: a Han character says as much as half a word."""
    return sum(2 if ord(c) >= 0x2E80 else 1 for c in text)  # noqa: PLR2004
