"""Shortening a result before it is sent for the first time, which costs no prompt cache and no signed thinking."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from memctx import _core
from memctx.errors import ConfigError, MessageShapeError, StoreError
from memctx.messages import edit, part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation, Shape, WarmStore

Result = TypeVar("Result")

# A result that is a block: the field it is told by, the shape, and the field of a message that holds such blocks.
BLOCKS: tuple[tuple[str, Shape, str], ...] = (
    ("functionResponse", "gemini", "parts"),
    ("function_response", "gemini", "parts"),
    ("toolResult", "bedrock", "content"),
)


class Archive(Protocol):
    """What a `Memory` has of a store."""

    @property
    def store(self) -> WarmStore:
        """Where segments are kept."""
        ...


def prune_at_birth(  # noqa: PLR0913 - each has a default
    result: Result,
    *,
    max_chars: int = 4000,
    head_chars: int = 1500,
    tail_chars: int = 1500,
    archive: Callable[[str], object] | Archive | None = None,
    shape: Shape | None = None,
) -> Result:
    """A tool's result, shortened to its head and tail where it is longer than ``max_chars``.

    ``result`` is the text itself, a message that carries results, or one block of such a message, in any shape;
    pictures and files in it stay. What is given is not changed, and given back where nothing is too long.
    ``archive`` gets the whole text first: a callable that is given it, or a `Memory`, which stores it as a tool's
    whatever its ``archive_tools`` says. If that fails nothing is shortened, so that nothing is lost, and the failure
    is logged. Lengths are in UTF-16 units.

    >>> prune_at_birth("short")
    'short'
    >>> len(prune_at_birth("x" * 100_000))
    3090

    Raises:
        ConfigError: a length is below 0, or ``archive`` is asynchronous.
        MessageShapeError: ``result`` is neither a text nor a message nor a result's block.
    """
    if isinstance(result, str):
        text = _core.shorten(result, max_chars, head_chars, tail_chars)
        row = ("tool", str(result), None, None)
        is_due = text is not None and _archived(archive, [result], [row])
        return cast("Result", text) if is_due else result
    message, shape, holder = _message_of(result, shape)
    conversation = _core.Scanner().scan([message], shape)
    shortened = _core.shorten_results(conversation, max_chars, head_chars, tail_chars)
    wholes = [whole for _, _, whole, _ in shortened]
    if not shortened or not _archived(archive, wholes, _rows(conversation)):
        return result
    for _, ordinal, _, text in shortened:
        message = edit.with_result(message, ordinal, text, conversation.shape)
    return cast("Result", message[holder][0] if holder else message)


def _message_of(result: object, shape: Shape | None) -> tuple[Any, Shape | None, str | None]:
    """The message, its shape if that is known, and the field in which a block was put to make one."""
    if part.text(result, "type") == "tool_result":
        return {"role": "user", "content": [result]}, "anthropic", "content"
    for field, told, holder in BLOCKS:
        if part.get(result, field) is not None and part.text(result, "role") is None:
            return {"role": "user", holder: [result]}, told, holder
    if part.text(part.unwrapped(result), "role") is None and part.text(result, "type") is None:
        kind = type(result).__name__
        raise MessageShapeError(f"expected a text, a message or the block of a result, not {kind}")
    return result, shape, None


def _rows(conversation: Conversation) -> list[tuple[str, str, float | None, str | None]]:
    return [row for row in conversation.records()[0] if row[0] == "tool"]


def _archived(
    archive: Callable[[str], object] | Archive | None,
    wholes: Sequence[str],
    rows: Sequence[tuple[str, str, float | None, str | None]],
) -> bool:
    """Whether what will be missing is kept elsewhere, or need not be."""
    if archive is None:
        return True
    try:
        if callable(archive):
            outcomes = [archive(whole) for whole in wholes]
        else:
            _store(archive.store, rows)
            return True
    except Exception:  # whatever it is, the result is sent whole
        logging.getLogger("memctx.prune").warning(
            "a tool result could not be archived and stays whole", exc_info=True
        )
        return False
    for outcome in outcomes:
        if hasattr(outcome, "__await__"):
            raise ConfigError("archive must be a plain callable or a Memory, not asynchronous")
    return True


def _store(store: WarmStore, rows: Sequence[tuple[str, str, float | None, str | None]]) -> None:
    left_out = sum(added.outcome == "noise" for added in store.add(rows))
    if left_out:
        raise StoreError(f"{left_out} of {len(rows)} results were taken for noise")
