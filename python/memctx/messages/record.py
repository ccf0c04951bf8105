"""`Record`: one piece of a message that is worth keeping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import MutableMapping


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


def tool_record(  # noqa: PLR0913 - one for each thing known of a tool's piece
    kind: Literal["call", "result"],
    text: str,
    timestamp: float | None,
    *,
    name: str | None,
    call_id: str | None,
    is_error: bool = False,
) -> Record:
    """The record of a tool call or of its result; what is not known is left out of its metadata."""
    tool: dict[str, Any] = {"name": name} if name else {}
    if call_id:
        tool["callId"] = call_id
    tool["kind"] = kind
    if is_error:
        tool["isError"] = True
    return Record("tool", text, timestamp, {"tool": tool})


def call_record(
    name: str | None,
    question: object,
    call_id: str | None,
    timestamp: float | None,
    names: MutableMapping[str, str],
) -> Record:
    """The record of a tool call: its name and what it was asked. ``names`` learns the name for the result."""
    if name and call_id:
        names[call_id] = name
    asked = "" if question is None else part.compact(question)
    text = f"{name or ''} {asked}".strip()
    return tool_record("call", text, timestamp, name=name, call_id=call_id)
