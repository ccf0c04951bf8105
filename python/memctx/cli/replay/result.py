"""`Replay`: the result of a replay, turn by turn; it prints as a table, and `to_json` returns all of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from memctx._html import tag
from memctx.cli.escaping import json_text
from memctx.cli.formatting import format_count
from memctx.providers import pricing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.context import Cache, Tokens


@dataclass(frozen=True, slots=True)
class PrunedResult:
    """A tool result that is pruned from this turn on."""

    message: int
    """Its index in the session."""
    form: Literal["soft", "clear"]
    tokens_before: int
    tokens_after: int
    excerpt: str
    """Its beginning, secrets masked."""


@dataclass(frozen=True, slots=True)
class TrimmedMessages:
    """Messages trimmed in this turn: one, or a tool call with its results."""

    messages: tuple[int, ...]
    role: str
    tokens: int
    score: float
    reason: str
    excerpt: str
    """The beginning of the first message, secrets masked."""


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """A segment or fact recalled in this turn."""

    kind: Literal["segment", "fact"]
    role: str
    """The role of a segment; the type of a fact."""
    score: float
    """Probability that it answers the query, from 0 to 1."""
    is_cut: bool
    """True if only the best passage fits."""
    said_in: int | None
    """The turn of the source message, if known."""
    excerpt: str
    similarity: float | None = None
    """Cosine of its vector and that of the query, if there is one."""
    words: tuple[str, ...] = ()
    """Its words that the query asks for."""


@dataclass(frozen=True, slots=True)
class SentPart:
    """A part of a prompt: consecutive messages of the host, or a block that memory added."""

    first: int | None
    """Index of the first message; None for a block."""
    last: int | None
    """Index of the last message."""
    tokens: int
    text: str = ""
    """The block as the model saw it; empty for messages, and for a block that the turn before had sent."""


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """One call of the model: the host's messages and the prompt."""

    number: int
    """Counted from 1."""
    messages: int
    """Number of messages of the host."""
    query: str
    """The recall query, secrets masked."""
    tokens: Tokens
    cache: Cache
    cached_tokens: int
    """Tokens sent unchanged from the turn before, which the provider reads from its cache."""
    cost: float
    """Cost of the input, in tokens at full price."""
    unedited_cost: float
    """Cost without memory, in an unlimited window."""
    truncated_cost: float
    """Cost with plain truncation."""
    pruned: tuple[PrunedResult, ...] = ()
    trimmed: tuple[TrimmedMessages, ...] = ()
    recalled: tuple[RecalledItem, ...] = ()
    protected: dict[str, int] = field(default_factory=dict[str, int])
    """Number of protected messages by reason, if messages were trimmed."""
    errors: tuple[str, ...] = ()
    is_deferred: bool = False
    """True if a trim is due and waits for the end of the tool loop."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """Duration of each step."""
    compacted_cost: float = 0.0
    """Cost with plain compaction, summaries included."""
    sent: tuple[SentPart, ...] = ()
    """The prompt, part by part, if anything was decided."""

    @property
    def latency(self) -> float:
        """Total duration in milliseconds."""
        return sum(self.milliseconds.values())

    @property
    def is_eventful(self) -> bool:
        """True if anything was pruned, trimmed or recalled, or failed."""
        return bool(self.pruned or self.trimmed or self.recalled or self.errors)


@dataclass(frozen=True, slots=True)
class FactState:
    """One state of a fact."""

    content: str
    turn: int | None
    """The turn of the source message, if known."""


@dataclass(frozen=True, slots=True)
class FactHistory:
    """The states of a fact, oldest first."""

    type: str
    states: tuple[FactState, ...]


@dataclass(frozen=True, repr=False)
class Replay:
    """A replayed session.

    >>> print(Replay("s1", format="openai", messages=0, window=8_000, limit=5_200))
    s1 · openai · 0 messages, 0 turns · window 8,000, trims above 5,200
    """

    name: str
    """The session as people know it, secrets masked; its file name if nothing else is known."""
    format: str
    messages: int
    window: int | None
    limit: int | None
    """The trim threshold; None without a window."""
    turns: tuple[ReplayedTurn, ...] = ()
    facts: tuple[FactHistory, ...] = ()
    source: str = ""
    """The file name, if that is not the name."""
    skipped: int = 0
    """Lines of the recording that could not be read."""
    seconds: float = 0.0
    """Duration of the replay."""
    truncated_tokens: int = 0
    """Tokens of all prompts with plain truncation."""
    compacted_tokens: int = 0
    """Tokens of all prompts with plain compaction."""
    compactions: int = 0
    """Summaries that plain compaction would have made."""

    @cached_property
    def cost(self) -> float:
        """Cost of the input of all turns, in tokens at full price."""
        return sum(turn.cost for turn in self.turns)

    @cached_property
    def unedited_cost(self) -> float:
        """Cost without memory, in an unlimited window."""
        return sum(turn.unedited_cost for turn in self.turns)

    @cached_property
    def truncated_cost(self) -> float:
        """Cost with plain truncation on every call."""
        return sum(turn.truncated_cost for turn in self.turns)

    @cached_property
    def compacted_cost(self) -> float:
        """Cost with plain compaction, summaries included."""
        return sum(turn.compacted_cost for turn in self.turns)

    @cached_property
    def cached_share(self) -> float:
        """Share of the sent tokens that the provider reads from its cache."""
        sent = sum(turn.tokens.after for turn in self.turns)
        return sum(turn.cached_tokens for turn in self.turns) / sent if sent else 0.0

    @property
    def overfull(self) -> int:
        """Number of turns whose unedited messages exceed the window."""
        window = self.window
        return 0 if window is None else sum(turn.tokens.before > window for turn in self.turns)

    @property
    def trims(self) -> int:
        """Number of turns with trimmed messages."""
        return sum(bool(turn.trimmed) for turn in self.turns)

    @property
    def breaks(self) -> int:
        """Number of turns that change the cached prefix."""
        return sum(turn.cache.first_changed is not None for turn in self.turns)

    @property
    def errors(self) -> int:
        """Number of failures, after which the messages were sent unedited."""
        return sum(len(turn.errors) for turn in self.turns)

    def latency(self, share: float = 0.5, step: str | None = None) -> float:
        """Return a quantile of the latency in milliseconds, in total or of one step.

        >>> Replay("s1", format="openai", messages=0, window=None, limit=None).latency(0.95)
        0.0
        """
        took = sorted(
            turn.latency if step is None else turn.milliseconds.get(step, 0.0)
            for turn in self.turns
        )
        return took[min(int(len(took) * share), len(took) - 1)] if took else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the replay as dictionaries and lists, with totals."""
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
                "compacted_cost": self.compacted_cost,
                "cached_share": self.cached_share,
                "latency_p50": self.latency(0.5),
                "latency_p95": self.latency(0.95),
            },
            "price": {"read": pricing.CACHE_READ, "write": pricing.CACHE_WRITE},
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the replay as JSON."""
        return json_text(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        return render(self)

    def __repr__(self) -> str:
        return f"<Replay of {self.name!r}: {len(self.turns)} turns, {self.trims} trims>"

    def _repr_html_(self) -> str:
        return tag("pre", str(self))


# `to_json` has the rest.
MAX_ROWS = 30
HEAD = ("turn", "messages", "in", "sent", "pruned", "trimmed", "recalled", "cached", "ms")


def render(replay: Replay) -> str:
    """Return the totals and the eventful turns as text."""
    return "\n".join([heading(replay), *_totals(replay), *_rows(replay)])


def heading(replay: Replay) -> str:
    """Return the name of the session, and its size and window."""
    window = "no window" if replay.window is None else f"window {replay.window:,}"
    limit = "" if replay.limit is None else f", trims above {replay.limit:,}"
    size = f"{format_count(replay.messages, 'message')}, {format_count(len(replay.turns), 'turn')}"
    name = f"{replay.name}\n{replay.source}" if replay.source else replay.name
    return f"{name} · {replay.format} · {size} · {window}{limit}"


def _totals(replay: Replay) -> Iterator[str]:
    if not replay.turns:
        return
    whole = replay.unedited_cost or 1.0
    yield (
        f"{format_count(replay.trims, 'trim')}, {format_count(replay.breaks, 'cache break')}, "
        f"{replay.cached_share:.0%} of all tokens read from the cache"
    )
    yield (
        f"input costs {replay.cost / whole:.2f}x the unedited session, "
        f"truncation {replay.truncated_cost / whole:.2f}x, compaction {replay.compacted_cost / whole:.2f}x"
    )
    yield (
        f"{format_count(replay.overfull, 'turn')} would not have fit unedited, "
        f"{format_count(len(replay.facts), 'fact')}, {replay.latency(0.5):.1f} ms at the median, "
        f"{replay.latency(0.95):.1f} ms at 95%"
    )
    if replay.errors:
        yield f"{format_count(replay.errors, 'error')}: {next(t.errors[0] for t in replay.turns if t.errors)}"
    if replay.skipped:
        yield f"{format_count(replay.skipped, 'line')} could not be read"


def _rows(replay: Replay) -> Iterator[str]:
    shown = [turn for turn in replay.turns if turn.is_eventful]
    if not shown:
        if replay.turns:
            yield "nothing was pruned, trimmed or recalled"
        return
    lines = [HEAD, *map(_cells, shown[:MAX_ROWS])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    yield ""
    for cells in lines:
        yield "  ".join(map(str.rjust, cells, widths))
    if len(shown) > MAX_ROWS:
        yield f"and {format_count(len(shown) - MAX_ROWS, 'more turn')}"


def _cells(turn: ReplayedTurn) -> Sequence[str]:
    tokens = turn.tokens
    return (
        str(turn.number),
        f"{turn.messages:,}",
        f"{tokens.before:,}",
        f"{tokens.after:,}",
        str(len(turn.pruned) or "-"),
        str(sum(len(gone.messages) for gone in turn.trimmed) or "-"),
        str(len(turn.recalled) or "-"),
        f"{turn.cached_tokens / tokens.after:.0%}" if tokens.after else "-",
        f"{turn.latency:.1f}",
    )
