"""`Entry`: one line of a session file, and its JSON, ids and times."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

from memctx.errors import MessageFormatError

if TYPE_CHECKING:
    from collections.abc import Container

VERSION = 3
HEADER = "session"
# The end of the year 9999, the last that datetime supports.
LATEST = 253_402_300_800_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a session file: an event, and the entry that it follows.

    >>> Entry("label", "0a1b2c3d", None, "2026-02-02T02:40:00.000Z", {"label": "start"}, 2).label
    'start'
    """

    type: str
    """``"message"``, ``"compaction"``, ``"custom"`` and so on; unknown types are kept."""
    id: str
    """Id: eight hexadecimal digits, or a UUID."""
    parent_id: str | None
    """Id of the entry that this one follows; None for the first."""
    timestamp: str
    """Time of writing, as ISO 8601."""
    fields: dict[str, Any]
    """All fields of the line, unchanged."""
    line: int
    """Line number, counted from 1."""

    @property
    def message(self) -> dict[str, Any] | None:
        """Message of Pi that the model sees of the entry; None if it sees nothing."""
        match self.type:
            case "message":
                return as_object(self.fields.get("message"))
            case "custom_message":
                kept = ("customType", "content", "display", "details")
                fields = {name: self.fields[name] for name in kept if name in self.fields}
                return {"role": "custom", **fields, **self._timestamp()}
            case "branch_summary":
                return {
                    "role": "branchSummary",
                    "summary": self.summary or "",
                    "fromId": self.fields.get("fromId"),
                    **self._timestamp(),
                }
            case "compaction":
                return {
                    "role": "compactionSummary",
                    "summary": self.summary or "",
                    "tokensBefore": self.fields.get("tokensBefore", 0),
                    **self._timestamp(),
                }
            case _:
                return None

    @property
    def summary(self) -> str | None:
        """Summary of a compaction or of a branch; None for other entries."""
        return self._text("summary")

    @property
    def label(self) -> str | None:
        """Name given by a label; None for other entries."""
        return self._text("label")

    @property
    def first_kept_entry_id(self) -> str | None:
        """Id of the first entry that a compaction kept; None for other entries."""
        return self._text("firstKeptEntryId")

    def _text(self, name: str) -> str | None:
        value = self.fields.get(name)
        return value if isinstance(value, str) else None

    def _timestamp(self) -> dict[str, float]:
        found = milliseconds(self.timestamp)
        return {} if found is None else {"timestamp": found}


def as_object(value: object) -> dict[str, Any] | None:
    """Return a value that is a JSON object, or None."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def new_id(*taken: Container[str]) -> str:
    """Return an unused id: eight hexadecimal digits, or a UUID after repeated collisions."""
    for _ in range(100):
        drawn = token_hex(4)
        if not any(drawn in ids for ids in taken):
            return drawn
    return str(uuid.uuid4())


def id_of_line(number: int, line: bytes, taken: Container[str]) -> str:
    """Return a deterministic id for a line that has none."""
    digest = sha256(b"%d:%b" % (number, line)).hexdigest()
    if digest[:8] not in taken:
        return digest[:8]
    return str(uuid.uuid5(uuid.NAMESPACE_OID, digest))


def iso(seconds: float) -> str:
    """Format a time for session files.

    >>> iso(1770000000.5)
    '2026-02-02T02:40:00.500Z'
    """
    found = datetime.fromtimestamp(seconds, UTC)
    return f"{found:%Y-%m-%dT%H:%M:%S}.{found.microsecond // 1000:03d}Z"


def milliseconds(timestamp: object) -> float | None:
    """Return milliseconds since the epoch, from a number or an ISO 8601 text; None for anything else.

    >>> milliseconds("2026-02-02T02:40:00.500Z")
    1770000000500
    """
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
        return timestamp if 0 <= timestamp < LATEST else None
    try:
        found = datetime.fromisoformat(str(timestamp))
    except ValueError:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return round(found.timestamp() * 1000)


def dump_json(value: object) -> str:
    """Format a value as JSON on one line that can be encoded as UTF-8.

    Raises:
        MessageFormatError: the value holds something that JSON has no word for.
    """
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_dump_model
        )
        if not _has_surrogates(text):
            return text
        # Lone surrogates can only be written as escapes.
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_dump_model)
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageFormatError(
            f"expected a JSON value, got {type(value).__name__}: {error}"
        ) from None


def parse_json(line: bytes) -> dict[str, Any] | None:
    """Parse the JSON object of a line; None if it is damaged."""
    try:
        return as_object(json.loads(line.decode("utf-8")))
    except (ValueError, RecursionError):
        return None


def _dump_model(value: object) -> object:
    """Return the fields of an SDK's model."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__name__} is neither plain data nor a model of an SDK")
    return dump(mode="json", by_alias=True, exclude_unset=True)


def _has_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
