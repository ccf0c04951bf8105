"""Calls to a summarizer: cached, within a deadline, with every failure raised as `SummaryError`."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from memctx.compaction.summary.sections import SUMMARY_CHARS, cap_summary
from memctx.errors import SummaryError
from memctx.providers.overflow import is_context_overflow

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx._core import Redactor
    from memctx.protocols import Summarizer, SummaryRequest

logger = logging.getLogger("memctx.compaction.summary")


@dataclass(slots=True)
class Calls:
    """Calls a summarizer and caches its responses, so that a second pass pays only for requests that differ."""

    summarizer: Summarizer
    on_text: Callable[[str], None] | None = None
    ends: float | None = None
    """The deadline, on the clock of `monotonic`."""
    redactor: Redactor | None = None
    """Masks all texts of a request: the conversation, the instructions and the previous summary."""
    made: int = 0
    """The number of calls."""
    answers: dict[SummaryRequest, str] = field(default_factory=dict["SummaryRequest", str])

    async def ask(self, request: SummaryRequest) -> str:
        """Return the summary, within the length limit.

        Raises:
            SummaryError: The call failed or returned no text.
        """
        request = self._mask(request)
        known = self.answers.get(request)
        if known is not None:
            return known
        left = None if self.ends is None else self.ends - monotonic()
        if left is not None and left <= 0:
            raise SummaryError("there was no time left", is_timeout=True)
        self.made += 1
        text = _check_response(await self._call(request, left))
        self.answers[request] = text
        return text

    def _mask(self, request: SummaryRequest) -> SummaryRequest:
        if self.redactor is None:
            return request
        mask = self.redactor.mask
        instructions, previous = request.instructions, request.previous_summary
        return replace(
            request,
            conversation_text=mask(request.conversation_text).text,
            instructions=None if instructions is None else mask(instructions).text,
            previous_summary=None if previous is None else mask(previous).text,
        )

    async def _call(self, request: SummaryRequest, left: float | None) -> Any:  # noqa: ANN401 - foreign code may return anything
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await self.summarizer.summarize(request, on_text=self.on_text)
        except SummaryError:
            raise
        except Exception as error:  # of a custom summarizer
            if limit.expired():
                raise SummaryError("there was no time left", is_timeout=True) from error
            logger.info("a summarizer raised %s", type(error).__name__)
            raise SummaryError(
                f"the summarizer failed ({type(error).__name__})",
                is_overflow=is_context_overflow(error),
            ) from error


def _check_response(response: object) -> str:
    if not isinstance(response, str):
        kind = type(response).__name__
        raise SummaryError(f"the summarizer returned a {kind}, expected a text")
    if not response.strip():
        raise SummaryError("the summarizer returned an empty text")
    return cap_summary(response, most=SUMMARY_CHARS)
