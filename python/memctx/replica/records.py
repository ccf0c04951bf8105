"""Records of a cache: its identity, how far its logs are shipped, and how far each session is pulled.

They are JSON files in the folder ``replica`` of the cache. A record that is lost or older than the logs costs time, not
data: what is shipped or pulled a second time is recognized by its id.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from uuid import UUID, uuid4

from memctx import store_files
from memctx.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "replica"
VERSION = 1
LOGS: tuple[LogName, ...] = ("segments", "facts")

LogName: TypeAlias = Literal["segments", "facts"]


@dataclass(slots=True)
class Position:
    """A place in a log, and a checksum of the bytes before it, by which a replaced log is noticed."""

    offset: int = 0
    mark: int = 0


@dataclass(slots=True)
class CacheRecord:
    """Identity of a cache, and how far its logs are shipped."""

    server: str = ""
    """Fingerprint of the namespace that the rest is about; another one knows nothing of this cache."""
    origin: str = field(default_factory=lambda: str(uuid4()))
    """Names the lines of this cache on the server. A cache that lost lines takes a new one, and gets its own back."""
    erasures: int = 0
    """Number of the last erasure on the server that was carried out here."""
    late: list[str] = field(default_factory=list[str])
    """Erased sessions that were open since, and may have written more; it is removed once they are closed."""
    segments: Position = field(default_factory=Position)
    facts: Position = field(default_factory=Position)

    @property
    def uuid(self) -> UUID:
        """The identity as the server has it."""
        return UUID(self.origin)

    def shipped(self, log: LogName) -> Position:
        """Return how far a log is shipped."""
        return self.segments if log == "segments" else self.facts

    def save(self, cache: Path) -> None:
        """Replace the record on disk."""
        _save(_cache_path(cache), asdict(self))


@dataclass(slots=True)
class SessionRecord:
    """Progress of pulling a session, and the versions of its files in the cache."""

    session: str
    origin: str = ""
    """Identity of the cache when this was written; a record of another one is void."""
    segments: int = 0
    facts: int = 0
    foreign_facts: int = -1
    """Offset of the last fact of another host in the log; -1 if there is none."""
    files: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """Version on the server and digest of each file."""

    def pulled(self, log: LogName) -> int:
        """Return the number of the last line that was pulled."""
        return self.segments if log == "segments" else self.facts

    def advance(self, log: LogName, number: int) -> None:
        """Note that all lines up to a number are in the cache."""
        if log == "segments":
            self.segments = number
        else:
            self.facts = number

    def save(self, cache: Path) -> None:
        """Replace the record on disk."""
        _save(_session_path(cache, self.session), asdict(self))


def load_cache(cache: Path) -> CacheRecord:
    """Return the record of a cache; a new one if there is none, or if it cannot be read."""
    found = _load(_cache_path(cache))
    try:
        return CacheRecord(
            server=str(found["server"]),
            origin=str(UUID(found["origin"])),
            erasures=int(found["erasures"]),
            late=[str(each) for each in found["late"]],
            segments=Position(**found["segments"]),
            facts=Position(**found["facts"]),
        )
    except (KeyError, TypeError, ValueError):
        return CacheRecord()


def load_session(cache: Path, session_id: str, origin: str) -> SessionRecord:
    """Return the record of a session; a new one if there is none, or if it is of another identity of the cache."""
    found = _load(_session_path(cache, session_id))
    try:
        if found["session"] == session_id and found["origin"] == origin:
            return SessionRecord(
                session=session_id,
                origin=origin,
                segments=int(found["segments"]),
                facts=int(found["facts"]),
                foreign_facts=int(found["foreign_facts"]),
                files={
                    str(name): (int(version), str(digest))
                    for name, (version, digest) in found["files"].items()
                },
            )
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    return SessionRecord(session=session_id, origin=origin)


def lock_path(cache: Path) -> Path:
    """Return the file that a process locks while it replicates."""
    return cache / FOLDER / "lock"


def _cache_path(cache: Path) -> Path:
    return cache / FOLDER / "cache"


def _session_path(cache: Path, session_id: str) -> Path:
    return store_files.path_of(cache, FOLDER, session_id, ".json")


def _save(path: Path, found: dict[str, Any]) -> None:
    document = store_files.json_of({"version": VERSION, **found})
    store_files.replace(path, document, is_durable=False)


def _load(path: Path) -> dict[str, Any]:
    try:
        found = store_files.read(path)
    except (OSError, ValueError, StoreError):
        return {}
    return found if found.get("version") == VERSION else {}
