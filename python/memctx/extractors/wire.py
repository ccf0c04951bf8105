"""Reading what a server sent, which may be anything: the SDKs do not check it."""

from __future__ import annotations

from typing import Any, cast

from memctx.errors import ExtractionError


def document_of(answer: object, model: str) -> dict[str, Any]:
    """The fields of an answer that an SDK gave out; one that is no JSON object it gives out as text."""
    to_dict = getattr(answer, "to_dict", None)
    if to_dict is None:
        raise ExtractionError(f"what {model} sent is no answer of its API")
    return fields_of(to_dict(warnings=False))


def fields_of(value: object) -> dict[str, Any]:
    """An object's fields; none if it is no object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: object) -> list[object]:
    """A list's items; none if it is no list."""
    return cast("list[object]", value) if isinstance(value, list) else []


def text_of(value: object) -> str:
    """A text; an empty one if it is none."""
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int:
    """A number of tokens; 0 if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
