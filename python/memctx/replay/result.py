"""`Replay`: what became of every turn of a recorded session. It prints as a table, and `to_json` gives all of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from memctx.replay import table
from memctx.turn import price

if TYPE_CHECKING:
    from memctx.turn import Cache, Tokens

__all__ = ["FactThread", "Gone", "Replay", "ReplayedTurn", "Returned", "Shortened", "Stated"]


@dataclass(frozen=True, slots=True)
class Shortened:
    """A tool result that is sent shorter from this turn on."""

    message: int
    """Its place in the session."""
    form: Literal["soft", "clear"]
    tokens_before: int
    tokens_after: int
    excerpt: str
    """How it begins, secrets masked."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Messages that left the context in this turn: one, or a tool call with all its results."""

    messages: tuple[int, ...]
    role: str
    tokens: int
    score: float
    reason: str
    excerpt: str
    """How the first of them begins, secrets masked."""


@dataclass(frozen=True, slots=True)
class Returned:
    """One thing that was brought back in this turn."""

    kind: Literal["segment", "fact"]
    role: str
    """Who said it; the type of a fact."""
    match: float
    """How well it answers, from 0 to 1."""
    is_cut: bool
    """Whether only the best passage of it fits."""
    said_in: int | None
    """The turn it was said in, where that can be told."""
    excerpt: str


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """One call of the model: what the host would have given, and what would have been sent."""

    number: int
    """Counted from 1."""
    messages: int
    """How many messages the host had."""
    query: str
    """What memory was asked, secrets masked."""
    tokens: Tokens
    cache: Cache
    cached_tokens: int
    """What is sent as in the turn before, so that the provider reads it from its cache."""
    cost: float
    """What the input costs, in tokens at full price."""
    unedited_cost: float
    """The same without memory, in a window that never fills."""
    truncated_cost: float
    """The same with the oldest messages cut so that the rest just fits."""
    pruned: tuple[Shortened, ...] = ()
    trimmed: tuple[Gone, ...] = ()
    recalled: tuple[Returned, ...] = ()
    protected: dict[str, int] = field(default_factory=dict[str, int])
    """Where messages left, how many could not, by what protects them."""
    errors: tuple[str, ...] = ()
    is_deferred: bool = False
    """Whether a trim is due and waits for the end of the tool loop."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """How long each step of it took."""

    @property
    def latency(self) -> float:
        """How long it took in all, in milliseconds."""
        return sum(self.milliseconds.values())

    @property
    def is_eventful(self) -> bool:
        """Whether anything was decided in it."""
        return bool(self.pruned or self.trimmed or self.recalled or self.errors)


@dataclass(frozen=True, slots=True)
class Stated:
    """One state of a fact."""

    content: str
    turn: int | None
    """The turn in which it was said, where that can be told."""


@dataclass(frozen=True, slots=True)
class FactThread:
    """A fact and all that it took the place of, oldest first."""

    type: str
    states: tuple[Stated, ...]


@dataclass(frozen=True)
class Replay:
    """A replayed session.

    >>> print(Replay("s1", shape="openai", messages=0, window=8_000, limit=5_200))
    s1 · openai · 0 messages, 0 turns · window 8,000, trims above 5,200
    """

    name: str
    shape: str
    messages: int
    window: int | None
    limit: int | None
    """Above this a trim starts; None without a window."""
    turns: tuple[ReplayedTurn, ...] = ()
    facts: tuple[FactThread, ...] = ()
    skipped: int = 0
    """Lines of the recording that could not be read."""
    seconds: float = 0.0
    """How long the whole replay took."""

    @cached_property
    def cost(self) -> float:
        """What the input of all turns costs, in tokens at full price."""
        return sum(turn.cost for turn in self.turns)

    @cached_property
    def unedited_cost(self) -> float:
        """The same without memory, in a window that never fills."""
        return sum(turn.unedited_cost for turn in self.turns)

    @cached_property
    def truncated_cost(self) -> float:
        """The same with the oldest messages cut on every call so that the rest just fits."""
        return sum(turn.truncated_cost for turn in self.turns)

    @cached_property
    def cached_share(self) -> float:
        """Of all tokens sent, how many the provider reads from its cache."""
        sent = sum(turn.tokens.after for turn in self.turns)
        return sum(turn.cached_tokens for turn in self.turns) / sent if sent else 0.0

    @property
    def overfull(self) -> int:
        """Turns whose messages would not have fitted into the window as they were."""
        window = self.window
        return 0 if window is None else sum(turn.tokens.before > window for turn in self.turns)

    @property
    def trims(self) -> int:
        """Turns in which messages left the context."""
        return sum(bool(turn.trimmed) for turn in self.turns)

    @property
    def breaks(self) -> int:
        """Turns that change what was sent before rather than add to it."""
        return sum(turn.cache.first_changed is not None for turn in self.turns)

    @property
    def errors(self) -> int:
        """How often memory failed and the messages went out as they came."""
        return sum(len(turn.errors) for turn in self.turns)

    def latency(self, share: float = 0.5, step: str | None = None) -> float:
        """The milliseconds that so many of the turns stay within, in all or in one step.

        >>> Replay("s1", shape="openai", messages=0, window=None, limit=None).latency(0.95)
        0.0
        """
        took = sorted(
            turn.latency if step is None else turn.milliseconds.get(step, 0.0)
            for turn in self.turns
        )
        return took[min(int(len(took) * share), len(took) - 1)] if took else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The replay as plain dictionaries and lists, with what it comes to."""
        return {
            **asdict(self),
            "totals": {
                "trims": self.trims,
                "trimmed_messages": sum(
                    len(gone.messages) for turn in self.turns for gone in turn.trimmed
                ),
                "pruned": sum(len(turn.pruned) for turn in self.turns),
                "recalled": sum(len(turn.recalled) for turn in self.turns),
                "overfull": self.overfull,
                "breaks": self.breaks,
                "errors": self.errors,
                "cost": self.cost,
                "unedited_cost": self.unedited_cost,
                "truncated_cost": self.truncated_cost,
                "cached_share": self.cached_share,
                "latency_p50": self.latency(0.5),
                "latency_p95": self.latency(0.95),
            },
            "price": {"read": price.READ, "write": price.WRITE},
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """The replay as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def __str__(self) -> str:
        return table.render(self)
