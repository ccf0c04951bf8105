"""Summarizers from functions and from settings: `FunctionSummarizer`, `resolve_summarizer`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from memctx.compaction.summary.anthropic import AnthropicSummarizer
from memctx.compaction.summary.reporting import count_usage, shield_callback
from memctx.errors import ConfigError, SummaryError
from memctx.protocols import Usage
from memctx.providers.background import call_in_thread
from memctx.providers.overflow import is_context_overflow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memctx.protocols import Summarizer, SummaryRequest

DEFAULT_MODEL = "claude-haiku-5-5"


class FunctionSummarizer:
    """A summarizer from a function that takes a request and returns the text, or an awaitable of it.

    A plain function runs in a thread of its own, so it may block. Its exceptions become `memctx.errors.SummaryError`,
    marked as overflow where they are one. `build_prompt` makes a prompt of a request, and `count_usage` reports the
    usage of a call.

    >>> import asyncio
    >>> from memctx.compaction.summary import Summarizer, SummaryRequest
    >>> summarizer = FunctionSummarizer(lambda request: f"{len(request.conversation_text)} characters")
    >>> asyncio.run(summarizer.summarize(SummaryRequest("[User]: Which port?")))
    '19 characters'

    Raises:
        ConfigError: it cannot be called.
    """

    def __init__(self, function: Callable[[SummaryRequest], str | Awaitable[str]]) -> None:
        if not callable(function):
            raise ConfigError(f"function must be callable, not {type(function).__name__}")
        self._function = function

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        return f"FunctionSummarizer({name})"

    async def summarize(
        self, request: SummaryRequest, *, on_text: Callable[[str], None] | None = None
    ) -> str:
        """Return the text of the function; ``on_text`` gets all of it at once."""
        try:
            answer: object = await self._call(request)
        except SummaryError:
            raise
        except Exception as error:
            raise SummaryError(
                f"the summarizer function failed ({type(error).__name__})",
                is_overflow=is_context_overflow(error),
                is_timeout=isinstance(error, TimeoutError),
            ) from error
        if not isinstance(answer, str):
            kind = type(answer).__name__
            raise SummaryError(f"the summarizer function returned a {kind}, expected a text")
        if not answer.strip():
            raise SummaryError("the summarizer function returned an empty text")
        count_usage(Usage(calls=1))
        if (shown := shield_callback(on_text)) is not None:
            shown(answer)
        return answer

    async def _call(self, request: SummaryRequest) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(request)
        answer = await call_in_thread(self._function, request)
        return await answer if inspect.isawaitable(answer) else answer


def resolve_summarizer(setting: Any) -> Summarizer:  # noqa: ANN401 - checked by the settings
    """Return the summarizer that a setting names, holds or wraps; one that always fails for None.

    >>> resolve_summarizer(None)
    FunctionSummarizer(no_summarizer)
    """
    if setting is None:
        return FunctionSummarizer(no_summarizer)
    if isinstance(setting, str):
        return AnthropicSummarizer(setting.partition(":")[2] or DEFAULT_MODEL)
    if callable(getattr(setting, "summarize", None)):
        found: Summarizer = setting
        return found
    return FunctionSummarizer(setting)


def no_summarizer(request: SummaryRequest) -> str:
    """Refuse a request, since no summarizer is set."""
    raise SummaryError(f"no summarizer is set for a {request.kind} request", is_permanent=True)
