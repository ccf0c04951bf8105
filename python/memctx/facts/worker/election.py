"""`ExtractionLease`: the lease of the process that extracts facts from a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx import _core, session_file
from memctx.facts.worker.queue import FOLDER

if TYPE_CHECKING:
    from pathlib import Path


class ExtractionLease:
    """A lease that is held only while there is work. The kernel releases it when its holder dies."""

    def __init__(self, store: Path, session_id: str) -> None:
        self._path = session_file.path_of(store, FOLDER, session_id, ".lock")
        self._lease = _core.Lease(self._path)

    @property
    def is_held(self) -> bool:
        """Whether this process holds the lease."""
        return self._lease.is_held

    def acquire(self) -> bool:
        """Acquire the lease unless another process has it, and return whether it is held."""
        if not self._lease.is_held:
            session_file.make_folder(self._path.parent)
        return self._lease.acquire()

    def release(self) -> None:
        """Release the lease; in a forked child, leave it to the parent."""
        self._lease.release()
