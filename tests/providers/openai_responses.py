"""OpenAI's responses: a list of items, in which reasoning comes right before its result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .api import Asked, Refused, fits, joined

if TYPE_CHECKING:
    from .api import Body, Event, Reply, Usage

PARTS = {
    "user": {"input_text", "input_image", "input_file"},
    "system": {"input_text"},
    "developer": {"input_text"},
    "assistant": {"output_text", "refusal"},
}
TYPES = {
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
    "compaction",
    "item_reference",
}
PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}


class OpenAIResponses:
    """The responses API; with reasoning, every answer begins with an item of it."""

    def __init__(self, *, reasoning: bool = False) -> None:
        self._reasoning = reasoning
        self._following: dict[str, str | None] = {}
        """The item that must follow each reasoning item, by its key."""
        self._led_to: dict[str, str | None] = {}
        """The same by its id."""

    def serves(self, path: str) -> bool:
        return path.endswith("/responses")

    def is_stream(self, path: str, body: Body) -> bool:
        del path
        return bool(body.get("stream"))

    def check(self, body: Body, window: int) -> int:
        items = _items(body)
        if not items:
            raise Refused('One of "input" or "previous_response_id" must be provided.')
        for number, item in enumerate(items):
            _check_item(item, number)
        _check_pairs(items)
        self._check_reasoning(items)
        refusal = "Your input exceeds the context window of this model: {count} tokens > {window}."
        return fits([body.get("instructions"), body.get("tools"), items], window, refusal)

    def asked(self, body: Body) -> Asked:
        items = _items(body)
        newest = items[-1]
        tools = [tool for tool in body.get("tools") or () if tool.get("type") == "function"]
        return Asked(
            head=(body.get("instructions"), body.get("tools")),
            messages=items,
            is_result=newest.get("type") == "function_call_output",
            text=joined(newest.get("content")),
            tools=tuple(tool["name"] for tool in tools),
        )

    def answer(self, body: Body, reply: Reply, usage: Usage, number: int) -> Body:
        output: list[Body] = []
        if reply.text:
            part = {"type": "output_text", "text": reply.text, "annotations": []}
            said = {
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
            output.append({"id": f"msg_{number}", **said})
        output += [
            {
                "type": "function_call",
                "id": f"fc_{number}_{place}",
                "call_id": id,
                "name": "read_log",
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for place, (id, arguments) in enumerate(reply.calls)  # noqa: A001 - the provider's word
        ]
        if self._reasoning:
            thought = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
            self._following[f"rs_{number}"] = _key(output[0])
            self._led_to[f"rs_{number}"] = output[0].get("id")
            output.insert(0, thought | {"encrypted_content": "x" * 20})
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1_790_000_000,
            "model": body.get("model"),
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "output": output,
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": {
                "input_tokens": usage.tokens,
                "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.tokens + usage.output,
            },
        }

    def events(self, answer: Body) -> list[Event]:
        begun = answer | {"output": [], "status": "in_progress"}
        data: list[Body] = [{"type": "response.created", "response": begun}]
        for index, item in enumerate(answer["output"]):
            data += _streamed(item, index)
        data.append({"type": "response.completed", "response": answer})
        return [(each["type"], each | {"sequence_number": n}) for n, each in enumerate(data)]

    def refusal(self, message: str) -> Body:
        code = "context_length_exceeded" if "context window" in message else None
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        return {"error": error}

    def _check_reasoning(self, items: list[Body]) -> None:
        """Reject reasoning without its result, and a result that has its id without its reasoning."""
        ids = [item.get("id") for item in items]
        for number, item in enumerate(items):
            if item.get("type") != "reasoning":
                continue
            following = items[number + 1] if number + 1 < len(items) else {}
            wanted = self._following.get(item["id"])
            is_ours = _key(following) in {None, wanted} if wanted else True
            kinds = {"function_call", "reasoning", "message"}
            is_answer = following.get("type") in kinds and following.get("role") != "user"
            if not (is_answer and is_ours):
                raise Refused(
                    f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
                )
        for thought, wanted in self._led_to.items():
            if wanted and wanted in ids and thought not in ids[: ids.index(wanted)]:
                raise Refused(
                    f"Item '{wanted}' was provided without its required 'reasoning' item: '{thought}'."
                )


def _key(item: Body) -> str | None:
    """Return what a result of reasoning is known by: clients may give a call another id of the item."""
    is_call = item.get("type") == "function_call"
    return item.get("call_id") if is_call else item.get("id")


def _items(body: Body) -> list[Body]:
    items: Any = body.get("input") or []
    return [{"role": "user", "content": items}] if isinstance(items, str) else items


def _check_item(item: Body, number: int) -> None:
    kind = item.get("type", "message" if "role" in item else None)
    if kind not in TYPES:
        raise Refused(f"Invalid value: '{kind}'. (input[{number}].type)")
    prefix = PREFIXES.get(kind)
    if item.get("id") and prefix and not item["id"].startswith(prefix):
        raise Refused(f"Invalid 'input[{number}].id': expected an ID that begins with '{prefix}'.")
    if kind != "message":
        return
    role, content = item.get("role"), item.get("content")
    if role not in PARTS:
        raise Refused(f"Invalid value: '{role}'. (input[{number}].role)")
    if isinstance(content, str):
        return
    if not isinstance(content, list) or (not content and role != "assistant"):
        raise Refused(f"Invalid 'input[{number}].content': empty array or wrong type.")
    for place, part in enumerate(content):
        if part.get("type") not in PARTS[role]:
            raise Refused(
                f"Invalid value: '{part.get('type')}'. (input[{number}].content[{place}])"
            )


def _check_pairs(items: list[Body]) -> None:
    calls: list[str] = []
    outputs: set[str] = set()
    for item in items:
        if item.get("type") == "function_call":
            if item["call_id"] in calls:
                raise Refused(f"Duplicate function_call with call_id {item['call_id']}")
            calls.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item["call_id"] not in calls:
                raise Refused(
                    f"No tool call found for function call output with call_id {item['call_id']}."
                )
            outputs.add(item["call_id"])
    if lacking := [call for call in calls if call not in outputs]:
        raise Refused(f"No tool output found for function call {lacking[0]}.")


def _streamed(item: Body, index: int) -> list[Body]:
    where = {"item_id": item["id"], "output_index": index}
    added = item | {"content": []} if item["type"] == "message" else item
    data: list[Body] = [
        {"type": "response.output_item.added", "output_index": index, "item": added}
    ]
    if item["type"] == "message":
        text = item["content"][0]["text"]
        part = {"type": "output_text", "text": "", "annotations": []}
        place = where | {"content_index": 0}
        data += [
            {"type": "response.content_part.added", "part": part, **place},
            {"type": "response.output_text.delta", "delta": text, "logprobs": [], **place},
            {"type": "response.output_text.done", "text": text, "logprobs": [], **place},
        ]
    elif item["type"] == "function_call":
        written, name = item["arguments"], item["name"]
        data += [
            {"type": "response.function_call_arguments.delta", "delta": written, **where},
            {
                "type": "response.function_call_arguments.done",
                "arguments": written,
                "name": name,
                **where,
            },
        ]
    data.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return data
