"""Memories: the segments of another store, of OpenClaw's first memory, or of an export. They are records already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.session.entry import as_object, milliseconds
from memctx.transfer.said import Said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.transfer.tape import Tape

SPEAKERS = frozenset({"user", "assistant", "tool"})
# What a store finds out by itself.
DERIVED = frozenset({"topics", "entities", "redactions"})


def recognises(line: dict[str, Any]) -> bool:
    """Whether a line is a segment."""
    texts = ("id", "sessionId", "content")
    return (
        all(isinstance(line.get(name), str) for name in texts)
        and line.get("role") in SPEAKERS
        and milliseconds(line.get("timestamp")) is not None
        and not isinstance(line["timestamp"], str)
    )


def read(tape: Tape) -> Iterator[Said]:
    """The segments, with what is known of them."""
    for line in tape.objects():
        if not recognises(line):
            tape.damaged += 1
            continue
        told = as_object(line.get("metadata")) or {}
        yield Said(
            session=line["sessionId"],
            id=line["id"],
            message={"role": line["role"], "content": line["content"]},
            timestamp=milliseconds(line["timestamp"]),
            metadata={name: value for name, value in told.items() if name not in DERIVED},
        )
