"""Edits of messages in every format, made on copies: the caller's objects stay as they are.

A message that need not change is returned itself. Ids, unknown keys, the order of keys and cache marks are kept.
In a line of a session file, the message inside is edited.

>>> from memctx.messages import edit
>>> said = {"role": "user", "content": "Which port?"}
>>> edit.add_text_block(said, "8443 was chosen", "anthropic")["content"]
[{'type': 'text', 'text': '8443 was chosen'}, {'type': 'text', 'text': 'Which port?'}]
>>> said
{'role': 'user', 'content': 'Which port?'}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memctx import _core
from memctx.errors import MessageFormatError
from memctx.messages import part
from memctx.messages.block import (
    blocks_of,
    field_of,
    has_content,
    is_result,
    is_thinking,
    result_field,
    text_block,
    text_in,
)
from memctx.messages.formats import FORMATS, ToolResult
from memctx.messages.part import with_fields, without_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def replace_result(message: object, ordinal: int, text: str, format: str) -> Any:  # noqa: ANN401 - the caller's type
    """Replace the text of the ``ordinal``-th result, counted from 0; pictures and files in it stay."""
    plain = _replace_plain_result(message, text, format) if ordinal == 0 else None
    if plain is not None:
        return plain
    inner = part.unwrapped(message)
    if not FORMATS[format].results_in_blocks:
        if ordinal or not _is_result_message(inner, format):
            raise _no_result(ordinal)
        return _rewrap(message, _replace_output(inner, text, format))
    blocks = blocks_of(inner, format)
    indices = [index for index, block in enumerate(blocks) if is_result(block, format)]
    if not 0 <= ordinal < len(indices):
        raise _no_result(ordinal)
    index = indices[ordinal]
    blocks[index] = _replace_in_block(blocks[index], text, format)
    return _rewrap(message, with_fields(inner, {field_of(format): blocks}))


def remove_thinking(message: object, format: str) -> Any:  # noqa: ANN401 - the caller's type
    """Remove the model's reasoning; return None if nothing is left of the message."""
    inner = part.unwrapped(message)
    message_format = FORMATS[format]
    kind = message_format.reasoning_type
    if kind is not None and part.text(inner, "type") == kind:
        return None
    beside = [name for name in message_format.signed_fields if part.get(inner, name)]
    blocks = list(part.items(part.get(inner, field_of(format))))
    kept = [block for block in blocks if not is_thinking(block)]
    if not beside and len(kept) == len(blocks):
        return message
    if beside:
        inner = without_fields(inner, beside)
    if len(kept) < len(blocks):
        rest = kept or (None if message_format.empty_content_is_null else kept)
        inner = with_fields(inner, {field_of(format): rest})
    return _rewrap(message, inner) if _has_any_content(inner, format) else None


def role(message: object) -> str | None:
    """Return the role of a message on the wire."""
    return part.text(part.unwrapped(message), "role")


def user_message(text: str, format: str, *, in_blocks: bool = False) -> dict[str, Any]:
    """Return a user's message; ``in_blocks`` writes the text as a block even where it may be a string."""
    return _message("user", text, FORMATS[format].text_type, format, in_blocks=in_blocks)


def assistant_message(text: str, format: str) -> dict[str, Any]:
    """Return an assistant's message."""
    message_format = FORMATS[format]
    kind = message_format.assistant_text_type or message_format.text_type
    return _message(message_format.assistant_role, text, kind, format)


def add_text_block(message: object, text: str, format: str) -> Any:  # noqa: ANN401 - the caller's type
    """Add a block of text to a user's message: the first block, but after the results of tools."""
    inner = part.unwrapped(message)
    if part.text(inner, "role") != "user":
        role = part.text(inner, "role") or part.text(inner, "type")
        raise MessageFormatError(f"text is added to a user's message only, not to one of {role!r}")
    blocks = blocks_of(inner, format)
    ends = (end for end, block in enumerate(blocks, 1) if is_result(block, format))
    neighbors = [block for block in blocks if text_in(block, format) is not None] or blocks
    blocks.insert(max(ends, default=0), text_block(text, format, neighbors))
    return _rewrap(message, with_fields(inner, {field_of(format): blocks}))


