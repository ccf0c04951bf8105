"""`Journal`: how far each file of a source has been imported, beside the store in ``imports/``.

It only saves work: what the store holds is never stored twice, whether a journal says so or not. Its lines are written
after what they speak of is on disk, so that a process that dies leaves it behind the store, never ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memctx import durable, session_file
from memctx.messages import part
from memctx.transfer.tape import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memctx.transfer.archive import Archive
    from memctx.transfer.sources import Source

FOLDER = "imports"


class _Row(NamedTuple):
    """A line of it: how far a file was, and up to where the store was on disk."""

    format: str
    name: str
    size: int
    changed: int
    messages: int
    is_done: bool
    place: int
    mark: int


class Journal:
    """What was imported from one source."""

    def __init__(self, store: Path, source: Path, archive: Archive) -> None:
        self._path = session_file.path_of(store, FOLDER, str(source.resolve()), ".jsonl")
        self._archive = archive
        self._messages: dict[tuple[str, str, int, int], int] = {}
        self._done: set[tuple[str, str, int, int]] = set()
        self._load()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def is_done(self, source: Source) -> bool:
        """Whether a file was imported as it is now."""
        return _key(source) in self._done

    def messages(self, source: Source) -> int:
        """How many messages of a file were imported; none if it has changed since."""
        return self._messages.get(_key(source), 0)

    def note(self, progress: Iterable[tuple[Source, int, bool]], place: int) -> None:
        """Note how far files are, now that the log is on disk up to a place."""
        mark = self._archive.mark(place)
        lines = [
            session_file.json_of([*_key(source), messages, is_done, place, mark])
            for source, messages, is_done in progress
        ]
        durable.append(
            self._path, "".join(f'{{"v":1,"at":{line}}}\n' for line in lines).encode(), sync=False
        )

    def _load(self) -> None:
        """Read what was noted; nothing of it counts if the store is not the one it speaks of."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        rows = [row for line in data.splitlines() if (row := _row(line)) is not None]
        if rows and self._archive.mark(rows[-1].place) != rows[-1].mark:
            self._path.unlink(missing_ok=True)
            return
        for row in rows:
            key = (row.format, row.name, row.size, row.changed)
            self._messages[key] = row.messages
            if row.is_done:
                self._done.add(key)


def _key(source: Source) -> tuple[str, str, int, int]:
    return source.format, source.name, source.size, source.changed


def _row(line: bytes) -> _Row | None:
    found = part.items((parsed(line) or {}).get("at"))
    if len(found) != len(_Row._fields) or not all(map(_is_value, found)):
        return None
    return _Row(*cast("Any", found))


def _is_value(value: object) -> bool:
    return isinstance(value, str | int)
