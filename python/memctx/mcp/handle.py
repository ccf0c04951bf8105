"""`MemoryHandle`: a memory that is opened when it is first needed, so that a server is ready before."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from memctx.errors import MemctxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.memory import Memory


class MemoryHandle:
    """A memory and the function that opens it. All methods are thread-safe.

    >>> import memctx, tempfile
    >>> handle = MemoryHandle(lambda: memctx.open(tempfile.mkdtemp(), session_id="s1"))
    >>> handle.get().session_id
    's1'
    >>> handle.close()
    """

    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        """Keep the function; nothing is opened yet."""
        self._open_memory = open_memory
        self._lock = threading.Lock()
        self._memory: Memory | None = None

    @property
    def opened(self) -> Memory | None:
        """The memory, if it is open."""
        return self._memory

    def get(self) -> Memory:
        """Return the memory, and open it if it is not open; what fails is tried again by the next call."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open_memory()
            return self._memory

    def warm(self) -> None:
        """Open the memory in the background."""
        if self._memory is None:
            threading.Thread(target=self._try_to_open, name="memctx-open", daemon=True).start()

    def close(self) -> None:
        """Close the memory, if it is open."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None

    def _try_to_open(self) -> None:
        with suppress(MemctxError, OSError):  # the call that needs the memory reports it
            self.get()
