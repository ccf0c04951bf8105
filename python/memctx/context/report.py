"""`Report`: the changes that a turn made to the messages, with reasons and costs; as objects, JSON or a table.

>>> report = Report(format="openai", find_query=lambda: "which port?", tokens=Tokens(before=120, after=120))
>>> report.trimmed, report.errors
((), ())
>>> print(report)
openai · 120 tokens in, 120 out · query 'which port?'
nothing changed
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, overload

from memctx.context.formatting import MOST_ROWS, SHORT_ID, format_moment, format_span, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.messages import Change

__all__ = [
    "Cache",
    "LeftOut",
    "Protected",
    "Pruned",
    "Recalled",
    "Report",
    "Tokens",
    "Trimmed",
    "Unsearched",
]

Unsearched: TypeAlias = Literal["late", "unindexed", "unavailable"]
"""Part of the messages on disk that a search did not cover.

``late``: all, since the disk index did not answer in time; its answer serves the next step. ``unindexed``: those that
are not indexed yet. ``unavailable``: all, since there is no index yet or it is being rebuilt.
"""

LISTS = ("pruned", "trimmed", "recalled", "left_out", "protected")
LONGEST_QUERY = 60
# Items left out that a table names; `to_json` has the rest.
MOST_NAMED = 3
# Words of the query that a reason names, and characters of a recalled text in a table.
MOST_WORDS, EXCERPT = 6, 80

Reason: TypeAlias = Literal[
    "visible",
    "in an earlier block",
    "duplicate",
    "corrected",
    "replaced",
    "past question",
    "adds little",
    "no room",
    "prompt cache",
    "not sure",
]
"""Reasons why something that was found is not recalled."""

T = TypeVar("T")


class LazyList(Sequence[T]):
    """A sequence that is built when it is first read: turns are many, and few reports are read."""

    __slots__ = ("_build", "_items")

    def __init__(self, build: Callable[[], tuple[T, ...]]) -> None:
        self._build = build
        self._items: tuple[T, ...] | None = None

    @property
    def items(self) -> tuple[T, ...]:
        """All items."""
        if self._items is None:
            self._items = self._build()
        return self._items

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence):
            return self.items == tuple(cast("Sequence[object]", other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.items)

    def __repr__(self) -> str:
        return repr(self.items)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Cost of the messages after each step, by our estimate."""

    before: int
    """Cost of the given messages, without recalled blocks."""
    pruned: int = 0
    """Tokens saved by shortened tool results."""
    trimmed: int = 0
    """Cost of the removed messages."""
    recalled: int = 0
    """Cost of all recalled blocks."""
    after: int = 0
    """Cost of the messages that are sent."""
    excess: int = 0
    """The provider's count beyond our estimate, at the last call of `Memory.observe`."""
    limit: int | None = None
    """Cost above which a trim starts; None without a window."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """A tool result that is sent shortened."""

    index: int
    """Index of the message in the given list."""
    form: Literal["soft", "clear"]
    """Head and tail kept, or all of it cleared."""
    tokens_before: int
    tokens_after: int
    is_new: bool
    """True if this turn decided it; otherwise it is sent as in earlier turns."""


_CRITERIA = {
    "oversized": "too large for the window",
    "replaced": "replaced since",
    "relevance": "least relevant",
}


@dataclass(frozen=True, slots=True)
class Trimmed:
    """Messages that are not sent: one message, or a tool call with all its results."""

    indices: tuple[int, ...]
    """Indices of the messages in the given list."""
    tokens: int
    score: float
    """Relevance to the query of the turn that decided it."""
    layer: str
    """Criterion: ``replaced`` by something said later, ``relevance``, ``age``, or ``oversized`` for what is protected
    while the request fits the window."""
    is_new: bool
    """True if this turn decided it."""

    @property
    def reason(self) -> str:
        """Criterion and score in words."""
        why = _CRITERIA.get(self.layer, "oldest")
        return f"{why}, score {self.score:.2f}" if self.is_new else f"{why} in an earlier turn"


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recalled segment or fact."""

    id: str
    """Id of the segment or fact."""
    role: str
    """Role of the speaker; the type of a fact."""
    timestamp: float | None
    """Time in milliseconds since the epoch."""
    score: float
    """Probability that it answers the query, from 0 to 1."""
    openclaw_score: float
    """Score by the formula of OpenClaw's `memory-context` plugin, without its age term."""
    is_cut: bool
    """True if only its best passage fits."""
    companion_of: str | None = None
    """Id of the segment that it is shown beside, such as the call of a result; its scores are those of that segment.
    None for what was found itself."""
    text: str = field(default="", repr=False)
    """Its text, secrets masked; of one that is cut, the best passage."""
    similarity: float | None = None
    """Cosine of its vector and that of the query; None for a fact, and where there was no vector."""
    words: tuple[str, ...] = ()
    """Its words that the query asks for."""

    @property
    def reason(self) -> str:
        """The reason why it is recalled, in words.

        >>> Recalled("a", "user", None, 0.9, 0.8, is_cut=False, similarity=0.71, words=("port", "webhook")).reason
        'score 0.90: port, webhook; similarity 0.71'
        """
        if self.companion_of is not None:
            return f"belongs to {self.companion_of[:SHORT_ID]}"
        similar = () if self.similarity is None else (f"similarity {self.similarity:.2f}",)
        words = (", ".join(self.words[:MOST_WORDS]),) if self.words else ()
        why = "; ".join((*words, *similar)) or "no word in common"
        return f"score {self.score:.2f}: {why}"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A segment or fact that was found and is not recalled."""

    id: str
    """Id of the segment or fact."""
    role: str
    """Role of the speaker; the type of a fact."""
    score: float
    """Probability that it answers the query, from 0 to 1."""
    reason: Reason
    """``duplicate`` of what ``of`` says; ``corrected`` if the conversation contradicts the fact; ``replaced`` by what
    was said later; ``past question`` if it asks what is asked; ``adds little`` beside better ones; ``prompt cache`` if
    it was found in the middle of a tool loop, and adding it would have written much of the prompt again; ``not sure``
    if nothing answers the question surely enough (`recall.min_score`)."""
    of: str | None = None
    """Id of the segment that it repeats or that replaces it, if it is one that was found."""


@dataclass(frozen=True, slots=True)
class Protected:
    """A message that a trim had to keep."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True)
