"""`run_with_recovery`: a call of the model that a full window does not end."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack

from memctx.compact import is_context_overflow
from memctx.errors import ContextOverflowError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from memctx.compactor.result import Compacted
    from memctx.memory import Memory
    from memctx.messages import Shape
    from memctx.session import Transcript

Answer = TypeVar("Answer")

logger = logging.getLogger("memctx.compactor")


class Options(TypedDict, total=False):
    """What a compaction takes that a full window makes necessary."""

    instructions: str | None
    shape: Shape | None
    pinned: Collection[int]
    transcript: Transcript | None
    on_text: Callable[[str], None] | None


@dataclass(frozen=True, slots=True)
class Recovered(Generic[Answer]):
    """What the model answered, and to what.

    >>> Recovered("8443", [{"role": "user", "content": "Which port?"}]).compacted is None
    True
    """

    answer: Answer
    """What the call returned."""
    messages: list[Any]
    """The messages that it was made with, to go on with."""
    compacted: Compacted | None = None
    """The compaction that was necessary, if one was."""


async def run_with_recovery(
    call: Callable[[list[Any]], Awaitable[Answer]],
    messages: Sequence[Any],
    memory: Memory,
    **options: Unpack[Options],
) -> Recovered[Answer]:
    """Call the model with the messages; if they do not fit its window, compact them and call it once more.

    ``call`` gets the messages and raises what the provider's SDK raises; `run_with_recovery_sync` is for one that is
    not awaited. ``options`` are those of `memctx.Memory.compact`. Errors that are no overflow pass as they are.

    >>> import asyncio, memctx, tempfile
    >>> said = [{"role": role, "content": f"{role} {number} " * 200}
    ...         for number in range(4) for role in ("user", "assistant")]
    >>> async def model(messages):
    ...     if len(messages) > 5:
    ...         raise RuntimeError("prompt is too long: 9000 tokens > 8000 maximum")
    ...     return "done"
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=4_000) as memory:
    ...     recovered = asyncio.run(run_with_recovery(model, said, memory))
    >>> recovered.answer, recovered.compacted.did_compact, recovered.messages[-1] is said[-1]
    ('done', True, True)

    Raises:
        ContextOverflowError: they do not fit after a compaction either, or nothing could be compacted.
    """
    given = list(messages)
    try:
        return Recovered(await call(list(given)), given)
    except Exception as error:
        if not _is_ours(error, memory):
            raise
        overflow = error
    try:
        compacted = await memory.compact(given, reason="overflow", **options)
    except (MemctxError, OSError) as error:
        raise _failed(error) from overflow
    _check(compacted, overflow)
    try:
        answer = await call(list(compacted.messages))
    except Exception as error:
        if not is_context_overflow(error):
            raise
        raise _again(compacted) from error
    return Recovered(answer, compacted.messages, compacted)


def run_with_recovery_sync(
    call: Callable[[list[Any]], Answer],
    messages: Sequence[Any],
    memory: Memory,
    **options: Unpack[Options],
) -> Recovered[Answer]:
    """`run_with_recovery`, for a call that waits for its answer.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     run_with_recovery_sync(len, [{"role": "user", "content": "Which port?"}], memory).answer
    1
    """
    given = list(messages)
    try:
        return Recovered(call(list(given)), given)
    except Exception as error:
        if not _is_ours(error, memory):
            raise
        overflow = error
    try:
        compacted = memory.compact_sync(given, reason="overflow", **options)
    except (MemctxError, OSError) as error:
        raise _failed(error) from overflow
    _check(compacted, overflow)
    try:
        answer = call(list(compacted.messages))
    except Exception as error:
        if not is_context_overflow(error):
            raise
        raise _again(compacted) from error
    return Recovered(answer, compacted.messages, compacted)


def _is_ours(error: Exception, memory: Memory) -> bool:
    """Whether a compaction may help."""
    if not memory.config.compaction.enabled or not is_context_overflow(error):
        return False
    logger.info("the messages do not fit the model's window; they are compacted")
    return True


def _check(compacted: Compacted, overflow: Exception) -> None:
    if compacted.skipped is None:
        return
    tried = ("called the model: overflow", f"compacted nothing: {compacted.skipped}")
    raise ContextOverflowError(
        f"{compacted.tokens_before:,} tokens do not fit the model's window, and nothing can be compacted: "
        f"{compacted.skipped}; expected a larger window or shorter messages",
        tried=tried,
    ) from overflow


def _again(compacted: Compacted) -> ContextOverflowError:
    left = f"{compacted.tokens_before:,} to {compacted.tokens_after:,} tokens"
    tried = (
        "called the model: overflow",
        f"compacted {compacted.compacted} messages, {left}",
        "called the model again: overflow",
    )
    return ContextOverflowError(
        f"the messages do not fit the model's window, not even compacted from {left}; expected a larger window, a "
        "shorter system prompt or fewer tools",
        tried=tried,
    )


def _failed(error: Exception) -> ContextOverflowError:
    what = f"{type(error).__name__}: {error}"
    return ContextOverflowError(
        f"the messages do not fit the model's window, and the compaction failed: {what}",
        tried=("called the model: overflow", f"compacted: {what}"),
    )
