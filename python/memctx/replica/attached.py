"""`Attached`: a session that a process has open."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memctx.errors import StoreError

if TYPE_CHECKING:
    from memctx._core import FactStore, Store


@dataclass(slots=True)
class Attached:
    """A session that is open in this process."""

    session_id: str
    callers: int = 1
    ready: threading.Event = field(default_factory=threading.Event)
    """Set when the session was pulled for the first time."""
    store: Store | None = None
    facts: FactStore | None = None
    is_checked: bool = False
    is_erased: bool = False
    """True if the session was erased on the server, which takes no more of it."""

    @property
    def is_open(self) -> bool:
        """True if the store was opened, and is not closed."""
        try:
            return self.store is not None and len(self.store) >= 0
        except StoreError:
            return False

    def reopen(self) -> None:
        """Share no lock with the parent process after a fork."""
        is_ready, self.ready = self.ready.is_set(), threading.Event()
        if is_ready:
            self.ready.set()

    def has_damage(self) -> bool:
        """Return whether an opened store met damaged lines."""
        stores = [store for store in (self.store, self.facts) if store is not None]
        try:
            return any(store.health()["damaged"] for store in stores)
        except StoreError:  # closed meanwhile
            return False
