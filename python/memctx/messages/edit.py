"""Changed copies of messages, in every shape. What is given stays as it is.

What need not change is given back as it came. Ids, unknown keys, the order of keys and cache marks are kept.
A line of a session file is edited inside.

>>> from memctx.messages import edit
>>> said = {"role": "user", "content": "Which port?"}
>>> edit.with_text_block(said, "8443 was chosen", "anthropic")["content"]
[{'type': 'text', 'text': '8443 was chosen'}, {'type': 'text', 'text': 'Which port?'}]
>>> said
{'role': 'user', 'content': 'Which port?'}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memctx import _core
from memctx.errors import MessageShapeError
from memctx.messages import part
from memctx.messages.altered import with_fields, without_fields
from memctx.messages.block import (
    blocks_of,
    field_of,
    is_result,
    is_thinking,
    result_field,
    says_something,
    text_block,
    text_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MISSING = _core.MISSING_RESULT
# Shapes in which a result is a block of a user's message rather than a message.
IN_BLOCKS = frozenset({"anthropic", "gemini", "bedrock"})
# Thinking that chat messages carry beside their content, with the signatures of whoever made it.
SIGNED_BESIDE = ("thinking_blocks", "reasoning_details")


def with_result(message: object, ordinal: int, text: str, shape: str) -> Any:  # noqa: ANN401 - the caller's type
    """The message with its ``ordinal``-th result, counted from 0, reading ``text``; pictures and files in it stay."""
    plain = _with_plain_result(message, text, shape) if ordinal == 0 else None
    if plain is not None:
        return plain
    letter = part.unwrapped(message)
    if shape not in IN_BLOCKS:
        if ordinal or not _is_result_message(letter, shape):
            raise _no_result(ordinal)
        return _enclosed(message, _with_output(letter, text, shape))
    blocks = blocks_of(letter, shape)
    places = [place for place, block in enumerate(blocks) if is_result(block, shape)]
    if not 0 <= ordinal < len(places):
        raise _no_result(ordinal)
    place = places[ordinal]
    blocks[place] = _with_answer(blocks[place], text, shape)
    return _enclosed(message, with_fields(letter, {field_of(shape): blocks}))


def without_thinking(message: object, shape: str) -> Any:  # noqa: ANN401 - the caller's type
    """The message without the model's reasoning; None if nothing is left of it."""
    letter = part.unwrapped(message)
    if shape == "responses" and part.text(letter, "type") == "reasoning":
        return None
    beside = [name for name in SIGNED_BESIDE if shape == "openai" and part.get(letter, name)]
    blocks = list(part.items(part.get(letter, field_of(shape))))
    kept = [block for block in blocks if not is_thinking(block, shape)]
    if not beside and len(kept) == len(blocks):
        return message
    if beside:
        letter = without_fields(letter, beside)
    if len(kept) < len(blocks):
        letter = with_fields(letter, {field_of(shape): kept})
    return _enclosed(message, letter) if _says_something(letter, shape) else None


def role(message: object) -> str | None:
    """The role a message has on the wire."""
    return part.text(part.unwrapped(message), "role")


def user_message(text: str, shape: str) -> dict[str, Any]:
    """A user's message."""
    if shape in {"gemini", "bedrock"}:
        return {"role": "user", field_of(shape): [{"text": text}]}
    if shape == "responses":
        content = [{"type": "input_text", "text": text}]
        return {"type": "message", "role": "user", "content": content}
    return {"role": "user", "content": text}


def with_text_block(message: object, text: str, shape: str) -> Any:  # noqa: ANN401 - the caller's type
    """A user's message with the text as a block of its own: the first, but behind the results of tools."""
    letter = part.unwrapped(message)
    if part.text(letter, "role") != "user":
        role = part.text(letter, "role") or part.text(letter, "type")
        raise MessageShapeError(f"text is added to a user's message only, not to one of {role!r}")
    blocks = blocks_of(letter, shape)
    places = (place for place, block in enumerate(blocks, 1) if is_result(block, shape))
    beside = [block for block in blocks if text_in(block, shape) is not None] or blocks
    blocks.insert(max(places, default=0), text_block(text, shape, beside))
    return _enclosed(message, with_fields(letter, {field_of(shape): blocks}))