def remove_blocks(message: object, drop: Callable[[str], bool], format: str) -> Any:  # noqa: ANN401 - the caller's type
    """Remove the blocks of text for which ``drop`` is true; the content is empty if none is left."""
    inner = part.unwrapped(message)
    content = part.get(inner, field_of(format))
    if isinstance(content, str):
        return _rewrap(message, with_fields(inner, {"content": ""})) if drop(content) else message
    blocks = list(part.items(content))
    texts = [text_in(block, format) for block in blocks]
    kept = [
        block for block, text in zip(blocks, texts, strict=True) if text is None or not drop(text)
    ]
    if len(kept) == len(blocks):
        return message
    return _rewrap(message, with_fields(inner, {field_of(format): kept}))


def replace_results(
    message: object, results: Sequence[object], format: str, *, otherwise: object
) -> Any:  # noqa: ANN401 - the caller's type
    """Replace the results of a message by ``results``, in front; use ``otherwise`` if nothing is left."""
    inner = part.unwrapped(message)
    rest = [block for block in blocks_of(inner, format) if not is_result(block, format)]
    blocks = [*results, *rest]
    if not any(map(has_content, blocks)):
        blocks = [otherwise]
    return _rewrap(message, with_fields(inner, {field_of(format): blocks}))


def merge(first: object, second: object, format: str) -> Any:  # noqa: ANN401 - the caller's type
    """Merge two neighbors of one role into one message: the blocks of both, results before all others.

    Of a field that both have, the first one's is kept.
    """
    one, other = part.unwrapped(first), part.unwrapped(second)
    role = part.text(one, "role")
    mergeable = role is not None and not _is_result_message(one, format)
    if not mergeable or part.text(other, "role") != role:
        roles = (part.text(inner, "role") or part.text(inner, "type") for inner in (one, other))
        found = " and ".join(map(repr, roles))
        raise MessageFormatError(f"messages of {found} cannot be merged; expected two of one role")
    blocks = [*blocks_of(one, format), *blocks_of(other, format)]
    blocks.sort(key=lambda block: not is_result(block, format))
    fields = _extra_fields(one, other)
    name = FORMATS[format].calls_field
    if name is not None:
        calls = [call for inner in (one, other) for call in part.items(part.get(inner, name))]
        fields |= {name: calls} if calls else {}
    if blocks or part.get(one, field_of(format)) is not None:
        fields[field_of(format)] = blocks
    return _rewrap(first, with_fields(one, fields))


def missing_result(
    call_id: str | None, name: str | None, format: str, *, kind: str = "function_call"
) -> dict[str, Any]:
    """Return the message that stands for a missing result: an error, so that no model takes it for one.

    ``kind`` is the type of the item that has the call; the type of its output follows from it.
    """
    text = _core.MISSING_RESULT
    result = ToolResult(call_id=call_id, name=name, text=text, is_error=True, kind=kind)
    return FORMATS[format].tool_result(result)


def _message(
    role: str, text: str, text_type: str | None, format: str, *, in_blocks: bool = False
) -> dict[str, Any]:
    message_format = FORMATS[format]
    kind = {} if message_format.message_type is None else {"type": message_format.message_type}
    block = {"type": text_type, "text": text} if text_type else {"text": text}
    content = text if message_format.plain_text and not in_blocks else [block]
    return {**kind, "role": role, message_format.content_field: content}


def _rewrap(message: object, inner: object) -> object:
    """Return an edited message inside the line of a session file that the given one came in, if any."""
    if part.unwrapped(message) is message:
        return inner
    return with_fields(message, {"message": inner})


def _extra_fields(one: object, other: object) -> dict[str, object]:
    """Return the fields that only the other message has."""
    if not isinstance(other, dict):
        return {}
    fields = cast("dict[str, object]", other)
    known = cast("dict[str, object]", one) if isinstance(one, dict) else dir(one)
    return {name: value for name, value in fields.items() if name not in known}


