"""`Excerpts`: how messages begin, secrets masked, and where in the session a text was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx import Redactor

    Piece = tuple[str, str, float | None, str | None]

LONGEST = 280


class Excerpts:
    """The texts of one session. They are masked before they are cut: half a secret is no longer known for one."""

    def __init__(self, redactor: Redactor, records: Sequence[Sequence[Piece]]) -> None:
        self._redactor = redactor
        self._texts = [[redactor.mask(piece[1]).text for piece in pieces] for pieces in records]
        self._places: dict[str, int] = {}
        for place, texts in enumerate(self._texts):
            for text in texts:
                self._places.setdefault(text.strip(), place)

    def of_message(self, place: int) -> str:
        """How a message begins."""
        return _cut(" · ".join(self._texts[place]))

    def of_messages(self, places: Sequence[int]) -> str:
        """How some messages begin, one behind the other."""
        return _cut(" · ".join(text for place in places for text in self._texts[place]))

    def of_text(self, text: str) -> str:
        """How a text begins."""
        return _cut(self._redactor.mask(text).text)

    def place_of(self, content: str) -> int | None:
        """The first message that says a text, or None."""
        return self._places.get(content.strip())


def passage(content: str, span: tuple[int, int] | None) -> str:
    """How a passage of a stored text begins, or the text if no passage is named.

    >>> passage("Nothing yet. The port is 8443.", (13, 30))
    '… The port is 8443.'
    """
    if span is None or span[0] == 0:
        return _cut(content)
    return f"… {_cut(content[slice(*span)])}"


def _cut(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: LONGEST * 4].split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
