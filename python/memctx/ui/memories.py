"""`Memories`: the open memories behind the page: one that reads all sessions, and some of single sessions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from memctx import registry, store_files
from memctx.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.config import Config
    from memctx.memory import Memory

READER = "memctx-ui"
"""Session id of the memory that reads all sessions. Nothing is written under it."""
MAX_SESSIONS = 3
"""Memories of single sessions that are kept open."""


class Memories:
    """Memories of one store, opened when they are first needed. Thread-safe."""

    def __init__(self, path: Path, config: Config) -> None:
        """Keep the directory of the store and the settings; nothing is opened yet."""
        self.path = path
        self.config = config
        self._lock = threading.Lock()
        self._reader: Memory | None = None
        self._sessions: OrderedDict[str, Memory] = OrderedDict()

    def check(self) -> None:
        """Raise `StoreError` if the store is gone: an open memory would not notice."""
        if not store_files.is_store(self.path):
            raise StoreError(f"{self.path}: the store is gone; it was deleted or moved")

    def reader(self) -> Memory:
        """Return the memory that reads all sessions, up to date with other processes."""
        with self._lock:
            if self._reader is None:
                config = self.config.replace(cross_session=True)
                self._reader = registry.open(self.path, session_id=READER, config=config)
            memory = self._reader
        memory.store.refresh()
        return memory

    def of(self, session_id: str) -> Memory:
        """Return the memory of one session, as its agent has it."""
        with self._lock:
            memory = self._sessions.pop(session_id, None)
            if memory is None:
                memory = registry.open(
                    self.path,
                    session_id=session_id,
                    config=self.config.replace(cross_session=False),
                )
            self._sessions[session_id] = memory
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)[1].close()
        memory.store.refresh()
        return memory

    def close(self) -> None:
        """Close all memories."""
        with self._lock:
            opened = [*self._sessions.values(), *([self._reader] if self._reader else [])]
            self._sessions.clear()
            self._reader = None
        for memory in opened:
            memory.close()
