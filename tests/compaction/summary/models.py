"""Scripted summarizers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx import estimate_tokens
from memctx.errors import SummaryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.compaction.summary import SummaryRequest

OVERFLOW = SummaryError("too long", is_overflow=True)
OUTAGE = SummaryError("the service is down")
DEAD = SummaryError("wrong key", is_permanent=True)


@dataclass
class Scripted:
    """Does what a rule says: raises an error, or returns a text."""

    rule: Callable[[SummaryRequest], Any] = lambda request: f"<{request.kind}>"
    requests: list[SummaryRequest] = field(default_factory=list["SummaryRequest"])

    async def summarize(
        self, request: SummaryRequest, *, on_text: Callable[[str], None] | None = None
    ) -> str:
        self.requests.append(request)
        answer: str | BaseException = self.rule(request)
        if isinstance(answer, BaseException):
            raise answer
        if on_text is not None:
            on_text(answer)
        return answer

    @property
    def kinds(self) -> list[str]:
        return [request.kind for request in self.requests]


def within(window: int, rule: Callable[[SummaryRequest], Any] | None = None) -> Scripted:
    """Return a model with a real window, which overflows."""

    def answer(request: SummaryRequest) -> Any:
        read = request.conversation_text + (request.previous_summary or "")
        if estimate_tokens(read, "script") + request.max_tokens > window:
            return OVERFLOW
        return rule(request) if rule else f"<{request.kind} {len(request.conversation_text)}>"

    return Scripted(answer)


def failing(*errors: BaseException, then: str = "Done.") -> Scripted:
    """Return a model that raises the errors one after the other."""
    left = list(errors)
    return Scripted(lambda _: left.pop(0) if left else then)
