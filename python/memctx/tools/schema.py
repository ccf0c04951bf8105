"""JSON schemas of the tools, in the dialect of each provider.

>>> [tool["name"] for tool in schemas("anthropic")][:2]
['memory_search', 'memory_get']
>>> schemas("openai")[0]["function"]["strict"]
True
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeAlias,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from memctx.tools.table import TOOLS

if TYPE_CHECKING:
    from memctx.tools.definition import Parameter, Tool

SchemaFormat: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "mcp"]
"""The API whose tool definitions are wanted; ``openai`` is Chat Completions, ``responses`` OpenAI's other one."""

SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schemas(format: SchemaFormat) -> list[dict[str, Any]]:
    """Return the definitions of all tools for the ``tools`` of a request, or of an MCP server.

    OpenAI's are strict: every property is required, and null stands for one that is left out. Gemini's are function
    declarations, which belong into ``{"function_declarations": [...]}``.

    >>> schemas("gemini")[0]["parameters"]["properties"]["query"]["type"]
    'STRING'
    """
    convert = _FORMATS[format]
    return [convert(tool) for tool in TOOLS]


def output_schema(type_: object) -> dict[str, Any]:
    """Return the JSON schema of a result type: scalars, None, lists and `TypedDict` classes.

    >>> from memctx.tools.results import StoreResult
    >>> output_schema(StoreResult)["properties"]["action"]
    {'type': 'string'}
    """
    if is_typeddict(type_):
        hints = get_type_hints(type_)
        return {
            "type": "object",
            "properties": {name: output_schema(hint) for name, hint in hints.items()},
            "required": list(hints),
            "additionalProperties": False,
        }
    if get_origin(type_) is list:
        return {"type": "array", "items": output_schema(get_args(type_)[0])}
    if isinstance(type_, UnionType):
        return {"anyOf": [output_schema(each) for each in get_args(type_)]}
    return {"type": SCALARS[cast("type", type_)]}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": _input_schema(tool),
    }


def _mcp(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _input_schema(tool),
        "outputSchema": output_schema(tool.result),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.is_read_only,
            "destructiveHint": tool.is_destructive,
            "idempotentHint": tool.is_idempotent,
            "openWorldHint": False,
        },
    }


def _responses(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": _strict_schema(tool),
        "strict": True,
    }


def _openai(tool: Tool) -> dict[str, Any]:
    flat = _responses(tool)
    return {"type": flat.pop("type"), "function": flat}


def _gemini(tool: Tool) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if tool.parameters:  # an object without properties is refused
        declared["parameters"] = {
            "type": "OBJECT",
            "properties": {each.name: _gemini_property(each) for each in tool.parameters},
            "required": _required(tool),
            "propertyOrdering": [each.name for each in tool.parameters],
        }
    return declared


def _input_schema(tool: Tool) -> dict[str, Any]:
    """Return the plain JSON schema of the arguments."""
    return {
        "type": "object",
        "properties": {each.name: _property(each) for each in tool.parameters},
        "required": _required(tool),
        "additionalProperties": False,
    }


def _property(parameter: Parameter) -> dict[str, Any]:
    optional = {
        "enum": list(parameter.choices) or None,
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
        "default": parameter.default,
    }
    given = {name: value for name, value in optional.items() if value is not None}
    return {"type": parameter.kind, "description": parameter.description, **given}


def _strict_schema(tool: Tool) -> dict[str, Any]:
    """Return the schema in OpenAI's strict subset, which has neither defaults nor optional properties."""
    properties: dict[str, Any] = {}
    for each in tool.parameters:
        choices: list[str | None] = list(each.choices)
        kind: str | list[str] = each.kind
        if not each.is_required:
            kind = [each.kind, "null"]
            choices += [None] if choices else []
        description = f"{each.description}{_describe_range(each)}"
        found: dict[str, Any] = {"type": kind, "description": description}
        properties[each.name] = {**found, "enum": choices} if choices else found
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _describe_range(parameter: Parameter) -> str:
    low, high = parameter.minimum, parameter.maximum
    if low is None:
        return ""
    return f" At least {low}." if high is None else f" From {low} to {high}."


def _gemini_property(parameter: Parameter) -> dict[str, Any]:
    found = {**_property(parameter), "type": parameter.kind.upper()}
    if not parameter.is_required:
        found["nullable"] = True
    return found


def _required(tool: Tool) -> list[str]:
    return [each.name for each in tool.parameters if each.is_required]


_FORMATS = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
    "mcp": _mcp,
}
