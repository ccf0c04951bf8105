"""`Recording`: the messages of a session that took place, read from a file."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from memctx.errors import MessageShapeError, StoreError
from memctx.session import Context
from memctx.session.entry import HEADER, as_object, parsed
from memctx.session.lines import EntryReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from memctx.session import Entry

GZIP = b"\x1f\x8b"
# Where requests and logs of requests keep their messages.
LISTS = ("messages", "input", "contents")


@dataclass(frozen=True, slots=True)
class Recording:
    """A session as it was recorded, as if nobody had ever compacted it.

    >>> Recording("s1", [{"role": "user", "content": "Which port?"}]).skipped
    0
    """

    name: str
    messages: Sequence[Any]
    skipped: int = 0
    """Lines of the file that could not be read."""

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        r"""Read a session file of Pi, lines of messages of any shape, or a JSON list of them; gzip or not.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "said.jsonl"
        >>> _ = path.write_text('{"role":"user","content":"Which port?"}\n')
        >>> Recording.read(path).messages
        [{'role': 'user', 'content': 'Which port?'}]

        Raises:
            StoreError: there is no such file, or it cannot be read.
            MessageShapeError: it holds no message.
        """
        name = Path(path).name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")
        data = _bytes(path)
        whole = _list(data)
        messages, skipped = _lines(data) if whole is None else (whole, 0)
        if not messages:
            raise MessageShapeError(
                f"{path}: no message in it; expected a session file, lines of messages or a list of them"
            )
        return cls(name, messages, skipped)


def _bytes(path: str | PathLike[str]) -> bytes:
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data.startswith(GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def _list(data: bytes) -> list[Any] | None:
    """The messages of a file that is one JSON value and not one message; None for lines."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return list(cast("Sequence[Any]", value))
    held = as_object(value) or {}
    lists = (held[name] for name in LISTS if isinstance(held.get(name), list))
    return next(lists, None)


def _lines(data: bytes) -> tuple[list[Any], int]:
    lines = [line for line in data.splitlines() if line.strip()]
    values = [value for line in lines if (value := parsed(line)) is not None]
    if values and _is_entry(values[0]):
        return _session(data)
    return values, len(lines) - len(values)


def _is_entry(value: dict[str, Any]) -> bool:
    """Whether a line is one of a session file rather than a message."""
    return "role" not in value and (
        value.get("type") == HEADER or as_object(value.get("message")) is not None
    )


def _session(data: bytes) -> tuple[list[Any], int]:
    """What was said from the root to the leaf. Compactions are passed over: what they took away is replayed too."""
    reader = EntryReader()
    entries = {entry.id: entry for entry in reader.read(BytesIO(data))}
    lineage: list[Entry] = []
    at = next(reversed(entries), None)
    while at is not None:
        lineage.append(entries[at])
        at = entries[at].parent_id
    said = [
        message
        for entry in reversed(lineage)
        if entry.type != "compaction" and (message := entry.message) is not None
    ]
    context = Context(said, (), compaction=None, model=None, thinking_level="off")
    return context.for_model(), reader.skipped + bool(reader.torn)
