"""`Report`: what a turn did with every message, why, and what it cost.

>>> report = Report(shape="openai", query="which port?", tokens=Tokens(before=120, after=120))
>>> report.trimmed, report.errors
((), ())
>>> print(report)
openai · 120 tokens in, 120 out · query 'which port?'
nothing changed
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from memctx.turn import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.messages.repair import Change

__all__ = ["Cache", "Protected", "Pruned", "Recalled", "Report", "Tokens", "Trimmed"]


LISTS = ("pruned", "trimmed", "recalled", "protected")


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the messages cost after each step, by our estimate."""

    before: int
    """As they came, without blocks of ours."""
    pruned: int = 0
    """What shorter tool results saved."""
    trimmed: int = 0
    """What the messages that left had cost."""
    recalled: int = 0
    """What all recalled blocks cost."""
    after: int = 0
    """What is sent."""
    excess: int = 0
    """What the provider counted beyond our estimate the last time it was told to `Memory.observe`."""
    limit: int | None = None
    """Above this a trim starts; None without a window."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """A tool result that is sent shorter than it came."""

    index: int
    """The message, by its place in the list that was given."""
    form: Literal["soft", "clear"]
    """Head and tail kept, or all of it cleared."""
    tokens_before: int
    tokens_after: int
    is_new: bool
    """Whether it was decided in this turn; otherwise it is sent as in the turns before."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """Messages that are not sent: one message, or a tool call with all its results."""

    indices: tuple[int, ...]
    """The messages, by their places in the list that was given."""
    tokens: int
    score: float
    """How much they have to do with the query it was decided for."""
    layer: str
    """``relevance`` or ``age``: what decided it."""
    is_new: bool
    """Whether it was decided in this turn."""

    @property
    def reason(self) -> str:
        """The same in words."""
        why = "least relevant" if self.layer == "relevance" else "oldest"
        return f"{why}, score {self.score:.2f}" if self.is_new else f"{why} in an earlier turn"


@dataclass(frozen=True, slots=True)
class Recalled:
    """One thing that was brought back."""

    id: str
    """The segment or fact."""
    role: str
    """Who said it; the type of a fact."""
    timestamp: float | None
    """When, in milliseconds since the epoch."""
    score: float
    """What it was chosen by."""
    match: float
    """How well it matches, from 0 to 1: what `auto_recall_min_score` is tested on."""
    seed_score: float
    """The score that the original would have given, age left out."""
    is_cut: bool
    """Whether only the best passage of it fits."""


@dataclass(frozen=True, slots=True)
class Protected:
    """A message that a trim may not touch."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Cache:
    """What the turn does to the provider's prompt cache."""

    stable_prefix: int = 0
    """Messages at the start that are sent as in the turn before."""
    first_changed: int | None = None
    """The first message of the last turn that is sent otherwise now; None if all are sent as they were."""
    rewritten_tokens: int = 0
    """Tokens that were sent before and must be written to the cache again."""
    stale_thinking: tuple[int, ...] = ()
    """Messages whose signed thinking was bound to what changed, by their places in the list that was given."""
    thinking: Literal["strip", "report"] = "strip"
    """Whether that thinking was taken out or left for the host to have dropped."""
    is_cold: bool = False
    """Whether the cache had expired anyway."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `Memory.prepare` did. It prints as a table, and `to_json` gives all of it."""

    shape: str
    query: str = ""
    tokens: Tokens = field(default_factory=lambda: Tokens(0))
    pruned: Sequence[Pruned] = ()
    trimmed: Sequence[Trimmed] = ()
    recalled: Sequence[Recalled] = ()
    """What this turn brought back; blocks of earlier turns that are sent again are not listed anew."""
    protected: Sequence[Protected] = ()
    """What a trim had to leave alone; empty where no trim was due."""
    repaired: tuple[Change, ...] = ()
    """What came in broken and was mended."""
    cache: Cache = field(default_factory=Cache)
    archived: int = 0
    """Messages that were handed to the archive because they left the context, or a part of them did."""
    is_deferred: bool = False
    """Whether a trim is due and waits for the end of the tool loop."""
    degraded: tuple[str, ...] = ()
    """What the turn had to do without, such as a vector that did not come in time. The messages are as good as ever."""
    errors: tuple[str, ...] = ()
    """What went wrong. If anything did before the messages were ready, they are sent as they came."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """How long each step took."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries and lists."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        items = {name: [asdict(item) for item in values[name]] for name in LISTS}
        return {
            **values,
            **items,
            "tokens": asdict(self.tokens),
            "cache": asdict(self.cache),
            "repaired": [(change.index, change.code, change.message) for change in self.repaired],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """The report as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def __str__(self) -> str:
        return table.render(self)
