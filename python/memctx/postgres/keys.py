"""Names and hashes that depend on the secret of a namespace.

The server never has a plain word, topic or tombstone that tells its text: each is hashed with the secret of its
namespace. So the posting lists of two namespaces share no entry, and no role can listen to another namespace's
channel, whose name it cannot compute.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

_LOWEST = -(2**63)


@dataclass(frozen=True)
class Identity:
    """A namespace as its members know it."""

    id: int
    name: str
    secret: bytes

    def __repr__(self) -> str:
        return f"Identity(id={self.id}, name={self.name!r})"

    @cached_property
    def key(self) -> int:
        """Seed of the hashes of words, from 0 to 2**64 - 1."""
        return int.from_bytes(self._hash("terms", "")[:8], "big")

    @cached_property
    def channel(self) -> str:
        """Name of the channel of notifications."""
        return f"memctx_{self.id}_{self._hash('channel', '')[:12].hex()}"

    def session(self, session_id: str) -> UUID:
        """Return the key of a session."""
        return _uuid(self._hash("session", session_id))

    def topic(self, topic: str) -> int:
        """Return a topic, in any case, as a term."""
        return int.from_bytes(self._hash("topic", topic.casefold())[:8], "big") + _LOWEST

    def _hash(self, kind: str, text: str) -> bytes:
        return hmac.digest(self.secret, f"{kind}:{text}".encode(), "sha256")


def segment_key(id: str) -> UUID:
    """Return the key of a segment: its id, or a hash of an id that is no UUID.

    >>> segment_key("001cb3f3-a4bd-4aa3-a7de-113725f7e3a8")
    UUID('001cb3f3-a4bd-4aa3-a7de-113725f7e3a8')
    """
    try:
        found = UUID(id)
    except ValueError:
        found = None
    if found is not None and str(found) == id:
        return found
    return _uuid(hashlib.sha256(id.encode()).digest())


def line_digest(text: str) -> bytes:
    """Return the SHA-256 of a line."""
    return hashlib.sha256(text.encode()).digest()


def _uuid(digest: bytes) -> UUID:
    number = int.from_bytes(digest[:16], "big")
    number &= ~(0xF000 << 64) & ~(0xC000 << 48)
    return UUID(int=number | (8 << 76) | (2 << 62))