def without_blocks(message: object, drop: Callable[[str], bool], shape: str) -> Any:  # noqa: ANN401 - the caller's type
    """The message without the blocks of text for which ``drop`` is true; with empty content if none is left."""
    letter = part.unwrapped(message)
    content = part.get(letter, field_of(shape))
    if isinstance(content, str):
        return (
            _enclosed(message, with_fields(letter, {"content": ""})) if drop(content) else message
        )
    blocks = list(part.items(content))
    texts = [text_in(block, shape) for block in blocks]
    kept = [
        block for block, text in zip(blocks, texts, strict=True) if text is None or not drop(text)
    ]
    if len(kept) == len(blocks):
        return message
    return _enclosed(message, with_fields(letter, {field_of(shape): kept}))


def with_results(
    message: object, results: Sequence[object], shape: str, *, otherwise: object
) -> Any:  # noqa: ANN401 - the caller's type
    """The message with these blocks of results in front instead of its own; with ``otherwise`` if nothing is left."""
    letter = part.unwrapped(message)
    rest = [block for block in blocks_of(letter, shape) if not is_result(block, shape)]
    blocks = [*results, *rest]
    if not any(map(says_something, blocks)):
        blocks = [otherwise]
    return _enclosed(message, with_fields(letter, {field_of(shape): blocks}))


def merged(first: object, second: object, shape: str) -> Any:  # noqa: ANN401 - the caller's type
    """Two neighbours of one role as one message: the blocks of both, results before all others.

    Where both have a field, the first one's counts.
    """
    one, other = part.unwrapped(first), part.unwrapped(second)
    role = part.text(one, "role")
    mergeable = role is not None and not _is_result_message(one, shape)
    if not mergeable or part.text(other, "role") != role:
        roles = (part.text(letter, "role") or part.text(letter, "type") for letter in (one, other))
        found = " and ".join(map(repr, roles))
        raise MessageShapeError(f"messages of {found} cannot be one; expected two of one role")
    blocks = [*blocks_of(one, shape), *blocks_of(other, shape)]
    blocks.sort(key=lambda block: not is_result(block, shape))
    fields = _more(one, other)
    calls = [call for letter in (one, other) for call in part.items(part.get(letter, "tool_calls"))]
    if shape == "openai" and calls:
        fields["tool_calls"] = calls
    if blocks or part.get(one, field_of(shape)) is not None:
        fields[field_of(shape)] = blocks
    return _enclosed(first, with_fields(one, fields))


def missing_result(
    call_id: str | None, name: str | None, shape: str, *, kind: str = "function_call"
) -> dict[str, Any]:
    """The message that stands for a result nobody has: an error, so that no model takes it for one.

    ``kind`` is the type of the item that has the call, which decides over the type of its output.
    """
    if shape == "openai":
        return {"role": "tool", "tool_call_id": call_id, "content": MISSING}
    if shape == "responses":
        return {"type": f"{kind}_output", "call_id": call_id, **_missing_output(kind)}
    if shape == "gemini":
        response = {"name": name or "unknown", "response": {"error": MISSING}}
        response = {"id": call_id, **response} if call_id else response
        return {"role": "user", "parts": [{"functionResponse": response}]}
    texts = [text_block(MISSING, shape)]
    if shape == "bedrock":
        result = {"toolUseId": call_id, "content": texts, "status": "error"}
        return {"role": "user", "content": [{"toolResult": result}]}
    if shape == "pi":
        answer = {"role": "toolResult", "toolCallId": call_id, "toolName": name or "unknown"}
        return {**answer, "content": texts, "isError": True}
    block = {"type": "tool_result", "tool_use_id": call_id, "content": MISSING, "is_error": True}
    return {"role": "user", "content": [block]}


def _missing_output(kind: str) -> dict[str, Any]:
    """The fields of an item that say that a tool failed."""
    if kind == "shell_call":
        outcome = {"type": "exit", "exit_code": 1}
        return {"output": [{"stdout": "", "stderr": MISSING, "outcome": outcome}]}
    if kind == "apply_patch_call":
        return {"status": "failed", "output": MISSING}
    return {"output": MISSING}


def _enclosed(message: object, letter: object) -> object:
    """The letter back in the line it came in, if it came in one."""
    if part.unwrapped(message) is message:
        return letter
    return with_fields(message, {"message": letter})


def _more(one: object, other: object) -> dict[str, object]:
    """The fields that only the other message has."""
    if not isinstance(other, dict):
        return {}
    fields = cast("dict[str, object]", other)
    known = cast("dict[str, object]", one) if isinstance(one, dict) else dir(one)
    return {name: value for name, value in fields.items() if name not in known}


