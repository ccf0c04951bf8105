"""OpenAI's chat completions: each call answered by a tool message before anything else is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .api import Asked, Refused, fits, joined

if TYPE_CHECKING:
    from .api import Body, Event, Reply, Usage

PARTS = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The"
    " following tool_call_ids did not have response messages: {}"
)


class OpenAIChat:
    """The chat completions API."""

    def serves(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def is_stream(self, path: str, body: Body) -> bool:
        del path
        return bool(body.get("stream"))

    def check(self, body: Body, window: int) -> int:
        messages = body.get("messages")
        if not messages:
            raise Refused(
                "Invalid 'messages': empty array. Expected an array with minimum length 1."
            )
        waiting: list[str] = []
        for number, message in enumerate(messages):
            _check_content(message, number)
            if message["role"] == "tool":
                if message.get("tool_call_id") not in waiting:
                    raise Refused(
                        "Invalid parameter: messages with role 'tool' must be a response to a"
                        f" preceding message with 'tool_calls'. (messages[{number}].role)"
                    )
                waiting.remove(message["tool_call_id"])
                continue
            if waiting:
                raise Refused(UNANSWERED.format(", ".join(waiting)))
            waiting = _calls(message, number)
        if waiting:
            raise Refused(UNANSWERED.format(", ".join(waiting)))
        refusal = (
            "This model's maximum context length is {window} tokens."
            " However, your messages resulted in {count} tokens."
        )
        return fits([body.get("tools"), messages], window, refusal)

    def asked(self, body: Body) -> Asked:
        newest = body["messages"][-1]
        tools = tuple(tool["function"]["name"] for tool in body.get("tools") or ())
        return Asked(
            head=(body.get("tools"),),
            messages=body["messages"],
            is_result=_is_result(newest),
            text=joined(newest.get("content")),
            tools=tools,
        )

    def answer(self, body: Body, reply: Reply, usage: Usage, number: int) -> Body:
        message: Body = {"role": "assistant", "content": reply.text, "refusal": None}
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": id,
                    "type": "function",
                    "function": {"name": "read_log", "arguments": json.dumps(arguments)},
                }
                for id, arguments in reply.calls  # noqa: A001 - the provider's word
            ]
        choice = {"index": 0, "message": message, "logprobs": None}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": body["model"],
            "choices": [choice | {"finish_reason": "tool_calls" if reply.calls else "stop"}],
            "usage": {
                "prompt_tokens": usage.tokens,
                "completion_tokens": usage.output,
                "total_tokens": usage.tokens + usage.output,
                "prompt_tokens_details": {"cached_tokens": usage.cached},
            },
        }

    def events(self, answer: Body) -> list[Event]:
        (choice,) = answer["choices"]
        message = choice["message"]
        delta: Body = {"role": "assistant", "content": message["content"]}
        if "tool_calls" in message:
            delta["tool_calls"] = [
                call | {"index": n} for n, call in enumerate(message["tool_calls"])
            ]
        head = {key: answer[key] for key in ("id", "created", "model")}
        head["object"] = "chat.completion.chunk"

        def chunk(delta: Body, finish: str | None) -> Event:
            return None, head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        usage = (None, head | {"choices": [], "usage": answer["usage"]})
        return [chunk(delta, None), chunk({}, choice["finish_reason"]), usage, (None, "[DONE]")]

    def refusal(self, message: str) -> Body:
        code = "context_length_exceeded" if "context length" in message else None
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        return {"error": error}


def _is_result(message: Body) -> bool:
    """Return whether a message holds results; smolagents writes them as the user, before the next task."""
    newest = joined(message.get("content")).rpartition("New task:")[2]
    return message["role"] == "tool" or newest.startswith("Observation:")


def _check_content(message: Body, number: int) -> None:
    role, content = message.get("role"), message.get("content")
    if role not in PARTS:
        raise Refused(
            f"Invalid value: '{role}'. Supported values are: {', '.join(map(repr, PARTS))}."
        )
    if isinstance(content, list):
        if not content:
            raise Refused(f"Invalid 'messages[{number}].content': empty array.")
        for place, part in enumerate(content):
            if part.get("type") not in PARTS[role]:
                where = f"messages[{number}].content[{place}].type"
                raise Refused(f"Invalid value: '{part.get('type')}'. ({where})")
    elif content is None:
        if role != "assistant" or not (message.get("tool_calls") or message.get("refusal")):
            raise Refused(
                f"Invalid value for 'content': expected a string, got null. (messages[{number}])"
            )
    elif not isinstance(content, str):
        raise Refused(
            f"Invalid type for 'messages[{number}].content': got {type(content).__name__}."
        )


def _calls(message: Body, number: int) -> list[str]:
    if message["role"] != "assistant" or message.get("tool_calls") is None:
        return []
    if not message["tool_calls"]:
        raise Refused(f"Invalid 'messages[{number}].tool_calls': empty array.")
    for call in message["tool_calls"]:
        if not isinstance(call["function"].get("arguments"), str):
            raise Refused(f"messages[{number}].tool_calls: arguments must be a string")
    return [call["id"] for call in message["tool_calls"]]
