"""`Known`: what a store holds already, eight bytes for each segment."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

# So many are kept apart before they are sorted in.
MOST_NEW = 1 << 16


class Known:
    """A set of keys that only grows.

    >>> known = Known()
    >>> known.add(Known.key("s1", "user", "Which port?"))
    True
    >>> known.add(Known.key("s1", "user", "Which port?"))
    False
    """

    def __init__(self) -> None:
        self._sorted = np.empty(0, np.uint64)
        self._new: set[int] = set()

    @staticmethod
    def key(session: str, role: str, content: str) -> int:
        """What two segments share that say the same in the same session."""
        told = f"{session}\0{role}\0{content}".encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(told, digest_size=8).digest(), "little")

    def add(self, key: int) -> bool:
        """Take a key in; whether it is new."""
        if key in self:
            return False
        self._new.add(key)
        if len(self._new) >= MOST_NEW:
            fresh = np.fromiter(self._new, np.uint64, len(self._new))
            self._sorted = np.sort(np.concatenate([self._sorted, fresh]))
            self._new.clear()
        return True

    def __contains__(self, key: int) -> bool:
        if key in self._new:
            return True
        at = int(np.searchsorted(self._sorted, np.uint64(key)))
        return at < len(self._sorted) and int(self._sorted[at]) == key

    def __len__(self) -> int:
        return len(self._sorted) + len(self._new)
