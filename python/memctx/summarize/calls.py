"""Calls of a summariser: each made once, within the time there is, and whatever goes wrong told in one way."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from memctx.compact.overflow import is_context_overflow
from memctx.errors import SummaryError
from memctx.summarize.sections import SUMMARY_CHARS, capped

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.summarize.protocol import Summarizer, SummaryRequest

logger = logging.getLogger("memctx.summarize")


@dataclass(slots=True)
class Calls:
    """Asks a summariser, and remembers what it said, so that a second try pays only for what is different in it."""

    summarizer: Summarizer
    on_text: Callable[[str], None] | None = None
    ends: float | None = None
    """When there is no more time, on the clock of `monotonic`."""
    made: int = 0
    """How often the summariser was asked."""
    answers: dict[SummaryRequest, str] = field(default_factory=dict["SummaryRequest", str])

    async def ask(self, request: SummaryRequest) -> str:
        """The summary, not longer than any may be.

        Raises:
            SummaryError: there is none, whatever the reason.
        """
        known = self.answers.get(request)
        if known is not None:
            return known
        left = None if self.ends is None else self.ends - monotonic()
        if left is not None and left <= 0:
            raise SummaryError("there was no time left", is_timeout=True)
        self.made += 1
        text = _checked(await self._asked(request, left))
        self.answers[request] = text
        return text

    async def _asked(self, request: SummaryRequest, left: float | None) -> Any:  # noqa: ANN401 - foreign code may return anything
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await self.summarizer.summarize(request, on_text=self.on_text)
        except SummaryError:
            raise
        except Exception as error:  # a summariser of the host's own
            if limit.expired():
                raise SummaryError("there was no time left", is_timeout=True) from error
            logger.info("a summariser raised %s", type(error).__name__)
            raise SummaryError(
                f"the summariser failed ({type(error).__name__})",
                is_overflow=is_context_overflow(error),
            ) from error


def _checked(answer: object) -> str:
    if not isinstance(answer, str):
        kind = type(answer).__name__
        raise SummaryError(f"the summariser returned a {kind}, expected a text")
    if not answer.strip():
        raise SummaryError("the summariser returned an empty text")
    return capped(answer, most=SUMMARY_CHARS)
