"""Checks of the arguments that a model passes to a tool."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

from memctx.errors import mask_and_shorten
from memctx.tools.definition import ToolError

if TYPE_CHECKING:
    from memctx.tools.definition import Parameter, Tool

TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


def check_arguments(tool: Tool, given: object) -> dict[str, Any]:
    """Return the arguments of a call with defaults filled in; null counts as missing.

    Raises:
        ToolError: an argument is unknown, missing, of another type or out of range.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise _invalid(
            f"the arguments of {tool.name} are {type(given).__name__}, not a JSON object",
            f"Pass an object with {_names(tool)}.",
        )
    arguments = cast("Mapping[str, object]", given)
    known = {each.name: each for each in tool.parameters}
    for name in arguments:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            meant = f"Did you mean {near[0]!r}? " if near else ""
            raise _invalid(
                f"{tool.name} has no argument {str(name)[:80]!r}",
                f"{meant}It takes {_names(tool)}.",
            )
    return {name: _check(tool, each, arguments.get(name)) for name, each in known.items()}


def parse_time(name: str, text: str | None) -> datetime | None:
    """Return an ISO 8601 date or time; one without a zone is in UTC.

    >>> parse_time("since", "2026-02-01").isoformat()
    '2026-02-01T00:00:00+00:00'
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise _invalid(
            f"{name} is {mask_and_shorten(text)!r}, which is no date",
            f"Pass {name} as 2026-02-01 or 2026-02-01T14:30:00Z, or leave it out.",
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _check(tool: Tool, parameter: Parameter, value: object) -> object:
    name = parameter.name
    if value is None:
        if parameter.is_required:
            raise _invalid(
                f"{tool.name} needs the argument {name!r}", f"{name}: {parameter.description}"
            )
        return parameter.default
    if parameter.kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one type of numbers
    is_fit = isinstance(value, TYPES[parameter.kind])
    if not is_fit or (parameter.kind == "integer" and isinstance(value, bool)):
        raise _invalid(
            f"{name} is {type(value).__name__}; expected a JSON {parameter.kind}",
            f"{name}: {parameter.description}",
        )
    if isinstance(value, str):
        return _check_text(parameter, value)
    if isinstance(value, int):
        low, high = parameter.minimum, parameter.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            expected = f"{low} to {high}" if high is not None else f"{low} or more"
            raise _invalid(f"{name} is {value}", f"Pass {expected}, or leave it out.")
    return value


def _check_text(parameter: Parameter, value: str) -> str:
    name = parameter.name
    text = dict(parameter.synonyms).get(value.lower(), value)
    if parameter.choices and text not in parameter.choices:
        raise _invalid(
            f"{name} is {mask_and_shorten(value)!r}",
            f"Pass one of {', '.join(parameter.choices)}, or leave it out.",
        )
    if parameter.is_required and not text.strip():
        raise _invalid(f"{name} is blank", f"{name}: {parameter.description}")
    return text


def _names(tool: Tool) -> str:
    return ", ".join(each.name for each in tool.parameters) or "no arguments"


def _invalid(message: str, hint: str) -> ToolError:
    return ToolError("invalid_argument", message, hint)
