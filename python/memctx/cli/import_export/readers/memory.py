"""Memories: the segments of another store, of OpenClaw's plugin, or of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.transcript_file import TranscriptMessage
from memctx.hosts.pi import as_object, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.cli.import_export.transcript_file import TranscriptFile

SPEAKERS = frozenset({"user", "assistant", "tool"})
# Metadata that a store derives itself.
DERIVED = frozenset({"topics", "entities", "redactions"})


def recognizes(line: dict[str, Any]) -> bool:
    """Return whether a line is a segment."""
    texts = ("id", "sessionId", "content")
    return (
        all(isinstance(line.get(name), str) for name in texts)
        and line.get("role") in SPEAKERS
        and milliseconds(line.get("timestamp")) is not None
        and not isinstance(line["timestamp"], str)
    )


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Yield the segments with their metadata."""
    for line in transcript.objects():
        if not recognizes(line):
            transcript.damaged += 1
            continue
        metadata = as_object(line.get("metadata")) or {}
        yield TranscriptMessage(
            session=line["sessionId"],
            id=line["id"],
            message={"role": line["role"], "content": line["content"]},
            timestamp=milliseconds(line["timestamp"]),
            metadata={name: value for name, value in metadata.items() if name not in DERIVED},
        )
