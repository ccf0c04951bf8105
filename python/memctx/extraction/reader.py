"""`Reader`: has a batch read by the extractor, and stores the facts it finds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from memctx.errors import ExtractionError
from memctx.extractors import Extraction, Known, Request, Usage
from memctx.knowledge.update import update

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx.extraction.backlog import Batch
    from memctx.extraction.loop import Loop
    from memctx.extraction.settings import Settings
    from memctx.extractors import Message
    from memctx.knowledge import Action, Draft, FactType

    Count = Callable[[Sequence[Action], Usage], None]
    """Told what was done with facts, and what was spent."""

# Facts that the extractor is told of.
NEAR = 20


@dataclass(slots=True)
class Answers:
    """What was answered for the batch at hand."""

    batch: tuple[int, int]
    done: int = 0
    """Parts whose facts are stored."""
    drafts: tuple[Draft, ...] | None = None
    """What the next part gave, while it is not stored."""
    known: tuple[Known, ...] = ()


class Reader:
    """Reads one batch at a time. What failed is gone on with where it failed: no answer is paid for twice."""

    def __init__(self, settings: Settings, loop: Loop) -> None:
        self._settings = settings
        self._loop = loop
        self._answers: Answers | None = None
        self._is_over = False

    def stop(self) -> None:
        """Store nothing any more, whatever is answered yet."""
        self._is_over = True

    async def read(self, batch: Batch, count: Count) -> None:
        """Extract from a batch; any exception if that does not work out."""
        place = (batch.start, batch.end)
        if self._answers is None or self._answers.batch != place:
            self._answers = Answers(place)
        answers = self._answers
        for part in batch.parts[answers.done :]:
            if answers.drafts is None:
                answers.known = await self._loop.by_hand(partial(self._near, part))
                found = await self._ask(Request(part, answers.known))
                answers.drafts = found.drafts
                count((), found.usage)
            store = partial(update, self._settings.facts, answers.drafts, answers.known)
            ops = await self._loop.by_hand(store)
            count([op.action for op in ops], Usage())
            answers.drafts = None
            answers.done += 1
        self._answers = None

    def _near(self, part: Sequence[Message]) -> tuple[Known, ...]:
        text = "\n".join(message.text for message in part)
        found = self._settings.facts.nearest(text, limit=NEAR)
        # Another program may have facts of another type; the extractor is only shown it.
        return tuple(Known(fact.id, cast("FactType", fact.type), fact.content) for fact in found)

    async def _ask(self, request: Request) -> Extraction:
        try:
            async with asyncio.timeout(self._settings.longest_call):
                found = await self._settings.extractor.extract(request)
        except Exception:
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise ExtractionError("the extractor cancelled its call") from None
        except BaseException as error:  # noqa: BLE001 - it would end the loop, and with it the work of all sessions
            raise ExtractionError(f"the extractor raised {type(error).__name__}") from None
        if self._is_over:  # it did not let itself be cancelled
            raise asyncio.CancelledError
        return _checked(found)


def _checked(found: object) -> Extraction:
    """What an extractor gave, if it is what was asked for."""
    if not isinstance(found, Extraction):
        told = f"the extractor gave {type(found).__name__}; expected Extraction"
        raise ExtractionError(told, is_malformed=True)
    return found
