"""Fields of one part of a message, be it a dictionary, an SDK's model or any object with attributes.

Parts are read, and copied with some fields changed; the part itself stays as it is.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

LISTS = (list, tuple)
_CAMEL = re.compile(r"([A-Z])")


def get(part: object, name: str) -> object:
    """Return a field of a part; None if it has none."""
    if isinstance(part, dict):  # most are, and the check for a mapping takes ten times as long
        return cast("dict[str, object]", part).get(name)
    if isinstance(part, Mapping):
        return cast("Mapping[str, object]", part).get(name)
    return getattr(part, name, None)


def text(part: object, name: str) -> str | None:
    """Return a field that is text; None if it is not."""
    value = get(part, name)
    return value if isinstance(value, str) else None


def unwrapped(entry: object) -> object:
    """Return the message inside a line of a session file, or ``entry`` if it is a message itself."""
    if text(entry, "role") is not None:
        return entry
    message = get(entry, "message")
    return entry if text(message, "role") is None else message


def items(value: object) -> Sequence[object]:
    """Return the items of a list; none for anything else."""
    return cast("Sequence[object]", value) if isinstance(value, LISTS) else ()


def blocks(content: object) -> Sequence[object]:
    """Return the blocks of a message's content, which may be a single block or text."""
    return cast("Sequence[object]", content) if isinstance(content, LISTS) else (content,)


def with_fields(whole: object, fields: Mapping[str, object]) -> object:
    """Return a copy with some fields changed: old ones keep their position, new ones come last."""
    if isinstance(whole, Mapping):
        mapping = _copy(cast("Mapping[str, object]", whole))
        mapping.update(fields)
        return mapping
    model_copy = getattr(whole, "model_copy", None)
    if callable(model_copy):
        return model_copy(update=dict(fields))
    other = copy.copy(whole)
    for name, value in fields.items():
        _set(other, name, value)
    return other


def without_fields(whole: object, names: Collection[str]) -> object:
    """Return a copy without some fields; in an object, which must have them, they are None."""
    if not isinstance(whole, Mapping):
        return with_fields(whole, dict.fromkeys(names))
    mapping = _copy(cast("Mapping[str, object]", whole))
    for name in names:
        mapping.pop(name, None)
    return mapping


def make_like(neighbor: object, fields: dict[str, object]) -> object:
    """Return a new part of its neighbor's class if that is a model that holds the fields, else a dictionary."""
    validate = getattr(type(neighbor), "model_validate", None)
    if not callable(validate):
        return fields
    try:
        made = validate(fields)
    except (ValueError, TypeError):  # a model of another kind of block
        return fields
    return made if _holds(made, fields) else fields


def _holds(made: object, given: object) -> bool:
    """Return whether a model, or a list of them, has all that it was made of."""
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, object]", given)
        return all(_holds(_get_any_case(made, name), value) for name, value in fields.items())
    if isinstance(given, LISTS):
        found, wanted = items(made), items(cast("object", given))
        return len(found) == len(wanted) and all(map(_holds, found, wanted))
    return made == given


def _get_any_case(made: object, name: str) -> object:
    """Return a field of a model, which may spell JSON's camel case in snake case."""
    value = get(made, name)
    return get(made, _CAMEL.sub(r"_\1", name).lower()) if value is None else value


def _copy(whole: Mapping[str, object]) -> dict[str, object]:
    """Return a mutable copy, of a dictionary's own class, which may order or check its keys."""
    return copy.copy(whole) if isinstance(whole, dict) else dict(whole)


def _set(whole: Any, name: str, value: object) -> None:  # noqa: ANN401 - any object with attributes
    try:
        setattr(whole, name, value)
    except AttributeError:  # a frozen class; no one else has the copy
        object.__setattr__(whole, name, value)
