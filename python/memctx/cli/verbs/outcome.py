"""`Outcome`: the result of a verb, as data for programs and as text for people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from memctx.cli.escaping import terminal
from memctx.cli.formatting import Table

Action: TypeAlias = Literal["none", "compact", "new", "reset"]
"""The host's next step: nothing, or continue with other messages or in another session."""

Part: TypeAlias = str | Table


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a verb.

    >>> Outcome({"segments": 2}, ("2 segments",)).text
    '2 segments'
    """

    data: dict[str, Any]
    """The complete result, ready for JSON."""
    parts: tuple[Part, ...]
    """The result for people: paragraphs and tables."""
    is_ok: bool = True
    """False if nothing was found or a check failed."""
    action: Action = "none"
    """The host's next step."""
    messages: list[Any] | None = None
    """The messages to continue with, if they changed."""
    session_id: str | None = None
    """The session to continue in, if it changed."""

    @property
    def text(self) -> str:
        """All parts as plain text, separated by blank lines."""
        return "\n\n".join(str(part) for part in self.printable())

    def printable(self) -> tuple[Part, ...]:
        """Return the parts without terminal control characters: archived text is not trusted."""
        return tuple(
            part.printable() if isinstance(part, Table) else terminal(part) for part in self.parts
        )

    def unconfirmed(self) -> Outcome:
        """Return the outcome of a dry run, with a hint at ``--yes``."""
        return replace(self, parts=(*self.parts, "Nothing was changed; add --yes to do it."))

    def __str__(self) -> str:
        return self.text
