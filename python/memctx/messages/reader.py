"""Reading of messages, whatever their format, into records of the text worth keeping."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.messages.formats import FormatName


@dataclass(frozen=True, slots=True)
class Record:
    """One part of a message: its speaker, text, time and metadata.

    ``role`` is ``"user"``, ``"assistant"`` or ``"tool"``. A record of a tool has ``metadata["tool"]`` with the tool's
    name, the id of the call, and whether it is the call or the result. Text that is not speech names its kind in
    ``metadata["kind"]``: a summary, or a host's own message.
    """

    role: str
    text: str
    timestamp: float | None = None
    """Milliseconds since the epoch; None if the message has no time."""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def tool(self) -> str | None:
        """Name of the tool, empty if it is not known; None for speech."""
        tool = self.metadata.get("tool")
        return None if tool is None else tool.get("name", "")


def detect(messages: Sequence[Any]) -> FormatName:
    """Return the format of a list of messages; ``"anthropic"`` where all formats would read it alike.

    >>> detect([{"role": "user", "parts": [{"text": "Which port?"}]}])
    'gemini'

    Raises:
        MessageFormatError: it is no list, or a message in it is not understood.
    """
    return _core.detect(messages)


def read(messages: Sequence[Any], format: FormatName | None = None) -> list[Record]:
    """Return the records of all messages, in order; ``format`` overrides `detect`.

    >>> [(record.role, record.text) for record in read([{"role": "user", "content": "Which port?"}])]
    [('user', 'Which port?')]
    """
    return [record for records in read_each(messages, format) for record in records]


def read_each(messages: Sequence[Any], format: FormatName | None = None) -> list[list[Record]]:
    """Return the records of each message: none for a system prompt, thinking, and blocks of unknown types.

    >>> messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which port?"}]
    >>> [len(records) for records in read_each(messages, "openai")]
    [0, 1]
    """
    conversation = _core.MessageReader(capacity=0).read(messages, format)
    return [[_record(*row) for row in rows] for rows in conversation.records()]


def _record(role: str, text: str, timestamp: float | None, metadata: str | None) -> Record:
    return Record(role, text, timestamp, json.loads(metadata) if metadata else {})