def _replace_plain_result(message: object, text: str, format: str) -> dict[str, object] | None:
    """Take the fast path for most results: one to a message, in dictionaries, all text; None for others."""
    if type(message) is not dict:
        return None
    fields = cast("dict[str, object]", message)
    message_format = FORMATS[format]
    if not message_format.results_in_blocks:
        name = _output_field(fields, format)
        is_plain = type(fields.get(name)) is str and _is_result_message(fields, format)
        return {**fields, name: text} if is_plain else None
    kind = message_format.result_type
    blocks = part.items(fields.get("content")) if kind is not None else ()
    if len(blocks) != 1 or type(blocks[0]) is not dict:
        return None
    block = cast("dict[str, object]", blocks[0])
    if block.get("type") != kind or type(block.get("content")) is not str:
        return None
    return {**fields, "content": [{**block, "content": text}]}


def _is_result_message(inner: object, format: str) -> bool:
    """Return whether all of a message is a tool's result."""
    message_format = FORMATS[format]
    role, suffix = part.text(inner, "role"), message_format.result_type_suffix
    if suffix is not None:
        return role is None and (part.text(inner, "type") or "").endswith(suffix)
    return role in message_format.result_roles


def _no_result(ordinal: int) -> MessageFormatError:
    return MessageFormatError(f"the message has no result number {ordinal}")


def _has_any_content(inner: object, format: str) -> bool:
    """Return whether anything is left in a message from which something was removed."""
    blocks = blocks_of(inner, format)
    if any(map(has_content, blocks)):
        return True
    return any(part.get(inner, name) for name in ("tool_calls", "function_call", "refusal"))


def _replace_output(inner: object, text: str, format: str) -> object:
    """Replace the text of a message that is a result."""
    field = _output_field(inner, format)
    return with_fields(inner, {field: _replace_text(part.get(inner, field), text, format)})


def _output_field(inner: object, format: str) -> str:
    """Return the field with the text of a message that is a result."""
    is_shell = part.text(inner, "role") == "bashExecution"
    return "output" if is_shell else FORMATS[format].output_field


def _replace_in_block(block: object, text: str, format: str) -> object:
    """Replace the text of a block that is or holds a result."""
    field = result_field(block, format)
    result = part.get(block, field) if field else block
    response = part.get(result, "response")
    held = [name for name in ("content", "output", "result") if part.get(result, name) is not None]
    is_function = "unction" in (field or part.text(block, "type") or "")
    if response is not None or (is_function and not held):
        changed: dict[str, object] = {"response": {_response_key(response): text}}
    else:
        name = next(iter(held), "content")
        changed = {name: _replace_text(part.get(result, name), text, format)}
    edited = with_fields(result, changed)
    return with_fields(block, {field: edited}) if field else edited


def _response_key(response: object) -> str:
    """Return the field with the text of a Gemini response: the one it has, or the documented one."""
    keys = ("output", "result", "error")
    return next((key for key in keys if part.get(response, key) is not None), "output")


def _replace_text(content: object, text: str, format: str) -> object:
    """Replace the text in the content of a result; everything else stays in its position."""
    if not isinstance(content, part.LISTS):
        return text if content is None or isinstance(content, str) else content
    blocks = cast("Sequence[object]", content)
    readable = [index for index, block in enumerate(blocks) if _is_readable(block, format)]
    if not readable:
        return [text_block(text, format, blocks), *blocks]
    first = _replace_block_text(blocks[readable[0]], text, format)
    marks = (part.get(blocks[index], "cache_control") for index in readable)
    mark = next(filter(None, marks), None)
    if mark and not part.get(first, "cache_control"):
        first = with_fields(first, {"cache_control": mark})
    kept = dict(enumerate(blocks)) | {readable[0]: first}
    return [block for index, block in kept.items() if index not in readable[1:]]


def _is_readable(block: object, format: str) -> bool:
    """Return whether a block of a result is text, or holds text and nothing else."""
    if text_in(block, format) is not None or part.text(block, "type") == "search_result":
        return True
    return part.get(block, "json") is not None or part.text(block, "stdout") is not None


def _replace_block_text(block: object, text: str, format: str) -> object:
    """Replace the text of a block of a result."""
    if part.text(block, "stdout") is not None:  # output of a shell
        return with_fields(block, {"stdout": text, "stderr": ""})
    if isinstance(block, str):
        return text
    return (
        with_fields(block, {"text": text})
        if text_in(block, format) is not None
        else text_block(text, format)
    )
