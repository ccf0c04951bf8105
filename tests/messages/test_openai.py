"""OpenAI's Chat Completions and the items of Responses."""

from __future__ import annotations

from typing import Any

from memctx.messages import Record, detect, read

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief"},
    {"role": "developer", "content": "Use tools"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            {"type": "input_audio", "input_audio": {"data": "UklGR", "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBERi0="}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "look", "arguments": '{"at": "it"}'},
            },
            {"id": "c2", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "a.pdf"}]},
    {"role": "assistant", "content": "A cat.", "reasoning_content": "hidden"},
]

ITEMS: list[dict[str, Any]] = [
    {"role": "developer", "content": "Use tools"},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "List files"},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBO"},
        ],
    },
    {
        "type": "reasoning",
        "id": "r1",
        "summary": [{"type": "summary_text", "text": "hidden"}],
        "encrypted_content": "x",
    },
    {
        "type": "function_call",
        "id": "f1",
        "call_id": "c1",
        "name": "ls",
        "arguments": '{"dir":"."}',
    },
    {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
    {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "select 1"},
    {
        "type": "custom_tool_call_output",
        "call_id": "c2",
        "output": [{"type": "input_text", "text": "1"}],
    },
    {
        "type": "mcp_call",
        "id": "m1",
        "name": "ask",
        "arguments": "{}",
        "output": "42",
        "server_label": "x",
    },
    {"type": "shell_call", "call_id": "c3", "action": {"commands": ["pwd"]}},
    {
        "type": "shell_call_output",
        "call_id": "c3",
        "output": [{"stdout": "/srv", "stderr": "", "outcome": {"type": "exit"}}],
    },
    {
        "type": "computer_call_output",
        "call_id": "c4",
        "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBO"},
    },
    {"type": "image_generation_call", "id": "g1", "status": "completed", "result": "iVBORw0KGgo="},
    {
        "type": "message",
        "role": "assistant",
        "id": "a1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "One file.", "annotations": []}],
    },
    {"type": "compaction", "id": "k1", "encrypted_content": "x"},
    {"type": "item_reference", "id": "r1"},
]


def tool(kind: str, name: str, call_id: str) -> dict[str, Any]:
    return {"tool": {"name": name, "callId": call_id, "kind": kind}}


def test_a_chat_becomes_speech_and_tools() -> None:
    assert detect(CHAT) == "openai"
    assert read(CHAT) == [
        Record("user", "What is this?\n[image]\n[audio]\n[file a.pdf]"),
        Record("tool", 'look {"at": "it"}', None, tool("call", "look", "c1")),
        Record("tool", "shell ls -l", None, tool("call", "shell", "c2")),
        Record("tool", "a cat", None, tool("result", "look", "c1")),
        Record("tool", "a.pdf", None, tool("result", "shell", "c2")),
        Record("assistant", "A cat."),
    ]


def test_refusals_and_transcripts_are_speech() -> None:
    spoken = [
        {"role": "assistant", "content": None, "refusal": "I will not"},
        {
            "role": "assistant",
            "content": None,
            "audio": {"id": "a", "data": "UklG", "transcript": "Hi"},
        },
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "Nor this"}]},
    ]
    assert [record.text for record in read(spoken, "openai")] == ["I will not", "Hi", "Nor this"]


def test_the_first_kind_of_function_calls_is_read() -> None:
    old = [
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "add", "arguments": "[1,2]"},
        },
        {"role": "function", "name": "add", "content": "3"},
    ]
    assert read(old) == [
        Record("tool", "add [1,2]", None, {"tool": {"name": "add", "kind": "call"}}),
        Record("tool", "3", None, {"tool": {"name": "add", "kind": "result"}}),
    ]


def test_items_become_speech_and_tools() -> None:
    """Reasoning, references and what is encrypted are left out; pictures never come as base64."""
    assert detect(ITEMS) == "responses"
    records = read(ITEMS)
    assert records[0] == Record("user", "List files\n[image]")
    assert records[-1] == Record("assistant", "One file.")
    assert [(record.text, record.metadata) for record in records[1:-1]] == [
        ('ls {"dir":"."}', tool("call", "ls", "c1")),
        ("a.txt", tool("result", "ls", "c1")),
        ("sql select 1", tool("call", "sql", "c2")),
        ("1", tool("result", "sql", "c2")),
        ("ask {}", tool("call", "ask", "m1")),
        ("42", tool("result", "ask", "m1")),
        ('shell {"commands":["pwd"]}', tool("call", "shell", "c3")),
        ("/srv", tool("result", "shell", "c3")),
        ("[image]", {"tool": {"callId": "c4", "kind": "result"}}),
        ("image_generation", tool("call", "image_generation", "g1")),
    ]


def test_a_failed_item_is_marked_as_failed() -> None:
    failed = {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}", "error": "refused"}
    assert read([failed])[-1] == Record(
        "tool",
        "refused",
        None,
        {"tool": {"name": "ask", "callId": "m", "kind": "result", "isError": True}},
    )
