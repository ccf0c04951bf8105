"""`Hooks`: functions of the host that run around a compaction and cannot break it."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from memctx.errors import ConfigError
from memctx.messages import validate
from memctx.providers.background import call_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx.compaction.plan import Files
    from memctx.compaction.result import Compacted, Trigger
    from memctx.config import CompactionSettings
    from memctx.messages import FormatName

HookName: TypeAlias = Literal[
    "before_compaction", "after_compaction", "session_before_compact", "context"
]
"""Event of a hook: around a compaction, before one that the hook may replace, or before a call of the model."""

logger = logging.getLogger("memctx.compaction")


@dataclass(frozen=True, slots=True)
class BeforeCompaction:
    """Event of ``before_compaction``, sent once all that leaves is archived."""

    session_id: str
    reason: Trigger
    message_count: int
    """Number of messages."""
    token_count: int
    """Their estimated cost."""
    compacting_count: int
    """Number of messages that will leave."""


@dataclass(frozen=True, slots=True)
class AfterCompaction:
    """Event of ``after_compaction``."""

    session_id: str
    reason: Trigger
    message_count: int
    """Number of messages left, including the summary."""
    token_count: int
    """Their estimated cost."""
    compacted_count: int
    """Number of messages that left."""
    result: Compacted


@dataclass(frozen=True, slots=True)
class SessionBeforeCompact:
    """Event of ``session_before_compact``: everything that a compaction by the host needs.

    The hook may return ``{"cancel": True}``, or ``{"compaction": {"summary": "..."}}`` to supply the summary.
    """

    session_id: str
    reason: Trigger
    messages_to_summarize: list[Any]
    """History, which must not be changed."""
    turn_prefix_messages: list[Any]
    """First messages of the turn that the cut splits."""
    is_split_turn: bool
    first_kept: int
    """Index of the first kept message."""
    first_kept_entry_id: str | None
    """Its entry in the transcript, if there is one."""
    tokens_before: int
    previous_summary: str | None
    files: Files
    settings: CompactionSettings
    instructions: str | None


@dataclass(frozen=True, slots=True)
class HookDecision:
    """Decision of the hooks before a compaction."""

    is_cancelled: bool = False
    summary: str | None = None


class Hooks:
    """The hooks of one memory. Those of one event run concurrently; their exceptions are logged."""

    def __init__(self) -> None:
        self._handlers: dict[str, tuple[Callable[[Any], object], ...]] = {}

    def on(self, event: HookName, handler: Callable[[Any], object]) -> Callable[[], None]:
        """Register a function or a coroutine function for an event; return a function that unregisters it.

        >>> hooks = Hooks()
        >>> off = hooks.on("before_compaction", print)
        >>> hooks.has("before_compaction"), off(), hooks.has("before_compaction")
        (True, None, False)
        """
        if event not in get_args(HookName):
            raise ConfigError(
                f"event is {event!r}; expected one of {', '.join(get_args(HookName))}"
            )
        if not callable(handler):
            raise ConfigError(f"handler is {handler!r}; expected a function of the event")
        if event == "context" and inspect.iscoroutinefunction(handler):
            raise ConfigError("context hooks are called synchronously; expected a plain function")
        self._handlers[event] = (*self._handlers.get(event, ()), handler)

        def off() -> None:
            left = list(self._handlers[event])
            if handler in left:
                left.remove(handler)
            self._handlers[event] = tuple(left)

        return off

    def has(self, event: HookName) -> bool:
        """Return whether an event has hooks."""
        return bool(self._handlers.get(event))

    async def run(self, event: HookName, payload: object, seconds: float) -> list[object]:
        """Run all hooks of an event concurrently; return the results of those that finished in time."""
        handlers = self._handlers.get(event, ())
        if not handlers:
            return []
        tasks = [asyncio.create_task(_call(event, handler, payload)) for handler in handlers]
        try:
            _, late = await asyncio.wait(tasks, timeout=seconds)
        finally:
            for task in tasks:
                task.cancel()  # no effect on those that are done
        if late:
            logger.warning("%d %s hooks took over %g seconds", len(late), event, seconds)
        return [task.result() for task in tasks if task not in late and not task.cancelled()]

    async def decide(self, payload: SessionBeforeCompact, seconds: float) -> HookDecision:
        """Run the hooks of ``session_before_compact``; any may cancel, and the first summary counts."""
        answers = await self.run("session_before_compact", payload, seconds)
        wanted = [cast("Mapping[str, Any]", each) for each in answers if isinstance(each, Mapping)]
        if any(each.get("cancel") is True for each in wanted):
            return HookDecision(is_cancelled=True)
        for each in wanted:
            own = each.get("compaction")
            summary = (
                cast("Mapping[str, Any]", own).get("summary") if isinstance(own, Mapping) else None
            )
            if isinstance(summary, str) and summary.strip():
                return HookDecision(summary=summary)
            logger.warning("a session_before_compact hook returned no summary; ignored")
        return HookDecision()

    def context(self, messages: list[Any], format: FormatName | None) -> list[Any]:
        """Return the messages for the model as changed by the ``context`` hooks, one after the other.

        Each gets copies, and may return ``{"messages": [...]}``. A list that a provider would refuse is ignored.
        """
        for handler in self._handlers.get("context", ()):
            try:
                messages = _apply_answer(handler(copy.deepcopy(messages)), messages, format)
            except Exception:
                logger.exception("a context hook failed; the messages are unchanged")
        return messages


def _apply_answer(answer: object, messages: list[Any], format: FormatName | None) -> list[Any]:
    """Return the messages that a hook returned, or the given ones if it returned none."""
    if not isinstance(answer, Mapping):
        return messages
    given: object = cast("Mapping[str, Any]", answer).get("messages")
    if not isinstance(given, list | tuple):
        raise TypeError(f"messages are {type(given).__name__}; expected a list")
    changed = list(cast("Sequence[Any]", given))
    if worse := set(_codes(changed, format)) - set(_codes(messages, format)):
        raise ValueError(f"the provider would refuse the messages: {', '.join(sorted(worse))}")
    return changed


def _codes(messages: Sequence[Any], format: FormatName | None) -> list[str]:
    return [problem.code for problem in validate(messages, format)]


async def _call(event: str, handler: Callable[[Any], object], payload: object) -> object:
    """Call a hook, a plain function in a thread; return None if it fails, which is logged."""
    try:
        if inspect.iscoroutinefunction(handler):
            return await cast("Any", handler)(payload)
        answer = await call_in_thread(handler, payload)
        return await cast("Any", answer) if inspect.isawaitable(answer) else answer
    except Exception:
        logger.exception("a %s hook failed", event)
        return None
