"""How moments, sizes, spans and long texts are written for people."""

from __future__ import annotations

from datetime import UTC, datetime

SHORT_ID = 8
"""How much of an id a table shows; commands take that much for the whole."""
LONGEST_EXCERPT = 100
UNIT = 1024
MINUTE, HOUR, DAY = 60, 3_600, 86_400


def moment(milliseconds: float | None) -> str:
    """A time in UTC, to the minute.

    >>> moment(1770000000000), moment(None)
    ('2026-02-02 02:40', '')
    """
    if milliseconds is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):  # another program's idea of a time
        return "?"


def span(seconds: float) -> str:
    """How long something took, in its two largest units.

    >>> span(42), span(4_000), span(200_000)
    ('42 s', '1 h 6 min', '2 d 7 h')
    """
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min"
    if whole < DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"
    return f"{whole // DAY} d {whole % DAY // HOUR} h"


def size(count: float) -> str:
    """A number of bytes.

    >>> size(512), size(2_048), size(5_242_880)
    ('512 B', '2.0 KiB', '5.0 MiB')
    """
    if count < UNIT:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= UNIT
        if count < UNIT:
            return f"{count:.1f} {unit}"
    return f"{count / UNIT:.1f} TiB"


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "session"), counted(1200, "segment")
    ('1 session', '1,200 segments')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def short(id: str) -> str:
    """The beginning of an id."""
    return id[:SHORT_ID]


def excerpt(text: str, start: int = 0, longest: int = LONGEST_EXCERPT) -> str:
    r"""One line of a text, from a place in it on.

    >>> excerpt("We decided:\n the port   is 8443"), excerpt("a" * 9, longest=5)
    ('We decided: the port is 8443', 'aaaa…')
    """
    start = 0 if len(text) <= longest else start
    # What lies far behind the excerpt need not be looked at.
    line = " ".join(printable(text[start : start + longest * 4]).split())
    line = f"…{line}" if start else line
    is_whole = len(line) <= longest and start + longest * 4 >= len(text)
    return line if is_whole else f"{line[: longest - 1]}…"


def printable(text: str) -> str:
    r"""A text without what would drive a terminal: archived messages are not to be trusted.

    >>> printable("port\x1b[31m 8443\n")
    'port�[31m 8443\n'
    """
    if text.isprintable():
        return text
    return "".join(each if each in "\n\t" or each.isprintable() else _shown(each) for each in text)


def one_line(text: str) -> str:
    r"""A text as a cell of a table has it.

    >>> one_line("We decided:\n port 8443")
    'We decided:  port 8443'
    """
    return printable(text).replace("\n", " ").replace("\t", " ")


def _shown(character: str) -> str:
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"
