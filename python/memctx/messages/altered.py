"""Copies of a part of a message with some fields changed. The part itself stays as it is."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Collection


def with_fields(part: object, fields: Mapping[str, object]) -> object:
    """The part with some fields changed: old ones where they stood, new ones last."""
    if isinstance(part, Mapping):
        mapping = _copied(cast("Mapping[str, object]", part))
        mapping.update(fields)
        return mapping
    model_copy = getattr(part, "model_copy", None)
    if callable(model_copy):
        return model_copy(update=dict(fields))
    other = copy.copy(part)
    for name, value in fields.items():
        _set(other, name, value)
    return other


def without_fields(part: object, names: Collection[str]) -> object:
    """The part without some fields; an object, which must have them, has None there."""
    if not isinstance(part, Mapping):
        return with_fields(part, dict.fromkeys(names))
    mapping = _copied(cast("Mapping[str, object]", part))
    for name in names:
        mapping.pop(name, None)
    return mapping


def alike(beside: object, fields: dict[str, object]) -> object:
    """A new part as its neighbour is one: a model if that takes the fields, otherwise a dictionary."""
    validate = getattr(type(beside), "model_validate", None)
    if not callable(validate):
        return fields
    try:
        return validate(fields)
    except ValueError:  # a model of another kind of block
        return fields


def _copied(part: Mapping[str, object]) -> dict[str, object]:
    """A mapping's copy that can be written: of a dictionary's own class, which may order or check its keys."""
    return copy.copy(part) if isinstance(part, dict) else dict(part)


def _set(part: Any, name: str, value: object) -> None:  # noqa: ANN401 - any object with attributes
    try:
        setattr(part, name, value)
    except AttributeError:  # a frozen class; the copy is ours alone
        object.__setattr__(part, name, value)
