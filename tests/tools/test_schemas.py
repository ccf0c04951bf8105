"""Schemas of the tools hold to the rules of each provider."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest

from memctx.facts import FACT_TYPES
from memctx.tools import SchemaFormat, schemas
from memctx.tools.schema import output_schema
from memctx.tools.table import TOOLS

NAMES = [
    "memory_search",
    "memory_get",
    "memory_store",
    "memory_update",
    "memory_forget",
    "memory_sessions",
    "memory_status",
]
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")  # what OpenAI, Anthropic and Gemini all take

# From the "Structured outputs" guide of OpenAI: other keywords are refused or ignored in strict mode.
STRICT_KEYWORDS = {"type", "description", "enum", "properties", "required", "additionalProperties"}
# Fields of `Schema` in Gemini's API reference that a property may have.
GEMINI_FIELDS = {"type", "description", "nullable", "enum", "default", "minimum", "maximum"}
GEMINI_TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"}


def functions(format: SchemaFormat) -> list[dict[str, Any]]:
    """Return the part of each definition that has its name."""
    return [tool.get("function", tool) for tool in schemas(format)]


@pytest.mark.parametrize("format", get_args(SchemaFormat))
def test_every_format_offers_the_same_tools(format: SchemaFormat) -> None:
    found = functions(format)
    assert [tool["name"] for tool in found] == NAMES
    assert all(NAME.fullmatch(tool["name"]) for tool in found)
    assert all(tool["description"] for tool in found)
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("format", ["openai", "responses"])
def test_openai_schemas_are_strict(format: SchemaFormat) -> None:
    """Every property is required, none may be added, and one that may be left out takes null."""
    for tool, definition in zip(functions(format), TOOLS, strict=True):
        assert tool["strict"] is True
        parameters = tool["parameters"]
        assert parameters["type"] == "object"
        assert parameters["additionalProperties"] is False
        assert parameters["required"] == list(parameters["properties"])
        for parameter in definition.parameters:
            found = parameters["properties"][parameter.name]
            assert set(found) <= STRICT_KEYWORDS
            takes_null = isinstance(found["type"], list) and "null" in found["type"]
            assert takes_null is not parameter.is_required
            if "enum" in found:
                assert (None in found["enum"]) is takes_null


def test_openai_definitions_have_the_envelope_of_their_api() -> None:
    assert {tool["type"] for tool in schemas("openai")} == {"function"}
    assert set(schemas("openai")[0]) == {"type", "function"}
    assert set(schemas("responses")[0]) == {"type", "name", "description", "parameters", "strict"}


def test_anthropic_definitions_have_an_input_schema() -> None:
    for tool in schemas("anthropic"):
        assert set(tool) == {"name", "description", "input_schema"}
        assert tool["input_schema"]["type"] == "object"
        assert tool["input_schema"]["additionalProperties"] is False


def test_gemini_declarations_use_its_subset_of_openapi() -> None:
    for tool in schemas("gemini"):
        assert set(tool) <= {"name", "description", "parameters"}
        if "parameters" not in tool:  # an empty object is refused
            assert tool["name"] == "memory_status"
            continue
        parameters = tool["parameters"]
        assert parameters["type"] == "OBJECT"
        assert parameters["properties"]
        assert set(parameters) <= {"type", "properties", "required", "propertyOrdering"}
        assert set(parameters["required"]) <= set(parameters["properties"])
        assert parameters["propertyOrdering"] == list(parameters["properties"])
        for found in parameters["properties"].values():
            assert set(found) <= GEMINI_FIELDS
            assert found["type"] in GEMINI_TYPES
            assert "enum" not in found or found["type"] == "STRING"


def test_mcp_definitions_are_valid_json_schemas() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for tool in schemas("mcp"):
        for name in ("inputSchema", "outputSchema"):
            assert tool[name]["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(tool[name])
    hints = {tool["name"]: tool["annotations"] for tool in schemas("mcp")}
    assert [name for name, each in hints.items() if each["destructiveHint"]] == ["memory_forget"]
    writing = [name for name, each in hints.items() if not each["readOnlyHint"]]
    assert writing == ["memory_store", "memory_update", "memory_forget"]


def test_every_type_of_fact_can_be_stored() -> None:
    properties = schemas("anthropic")[2]["input_schema"]["properties"]
    assert properties["type"]["enum"] == list(FACT_TYPES)
    assert properties["type"]["default"] == "note"


def test_result_types_have_only_documented_kinds_of_values() -> None:
    for tool in TOOLS:
        assert output_schema(tool.result)["required"] == list(tool.result.__annotations__)