def _with_plain_result(message: object, text: str, shape: str) -> dict[str, object] | None:
    """The quick way for what most results are: one to a message, in dictionaries, all text."""
    if type(message) is not dict:
        return None
    fields = cast("dict[str, object]", message)
    if shape == "openai" and fields.get("role") == "tool" and type(fields.get("content")) is str:
        return {**fields, "content": text}
    if shape == "responses" and fields.get("type") == "function_call_output":
        return {**fields, "output": text} if type(fields.get("output")) is str else None
    blocks = part.items(fields.get("content")) if shape == "anthropic" else ()
    if len(blocks) != 1 or type(blocks[0]) is not dict:
        return None
    block = cast("dict[str, object]", blocks[0])
    if block.get("type") != "tool_result" or type(block.get("content")) is not str:
        return None
    return {**fields, "content": [{**block, "content": text}]}


def _is_result_message(letter: object, shape: str) -> bool:
    """Whether all of a message is a tool's result."""
    role, kind = part.text(letter, "role"), part.text(letter, "type") or ""
    if shape == "pi":
        return role in {"toolResult", "bashExecution"}
    if shape == "responses":
        return role is None and kind.endswith("_output")
    return shape == "openai" and role in {"tool", "function"}


def _no_result(ordinal: int) -> MessageShapeError:
    return MessageShapeError(f"the message has no result number {ordinal}")


def _says_something(letter: object, shape: str) -> bool:
    """Whether anything is left in a message from which something was taken."""
    blocks = blocks_of(letter, shape)
    if any(map(says_something, blocks)):
        return True
    return any(part.get(letter, name) for name in ("tool_calls", "function_call", "refusal"))


def _with_output(letter: object, text: str, shape: str) -> object:
    """A message that is a result, reading the text."""
    if part.text(letter, "role") == "bashExecution":
        return with_fields(letter, {"output": text})
    field = "output" if shape == "responses" else "content"
    return with_fields(letter, {field: _reading(part.get(letter, field), text, shape)})


def _with_answer(block: object, text: str, shape: str) -> object:
    """A block that is or holds a result, reading the text."""
    field = result_field(block, shape)
    if not field:
        content = _reading(part.get(block, "content"), text, shape)
        return with_fields(block, {"content": content})
    result = part.get(block, field)
    if shape == "gemini":
        response = part.get(result, "response")
        changed: dict[str, object] = {"response": {_response_key(response): text}}
    else:
        changed = {"content": _reading(part.get(result, "content"), text, shape)}
    return with_fields(block, {field: with_fields(result, changed)})


def _response_key(response: object) -> str:
    """Where a response of Gemini's has its text: where it had it, or where the documentation has it."""
    keys = ("output", "result", "error")
    return next((key for key in keys if part.get(response, key) is not None), "output")


def _reading(content: object, text: str, shape: str) -> object:
    """The content of a result with its text exchanged: what is no text stays where it was."""
    if not isinstance(content, part.LISTS):
        return text if content is None or isinstance(content, str) else content
    blocks = cast("Sequence[object]", content)
    readable = [place for place, block in enumerate(blocks) if _is_readable(block, shape)]
    if not readable:
        return [text_block(text, shape, blocks), *blocks]
    first = _exchanged(blocks[readable[0]], text, shape)
    marks = (part.get(blocks[place], "cache_control") for place in readable)
    mark = next(filter(None, marks), None)
    if mark and not part.get(first, "cache_control"):
        first = with_fields(first, {"cache_control": mark})
    kept = dict(enumerate(blocks)) | {readable[0]: first}
    return [block for place, block in kept.items() if place not in readable[1:]]


def _is_readable(block: object, shape: str) -> bool:
    """Whether a block of a result is text, or holds text and nothing else."""
    if text_in(block, shape) is not None or part.text(block, "type") == "search_result":
        return True
    return part.get(block, "json") is not None or part.text(block, "stdout") is not None


def _exchanged(block: object, text: str, shape: str) -> object:
    """A block of a result with the text instead of what it read."""
    if part.text(block, "stdout") is not None:  # what a shell printed
        return with_fields(block, {"stdout": text, "stderr": ""})
    if isinstance(block, str):
        return text
    return (
        with_fields(block, {"text": text})
        if text_in(block, shape) is not None
        else text_block(text, shape)
    )
