"""`truncate_tool_result`: shortens a result before it is first sent, at no cost to the prompt cache or signed thinking.

>>> from memctx.context import truncate_tool_result
>>> kept = []
>>> message = {"role": "tool", "tool_call_id": "c1", "content": "0123456789" * 100}
>>> short = truncate_tool_result(message, max_chars=200, head_chars=4, tail_chars=2, archive=kept.append)
>>> print(short["content"])
0123
...
89
<BLANKLINE>
[Long tool result: the first 4 and the last 2 of 1000 characters are kept.]
>>> len(kept[0]), len(message["content"])
(1000, 1000)
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from memctx import _core
from memctx.errors import ConfigError, MessageFormatError, StoreError
from memctx.messages import FORMATS, edit, part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation, Store
    from memctx.messages import FormatName

Result = TypeVar("Result")


class Archive(Protocol):
    """A `Memory`, for its store."""

    @property
    def store(self) -> Store:
        """The store of segments."""
        ...


def truncate_tool_result(  # noqa: PLR0913 - each has a default
    result: Result,
    *,
    max_chars: int = 4000,
    head_chars: int = 1500,
    tail_chars: int = 1500,
    archive: Callable[[str], object] | Archive | None = None,
    format: FormatName | None = None,
) -> Result:
    """Shorten a tool's result to its head and tail if it is longer than ``max_chars``.

    ``result`` is the text itself, a message that carries results, or one block of such a message, in any format;
    pictures and files in it stay. It is not changed, and returned itself where nothing is too long. ``archive`` gets
    the whole text first: a callable or a `Memory`, which stores it whatever ``privacy.archive_tools`` says.
    If that fails nothing is shortened, so that nothing is lost, and the failure is logged. Lengths are in UTF-16 units.

    >>> truncate_tool_result("short")
    'short'
    >>> len(truncate_tool_result("x" * 100_000))
    3090

    Raises:
        ConfigError: a length is below 0, or ``archive`` is asynchronous.
        MessageFormatError: ``result`` is neither a text nor a message nor a result's block.
    """
    if isinstance(result, str):
        text = _core.shorten(result, max_chars, head_chars, tail_chars)
        row = ("tool", str(result), None, None)
        is_due = text is not None and _archive(archive, [result], [row])
        return cast("Result", text) if is_due else result
    message, message_format, holder = _message_of(result, format)
    conversation = _core.MessageReader().read([message], message_format)
    shortened = _core.shorten_results(conversation, max_chars, head_chars, tail_chars)
    wholes = [whole for _, _, whole, _ in shortened]
    if not shortened or not _archive(archive, wholes, _rows(conversation)):
        return result
    for _, ordinal, _, text in shortened:
        message = edit.replace_result(message, ordinal, text, conversation.format)
    return cast("Result", message[holder][0] if holder else message)


def _message_of(
    result: object, format: FormatName | None
) -> tuple[Any, FormatName | None, str | None]:
    """Return the message, its format if that is known, and the field into which a block was put to make one."""
    kind, role = part.text(result, "type"), part.text(result, "role")
    for each in FORMATS.values():
        is_block = kind is not None and kind == each.result_type
        if role is None:
            is_block = is_block or any(
                part.get(result, name) is not None for name in each.result_fields
            )
        if is_block:
            return {"role": "user", each.content_field: [result]}, each.name, each.content_field
    if kind is None and part.text(part.unwrapped(result), "role") is None:
        name = type(result).__name__
        raise MessageFormatError(f"expected a text, a message or the block of a result, not {name}")
    return result, format, None


def _rows(conversation: Conversation) -> list[tuple[str, str, float | None, str | None]]:
    return [row for row in conversation.records()[0] if row[0] == "tool"]


def _archive(
    archive: Callable[[str], object] | Archive | None,
    wholes: Sequence[str],
    rows: Sequence[tuple[str, str, float | None, str | None]],
) -> bool:
    """Archive whole results; return whether the result may be shortened."""
    if archive is None:
        return True
    try:
        if callable(archive):
            outcomes = [archive(whole) for whole in wholes]
        else:
            _store(archive.store, rows)
            return True
    except Exception:  # of any kind: the result is sent whole
        logging.getLogger("memctx.context.tool_result").warning(
            "a tool result could not be archived and stays whole", exc_info=True
        )
        return False
    for outcome in outcomes:
        if hasattr(outcome, "__await__"):
            raise ConfigError("archive must be a plain callable or a Memory, not asynchronous")
    return True


def _store(store: Store, rows: Sequence[tuple[str, str, float | None, str | None]]) -> None:
    left_out = sum(added.outcome == "noise" for added in store.add(rows))
    if left_out:
        raise StoreError(f"{left_out} of {len(rows)} results are noise")