class Cache:
    """Effect of a turn on the provider's prompt cache."""

    stable_prefix: int = 0
    """Number of messages at the start that are sent as in the turn before."""
    first_changed: int | None = None
    """First message of the last turn that is sent differently now; None if there is none."""
    rewritten_tokens: int = 0
    """Tokens that were sent before and must be written to the cache again."""
    stale_thinking: tuple[int, ...] = ()
    """Indices in the given list of messages whose signed thinking was bound to changed messages."""
    thinking: Literal["strip", "report"] = "strip"
    """Handling of that thinking: removed, or left for the host to drop."""
    is_cold: bool = False
    """True if the cache had expired anyway."""


@dataclass(frozen=True, repr=False)
class Report:
    """Changes made by `Memory.prepare`. It prints as a table; `to_json` has everything."""

    format: str
    find_query: Callable[[], str] = field(default=str, repr=False, compare=False)
    """Returns the query, when it is first read: masking takes about 0.3 ms, and few reports are read."""
    tokens: Tokens = field(default_factory=lambda: Tokens(0))
    pruned: Sequence[Pruned] = ()
    trimmed: Sequence[Trimmed] = ()
    recalled: Sequence[Recalled] = ()
    """Items recalled in this turn; blocks of earlier turns that are sent again are not listed."""
    left_out: Sequence[LeftOut] = ()
    """The best items that a search of this turn found and that are not recalled. Segments that were known to be visible
    before the search are not among them. Where the search was sure of nothing, the best are looked up when this is
    first read; none once the memory is closed."""
    protected: Sequence[Protected] = ()
    """Messages that a trim had to keep; empty where no trim was due."""
    unsearched: Unsearched | None = None
    """Part of the messages on disk that the search for recalled text did not cover; ``degraded`` says it in words."""
    repaired: tuple[Change, ...] = ()
    """Repairs of invalid messages."""
    cache: Cache = field(default_factory=Cache)
    archived: int = 0
    """Number of messages that the turn archives: those it sees for the first time or, with ``capture="evicted"``,
    those that leave the context, whole or in part."""
    is_deferred: bool = False
    """True if a trim is due and waits for the end of the tool loop."""
    is_over_limit: bool = False
    """True if more is sent than the limit allows, since there was too little to trim; ``errors`` has the numbers."""
    degraded: tuple[str, ...] = ()
    """Shortcomings of the turn, such as a query vector or a disk index that was late, or a request over the limit."""
    warnings: tuple[str, ...] = ()
    """Advice to the host, such as a missing setting. Each is given once."""
    errors: tuple[str, ...] = ()
    """Failures. If memory failed before the messages were ready, they are sent unchanged."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """Duration of each step."""

    @cached_property
    def query(self) -> str:
        """Query of the search, secrets masked as in stored text, cut if it is long."""
        return self.find_query()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain dictionaries and lists."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        del values["find_query"]
        items = {name: [asdict(item) for item in values[name]] for name in LISTS}
        for item, recalled in zip(items["recalled"], self.recalled, strict=True):
            item["reason"] = recalled.reason
        return {
            "format": self.format,
            "query": self.query,
            **values,
            **items,
            "tokens": asdict(self.tokens),
            "cache": asdict(self.cache),
            "repaired": [(change.index, change.code, change.message) for change in self.repaired],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the report as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def span_attributes(self) -> dict[str, int]:
        """Return the counts for a span of OpenTelemetry."""
        tokens, prefix = self.tokens, "memctx."
        return {
            f"{prefix}tokens.before": tokens.before,
            f"{prefix}tokens.after": tokens.after,
            f"{prefix}tokens.recalled": tokens.recalled,
            f"{prefix}recalled": len(self.recalled),
            f"{prefix}trimmed": sum(each.is_new for each in self.trimmed),
            f"{prefix}pruned": sum(each.is_new for each in self.pruned),
            f"{prefix}errors": len(self.errors),
        }

    def decisions(self) -> Iterator[str]:
        """Yield a line for each decision, as `str` has them."""
        return _rows(self)

    def __str__(self) -> str:
        return _render(self)

    def __repr__(self) -> str:
        """Return the counts; `str` has the table."""
        tokens = self.tokens
        counts = {"pruned": self.pruned, "trimmed": self.trimmed, "recalled": self.recalled}
        done = "".join(f", {len(items)} {name}" for name, items in counts.items() if items)
        failed = ", failed" if self.errors else ""
        return f"<Report: {tokens.before} tokens in, {tokens.after} out{done}{failed}>"

    def _repr_html_(self) -> str:
        from memctx.context.report_html import report_html  # noqa: PLC0415 - for notebooks only

        return report_html(self)


def _render(report: Report) -> str:
    """Format a report as a table for people."""
    lines = [_heading(report), *_rows(report)]
    if len(lines) == 1:
        lines.append("nothing changed")
    if report.milliseconds:
        steps = ", ".join(f"{step} {took:.2f}" for step, took in report.milliseconds.items())
        lines.append(f"time     {sum(report.milliseconds.values()):.2f} ms: {steps}")
    return "\n".join(lines)


def _heading(report: Report) -> str:
    query = (
        report.query if len(report.query) <= LONGEST_QUERY else f"{report.query[:LONGEST_QUERY]}…"
    )
    tokens = report.tokens
    limit = "" if tokens.limit is None else f", limit {tokens.limit}"
    return (
        f"{report.format} · {tokens.before} tokens in, {tokens.after} out{limit} · query {query!r}"
    )


def _rows(report: Report) -> Iterator[str]:
    for error in report.errors:
        yield f"error    {error}"
    for reason in report.degraded:
        yield f"degraded {reason}"
    for warning in report.warnings:
        yield f"warning  {warning}"
    for change in report.repaired:
        yield f"repaired {change.index:>6}  {change.message}"
    yield from _limit_rows(
        [
            f"pruned   {item.index:>6}  {item.tokens_before} -> {item.tokens_after} tokens, {item.form}"
            for item in report.pruned
            if item.is_new
        ]
    )
    if shortened := sum(not item.is_new for item in report.pruned):
        yield f"pruned   {shortened:>6}  tool results in earlier turns"
    yield from _limit_rows(
        [
            f"trimmed  {format_span(item.indices):>6}  {item.tokens} tokens, {item.reason}"
            for item in report.trimmed
            if item.is_new
        ]
    )
    earlier = [item for item in report.trimmed if not item.is_new]
    if earlier:
        count, tokens = (
            sum(len(item.indices) for item in earlier),
            sum(each.tokens for each in earlier),
        )
        yield f"trimmed  {count:>6}  messages of {tokens} tokens in earlier turns"
    yield from _limit_rows(
        [f"kept     {item.index:>6}  {item.reason}" for item in report.protected]
    )
    yield from _limit_rows(
        [
            f"recalled {format_moment(item.timestamp)}  {item.role} #{item.id[:SHORT_ID]}, {item.reason}"
            f"{', best passage' if item.is_cut else ''}\n{'':9}{shorten(item.text, EXCERPT)}"
            for item in report.recalled
        ]
    )
    yield from _left_out(report.left_out)
    if report.is_deferred:
        yield "trim     deferred until the tool loop ends"
    yield from _cache(report.cache)


def _left_out(items: Sequence[LeftOut]) -> Iterator[str]:
    if items:
        counts = Counter(item.reason for item in items).most_common()
        best = ", ".join(
            f"{item.id[:SHORT_ID]} {item.role} {item.score:.2f} {item.reason}"
            for item in items[:MOST_NAMED]
        )
        yield f"left out {', '.join(f'{count} {reason}' for reason, count in counts)}; best: {best}"


def _cache(cache: Cache) -> Iterator[str]:
    if cache.first_changed is not None:
        cold = ", cold anyway" if cache.is_cold else ""
        yield f"cache    {cache.first_changed:>6}  first changed, {cache.rewritten_tokens} tokens written again{cold}"
    if cache.stale_thinking:
        done = "removed" if cache.thinking == "strip" else "stale, left for the host to drop"
        yield f"thinking {format_span(cache.stale_thinking):>6}  {done}"


def _limit_rows(rows: Sequence[str]) -> Sequence[str]:
    """Return the first rows, and the number of further ones."""
    return (
        rows
        if len(rows) <= MOST_ROWS
        else [*rows[:MOST_ROWS], f"         and {len(rows) - MOST_ROWS} more"]
    )
