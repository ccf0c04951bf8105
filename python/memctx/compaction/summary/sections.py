"""Sections of a summary: those a model must write, and those preserved verbatim behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memctx.compaction.plan.preserved import file_operations, latest_ask, tool_failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memctx._core import Redactor
    from memctx.messages import FormatName

REQUIRED_SECTIONS = (
    "Decisions",
    "Open TODOs",
    "Constraints/Rules",
    "Pending user asks",
    "Exact identifiers",
)
"""Headings that a summary must have in safeguard mode, in English whatever the conversation's language."""

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
"""Maximum number of characters of a summary, all sections together."""
LIST_CHARS = 900
"""Maximum number of characters of a list of files."""
FAILURE_CHARS = 320
"""Maximum number of characters of one tool failure, including the tool's name."""
ASK_CHARS = 4_000
"""Maximum number of characters of the latest ask; a longer one keeps both ends."""
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
    r"""Return the required headings that a text lacks, whatever its markup for headings.

    >>> missing_sections("## Decisions\nNone.\n\n**Open TODOs:**\nNone.")
    ('Constraints/Rules', 'Pending user asks', 'Exact identifiers')
    """
    found = {_normalize_heading(line) for line in text.splitlines()}
    return tuple(
        heading for heading in REQUIRED_SECTIONS if _normalize_heading(heading) not in found
    )


@dataclass(frozen=True, slots=True)
class PreservedSections:
    """Sections behind every summary that are read from the messages, not written by a model.

    >>> print(PreservedSections(ask="Which port?").text())
    ## Latest user ask
    <latest-ask>
    Which port?
    </latest-ask>
    """

    failures: tuple[str, ...] = ()
    """Tool failures, a line each."""
    read: tuple[str, ...] = ()
    """Files that were only read."""
    modified: tuple[str, ...] = ()
    """Files that were changed."""
    ask: str | None = None
    """Latest ask of the person, verbatim."""
    read_omitted: int = 0
    """Number of read files that are not listed."""
    modified_omitted: int = 0
    """Number of changed files that are not listed."""

    def text(self) -> str:
        """Format the sections that are not empty."""
        parts: list[str] = []
        if self.failures:
            plain = (" ".join(failure.split()) for failure in self.failures)
            lines = "\n".join(f"- {line[:FAILURE_CHARS] or 'unknown'}" for line in plain)
            parts.append(f"{_FAILURES_HEADING}\n{lines}")
        for name, paths, omitted in (
            ("modified-files", self.modified, self.modified_omitted),
            ("read-files", self.read, self.read_omitted),
        ):
            if listed := _format_list(paths, omitted):
                parts.append(f"<{name}>\n{listed}\n</{name}>")
        if self.ask and self.ask.strip():
            asked = truncate_middle(self.ask.strip(), ASK_CHARS).replace(
                "</latest-ask", "<\\/latest-ask"
            )
            parts.append(f"{_ASK_HEADING}\n<latest-ask>\n{asked}\n</latest-ask>")
        return "\n\n".join(parts)

    def merge(self, previous: PreservedSections) -> PreservedSections:
        """Return the sections with the files of an earlier summary added."""
        modified = sorted({*self.modified, *previous.modified})
        read = sorted({*self.read, *previous.read} - set(modified))
        return replace(
            self,
            read=tuple(read),
            modified=tuple(modified),
            read_omitted=self.read_omitted + previous.read_omitted,
            modified_omitted=self.modified_omitted + previous.modified_omitted,
        )


def split_preserved(summary: str) -> tuple[str, PreservedSections]:
    r"""Split an earlier summary into its text and the files that its preserved sections name.

    >>> text, preserved = split_preserved("Port 8443.\n\n<read-files>\nsrc/a.py\n</read-files>")
    >>> text, preserved.read
    ('Port 8443.', ('src/a.py',))
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
    suffix = PreservedSections((), read, modified, None, read_omitted, modified_omitted)
    return _FAILURES.sub("", text).strip(), suffix


def cap_summary(body: str, suffix: str = "", most: int = SUMMARY_CHARS) -> str:
    r"""Join a summary and its suffix within ``most`` characters; the end of the body is cut off.

    >>> cap_summary("word " * 5_000, "## Tool Failures\n- bash: exit 1")[-60:]
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


def truncate_middle(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, or its beginning and end with a note of what is left out."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _format_list(paths: Sequence[str], omitted: int = 0) -> str:
    """Format the paths, a line each, as many as fit, and the number left out."""
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


def _normalize_heading(line: str) -> str:
    """Return a heading without its markup."""
    return line.strip().strip("#*_:\uff1a ").casefold()


def number_parts(summaries: Iterable[str]) -> str:
    """Join partial summaries into one text to merge, oldest first."""
    parts = enumerate(summaries, 1)
    return "\n\n".join(f"[Part {number}]:\n{text}" for number, text in parts)


def preserve_sections(
    messages: Sequence[Any],
    format: FormatName | None = None,
    *,
    ask: str | None = None,
    redactor: Redactor | None = None,
) -> PreservedSections:
    """Return the tool failures, the files and the latest ask: ``ask``, or that of the messages."""

    def masked(text: str) -> str:
        return redactor.mask(text).text if redactor else text

    files = file_operations(messages, format)
    asked = ask if ask is not None else latest_ask(messages, format)
    failures = tool_failures(messages, format)
    return PreservedSections(
        failures=tuple(masked(str(failure)) for failure in failures),
        read=tuple(files.read),
        modified=tuple(files.modified),
        ask=None if asked is None else masked(asked),
        read_omitted=files.read_omitted,
        modified_omitted=files.modified_omitted,
    )
