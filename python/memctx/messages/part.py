"""Reading one part of a message, be it a dictionary, an SDK's model or any object with attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

LISTS = (list, tuple)
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

# A number below this is taken for seconds: as milliseconds it would be before 1974.
FIRST_MILLISECOND = 1e11
LISTS = (list, tuple)
LAST_MILLISECOND = 8.64e15  # the end of time in JavaScript, which shares our files


def get(part: object, name: str) -> object:
    """A field of a part, or None."""
    if isinstance(part, dict):  # most are, and asking for a mapping takes ten times as long
        return cast("dict[str, object]", part).get(name)
    if isinstance(part, Mapping):
        return cast("Mapping[str, object]", part).get(name)
    return getattr(part, name, None)


def text(part: object, name: str) -> str | None:
    """A field that is text, or None."""
    value = get(part, name)
    return value if isinstance(value, str) else None


def unwrapped(entry: object) -> object:
    """The message inside a line of a session file, or what was given if it is a message itself."""
    if text(entry, "role") is not None:
        return entry
    message = get(entry, "message")
    return entry if text(message, "role") is None else message


def items(value: object) -> Sequence[object]:
    """The items of a list, or none."""
    return cast("Sequence[object]", value) if isinstance(value, LISTS) else ()


def blocks(content: object) -> Sequence[object]:
    """The blocks of a message's content, which may be just one of them or text."""
    return cast("Sequence[object]", content) if isinstance(content, LISTS) else (content,)


def timestamp(message: object) -> float | None:
    """When a message says it was made, in milliseconds since the epoch."""
    value = get(message, "timestamp")
    if isinstance(value, str | datetime):
        milliseconds = _milliseconds(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        milliseconds = value * 1000 if value < FIRST_MILLISECOND else value
    else:
        return None
    return float(milliseconds) if 0 < milliseconds <= LAST_MILLISECOND else None


def compact(value: object) -> str:
    """A value as compact JSON; text stays as it came, for it often is JSON already."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError):
        return f"[{type(value).__name__} that cannot be written as JSON]"


def _milliseconds(value: str | datetime) -> float:
    """The milliseconds of a moment, UTC where it names no zone; not a number if it is none."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000


def _plain(value: object) -> object:
    """What JSON cannot write by itself: an SDK's model, another container, anything with attributes."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, bytes | bytearray):
        return f"[{len(value)} bytes]"
    if isinstance(value, Iterable):
        return list(cast("Iterable[object]", value))
    return getattr(value, "__dict__", None) or str(value)
