"""`SessionName`: a session as people know it, instead of its id."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memctx._core import Redactor

MAX_TEXT = 300
"""Most characters of a title or a prompt."""


@dataclass(frozen=True, slots=True)
class SessionName:
    """The host and the folder of a session, and its title or first prompt.

    >>> str(SessionName("codex", "/src/shop", first_prompt="Which port?"))
    'codex · shop · Which port?'
    """

    host: str = ""
    project: str = ""
    """The folder that the session is about."""
    title: str = ""
    """The title that the host gave it."""
    first_prompt: str = ""

    @property
    def folder(self) -> str:
        r"""The name of the folder, whichever system the path is of.

        >>> SessionName("codex", "C:\\src\\shop").folder
        'shop'
        """
        windows = PureWindowsPath(self.project)
        return windows.name if windows.drive else PurePosixPath(self.project).name

    def masked(self, redactor: Redactor, longest: int = MAX_TEXT) -> SessionName:
        """Return the name with secrets masked, its texts on one line each and cut.

        >>> from memctx import Redactor
        >>> SessionName("codex", title="Deploy  it with AKIAIOSFODNN7EXAMPLQ").masked(Redactor(), 24).title
        'Deploy it with [REDACTE…'
        """

        def line(text: str) -> str:
            # A secret that is cut is no longer found.
            return " ".join(redactor.mask(text).text.split())

        def cut(text: str) -> str:
            return text if len(text) <= longest else f"{text[: longest - 1]}…"

        return SessionName(
            self.host, line(self.project), cut(line(self.title)), cut(line(self.first_prompt))
        )

    def __bool__(self) -> bool:
        """Return whether more is known than the host."""
        return bool(self.host and (self.folder or self.title or self.first_prompt))

    def __str__(self) -> str:
        known = (self.host, self.folder, self.title or self.first_prompt)
        return " · ".join(each for each in known if each) if self.host else ""
