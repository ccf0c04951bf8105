"""`Hooks`: functions of the host that are called around a compaction. None of them can break it."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from memctx.errors import ConfigError
from memctx.messages.problem import validate
from memctx.summarize.thread import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx.compact import Files
    from memctx.compactor.result import Compacted, Trigger
    from memctx.config import Compaction
    from memctx.messages import Shape

HookName: TypeAlias = Literal[
    "before_compaction", "after_compaction", "session_before_compact", "context"
]
"""When a hook is called: around a compaction, before one that it may replace, or before the model is."""

logger = logging.getLogger("memctx.compactor")


@dataclass(frozen=True, slots=True)
class BeforeCompaction:
    """What ``before_compaction`` is told, once all that will leave is in the archive."""

    session_id: str
    reason: Trigger
    message_count: int
    """How many messages there are."""
    token_count: int
    """What they cost, about."""
    compacting_count: int
    """How many of them will leave."""


@dataclass(frozen=True, slots=True)
class AfterCompaction:
    """What ``after_compaction`` is told."""

    session_id: str
    reason: Trigger
    message_count: int
    """How many messages are left, the summary among them."""
    token_count: int
    """What they cost, about."""
    compacted_count: int
    """How many messages left."""
    result: Compacted


@dataclass(frozen=True, slots=True)
class SessionBeforeCompact:
    """What ``session_before_compact`` is told: all that a compaction of one's own needs.

    The hook may return ``{"cancel": True}``, or ``{"compaction": {"summary": "..."}}`` to have its own text used.
    """

    session_id: str
    reason: Trigger
    messages_to_summarize: list[Any]
    """The history, which must not be changed."""
    turn_prefix_messages: list[Any]
    """The beginning of the turn that the cut goes through."""
    is_split_turn: bool
    first_kept: int
    """The place of the first message that stays."""
    first_kept_entry_id: str | None
    """Its entry in the transcript, if there is one."""
    tokens_before: int
    previous_summary: str | None
    files: Files
    settings: Compaction
    instructions: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the hooks before a compaction want."""

    is_cancelled: bool = False
    summary: str | None = None


class Hooks:
    """The hooks of one memory. Those of one kind run side by side; what they raise is logged."""

    def __init__(self) -> None:
        self._handlers: dict[str, tuple[Callable[[Any], object], ...]] = {}

    def on(self, event: HookName, handler: Callable[[Any], object]) -> Callable[[], None]:
        """Call a function, or a coroutine function, whenever something happens; returns what takes it off again.

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
            raise ConfigError(
                "a handler of context is called in between; expected a plain function"
            )
        self._handlers[event] = (*self._handlers.get(event, ()), handler)

        def off() -> None:
            left = list(self._handlers[event])
            if handler in left:
                left.remove(handler)
            self._handlers[event] = tuple(left)

        return off

    def has(self, event: HookName) -> bool:
        """Whether anybody wants to know."""
        return bool(self._handlers.get(event))

    async def run(self, event: HookName, told: object, seconds: float) -> list[object]:
        """Call all hooks of a kind side by side; what those returned that did in time."""
        handlers = self._handlers.get(event, ())
        if not handlers:
            return []
        tasks = [asyncio.create_task(_called(event, handler, told)) for handler in handlers]
        try:
            _, late = await asyncio.wait(tasks, timeout=seconds)
        finally:
            for task in tasks:
                task.cancel()  # those that are done do not mind
        if late:
            logger.warning("%d hooks of %s took over %g seconds", len(late), event, seconds)
        return [task.result() for task in tasks if task not in late and not task.cancelled()]

    async def verdict(self, told: SessionBeforeCompact, seconds: float) -> Verdict:
        """Whether a hook cancels the compaction, or has a summary of its own: the first one's counts."""
        answers = await self.run("session_before_compact", told, seconds)
        wanted = [cast("Mapping[str, Any]", each) for each in answers if isinstance(each, Mapping)]
        if any(each.get("cancel") is True for each in wanted):
            return Verdict(is_cancelled=True)
        for each in wanted:
            own = each.get("compaction")
            summary = (
                cast("Mapping[str, Any]", own).get("summary") if isinstance(own, Mapping) else None
            )
            if isinstance(summary, str) and summary.strip():
                return Verdict(summary=summary)
            logger.warning(
                "a hook of session_before_compact returned no summary; it is passed over"
            )
        return Verdict()

    def context(self, messages: list[Any], shape: Shape | None) -> list[Any]:
        """What the hooks of ``context`` make of the messages for the model, one after the other.

        Each gets copies, and may return ``{"messages": [...]}``. What a provider would refuse is passed over.
        """
        for handler in self._handlers.get("context", ()):
            try:
                messages = _changed(handler(copy.deepcopy(messages)), messages, shape)
            except Exception:
                logger.exception("a hook of context failed; the messages stay as they were")
        return messages


def _changed(answer: object, messages: list[Any], shape: Shape | None) -> list[Any]:
    """The messages that a hook returned, or those it was given if it returned none."""
    if not isinstance(answer, Mapping):
        return messages
    given: object = cast("Mapping[str, Any]", answer).get("messages")
    if not isinstance(given, list | tuple):
        raise TypeError(f"messages are {type(given).__name__}; expected a list")
    changed = list(cast("Sequence[Any]", given))
    if worse := set(_codes(changed, shape)) - set(_codes(messages, shape)):
        raise ValueError(f"the provider would refuse the messages: {', '.join(sorted(worse))}")
    return changed


def _codes(messages: Sequence[Any], shape: Shape | None) -> list[str]:
    return [problem.code for problem in validate(messages, shape)]


async def _called(event: str, handler: Callable[[Any], object], told: object) -> object:
    """What a hook returns; None if it fails, which is logged. A plain function runs in a thread."""
    try:
        if inspect.iscoroutinefunction(handler):
            return await cast("Any", handler)(told)
        answer = await in_thread(handler, told)
        return await cast("Any", answer) if inspect.isawaitable(answer) else answer
    except Exception:
        logger.exception("a hook of %s failed", event)
        return None
