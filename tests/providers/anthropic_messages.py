"""Anthropic's Messages API: blocks, pairs of calls and results, thinking that is bound to the messages before it."""

from __future__ import annotations

import hashlib
import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .api import Asked, Refused, fits, joined, wire

if TYPE_CHECKING:
    from .api import Body, Event, Reply, Usage

BLOCKS = {
    "user": {"text", "image", "tool_result", "document", "search_result", "container_upload"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking", "server_tool_use"},
}
FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
}
MARKS = 4
ID = re.compile(r"[a-zA-Z0-9_-]+")


class AnthropicMessages:
    """The Messages API."""

    def serves(self, path: str) -> bool:
        return path.endswith("/messages")

    def is_stream(self, path: str, body: Body) -> bool:
        del path
        return bool(body.get("stream"))

    def check(self, body: Body, window: int) -> int:
        if "max_tokens" not in body:
            raise Refused("max_tokens: Field required")
        messages = body.get("messages")
        if not messages:
            raise Refused("messages: at least one message is required")
        if messages[0]["role"] != "user":
            raise Refused('messages: first message must use the "user" role')
        marks = json.dumps(body).count('"cache_control": {')
        if marks > MARKS:
            raise Refused(
                f"A maximum of {MARKS} blocks with cache_control may be provided. Found {marks}."
            )
        _check_pairs(_merged(messages))
        for number, message in enumerate(messages):
            _check_thinking(message, number, sign(body.get("system"), messages[:number]))
        whole = [body.get("system"), body.get("tools"), messages]
        return fits(whole, window, "prompt is too long: {count} tokens > {window} maximum")

    def asked(self, body: Body) -> Asked:
        messages = body["messages"]
        newest = messages[-1]
        blocks = newest["content"] if isinstance(newest["content"], list) else []
        return Asked(
            head=(body.get("system"), body.get("tools")),
            messages=messages,
            is_result=any(block["type"] == "tool_result" for block in blocks),
            text=joined(newest["content"]),
            tools=tuple(tool["name"] for tool in body.get("tools") or () if "name" in tool),
        )

    def answer(self, body: Body, reply: Reply, usage: Usage, number: int) -> Body:
        content: list[Body] = []
        if (body.get("thinking") or {}).get("type") in {"enabled", "adaptive"}:
            signature = sign(body.get("system"), body["messages"])
            content.append({"type": "thinking", "thinking": "Let me see.", "signature": signature})
        content += [{"type": "text", "text": reply.text}] if reply.text else []
        content += [
            {"type": "tool_use", "id": f"toolu_{id}", "name": "read_log", "input": arguments}
            for id, arguments in reply.calls  # noqa: A001 - the provider's word
        ]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.tokens - usage.cached,
                "cache_read_input_tokens": usage.cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": usage.output,
            },
        }

    def events(self, answer: Body) -> list[Event]:
        start = answer | {"content": [], "stop_reason": None}
        data: list[Body] = [{"type": "message_start", "message": start}]
        for index, block in enumerate(answer["content"]):
            begun, deltas = _streamed(block)
            data.append({"type": "content_block_start", "index": index, "content_block": begun})
            data += [
                {"type": "content_block_delta", "index": index, "delta": each} for each in deltas
            ]
            data.append({"type": "content_block_stop", "index": index})
        end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        data.append({"type": "message_delta", "delta": end, "usage": answer["usage"]})
        data.append({"type": "message_stop"})
        return [(each["type"], each) for each in data]

    def refusal(self, message: str) -> Body:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def sign(system: object, before: object) -> str:
    """Return the signature of thinking that follows a system prompt and messages."""
    return hashlib.sha256(f"{wire(system)}{wire(before)}".encode()).hexdigest()[:24]


def _streamed(block: Body) -> tuple[Body, list[Body]]:
    """Return a block as it begins in a stream, and what is added to it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        deltas = [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    written = json.dumps(block["input"])
    return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": written}]


def _merged(messages: list[Body]) -> list[tuple[str, list[Body], int]]:
    """Return role, blocks and place of each turn: neighbors of one role are one to the API."""
    turns: list[tuple[str, list[Body], int]] = []
    for number, message in enumerate(messages):
        if message["role"] == "system" and number:
            continue  # allowed in the midst of a conversation
        if extra := sorted(set(message) - {"role", "content"}):
            raise Refused(f"messages.{number}.{extra[0]}: Extra inputs are not permitted")
        if message["role"] not in BLOCKS:
            raise Refused(f"messages.{number}.role: unexpected role {message['role']!r}")
        blocks = _checked_blocks(message, number)
        if turns and turns[-1][0] == message["role"]:
            turns[-1][1].extend(blocks)
        else:
            turns.append((message["role"], list(blocks), number))
    return turns


def _checked_blocks(message: Body, number: int) -> list[Body]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise Refused(f"messages.{number}.content: Input should be a valid list")
    if not content:
        raise Refused(f"messages.{number}: all messages must have non-empty content")
    for place, block in enumerate(content):
        kind, where = block.get("type"), f"messages.{number}.content.{place}"
        if kind not in BLOCKS[message["role"]]:
            raise Refused(f"{where}: Input tag '{kind}' does not match any of the expected tags")
        if extra := sorted(set(block) - FIELDS.get(kind, set(block))):
            raise Refused(f"{where}.{kind}.{extra[0]}: Extra inputs are not permitted")
        if kind == "text" and not block["text"].strip():
            raise Refused(f"messages.{number}: text content blocks must be non-empty")
        if kind == "tool_use" and not isinstance(block.get("input"), dict):
            raise Refused(f"{where}.tool_use.input: Input should be a valid dictionary")
    return content


def _check_pairs(turns: list[tuple[str, list[Body], int]]) -> None:
    """Reject calls without results right behind them, and results without a call."""
    seen: set[str] = set()
    before: list[str] = []
    for (_, blocks, number), following in pairwise([*turns, ("", [], -1)]):
        _check_results(blocks, before, number)
        calls = _ids(blocks, "tool_use", "id")
        if any(not ID.fullmatch(call) for call in calls):
            raise Refused(
                f"messages.{number}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            )
        if len(set(calls)) != len(calls) or seen & set(calls):
            raise Refused("messages: `tool_use` ids must be unique")
        seen.update(calls)
        results = _ids(following[1], "tool_result", "tool_use_id")
        if lacking := [call for call in calls if call not in results]:
            raise Refused(
                f"messages.{number}: `tool_use` ids were found without `tool_result` blocks"
                f" immediately after: {', '.join(lacking)}"
            )
        before = calls


def _check_results(blocks: list[Body], calls: list[str], number: int) -> None:
    results = _ids(blocks, "tool_result", "tool_use_id")
    if strays := [result for result in results if result not in calls]:
        raise Refused(
            f"messages.{number}.content: unexpected `tool_use_id` found in `tool_result` blocks: {strays[0]}"
        )
    if len(set(results)) != len(results):
        raise Refused("messages: each tool_use must have a single result")
    kinds = [block["type"] == "tool_result" for block in blocks]
    if kinds != sorted(kinds, reverse=True):
        raise Refused(f"messages.{number}: tool_result blocks must come first in the content")


def _ids(blocks: list[Body], kind: str, field: str) -> list[str]:
    return [block[field] for block in blocks if block["type"] == kind]


def _check_thinking(message: Body, number: int, signature: str) -> None:
    content: Any = message.get("content")
    for block in content if isinstance(content, list) else ():
        if block["type"] == "thinking" and block.get("signature") != signature:
            raise Refused(
                f"messages.{number}: `thinking` block is bound to a different conversation"
                " (prefix_binding_mismatch)"
            )
