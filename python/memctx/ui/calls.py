"""Calls of a replay: the figures of all of them, and what one was given and sent."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memctx.ui.backend import RequestError
from memctx.ui.replays import ADDED

if TYPE_CHECKING:
    from memctx.cli.replay import Replay
    from memctx.ui.replays import Job


def series_of(job: Job) -> dict[str, Any]:
    """Return the figures of every call, column by column."""
    turns = () if job.result is None else job.result.turns
    return {
        **job.status(),
        "totals": None if job.result is None else _totals(job.result),
        "window": None if job.result is None else job.result.window,
        "limit": None if job.result is None else job.result.limit,
        "calls": {
            "messages": [job.stored.count_before(each.messages) for each in turns],
            "before": [each.tokens.before for each in turns],
            "after": [each.tokens.after for each in turns],
            "recalled": [each.tokens.recalled for each in turns],
            "cached": [each.cached_tokens for each in turns],
            "cost": [round(each.cost) for each in turns],
            "trimmed": [sum(len(unit.messages) for unit in each.trimmed) for each in turns],
            "pruned": [len(each.pruned) for each in turns],
            "found": [len(each.recalled) for each in turns],
            "ms": [round(each.latency, 2) for each in turns],
        },
    }


def call_of(job: Job, number: int) -> dict[str, Any]:
    """Return one call, counted from 1: what was given, what was sent, and what memory decided."""
    turns = () if job.result is None else job.result.turns
    if not 1 <= number <= len(turns):
        raise RequestError(404, f"call is {number}; the replay has {len(turns)} calls")
    turn, numbers = turns[number - 1], job.stored.numbers
    sent: list[dict[str, Any]] = []
    for first, last in job.calls[number - 1]:
        if isinstance(last, str):
            kind = "recalled" if first < 0 else "edited"
            at = None if first < 0 else numbers[first]
            end = None if first < 0 else max(job.stored.count_before(first + 1) - 1, numbers[first])
            sent.append({"kind": kind, "first": at, "last": end, "text": last})
        else:
            until = job.stored.count_before(last + 1) - 1
            if until < numbers[first]:  # a call that the store has lost, before its result
                continue
            sent.append({"kind": "same", "first": numbers[first], "last": until, "text": None})
    return {
        "number": number,
        "given": job.stored.count_before(turn.messages),
        "query": turn.query,
        "tokens": asdict(turn.tokens),
        "cached": turn.cached_tokens,
        "rewritten": turn.cache.rewritten_tokens,
        "cost": turn.cost,
        "unedited_cost": turn.unedited_cost,
        "truncated_cost": turn.truncated_cost,
        "ms": turn.latency,
        "errors": list(turn.errors),
        "is_deferred": turn.is_deferred,
        "sent": sent,
        "recalled": [asdict(each) for each in turn.recalled],
        "sources": _sources(job, number),
        "pruned": [{"number": numbers[each.message], **asdict(each)} for each in turn.pruned],
        "trimmed": [{"number": numbers[each.messages[0]], **asdict(each)} for each in turn.trimmed],
    }


def _sources(job: Job, number: int) -> list[int]:
    """Return the numbers of the stored messages that the blocks of a call quote."""
    added = {
        job.texts[text][1]
        for first, text in job.calls[number - 1]
        if first == ADDED and isinstance(text, str)
    }
    return sorted({source for call in added for source in _sources_added(job, call)})


def _sources_added(job: Job, call: int) -> list[int]:
    """Return the numbers of the stored messages that the block quotes which a call added."""
    known = job.sources.get(call)
    if known is not None:
        return known
    turns = () if job.result is None else job.result.turns
    excerpts, flat = job.searchable()
    found: list[int] = []
    for item in turns[call - 1].recalled:
        if item.kind != "segment":
            continue
        passage = item.excerpt.removeprefix("… ").removesuffix("…")
        at = excerpts.get(item.excerpt)
        if at is None:
            at = next((index for index, text in enumerate(flat) if passage in text), None)
        if at is not None:
            found.append(job.stored.numbers[at])
    job.sources[call] = found
    return found


def _totals(result: Replay) -> dict[str, Any]:
    totals = result.to_dict()["totals"]
    recalls = sum(bool(turn.recalled) for turn in result.turns)
    sent = sum(turn.tokens.after for turn in result.turns)
    peak = max((turn.tokens.after for turn in result.turns), default=0)
    window = result.window
    oversized = 0 if window is None else sum(turn.tokens.after > window for turn in result.turns)
    return {
        **totals,
        "calls": len(result.turns),
        "recalls": recalls,
        "sent": sent,
        "peak": peak,
        "oversized": oversized,
        "facts": len(result.facts),
        "seconds": result.seconds,
    }
