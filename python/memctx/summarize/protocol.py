"""`Summarizer`: what anything must do that puts a conversation into fewer words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

SummaryKind: TypeAlias = Literal["chunk", "merge", "prefix", "simple"]
"""What is to be summarised: a part of a conversation, the summaries of its parts, the beginning of a turn that goes
on, or a part in the plainest way, for a model that failed at the others."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summariser is to read in one call.

    The texts are data, whatever they say; `memctx.summarize.build_prompt` makes a prompt of them that says so.

    >>> SummaryRequest("[User]: Which port?", instructions="Keep the ports").kind
    'chunk'
    """

    conversation_text: str
    """The conversation as `memctx.summarize.serialize` writes it, secrets masked; or the summaries to merge."""
    instructions: str | None = None
    """What the host wants of the summary."""
    previous_summary: str | None = None
    """The summary of all that was said before, to be carried on."""
    max_tokens: int = 4_096
    """How long the answer may be."""
    kind: SummaryKind = "chunk"


@runtime_checkable
class Summarizer(Protocol):
    """Puts a conversation into fewer words.

    It raises `memctx.SummaryError` if it cannot. Cancelling the call ends it.

    >>> class Shortest:
    ...     async def summarize(self, request, *, on_text=None):
    ...         return request.conversation_text[:20]
    >>> isinstance(Shortest(), Summarizer)
    True
    """

    async def summarize(
        self, request: SummaryRequest, *, on_text: Callable[[str], None] | None = None
    ) -> str:
        """The summary. ``on_text`` is given its pieces as they come; an attempt that is repeated starts over."""
        ...
