"""Verbs on the archive: `search`, `show`, `stats`."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, Any, Unpack

from memctx.commands import finding, wording
from memctx.commands.outcome import Outcome, Table

if TYPE_CHECKING:
    from memctx import Memory, Segment, StoreHit
    from memctx.memory import SearchOptions


def search(memory: Memory, query: str, **options: Unpack[SearchOptions]) -> Outcome:
    """The segments that answer a query, best first."""
    hits = memory.search(query, **options)
    evicted: int = memory.store.stats()["evicted"]
    told = f"{wording.counted(evicted, 'older segment')} are on disk only and were not searched."
    unsearched = (told,) if evicted else ()
    data = {"query": query, "hits": [_hit(hit) for hit in hits], "unsearched": evicted}
    if not hits:
        nothing = f"Nothing found for {wording.excerpt(query)!r}."
        return Outcome(data, (nothing, *unsearched), is_ok=False)
    why = tuple(
        f"{wording.short(hit.segment.id)}\n{hit.explanation}" for hit in hits if hit.explanation
    )
    return Outcome(data, (hit_table(hits), *why, *unsearched))


def show(memory: Memory, id: str, *, neighbours: int = 2) -> Outcome:
    """One segment in full, with what was said around it."""
    found = finding.segment(memory, id)
    near = memory.store.neighbours(found.id, neighbours) if neighbours > 0 else []
    place = _before(memory, found, near) if near else 0
    data = {
        "segment": segment_data(found),
        "before": [segment_data(each) for each in near[:place]],
        "after": [segment_data(each) for each in near[place:]],
    }
    around = [
        *(_told(each, " ") for each in near[:place]),
        _told(found, ">"),
        *(_told(each, " ") for each in near[place:]),
    ]
    return Outcome(data, tuple(around))


def stats(memory: Memory) -> Outcome:
    """Counts of what the store holds."""
    data = memory.stats()
    facts: dict[str, Any] = data["facts"]
    rows = (
        ("segments in memory", f"{data['segments']:,}"),
        ("passages", f"{data['passages']:,}"),
        ("left to the disk", f"{data['evicted']:,}"),
        ("sessions", f"{data['sessions']:,}"),
        ("lines of the log", f"{data['log_lines']:,}"),
        ("size of the log", wording.size(data["log_bytes"])),
        ("facts that hold", f"{facts['active']:,}"),
        ("facts superseded", f"{facts['superseded']:,}"),
        ("facts forgotten", f"{facts['forgotten']:,}"),
        ("size of the facts", wording.size(facts["log_bytes"])),
    )
    return Outcome(data, (Table(("count", "value"), rows, right=("value",)),))


def hit_table(hits: list[StoreHit]) -> Table:
    """Hits for people."""
    rows = tuple(
        (
            wording.short(hit.segment.id),
            wording.moment(hit.segment.timestamp),
            hit.segment.role,
            f"{hit.score:.2f}" if not hit.distance else "near",
            wording.excerpt(hit.segment.content, hit.passage[0]),
        )
        for hit in hits
    )
    return Table(("id", "when", "role", "score", "text"), rows, right=("score",))


def segment_data(segment: Segment) -> dict[str, Any]:
    """All of a segment."""
    return {
        "id": segment.id,
        "session_id": segment.session_id,
        "timestamp": segment.timestamp,
        "role": segment.role,
        "content": segment.content,
        "tokens": segment.tokens,
        "topics": segment.topics,
        "metadata": segment.metadata,
    }


def _hit(hit: StoreHit) -> dict[str, Any]:
    explanation = {} if hit.explanation is None else {"explanation": hit.explanation.to_dict()}
    return {
        "segment": segment_data(hit.segment),
        "score": hit.score,
        "match": hit.match,
        "vector": hit.vector,
        "bm25": hit.bm25,
        "distance": hit.distance,
        "passage": list(hit.passage),
        **explanation,
    }


def _told(segment: Segment, mark: str) -> str:
    when = wording.moment(segment.timestamp)
    head = f"{mark} {segment.id}  {when}  {segment.role}  {segment.session_id}"
    return f"{head}\n{indent(segment.content, '    ')}"


def _before(memory: Memory, found: Segment, near: list[Segment]) -> int:
    """How many of its neighbours, which come in order, stand before a segment."""
    next_to = [each.id for each in memory.store.neighbours(found.id, 1)]
    ids = [each.id for each in near]
    if len(next_to) > 1:
        return ids.index(next_to[1])
    if len(near) > 1:  # it is the first or the last of its session
        return 0 if ids[0] == next_to[0] else len(near)
    pair = {found.id, *ids}
    first = next((each.id for each in memory.store.segments() if each.id in pair), found.id)
    return 0 if first == found.id else len(near)
