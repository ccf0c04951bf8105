"""The sections of a summary: those a model must write, and those that are put behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REQUIRED_SECTIONS = (
    "Decisions",
    "Open TODOs",
    "Constraints/Rules",
    "Pending user asks",
    "Exact identifiers",
)
"""The headings a summary must have in safeguard mode, in English whatever the conversation is in."""

SECTION_INSTRUCTIONS = """\
Give the summary exactly these headings, in this order and in English, and write below them in the language of the \
conversation; below a heading with nothing to say write "None."
## Decisions
(what was decided, and why)
## Open TODOs
(what is half done or still to do, in order)
## Constraints/Rules
(what the person or the task demands or forbids)
## Pending user asks
(what the person asked for that is not finished, the newest first)
## Exact identifiers
(every path, URL, port, address, hash, id, version and command that will be needed, letter by letter)"""

SUMMARY_CHARS = 16_000
"""Characters of a summary at most, all sections together."""
LIST_CHARS = 900
"""Characters of a list of files at most."""
FAILURE_CHARS = 320
"""Characters of one line about a tool that failed, its name among them."""
ASK_CHARS = 4_000
"""Characters of what was asked last; of a longer ask both ends are kept."""
TRUNCATED = "\n\n[... summary truncated ...]"
SPLIT_TURN = "**Turn Context (split turn):**"
TURN_CHARS = 4_000

_FILES = {
    name: re.compile(rf"^<{name}>\n(.*?)^</{name}>\n?", re.DOTALL | re.MULTILINE)
    for name in ("read-files", "modified-files")
}
_MORE = re.compile(r"^\[\.\.\. (\d{1,9}) more\]$")
_FAILURES_HEADING, _ASK_HEADING = "## Tool Failures", "## Latest user ask"
_ASK = re.compile(rf"^{_ASK_HEADING}\n<latest-ask>\n.*?^</latest-ask>\n?", re.DOTALL | re.MULTILINE)
_FAILURES = re.compile(rf"^{_FAILURES_HEADING}\n(?:- .*(?:\n|\Z))*", re.MULTILINE)


def missing_sections(text: str) -> tuple[str, ...]:
    r"""The required headings that a text does not have, however it marks headings.

    >>> missing_sections("## Decisions\nNone.\n\n**Open TODOs:**\nNone.")
    ('Constraints/Rules', 'Pending user asks', 'Exact identifiers')
    """
    found = {_plain(line) for line in text.splitlines()}
    return tuple(heading for heading in REQUIRED_SECTIONS if _plain(heading) not in found)


@dataclass(frozen=True, slots=True)
class Suffix:
    """What stands behind every summary, whoever wrote it: it is read off the messages, not asked of a model.

    >>> print(Suffix(ask="Which port?").text())
    ## Latest user ask
    <latest-ask>
    Which port?
    </latest-ask>
    """

    failures: tuple[str, ...] = ()
    """The tools that failed, a line each."""
    read: tuple[str, ...] = ()
    """The files that were only read."""
    modified: tuple[str, ...] = ()
    """The files that were changed."""
    ask: str | None = None
    """What the person asked for last, word by word."""
    read_omitted: int = 0
    """How many files more were read."""
    modified_omitted: int = 0
    """How many files more were changed."""

    def text(self) -> str:
        """The sections, those with nothing in them left out."""
        parts: list[str] = []
        if self.failures:
            plain = (" ".join(failure.split()) for failure in self.failures)
            lines = "\n".join(f"- {line[:FAILURE_CHARS] or 'unknown'}" for line in plain)
            parts.append(f"{_FAILURES_HEADING}\n{lines}")
        for name, paths, omitted in (
            ("modified-files", self.modified, self.modified_omitted),
            ("read-files", self.read, self.read_omitted),
        ):
            if listed := _listed(paths, omitted):
                parts.append(f"<{name}>\n{listed}\n</{name}>")
        if self.ask and self.ask.strip():
            asked = middle_out(self.ask.strip(), ASK_CHARS).replace(
                "</latest-ask", "<\\/latest-ask"
            )
            parts.append(f"{_ASK_HEADING}\n<latest-ask>\n{asked}\n</latest-ask>")
        return "\n\n".join(parts)

    def joined(self, previous: Suffix) -> Suffix:
        """The same with the files of an earlier summary too."""
        modified = sorted({*self.modified, *previous.modified})
        read = sorted({*self.read, *previous.read} - set(modified))
        return replace(
            self,
            read=tuple(read),
            modified=tuple(modified),
            read_omitted=self.read_omitted + previous.read_omitted,
            modified_omitted=self.modified_omitted + previous.modified_omitted,
        )


def split_suffix(summary: str) -> tuple[str, Suffix]:
    r"""An earlier summary without the sections behind it, and the files that they name.

    >>> split_suffix("Port 8443.\n\n<read-files>\nsrc/a.py\n</read-files>")
    ('Port 8443.', Suffix(failures=(), read=('src/a.py',), modified=(), ask=None, read_omitted=0, modified_omitted=0))
    """
    listed: dict[str, tuple[tuple[str, ...], int]] = {}
    text = _ASK.sub("", summary)  # first, since it may quote the others
    for name, pattern in _FILES.items():
        lines = [line for found in pattern.findall(text) for line in found.splitlines() if line]
        omitted = sum(int(more[1]) for line in lines if (more := _MORE.match(line)))
        listed[name] = tuple(line for line in lines if not _MORE.match(line)), omitted
        text = pattern.sub("", text)
    (read, read_omitted), (modified, modified_omitted) = (
        listed["read-files"],
        listed["modified-files"],
    )
    suffix = Suffix((), read, modified, None, read_omitted, modified_omitted)
    return _FAILURES.sub("", text).strip(), suffix


def capped(body: str, suffix: str = "", most: int = SUMMARY_CHARS) -> str:
    r"""A summary with its suffix, so many characters at most; what is too long is taken from the end of the body.

    >>> capped("word " * 5_000, "## Tool Failures\n- bash: exit 1")[-60:]
    '[... summary truncated ...]\n\n## Tool Failures\n- bash: exit 1'
    """
    body, suffix = body.strip(), suffix.strip()[:most]
    behind = f"\n\n{suffix}" if suffix else ""
    if len(body) + len(behind) <= most:
        return f"{body}{behind}".strip()
    room = most - len(behind) - len(TRUNCATED)
    if room <= 0:
        return suffix
    return f"{body[:room].rstrip()}{TRUNCATED}{behind}"


def middle_out(text: str, most: int) -> str:
    """The text if it is short enough, otherwise its beginning and its end with a note of what is left out."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _listed(paths: Sequence[str], omitted: int = 0) -> str:
    """The paths, a line each, as many as fit, and how many more there are."""
    lines: list[str] = []
    room = LIST_CHARS
    for path in paths:
        line = " ".join(path.split())
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    more = omitted + len(paths) - len(lines)
    return "\n".join([*lines, f"[... {more} more]"] if more else lines)


def _plain(line: str) -> str:
    """A heading without what marks it as one."""
    return line.strip().strip("#*_:\uff1a ").casefold()


def numbered(summaries: Iterable[str]) -> str:
    """Partial summaries as one text to merge, oldest first."""
    parts = enumerate(summaries, 1)
    return "\n\n".join(f"[Part {number}]:\n{text}" for number, text in parts)
