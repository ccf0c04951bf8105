"""A script written down as each host would, valid by the rules of its provider."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from .script import Assistant, Results, Shell, Summary, System, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .script import Call, FormatName, Result, Script, Step, Thought

Message: TypeAlias = dict[str, Any]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
EPOCH = 1_765_000_000_000
MINUTE = 60_000
SILENT = "(no output)"


class Rendering:
    """A script in one format. The messages of a step are the same objects in every prefix, as with a real host."""

    def __init__(self, script: Script, format: FormatName) -> None:
        self.script, self.format = script, format
        write = WRITERS[format]
        steps = _distinct(script) if format == "anthropic" else script
        self._written = [write(step, number) for number, step in enumerate(steps)]
        self._merged: dict[tuple[int, int], Message] = {}

    def prefix(self, length: int) -> list[Message]:
        """Return the messages that the host sends after a number of steps."""
        messages = [message for written in self._written[:length] for message in written]
        return list(self._alternating(messages)) if self.format in JOINTS else messages

    def whole(self) -> list[Message]:
        """Return the messages that the host sends at the end."""
        return self.prefix(len(self.script))

    def lengths(self, stride: int = 1) -> list[int]:
        """Return the lengths of the prefixes at which the model was called, every nth and always the last."""
        asked = (User, Results, Shell, Summary)
        calls = [
            place
            for place, step in enumerate(self.script)
            if isinstance(step, Assistant)
            and place
            and isinstance(self.script[place - 1], asked)
            and any(self._written[:place])
        ]
        return calls[: len(calls) - 1 : stride] + calls[-1:]

    def turns(self, stride: int = 1) -> Iterator[list[Message]]:
        """Return the list that the host sends before each call of the model."""
        return (self.prefix(length) for length in self.lengths(stride))

    def _alternating(self, messages: Iterable[Message]) -> Iterator[Message]:
        """Merge neighbors of one role, for the formats whose roles must alternate."""
        content = JOINTS[self.format]
        held: Message | None = None
        for message in messages:
            if held is None:
                held = message
            elif held["role"] == message["role"]:
                key = (id(held), id(message))
                both = {**held, content: [*held[content], *message[content]]}
                held = self._merged.setdefault(key, both)
            else:
                yield held
                held = message
        if held is not None:
            yield held


def _distinct(script: Script) -> Iterator[Step]:
    """Return the steps without repeated ids: some hosts restart the numbering of calls in every answer."""
    known: set[str] = set()
    renamed: dict[str, str] = {}
    for number, step in enumerate(script):
        if isinstance(step, Assistant):
            renamed = {call.id: f"{call.id}_{number}" for call in step.calls if call.id in known}
            known.update(call.id for call in step.calls)
            calls = [replace(call, id=renamed.get(call.id, call.id)) for call in step.calls]
            yield replace(step, calls=tuple(calls))
        elif isinstance(step, Results):
            results = [replace(it, id=renamed.get(it.id, it.id)) for it in step.results]
            yield replace(step, results=tuple(results))
        else:
            yield step


def told(text: str) -> str:
    """Return a summary for a model whose provider has no format for one."""
    return f"The conversation before this point was compacted into this summary:\n\n<summary>\n{text}\n</summary>"


def ran(step: Shell) -> str:
    """Return a command of the person for the model."""
    return f"Ran `{step.command}`\n```\n{step.output.rstrip()}\n```"


def _texts(step: User | Assistant | Shell | Summary) -> list[str]:
    """Return the texts that a provider takes; one of white space alone is refused."""
    match step:
        case Shell():
            return [ran(step)]
        case Summary():
            return [told(step.text)]
    return [text for text in step.texts if text.strip()]


def _calls(step: Assistant) -> tuple[Call, ...]:
    """Return the calls that a host hands on: those of an aborted answer have no results and stay behind."""
    return () if step.is_aborted else step.calls


def _images(step: User | Shell | Summary) -> int:
    return step.images if isinstance(step, User) else 0


def _anthropic(step: Step, number: int) -> list[Message]:
    if isinstance(step, System):
        return []  # a parameter of its own
    if isinstance(step, Results):
        blocks = [_anthropic_result(result) for result in step.results]
        return [{"role": "user", "content": blocks}]
    if isinstance(step, Assistant):
        return _anthropic_answer(step)
    content: list[Message] = [{"type": "text", "text": text} for text in _texts(step)]
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    content += [{"type": "image", "source": source} for _ in range(_images(step))]
    if isinstance(step, User):
        if step.is_cached and content:
            content[-1]["cache_control"] = {"type": "ephemeral"}
        if step.is_plain and len(content) == 1 and "text" in content[0] and not step.is_cached:
            return [{"role": "user", "content": content[0]["text"]}]
    return [_strange(step, {"role": "user", "content": content}, number)] if content else []


def _anthropic_answer(step: Assistant) -> list[Message]:
    said = [{"type": "text", "text": text} for text in _texts(step)]
    asked = [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": call.arguments,
        }
        for call in _calls(step)
    ]
    if not said and not asked:
        return []
    thought = [
        {"type": "redacted_thinking", "data": thought.signature}
        if thought.is_hidden
        else {"type": "thinking", "thinking": thought.text, "signature": thought.signature}
        for thought in step.thoughts
        if thought.signature
    ]
    if step.is_plain and not thought and not asked and len(said) == 1:
        return [{"role": "assistant", "content": said[0]["text"]}]
    return [{"role": "assistant", "content": [*thought, *said, *asked]}]


def _anthropic_result(result: Result) -> Message:
    content: list[Message] = [{"type": "text", "text": result.text}] if result.text.strip() else []
    if result.has_image:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content.append({"type": "image", "source": source})
    block: Message = {"type": "tool_result", "tool_use_id": result.id}
    if content:
        block["content"] = content
    return block | ({"is_error": True} if result.is_error and content else {})


def _openai(step: Step, number: int) -> list[Message]:
    if isinstance(step, System):
        return [{"role": "system", "content": step.text}]
    if isinstance(step, Results):
        return [
            {"role": "tool", "tool_call_id": result.id, "content": result.text}
            for result in step.results
        ]
    if isinstance(step, Assistant):
        said, asked = "\n\n".join(_texts(step)), [_chat_call(call) for call in _calls(step)]
        if not said and not asked:
            return []
        message: Message = {"role": "assistant", "content": said or None}
        return [message | ({"tool_calls": asked} if asked else {})]
    texts, images = _texts(step), _images(step)
    if len(texts) == 1 and not images:
        return [_strange(step, {"role": "user", "content": texts[0]}, number)]
    content: list[Message] = [{"type": "text", "text": text} for text in texts]
    url = {"url": f"data:image/png;base64,{PIXEL}"}
    content += [{"type": "image_url", "image_url": url} for _ in range(images)]
    return [_strange(step, {"role": "user", "content": content}, number)] if content else []


def _chat_call(call: Call) -> Message:
    function = {"name": call.name, "arguments": _compact(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _responses(step: Step, number: int) -> list[Message]:
    if isinstance(step, System):
        content = [{"type": "input_text", "text": step.text}]
        return [{"type": "message", "role": "developer", "content": content}]
    if isinstance(step, Summary):
        return [{"type": "compaction", "id": f"cmp_{number}", "encrypted_content": step.text}]
    if isinstance(step, Results):
        return [
            {"type": "function_call_output", "call_id": result.id, "output": result.text}
            for result in step.results
        ]
    if isinstance(step, Assistant):
        items = [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }
            for text in _texts(step)
        ]
        items += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": _compact(call.arguments),
            }
            for call in _calls(step)
        ]
        thought = _reasoning(step.thoughts, number) if items else []
        return [*thought, *items]
    parts: list[Message] = [{"type": "input_text", "text": text} for text in _texts(step)]
    url = f"data:image/png;base64,{PIXEL}"
    parts += [{"type": "input_image", "image_url": url} for _ in range(_images(step))]
    if not parts:
        return []
    is_plain = isinstance(step, User) and step.is_plain and len(parts) == 1 and "text" in parts[0]
    said: Message = {"role": "user", "content": parts[0]["text"] if is_plain else parts}
    return [_strange(step, {"type": "message", **said}, number)]


def _reasoning(thoughts: tuple[Thought, ...], number: int) -> list[Message]:
    return [
        {
            "type": "reasoning",
            "id": f"rs_{number}_{place}",
            "summary": [{"type": "summary_text", "text": thought.text}] if thought.text else [],
            "encrypted_content": thought.signature,
        }
        for place, thought in enumerate(thoughts)
        if thought.signature
    ]


def _gemini(step: Step, number: int) -> list[Message]:
    if isinstance(step, System):
        return []  # a parameter of its own
    if isinstance(step, Results):
        parts = [
            {
                "functionResponse": {
                    "id": result.id,
                    "name": result.name,
                    "response": {"error" if result.is_error else "output": result.text},
                }
            }
            for result in step.results
        ]
        return [{"role": "user", "parts": parts}]
    if isinstance(step, Assistant):
        said: list[Message] = [{"text": text} for text in _texts(step)]
        asked: list[Message] = [
            {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
            for call in _calls(step)
        ]
        if not said and not asked:
            return []
        signed = [thought for thought in step.thoughts if thought.signature]
        if signed:  # the signature of a thought stands on what came of it
            (asked or said)[0]["thoughtSignature"] = signed[-1].signature
        thought = [{"text": thought.text, "thought": True} for thought in signed if thought.text]
        return [{"role": "model", "parts": [*thought, *said, *asked]}]
    spoken: list[Message] = [{"text": text} for text in _texts(step)]
    data = {"mimeType": "image/png", "data": PIXEL}
    spoken += [{"inlineData": data} for _ in range(_images(step))]
    return [_strange(step, {"role": "user", "parts": spoken}, number)] if spoken else []


def _bedrock(step: Step, number: int) -> list[Message]:
    if isinstance(step, System):
        return []  # a parameter of its own
    if isinstance(step, Results):
        return [{"role": "user", "content": [_bedrock_result(result) for result in step.results]}]
    if isinstance(step, Assistant):
        said: list[Message] = [{"text": text} for text in _texts(step)]
        asked: list[Message] = [
            {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}}
            for call in _calls(step)
        ]
        if not said and not asked:
            return []
        thought: list[Message] = [
            {"reasoningContent": {"redactedContent": thought.signature}}
            if thought.is_hidden
            else {
                "reasoningContent": {
                    "reasoningText": {"text": thought.text, "signature": thought.signature}
                }
            }
            for thought in step.thoughts
            if thought.signature
        ]
        return [{"role": "assistant", "content": [*thought, *said, *asked]}]
    content: list[Message] = [{"text": text} for text in _texts(step)]
    image = {"format": "png", "source": {"bytes": PIXEL}}
    content += [{"image": image} for _ in range(_images(step))]
    if isinstance(step, User) and step.is_cached and content:
        content.append({"cachePoint": {"type": "default"}})
    return [_strange(step, {"role": "user", "content": content}, number)] if content else []


def _bedrock_result(result: Result) -> Message:
    content: list[Message] = [{"text": result.text if result.text.strip() else SILENT}]
    if result.has_image:
        content.append({"image": {"format": "png", "source": {"bytes": PIXEL}}})
    status = "error" if result.is_error else "success"
    return {"toolResult": {"toolUseId": result.id, "content": content, "status": status}}


def _pi(step: Step, number: int) -> list[Message]:
    stamp = {"timestamp": EPOCH + number * MINUTE}
    match step:
        case System():
            written: list[Message] = []  # Pi keeps it elsewhere
        case Results():
            return [result.origin or _pi_result(result) | stamp for result in step.results]
        case Summary():
            written = [
                {"role": "compactionSummary", "summary": step.text, "tokensBefore": 9_000, **stamp}
            ]
        case _ if step.origin is not None:
            written = [step.origin]
        case Shell():
            shell = {"role": "bashExecution", "command": step.command, "output": step.output}
            rest = {"exitCode": 0, "cancelled": False, "truncated": False}
            written = [{**shell, **rest, **stamp}]
        case Assistant():
            written = [_pi_answer(step) | stamp]
        case _:
            written = [_strange(step, _pi_said(step) | stamp, number)]
    return written


def _pi_said(step: User) -> Message:
    content: list[Message] = [{"type": "text", "text": text} for text in _texts(step)]
    content += [{"type": "image", "data": PIXEL, "mimeType": "image/png"}] * step.images
    is_plain = step.is_plain and len(content) == 1 and "text" in content[0]
    return {"role": "user", "content": content[0]["text"] if is_plain else content}


def _pi_answer(step: Assistant) -> Message:
    content: list[Message] = [
        {"type": "thinking", "thinking": thought.text, "thinkingSignature": thought.signature}
        for thought in step.thoughts
        if thought.signature
    ]
    content += [{"type": "text", "text": text} for text in _texts(step)]
    content += [
        {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in step.calls
    ]
    stop = "aborted" if step.is_aborted else "toolUse" if step.calls else "stop"
    return {"role": "assistant", "content": content, "stopReason": stop}


def _pi_result(result: Result) -> Message:
    content: list[Message] = [{"type": "text", "text": result.text}]
    if result.has_image:
        content.append({"type": "image", "data": PIXEL, "mimeType": "image/png"})
    head = {"role": "toolResult", "toolCallId": result.id, "toolName": result.name}
    return {**head, "content": content, "isError": result.is_error}


def _strange(step: Step, message: Message, number: int) -> Message:
    """Return the message with an unknown key."""
    if not isinstance(step, User) or not step.is_strange:
        return message
    return {**message, "x_host": {"turn": number}}


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


JOINTS: dict[str, str] = {"bedrock": "content", "gemini": "parts"}
"""The formats whose roles must alternate, and where their blocks are."""

WRITERS: dict[str, Callable[[Step, int], list[Message]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "pi": _pi,
}
