"""Recovery from context overflow: `run_with_recovery` compacts the messages and calls the model again."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypedDict, TypeVar, Unpack

from memctx.compaction.plan import is_context_overflow
from memctx.errors import ContextOverflowError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from memctx.compaction.result import Compacted, Trigger
    from memctx.config import Config
    from memctx.hosts.pi import Transcript
    from memctx.messages import FormatName

Answer = TypeVar("Answer")

logger = logging.getLogger("memctx.compaction")


class Options(TypedDict, total=False):
    """Keyword arguments of `run_with_recovery`."""

    instructions: str | None
    format: FormatName | None
    pinned: Collection[int]
    transcript: Transcript | None
    on_text: Callable[[str], None] | None


class CompactOptions(Options, total=False):
    """Keyword arguments of `memctx.Memory.compact`."""

    reason: Trigger


class Compacting(Protocol):
    """The part of a `memctx.Memory` that compacts messages."""

    @property
    def config(self) -> Config:
        """Settings of the memory."""
        ...

    def compact(
        self, messages: Sequence[Any], **options: Unpack[CompactOptions]
    ) -> Awaitable[Compacted]:
        """Compact the messages."""
        ...

    def compact_sync(self, messages: Sequence[Any], **options: Unpack[CompactOptions]) -> Compacted:
        """Compact the messages, for callers that cannot await."""
        ...


@dataclass(frozen=True, slots=True)
class Recovered(Generic[Answer]):
    """The answer of the model, and the messages that it answered.

    >>> Recovered("8443", [{"role": "user", "content": "Which port?"}]).compacted is None
    True
    """

    answer: Answer
    """Result of the call."""
    messages: list[Any]
    """Messages of the call, to continue with."""
    compacted: Compacted | None = None
    """Compaction that was necessary, if any."""


async def run_with_recovery(
    call: Callable[[list[Any]], Awaitable[Answer]],
    messages: Sequence[Any],
    memory: Compacting,
    **options: Unpack[Options],
) -> Recovered[Answer]:
    """Call the model with the messages; if they overflow its window, compact them and call it once more.

    ``call`` gets the messages and raises the exceptions of the provider's SDK; `run_with_recovery_sync` takes a
    synchronous one. ``options`` are those of `memctx.Memory.compact`. Errors other than an overflow propagate
    unchanged.

    >>> import asyncio, memctx, tempfile
    >>> messages = [{"role": role, "content": f"{role} {number} " * 200}
    ...         for number in range(4) for role in ("user", "assistant")]
    >>> async def model(messages):
    ...     if len(messages) > 5:
    ...         raise RuntimeError("prompt is too long: 9000 tokens > 8000 maximum")
    ...     return "done"
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=4_000) as memory:
    ...     recovered = asyncio.run(run_with_recovery(model, messages, memory))
    >>> recovered.answer, recovered.compacted.did_compact, recovered.messages[-1] is messages[-1]
    ('done', True, True)

    Raises:
        ContextOverflowError: they do not fit after a compaction either, or nothing could be compacted.
    """
    given = list(messages)
    try:
        return Recovered(await call(list(given)), given)
    except Exception as error:
        if not _may_recover(error, memory):
            raise
        overflow = error
    try:
        compacted = await memory.compact(given, reason="overflow", **options)
    except (MemctxError, OSError) as error:
        raise _failed_compaction(error) from overflow
    _check_compacted(compacted, overflow)
    try:
        answer = await call(list(compacted.messages))
    except Exception as error:
        if not is_context_overflow(error):
            raise
        raise _second_overflow(compacted) from error
    return Recovered(answer, compacted.messages, compacted)


def run_with_recovery_sync(
    call: Callable[[list[Any]], Answer],
    messages: Sequence[Any],
    memory: Compacting,
    **options: Unpack[Options],
) -> Recovered[Answer]:
    """Call the model as `run_with_recovery` does, synchronously.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     run_with_recovery_sync(len, [{"role": "user", "content": "Which port?"}], memory).answer
    1
    """
    given = list(messages)
    try:
        return Recovered(call(list(given)), given)
    except Exception as error:
        if not _may_recover(error, memory):
            raise
        overflow = error
    try:
        compacted = memory.compact_sync(given, reason="overflow", **options)
    except (MemctxError, OSError) as error:
        raise _failed_compaction(error) from overflow
    _check_compacted(compacted, overflow)
    try:
        answer = call(list(compacted.messages))
    except Exception as error:
        if not is_context_overflow(error):
            raise
        raise _second_overflow(compacted) from error
    return Recovered(answer, compacted.messages, compacted)


def _may_recover(error: Exception, memory: Compacting) -> bool:
    """Return whether a compaction may help."""
    if not memory.config.compaction.enabled or not is_context_overflow(error):
        return False
    logger.info("context overflow; compacting the messages")
    return True


def _check_compacted(compacted: Compacted, overflow: Exception) -> None:
    if compacted.skipped is None:
        return
    tried = ("called the model: overflow", f"compacted nothing: {compacted.skipped}")
    raise ContextOverflowError(
        f"{compacted.tokens_before:,} tokens do not fit the model's window, and nothing can be compacted: "
        f"{compacted.skipped}; expected a larger window or shorter messages",
        tried=tried,
    ) from overflow


def _second_overflow(compacted: Compacted) -> ContextOverflowError:
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


def _failed_compaction(error: Exception) -> ContextOverflowError:
    what = f"{type(error).__name__}: {error}"
    return ContextOverflowError(
        f"the messages do not fit the model's window, and the compaction failed: {what}",
        tried=("called the model: overflow", f"compacted: {what}"),
    )
