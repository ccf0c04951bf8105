"""`Record`: one piece of a message that is worth keeping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """One piece of a message: who said it, what, when, and what else is known of it.

    ``role`` is ``"user"``, ``"assistant"`` or ``"tool"``. A tool's piece has ``metadata["tool"]`` with its name, the
    id of the call, and whether it is the call or the result. Text that is no speech of its own says in
    ``metadata["kind"]`` what it is: a summary, or a host's own message.
    """

    role: str
    text: str
    timestamp: float | None = None
    """Milliseconds since the epoch, or None where the message does not say."""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def tool(self) -> str | None:
        """The name of the tool, empty where it is not known; None for speech."""
        tool = self.metadata.get("tool")
        return None if tool is None else tool.get("name", "")
