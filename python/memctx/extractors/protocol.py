"""`Extractor`: what anything must do that takes facts out of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from memctx.knowledge import Draft, FactType


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was said, as the archive has it: secrets masked."""

    role: str
    """``user`` or ``assistant``."""
    text: str
    segment: str
    """The id of the segment it is, or is a part of."""


@dataclass(frozen=True, slots=True)
class Known:
    """A fact that is known already, for the extractor to say what becomes of it."""

    id: str
    type: FactType
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """What an extractor is to read in one call."""

    messages: tuple[Message, ...]
    known: tuple[Known, ...] = ()
    """Facts near to what is said, those that an UPDATE or SUPERSEDE may be about."""
    most: int = 15
    """Facts to find at most."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What extracting cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """In the currency of the prices given; None where there are none."""

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found."""

    drafts: tuple[Draft, ...]
    usage: Usage = Usage()
    problems: tuple[str, ...] = ()
    """What of the answer could not be used, and why."""


@runtime_checkable
class Extractor(Protocol):
    """Takes facts out of a conversation.

    It raises `memctx.ExtractionError` if it cannot; the request is then tried again later. It runs on an event loop of
    memctx's own, in a thread of its own.
    """

    async def extract(self, request: Request) -> Extraction:
        """The facts that the messages state."""
        ...
