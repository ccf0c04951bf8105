"""Reading the messages of a transcript: a session file, plain lines of messages, or a JSON document."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx.errors import MessageShapeError, StoreError
from memctx.messages.part import items
from memctx.session import Transcript

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True, slots=True)
class Conversed:
    """What a file holds of a conversation."""

    messages: list[Any]
    session_id: str
    transcript: Transcript | None
    """The session file, which a compaction can be written to; None for a JSON document."""


def read(path: str | PathLike[str]) -> Conversed:
    """The messages that the model sees at the end of a transcript.

    Lines are read as a session file, or one message each; a ``.json`` is a list of messages, or has one under
    ``messages``.

    Raises:
        StoreError: the file cannot be read.
        MessageShapeError: there are no messages in it.
    """
    path = Path(path)
    if path.suffix.lower() == ".json":
        return Conversed(_document(path), path.stem, None)
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")
    transcript = Transcript.open(path)
    messages: list[Any] = list(transcript.context().messages)
    if not messages:
        raise MessageShapeError(f"{path}: expected lines with messages in them, found none")
    return Conversed(messages, transcript.session_id, transcript)


def _document(path: Path) -> list[Any]:
    try:
        found: Any = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error
    if isinstance(found, dict):
        found = cast("dict[str, Any]", found).get("messages")
    messages = list(items(found))
    if not messages:
        raise MessageShapeError(f"{path}: expected a list of messages, or one under 'messages'")
    return messages
