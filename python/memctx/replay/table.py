"""A replay as a table that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.replay.number import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.replay.result import Replay, ReplayedTurn

# A table is for reading; `to_json` has the rest.
MOST_ROWS = 30
HEAD = ("turn", "messages", "in", "sent", "pruned", "trimmed", "recalled", "cached", "ms")


def render(replay: Replay) -> str:
    """What it comes to, and the turns in which something was decided."""
    return "\n".join([heading(replay), *_totals(replay), *_rows(replay)])


def heading(replay: Replay) -> str:
    """What was replayed, and in which window."""
    window = "no window" if replay.window is None else f"window {replay.window:,}"
    limit = "" if replay.limit is None else f", trims above {replay.limit:,}"
    size = f"{counted(replay.messages, 'message')}, {counted(len(replay.turns), 'turn')}"
    return f"{replay.name} · {replay.shape} · {size} · {window}{limit}"


def _totals(replay: Replay) -> Iterator[str]:
    if not replay.turns:
        return
    whole = replay.unedited_cost or 1.0
    yield (
        f"{counted(replay.trims, 'trim')}, {counted(replay.breaks, 'cache break')}, {replay.cached_share:.0%} of all"
        f" tokens read from the cache"
    )
    yield (
        f"input costs {replay.cost / whole:.2f}x the unedited session, truncation {replay.truncated_cost / whole:.2f}x"
    )
    yield (
        f"{counted(replay.overfull, 'turn')} would not have fitted as they were, {counted(len(replay.facts), 'fact')},"
        f" {replay.latency(0.5):.1f} ms at the median, {replay.latency(0.95):.1f} ms at 95 %"
    )
    if replay.errors:
        yield f"{counted(replay.errors, 'error')}: {next(t.errors[0] for t in replay.turns if t.errors)}"
    if replay.skipped:
        yield f"{counted(replay.skipped, 'line')} could not be read"


def _rows(replay: Replay) -> Iterator[str]:
    shown = [turn for turn in replay.turns if turn.is_eventful]
    if not shown:
        if replay.turns:
            yield "nothing was pruned, trimmed or recalled"
        return
    lines = [HEAD, *map(_cells, shown[:MOST_ROWS])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    yield ""
    for cells in lines:
        yield "  ".join(map(str.rjust, cells, widths))
    if len(shown) > MOST_ROWS:
        yield f"and {counted(len(shown) - MOST_ROWS, 'more turn')}"


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
