"""`Document`: a file that can be searched, and whether it changed since it was read."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from memctx import messages
from memctx.errors import StoreError
from memctx.session import read_entries
from memctx.workspace import guard
from memctx.workspace.chunk import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memctx.workspace.chunk import Chunk

Source: TypeAlias = Literal["memory", "sessions"]
"""Where something was found: in the files of a workspace, or in session files."""

# A file that was changed this shortly before may change again and keep its time.
UNSETTLED_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """A file that can be searched."""

    name: str
    """How it is cited."""
    path: Path
    """Where it is."""
    root: Path
    """The folder that it must not lead out of."""
    source: Source
    """What it is."""

    def stamp(self) -> tuple[int, int] | None:
        """What changes when the file does; None if there is no such file."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        is_settled = time.time_ns() - found.st_mtime_ns > UNSETTLED_NS
        return (found.st_mtime_ns if is_settled else -1, found.st_size)

    def digest(self) -> bytes:
        """A hash of its bytes.

        Raises:
            StoreError: it cannot be read or leads out of its folder.
        """
        try:
            with guard.inside(self.root, self.path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error}") from error

    def chunks(self, tokens: int, overlap: int, mask: Callable[[str], str]) -> Iterator[Chunk]:
        """Its passages, secrets masked; for a session file the lines are those of the file."""
        lines = self._said(mask) if self.source == "sessions" else self._written(mask)
        return chunks(lines, tokens, overlap)

    def _written(self, mask: Callable[[str], str]) -> Iterator[tuple[int, str]]:
        text = guard.text_of(guard.read(self.root, self.path))
        # Only this ends a line, for an editor as for us.
        return enumerate(mask(text).split("\n"), start=1)

    def _said(self, mask: Callable[[str], str]) -> Iterator[tuple[int, str]]:
        """What was said, and the summaries; not what tools did."""
        found = [
            (entry.line, message)
            for entry in read_entries(guard.inside(self.root, self.path))
            if (message := entry.message) is not None and isinstance(message.get("role"), str)
        ]
        pieces = messages.read_each([message for _, message in found], "pi")
        for (number, _), records in zip(found, pieces, strict=True):
            for record in records:
                if record.tool is None:
                    for line in f"{record.role}: {mask(record.text)}".split("\n"):
                        yield number, line
