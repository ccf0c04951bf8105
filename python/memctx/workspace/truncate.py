"""Cutting a long text to its head and tail, with a marker in between that says how much is missing."""

from __future__ import annotations

from dataclasses import dataclass

from memctx.errors import ConfigError

MAX_CHARS = 20_000
HEAD_SHARE = 0.75
# A cut moves to the nearest end of a line if that is at most this share of its part away.
SLACK = 0.2


@dataclass(frozen=True, slots=True)
class Truncated:
    """A text that has at most so many characters.

    >>> truncate("short", "notes.md").is_truncated
    False
    """

    text: str
    """What is left of it."""
    raw_chars: int
    """How many characters it had."""
    left_out: int
    """How many of those are missing."""

    @property
    def is_truncated(self) -> bool:
        """Whether anything is missing."""
        return self.left_out > 0


def truncate(text: str, name: str, max_chars: int = MAX_CHARS) -> Truncated:
    r"""Head and tail of a text that is longer than ``max_chars``, three quarters of the room for the head.

    The marker counts too. ``name`` says what the text is of.

    >>> truncate("one line\n" * 100, "notes.md", 120).text.splitlines()[4:6]
    ['one line', '[... 840 characters of notes.md are left out here ...]']

    Raises:
        ConfigError: ``max_chars`` is below 1.
    """
    if max_chars < 1:
        raise ConfigError(f"max_chars is {max_chars}; expected at least 1")
    if len(text) <= max_chars:
        return Truncated(text, len(text), 0)
    room = max_chars - len(_marker(len(text), name))
    if room < 2:  # noqa: PLR2004 - a character of each
        return Truncated(text[:max_chars], len(text), len(text) - max_chars)
    head = text[: int(room * HEAD_SHARE)]
    tail = text[len(text) - (room - len(head)) :]
    head = head[: _last_line_end(head)]
    tail = tail[_first_line_start(tail) :]
    left_out = len(text) - len(head) - len(tail)
    return Truncated(f"{head}{_marker(left_out, name)}{tail}", len(text), left_out)


def _marker(left_out: int, name: str) -> str:
    return f"\n[... {left_out} characters of {name} are left out here ...]\n"


def _last_line_end(head: str) -> int:
    found = head.rfind("\n")
    return found if found >= len(head) * (1 - SLACK) else len(head)


def _first_line_start(tail: str) -> int:
    found = tail.find("\n") + 1
    return found if found <= len(tail) * SLACK else 0
