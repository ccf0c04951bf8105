"""Reading a list of messages, whatever its shape, into records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

from memctx.errors import ConfigError, MessageShapeError
from memctx.messages import anthropic, openai, part, pi
from memctx.messages.detect import Shape, detect

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.messages.record import Record

ADAPTERS: dict[Shape, Callable[[object, float | None, dict[str, str]], list[Record]]] = {
    "anthropic": anthropic.records,
    "openai": openai.chat_records,
    "responses": openai.item_records,
    "pi": pi.records,
}


def read(messages: Sequence[Any], shape: Shape | None = None) -> list[Record]:
    """The records of all messages, in order; ``shape`` overrides what `detect` would say."""
    return [record for records in read_each(messages, shape) for record in records]


def read_each(messages: Sequence[Any], shape: Shape | None = None) -> list[list[Record]]:
    """The records of each message: none for a system prompt, thinking, and what is not known."""
    envelopes = _checked(messages)
    letters = [part.unwrapped(message) for message in envelopes]
    if shape is not None and shape not in ADAPTERS:
        expected = ", ".join(map(repr, get_args(Shape)))
        raise ConfigError(f"shape is {shape!r}; expected one of {expected}")
    adapter = ADAPTERS[shape or detect(envelopes)]
    names: dict[str, str] = {}
    return [
        adapter(letter, part.timestamp(letter) or part.timestamp(envelope), names)
        for letter, envelope in zip(letters, envelopes, strict=True)
    ]


def _checked(messages: object) -> Sequence[object]:
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes | bytearray):
        kind = type(messages).__name__
        raise MessageShapeError(f"expected a list of messages, not {kind}")
    found = cast("Sequence[object]", messages)
    for index, message in enumerate(found):
        if not _is_message(message):
            kind = type(message).__name__
            expected = "a dictionary or an object with a role or a type"
            raise MessageShapeError(f"message {index} is {kind}; expected {expected}")
    return found


def _is_message(message: object) -> bool:
    if isinstance(message, Mapping):
        return True
    return part.text(message, "role") is not None or part.text(message, "type") is not None
