"""`Said`: one message of a transcript, as its host wrote it, and where it belongs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memctx.messages import Shape


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a transcript.

    >>> Said("s1", "m1", {"role": "user", "content": "Which port?"}).message["content"]
    'Which port?'
    """

    session: str
    """The session it was said in, by its host's own id."""
    id: str
    """The host's own id of the message; where it has none, its number in the session."""
    message: dict[str, Any]
    """The message in one of the shapes that `memctx.messages` reads."""
    shape: Shape | None = None
    """Which one; None where that is to be found out."""
    timestamp: float | None = None
    """Milliseconds since the epoch, where the message itself does not say."""
    metadata: dict[str, Any] | None = None
    """What is known of a message that a store had already: it is stored as it is; None for messages of hosts."""
