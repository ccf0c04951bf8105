"""`Backend`: the store behind the page, and `RequestError`, an error with its HTTP status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx.errors import MemctxError
from memctx.ui.log_index import LogIndex
from memctx.ui.memories import Memories

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.config import Config
    from memctx.ui.log_index import SessionLog
    from memctx.ui.mirror import Mirror


class RequestError(MemctxError):
    """A request that cannot be answered, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Backend:
    """One store: its memories, the index of its log, and whether the page may change it."""

    memories: Memories
    index: LogIndex
    may_write: bool = False
    mirror: Mirror | None = None
    """The replica that keeps the directory equal with a server, if it is the cache of one."""

    @classmethod
    def of(cls, path: Path, config: Config, *, may_write: bool) -> Backend:
        """Return the backend of a directory; nothing is opened yet."""
        return cls(Memories(path, config), LogIndex(path), may_write)

    @classmethod
    def of_server(cls, address: str, config: Config, *, may_write: bool) -> Backend:
        """Return the backend of a namespace on a PostgreSQL server, once its sessions are in the local cache."""
        from memctx.ui.mirror import Mirror  # noqa: PLC0415 - with psycopg

        mirror = Mirror(address, config)
        try:
            mirror.start()
        except BaseException:
            mirror.close()
            raise
        memories = Memories(mirror.path, config.replace(storage_path=mirror.path))
        memories.reader()  # which makes a store of an empty cache
        return cls(memories, LogIndex(mirror.path), may_write, mirror)

    @property
    def path(self) -> Path:
        """The directory of the store."""
        return self.memories.path

    def session(self, id: str) -> SessionLog:
        """Return a session of the log; raise a 404 if there is none."""
        found = self.index.session(id)
        if found is None:
            raise RequestError(404, f"session is {id!r}; the store has no such session")
        return found

    def commit(self) -> None:
        """Wait until an edit is where the store is: on the server, if it has one; on disk it is already."""
        if self.mirror is not None:
            self.mirror.commit()

    def close(self) -> None:
        """Close what was opened."""
        self.memories.close()
        if self.mirror is not None:
            self.mirror.close()

    def check_writable(self) -> None:
        """Raise a 403 if the page is read-only."""
        if not self.may_write:
            raise RequestError(403, "The page is read-only; run `memctx ui --write` to edit.")
