"""Gemini's contents."""

from __future__ import annotations

from typing import Any

from memctx._core import MessageReader
from memctx.messages import Record, detect, read

CONTENTS: list[dict[str, Any]] = [
    {
        "role": "user",
        "parts": [
            {"text": "Which ports?"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBO"}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://bucket/a.pdf"}},
        ],
    },
    {
        "role": "model",
        "parts": [
            {"text": "hidden", "thought": True, "thoughtSignature": "c2ln"},
            {"text": "Looking."},
            {"functionCall": {"name": "port", "args": {"of": "a"}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "port", "args": {"of": "b"}}},
            {"functionCall": {"id": "f7", "name": "host", "args": {}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "port", "response": {"output": "8443"}}},
            {"functionResponse": {"name": "port", "response": {"error": "no such service"}}},
            {"functionResponse": {"id": "f7", "name": "host", "response": {"name": "x", "ip": 1}}},
        ],
    },
    {
        "role": "model",
        "parts": [
            {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
            {"text": "8443."},
        ],
    },
]


def tool(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"tool": {"name": name, **more, "kind": kind}}


def test_contents_become_speech_and_tools() -> None:
    """Calls without ids have none in the records; a response with one text is that text."""
    assert detect(CONTENTS) == "gemini"
    assert read(CONTENTS) == [
        Record("user", "Which ports?\n[image image/png]\n[file gs://bucket/a.pdf]"),
        Record("assistant", "Looking."),
        Record("tool", 'port {"of":"a"}', None, tool("call", "port")),
        Record("tool", 'port {"of":"b"}', None, tool("call", "port")),
        Record("tool", "host {}", None, tool("call", "host", callId="f7")),
        Record("tool", "8443", None, tool("result", "port")),
        Record(
            "tool",
            "no such service",
            None,
            {"tool": {"name": "port", "kind": "result", "isError": True}},
        ),
        Record("tool", '{"name":"x","ip":1}', None, tool("result", "host", callId="f7")),
        Record("tool", "code_execution print(1)", None, tool("call", "code_execution")),
        Record("tool", "1", None, tool("result", "code_execution")),
        Record("assistant", "8443."),
    ]


def test_calls_without_ids_are_grouped_with_their_responses() -> None:
    """The same call twice in a row makes two groups, each with its own response."""
    again = [*CONTENTS[:3], *CONTENTS[1:3]]
    assert MessageReader().read(again).units == [(0,), (1, 2), (3, 4)]
    assert MessageReader().read(again).roles == ["user", "assistant", "tool", "assistant", "tool"]


def test_the_names_of_the_sdk_are_read_too() -> None:
    """Its objects spell their fields in snake case, hold bytes, and have every field there is."""
    part = {"text": None, "thought": None, "function_call": None, "inline_data": None}
    contents = [
        {"role": "user", "parts": [{**part, "text": "Which port?"}]},
        {
            "role": "model",
            "parts": [
                {**part, "text": "hidden", "thought": True, "thought_signature": b"sig"},
                {**part, "function_call": {"id": "f1", "name": "port", "args": None}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    **part,
                    "function_response": {"id": "f1", "name": "port", "response": {"result": "1"}},
                },
                {**part, "inline_data": {"mime_type": "image/png", "data": b"\x89PNG"}},
            ],
        },
    ]
    assert detect(contents) == "gemini"
    texts = ["Which port?", "port", "1", "[image image/png]"]
    assert [record.text for record in read(contents)] == texts
