"""A report as a table that a person reads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.turn.report import Cache, Report

LONGEST_QUERY = 60
# A table is for reading; `to_json` has the rest.
MOST_ROWS = 20


def render(report: Report) -> str:
    """All that the report says, a line each."""
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
        f"{report.shape} · {tokens.before} tokens in, {tokens.after} out{limit} · query {query!r}"
    )


def _rows(report: Report) -> Iterator[str]:
    for error in report.errors:
        yield f"error    {error}"
    for change in report.repaired:
        yield f"repaired {change.index:>6}  {change.message}"
    yield from _some(
        [
            f"pruned   {item.index:>6}  {item.tokens_before} -> {item.tokens_after} tokens, {item.form}"
            f"{'' if item.is_new else ', as before'}"
            for item in report.pruned
        ]
    )
    yield from _some(
        [
            f"trimmed  {_span(item.indices):>6}  {item.tokens} tokens, {item.reason}"
            for item in report.trimmed
        ]
    )
    yield from _some([f"kept     {item.index:>6}  {item.reason}" for item in report.protected])
    yield from _some(
        [
            f"recalled {_moment(item.timestamp)}  {item.role}, score {item.score:.2f}, match {item.match:.2f}"
            f"{', best passage' if item.is_cut else ''}"
            for item in report.recalled
        ]
    )
    if report.is_deferred:
        yield "trim     put off until the tool loop ends"
    yield from _cache(report.cache)


def _cache(cache: Cache) -> Iterator[str]:
    if cache.first_changed is not None:
        cold = ", cold anyway" if cache.is_cold else ""
        yield f"cache    {cache.first_changed:>6}  first changed, {cache.rewritten_tokens} tokens written again{cold}"
    if cache.stale_thinking:
        done = "taken out" if cache.thinking == "strip" else "stale, for the host to drop"
        yield f"thinking {_span(cache.stale_thinking):>6}  {done}"


def _some(rows: Sequence[str]) -> Sequence[str]:
    """The first rows, and how many more there are."""
    return (
        rows
        if len(rows) <= MOST_ROWS
        else [*rows[:MOST_ROWS], f"         and {len(rows) - MOST_ROWS} more"]
    )


def _span(indices: Sequence[int]) -> str:
    return str(indices[0]) if len(indices) == 1 else f"{indices[0]}-{indices[-1]}"


def _moment(timestamp: float | None) -> str:
    if timestamp is None:
        return " " * 16
    return datetime.fromtimestamp(timestamp / 1000, UTC).strftime("%Y-%m-%d %H:%M")
