"""Reports in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx._html import Markup, join, marked, table, tag
from memctx.context.formatting import MOST_ROWS, SHORT_ID, format_moment, format_span, shorten
from memctx.context.words import matched_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

EXCERPT = 240


def report_html(report: Any) -> str:  # noqa: ANN401 - a `Report`, which imports this file
    """Return a report as a table: failures first, then what was recalled, trimmed and shortened."""
    tokens = report.tokens
    limit = "" if tokens.limit is None else f", limit {tokens.limit:,}"
    caption = join(
        tag("strong", f"{tokens.before:,} tokens in, {tokens.after:,} out{limit}"),
        f" · {report.format} · {shorten(report.query, EXCERPT)}" if report.query else "",
    )
    rows = list(_rows(report))
    if not rows:
        return tag("div", caption, " · nothing changed")
    return table(caption, ("", "what", "why"), rows)


def _rows(report: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    for name, texts in (
        ("error", report.errors),
        ("degraded", report.degraded),
        ("warning", report.warnings),
    ):
        yield from ((name, text, "") for text in texts)
    yield from (
        ("repaired", f"message {each.index}", each.message) for each in report.repaired[:MOST_ROWS]
    )
    for item in report.recalled[:MOST_ROWS]:
        text = shorten(item.text, EXCERPT)
        shown = marked(text, matched_spans(report.query, text))
        head = f"{format_moment(item.timestamp)} {item.role} #{item.id[:SHORT_ID]}".strip()
        yield "recalled", join(shown, Markup("<br>"), tag("small", head)), item.reason
    new = [item for item in report.trimmed if item.is_new]
    yield from (
        ("trimmed", f"message {format_span(each.indices)}, {each.tokens:,} tokens", each.reason)
        for each in new[:MOST_ROWS]
    )
    if len(new) > MOST_ROWS:
        yield "trimmed", f"and {len(new) - MOST_ROWS:,} more", ""
    if earlier := len(report.trimmed) - len(new):
        yield "trimmed", f"{earlier:,} in earlier turns", ""
    if report.pruned:
        saved = sum(item.tokens_before - item.tokens_after for item in report.pruned)
        yield "pruned", f"{len(report.pruned):,} tool results", f"{saved:,} tokens saved"
