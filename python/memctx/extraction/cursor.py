"""`Cursor`: how far a session's archive has been read for facts, on disk in ``extraction/<session>.json``.

The archive itself is the queue; this is all that is kept beside it, and it does not grow with what is pending.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any

from memctx import session_file
from memctx.errors import StoreError, UnsupportedVersionError
from memctx.extraction.progress import Tally

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "extraction"
VERSION = 1
MOST_ASIDE = 1_000


@dataclass(frozen=True, slots=True)
class Trouble:
    """A batch that failed: it is tried again as it was, whatever has been said since."""

    start: int
    end: int
    segments: int
    """How many of the session's segments lie between the two places."""
    last: str
    """The id of the last of them."""
    attempts: int
    malformed: int
    """How many of them gave an answer that could not be used."""
    error: str
    """The last one, without anything that was said."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the log, and what is known of the way to it."""

    offset: int = 0
    mark: int = 0
    """What the place is known by, should the log be replaced."""
    last: str | None = None
    """The id of the last segment before it; empty if there is none, None if nobody has looked."""
    trouble: Trouble | None = None
    """The batch at the place, if it has failed."""
    aside: tuple[Trouble, ...] = ()
    """Batches before the place that cannot be extracted from as things are."""
    tally: Tally = field(default_factory=Tally)

    @property
    def is_full(self) -> bool:
        """Whether no further batch can be set aside."""
        return len(self.aside) >= MOST_ASIDE

    def to_json(self) -> dict[str, Any]:
        """The cursor as a JSON object."""
        return {
            "version": VERSION,
            "offset": self.offset,
            "mark": self.mark,
            "last": self.last,
            "trouble": None if self.trouble is None else astuple(self.trouble),
            "aside": [astuple(each) for each in self.aside],
            "tally": self.tally.to_json(),
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Cursor:
        """The cursor that `to_json` gave; a `ValueError` for anything else."""
        try:
            return cls(
                offset=_place(found["offset"]),
                mark=int(found["mark"]),
                last=None if found["last"] is None else str(found["last"]),
                trouble=None if found["trouble"] is None else _trouble(*found["trouble"]),
                aside=tuple(_trouble(*each) for each in found["aside"]),
                tally=Tally.from_json(found["tally"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None


def path_of(store: Path, session_id: str) -> Path:
    """The file of a session's cursor."""
    return session_file.path_of(store, FOLDER, session_id, ".json")


def load(path: Path, session_id: str) -> Cursor | None:
    """The cursor on disk, or None.

    One that is damaged is a `ValueError`; one that is another session's or a newer memctx's a `StoreError`.
    """
    try:
        found = session_file.read(path)
    except FileNotFoundError:
        return None
    if found.get("session", session_id) != session_id:
        # Where names differ in case only, one file would have to serve two sessions.
        raise StoreError(f"{path}: it is the file of session {found['session']!r}")
    version = found.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UnsupportedVersionError(f"{path}: version {version}; expected {VERSION}")
    return Cursor.from_json(found)


def stamp_of(path: Path) -> tuple[int, int] | None:
    """What changes whenever the cursor on disk does; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def save(path: Path, session_id: str, cursor: Cursor) -> None:
    """Replace the cursor on disk, durably: what lies before it is never read again."""
    session_file.replace(path, _document(session_id, cursor), is_durable=True)


def create(path: Path, session_id: str, cursor: Cursor) -> bool:
    """Write the first cursor of a session; False if another process was quicker."""
    return session_file.create(path, _document(session_id, cursor))


def _document(session_id: str, cursor: Cursor) -> str:
    return session_file.json_of({"session": session_id, **cursor.to_json()})


def _place(found: int) -> int:
    if (place := int(found)) < 0:
        raise ValueError(f"offset {place}; expected 0 or more")
    return place


def _trouble(  # noqa: PLR0913, PLR0917 - the columns of the file
    start: int, end: int, segments: int, last: str, attempts: int, malformed: int, error: str
) -> Trouble:
    counts = (int(segments), str(last), int(attempts), int(malformed))
    return Trouble(_place(start), _place(end), *counts, str(error))
