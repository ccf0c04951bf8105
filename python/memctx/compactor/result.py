"""`Compacted`: what a compaction left, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx.compact import Files
from memctx.summarize import Usage

if TYPE_CHECKING:
    from memctx.compact import Failure
    from memctx.messages import Shape
    from memctx.summarize import Rung

Trigger: TypeAlias = Literal["manual", "threshold", "overflow"]
"""Why a compaction was asked for."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction left, and how it came about.

    >>> Compacted([], "manual", "anthropic", 0, skipped="all of the 0 tokens are recent").did_compact
    False
    """

    messages: list[Any]
    """The messages to go on with: system prompts, the summary, and what was kept, the very same objects but for signed
    thinking that no longer holds. Where nothing was compacted, all that were given."""
    reason: Trigger
    """Why it was asked for."""
    shape: Shape
    """What the messages are."""
    tokens_before: int
    """What the messages cost before, about."""
    tokens_after: int | None = None
    """What they cost now; None where nothing was compacted."""
    summary: str = ""
    """The summary, without the words around it."""
    first_kept: int = 0
    """The place that the first kept message had before."""
    summary_place: int | None = None
    """The place of the summary in the new list."""
    skipped: str | None = None
    """Why nothing was compacted; None if something was."""
    compacted: int = 0
    """How many messages the summary stands for, beside those of earlier summaries."""
    archived: int = 0
    """How many pieces of them are new in the archive; the others were there already."""
    is_split_turn: bool = False
    """Whether the cut goes through a turn, whose beginning the summary tells apart."""
    rung: Rung | Literal["hook"] | None = None
    """How far down the ladder the summary came from, or that a hook made it."""
    problems: tuple[str, ...] = ()
    """What went wrong on the way, and what the summary lacks."""
    files: Files = field(default_factory=Files)
    """The files that were read and changed in what left."""
    failures: tuple[Failure, ...] = ()
    """The tools that failed in it."""
    usage: Usage = field(default_factory=Usage)
    """What the summary cost."""
    stale_thinking: tuple[int, ...] = ()
    """Where in the new list there is signed thinking that the provider may refuse behind a summary. It is taken out and
    this is empty, unless the setting ``thinking`` is ``report``."""
    entry_id: str | None = None
    """The entry of the compaction in the transcript, if there is one."""

    @property
    def did_compact(self) -> bool:
        """Whether anything was compacted."""
        return self.skipped is None
