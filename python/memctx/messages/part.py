"""Reading one part of a message, be it a dictionary, an SDK's model or any object with attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

LISTS = (list, tuple)


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
