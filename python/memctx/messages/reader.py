"""Reading a list of messages, whatever its shape, into records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.messages.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.messages.detect import Shape


def read(messages: Sequence[Any], shape: Shape | None = None) -> list[Record]:
    """The records of all messages, in order; ``shape`` overrides what `detect` would say."""
    return [record for records in read_each(messages, shape) for record in records]


def read_each(messages: Sequence[Any], shape: Shape | None = None) -> list[list[Record]]:
    """The records of each message: none for a system prompt, thinking, and what is not known."""
    conversation = _core.Scanner(capacity=0).scan(messages, shape)
    return [[_record(*row) for row in rows] for rows in conversation.records()]


def _record(role: str, text: str, timestamp: float | None, metadata: str | None) -> Record:
    return Record(role, text, timestamp, json.loads(metadata) if metadata else {})
