"""Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from memctx.messages import Record, detect, read

CONVERSATION: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix the webhook"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "secret thoughts", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "支付.py", "n": 1}},
            {"type": "text", "text": "And testing."},
            {"type": "tool_use", "id": "t2", "name": "bash", "input": {"command": "pytest"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "PORT = 8443"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "is_error": True,
                "content": [
                    {"type": "text", "text": "1 failed"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"},
                    },
                ],
            },
            {"type": "text", "text": "Go on", "cache_control": {"type": "ephemeral"}},
        ],
    },
]


def test_a_tool_loop_becomes_speech_and_tools() -> None:
    """Texts of one message are one record where the first stood; each call and result is a record of its own."""
    assert read(CONVERSATION) == [
        Record("user", "Fix the webhook"),
        Record("assistant", "Looking.\nAnd testing."),
        Record(
            "tool",
            'read {"path":"支付.py","n":1}',
            None,
            {"tool": {"name": "read", "callId": "t1", "kind": "call"}},
        ),
        Record(
            "tool",
            'bash {"command":"pytest"}',
            None,
            {"tool": {"name": "bash", "callId": "t2", "kind": "call"}},
        ),
        Record(
            "tool",
            "PORT = 8443",
            None,
            {"tool": {"name": "read", "callId": "t1", "kind": "result"}},
        ),
        Record(
            "tool",
            "1 failed\n[image image/png]",
            None,
            {"tool": {"name": "bash", "callId": "t2", "kind": "result", "isError": True}},
        ),
        Record("user", "Go on"),
    ]


def test_anthropic_messages_are_recognized() -> None:
    assert detect(CONVERSATION) == "anthropic"
    assert detect([{"role": "user", "content": "anything"}]) == "anthropic"


def test_tools_that_run_at_the_provider_are_tools_too() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "ports"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": [
                {
                    "type": "web_search_result",
                    "title": "Ports",
                    "url": "https://example.org/p",
                    "encrypted_content": "RW5j",
                },
            ],
        },
        {"type": "mcp_tool_use", "id": "m1", "name": "ask", "server_name": "x", "input": {}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "m1",
            "content": [{"type": "text", "text": "42"}],
        },
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "s2",
            "content": {"type": "bash_code_execution_result", "stdout": "out", "stderr": "err"},
        },
    ]
    records = read([{"role": "assistant", "content": blocks}])
    assert [(record.text, record.tool) for record in records] == [
        ('web_search {"query":"ports"}', "web_search"),
        ("Ports\nhttps://example.org/p", "web_search"),
        ("ask {}", "ask"),
        ("42", "ask"),
        ("out\nerr", ""),
    ]


def test_documents_of_text_are_read_and_others_named() -> None:
    blocks: list[dict[str, Any]] = [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "clause 4"},
        },
        {
            "type": "document",
            "title": "terms.pdf",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
        },
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        {
            "type": "search_result",
            "title": "Manual",
            "source": "m.md",
            "content": [{"type": "text", "text": "page 3"}],
        },
    ]
    (record,) = read([{"role": "user", "content": blocks}])
    assert record.text.splitlines() == [
        "clause 4",
        "[document terms.pdf]",
        "[image https://example.org/a.png]",
        "[image]",
        "Manual",
        "m.md",
        "page 3",
    ]


def test_a_compaction_of_the_provider_is_a_summary() -> None:
    blocks = [{"type": "compaction", "content": "We chose port 8443", "encrypted_content": "x"}]
    summary = Record("assistant", "We chose port 8443", None, {"kind": "compactionSummary"})
    assert read([{"role": "assistant", "content": blocks}]) == [summary]


def test_system_messages_are_not_kept() -> None:
    assert read([{"role": "system", "content": "Be brief"}]) == []
