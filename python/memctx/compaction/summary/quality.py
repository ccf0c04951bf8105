"""Quality check of summaries: required sections, identifiers and the latest ask."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx import _core
from memctx.compaction.summary.sections import missing_sections

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_IDENTIFIERS = 12
"""Number of identifiers that a summary is checked for."""
RECENT = 10
"""Number of newest entries whose identifiers count."""
SHORTEST, LONGEST = 4, 200

# ASCII classes instead of `\b`, which sees no word boundary beside Chinese or Japanese.
_IDENTIFIER = re.compile(
    r"""
    https?://[^\s<>"'`)\]}，。；、）】]+                               # a URL
    | (?<![A-Za-z0-9_./\\-])[A-Za-z]:\\[A-Za-z0-9_.\\-]+              # a path on Windows
    | (?<![A-Za-z0-9_./-])(?:~|\.{1,2})?/?(?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]*[A-Za-z0-9_]  # a path
    | (?<![A-Za-z0-9.-])(?:[A-Za-z0-9-]+\.)+[A-Za-z0-9-]+:\d{2,5}(?!\d)  # a host and its port
    | (?<![A-Za-z0-9.-])\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?(?![\d.])     # an address
    | (?<![A-Za-z0-9])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![A-Za-z0-9])
    | (?<![A-Za-z0-9])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?![A-Za-z0-9])  # a hash
    | (?<![A-Za-z0-9])[A-Z][A-Z0-9]+-\d+(?![A-Za-z0-9])               # a ticket
    | (?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![A-Za-z0-9_])  # a variable of the environment
    | (?<![A-Za-z0-9_.-])[A-Za-z0-9_-]+\.(?:py|rs|ts|tsx|js|jsx|go|java|kt|c|cc|cpp|h|hpp|rb|php|cs|swift|sql|sh
        |toml|yaml|yml|json|jsonl|md|txt|ini|cfg|env|lock|html|css|xml|proto)(?![A-Za-z0-9])
    | (?<![A-Za-z0-9.])\d{6,20}(?![A-Za-z0-9.])                       # a number too long to be a quantity
    """,
    re.VERBOSE,
)
_MASKED = "[REDACTED"
# Stop words, which an ask and a summary share by chance.
_COMMON_WORDS = (
    "a an and are as at be but by can could do does for from go have how i if in into is it its just let me my no not "
    "now of ok on or our please so some than that the then there these this those to too up us was we were what when "
    "where which who why will with would yes you your also make made get got need want should must after before"
)
_COMMON = frozenset(_COMMON_WORDS.split())


def extract_identifiers(entries: Sequence[str], most: int = MAX_IDENTIFIERS) -> tuple[str, ...]:
    """Return the identifiers that a summary must copy exactly: paths, URLs, addresses, hashes, tickets; newest first.

    >>> extract_identifiers(["[User]: 把 src/pay.rs 的端口改成 10.20.3.7:6380，见 PAY-311"])
    ('src/pay.rs', '10.20.3.7:6380', 'PAY-311')
    """
    found: dict[str, None] = {}
    for entry in reversed(entries[-RECENT:]):
        for match in _IDENTIFIER.finditer(entry):
            identifier = match[0].rstrip(".,;:!?")
            if SHORTEST <= len(identifier) <= LONGEST and _MASKED not in identifier:
                found.setdefault(identifier)
            if len(found) == most:
                return tuple(found)
    return tuple(found)


def reflects(text: str, ask: str) -> bool:
    """Return whether a text mentions an ask: one content word of it, or two where it has three.

    >>> reflects("The webhook moves to port 8443", "please move the webhook to port 8443")
    True
    >>> reflects("Nothing happened.", "支付回调的端口是多少？")
    False
    """
    words = _content_words(ask)
    needed = 2 if len(words) >= 3 else min(1, len(words))  # noqa: PLR2004
    return len(words & _content_words(text)) >= needed


@dataclass(frozen=True, slots=True)
class Quality:
    """The faults of a summary.

    >>> Quality().is_good, Quality(is_ask_reflected=False).faults
    (True, 1)
    """

    missing_sections: tuple[str, ...] = ()
    missing_identifiers: tuple[str, ...] = ()
    is_ask_reflected: bool = True

    @property
    def faults(self) -> int:
        """Number of faults."""
        missing = len(self.missing_sections) + len(self.missing_identifiers)
        return missing + (not self.is_ask_reflected)

    @property
    def is_good(self) -> bool:
        """True if there are no faults."""
        return not self.faults

    def problems(self) -> tuple[str, ...]:
        """Describe the faults."""
        problems: list[str] = []
        if self.missing_sections:
            problems.append(f"these sections are missing: {', '.join(self.missing_sections)}")
        if self.missing_identifiers:
            words = "these identifiers are missing and must appear letter by letter"
            problems.append(f"{words}: {', '.join(self.missing_identifiers)}")
        if not self.is_ask_reflected:
            problems.append("the last thing the person asked for is not mentioned")
        return tuple(problems)

    def feedback(self) -> str:
        """Return the feedback for the model. It quotes nothing, since a quotation could give orders."""
        faults: list[str] = []
        if self.missing_sections:
            faults.append(f"it lacked the headings {', '.join(self.missing_sections)}")
        if self.missing_identifiers:
            faults.append(
                "it lacked identifiers that the last note in the record lists, which must appear letter by letter"
            )
        if not self.is_ask_reflected:
            faults.append("it did not mention the last thing the person asked for")
        return f"A first version was not good enough: {'; '.join(faults)}."

    def note(self) -> str | None:
        """Return a note to add to the text that the model reads."""
        if not self.missing_identifiers:
            return None
        return f"identifiers that were used: {' '.join(self.missing_identifiers)}"


def check_quality(text: str, *, identifiers: Sequence[str] = (), ask: str | None = None) -> Quality:
    r"""Check a summary for required sections, identifiers and the latest ask.

    >>> check_quality("## Decisions\nPort 8443.", identifiers=["src/pay.rs"]).problems()[-1]
    'these identifiers are missing and must appear letter by letter: src/pay.rs'
    """
    return Quality(
        missing_sections(text),
        tuple(identifier for identifier in identifiers if identifier not in text),
        ask is None or reflects(text, ask),
    )


def _content_words(text: str) -> set[str]:
    """Return the content words of a text; of Chinese, the pairs of characters."""
    return {word for word in _core.tokenize(text) if len(word) > 1 and word not in _COMMON}
