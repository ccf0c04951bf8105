"""`FunctionSummarizer`: summaries by any callable."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from memctx.compact.overflow import is_context_overflow
from memctx.errors import ConfigError, SummaryError
from memctx.extractors.protocol import Usage
from memctx.summarize.meter import count_usage
from memctx.summarize.progress import shielded
from memctx.summarize.thread import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memctx.summarize.protocol import SummaryRequest


class FunctionSummarizer:
    """Summarises with a function that takes a request and returns the text, or an awaitable of it.

    A plain function runs in a thread of its own, so that it may take its time. Whatever it raises becomes a
    `memctx.SummaryError`, of an overflow if that is what it was. `memctx.summarize.build_prompt` makes a prompt of a
    request, and `memctx.summarize.count_usage` counts what a call cost.

    >>> import asyncio
    >>> from memctx.summarize import SummaryRequest
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
        """What the function returns; ``on_text`` is given all of it at once."""
        try:
            answer: object = await self._called(request)
        except SummaryError:
            raise
        except Exception as error:
            raise SummaryError(
                f"the function that summarises failed ({type(error).__name__})",
                is_overflow=is_context_overflow(error),
                is_timeout=isinstance(error, TimeoutError),
            ) from error
        if not isinstance(answer, str):
            kind = type(answer).__name__
            raise SummaryError(f"the function that summarises returned a {kind}, expected a text")
        if not answer.strip():
            raise SummaryError("the function that summarises returned an empty text")
        count_usage(Usage(calls=1))
        if (shown := shielded(on_text)) is not None:
            shown(answer)
        return answer

    async def _called(self, request: SummaryRequest) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(request)
        answer = await in_thread(self._function, request)
        return await answer if inspect.isawaitable(answer) else answer
