"""Verbs on the archive: `search`, `show`, `stats`, `reindex`, `reembed`."""

from __future__ import annotations

import time
from textwrap import indent
from typing import TYPE_CHECKING, Any, Unpack

from memctx.commands import finding, wording
from memctx.commands.outcome import Outcome, Part, Table
from memctx.errors import ConfigError
from memctx.memory import cold_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx import Memory, Segment, StoreHit
    from memctx._core import ColdStatus
    from memctx.memory import SearchOptions


def search(memory: Memory, query: str, **options: Unpack[SearchOptions]) -> Outcome:
    """The segments that answer a query, best first."""
    hits = memory.search(query, **options)
    evicted: int = memory.store.stats()["evicted"]
    cold = memory.store.cold()
    is_all = options.get("everything", False) or not evicted
    unsearched = () if is_all else _unsearched(evicted, cold)
    data = {
        "query": query,
        "hits": [_hit(hit) for hit in hits],
        "unsearched": 0 if is_all or _is_there(cold) else evicted,
        "cold": None if cold is None else cold_data(cold),
    }
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
    disk: dict[str, int] = data["disk"]
    cold = memory.store.cold()
    rows = (
        ("segments in memory", f"{data['segments']:,}"),
        ("passages", f"{data['passages']:,}"),
        ("left to the disk", f"{data['evicted']:,}"),
        ("sessions", f"{data['sessions']:,}"),
        ("lines of the log", f"{data['log_lines']:,}"),
        ("facts that hold", f"{facts['active']:,}"),
        ("facts superseded", f"{facts['superseded']:,}"),
        ("facts forgotten", f"{facts['forgotten']:,}"),
        *_indexed(cold),
        ("size of the log", wording.size(disk["log"])),
        ("size of the vectors", wording.size(disk["vectors"])),
        ("size of the facts", wording.size(disk["knowledge"])),
        ("size of the index", wording.size(disk["index"])),
        ("size of session files", wording.size(disk["sessions"])),
        ("size of all", wording.size(disk["total"])),
    )
    parts: tuple[Part, ...] = (Table(("count", "value"), rows, right=("value",)),)
    return Outcome(data, (*parts, *_fault(cold)))


def reindex(
    memory: Memory,
    *,
    anew: bool = False,
    on_progress: Callable[[int, int], object] | None = None,
) -> Outcome:
    """Index on disk what is not yet, or all of it ``anew``; ``on_progress`` is told bytes done and bytes in all."""
    began = time.monotonic()
    status = memory.store.catch_up(on_progress, anew=anew)
    if status is None:
        raise ConfigError("cold is False; expected the setting to be on, or nothing is indexed")
    seconds = time.monotonic() - began
    is_ok = _is_whole(status)
    data = {
        "store": memory.store.path,
        "is_ok": is_ok,
        "anew": anew,
        "seconds": round(seconds, 3),
        **cold_data(status),
    }
    told = f"{wording.counted(status.segments, 'segment')} in "
    told += f"{wording.counted(status.passages, 'passage')}, {wording.size(status.disk_bytes)}"
    how = f"in {wording.span(seconds)}" if is_ok else f"{_share(status)} of the log"
    return Outcome(data, (f"Indexed {how}: {told}.", *_fault(status)), is_ok=is_ok)


def reembed(memory: Memory, *, on_progress: Callable[[int, int], object] | None = None) -> Outcome:
    """Give everything its vectors, of the model that the settings name; told as `reindex` is."""
    began = time.monotonic()
    status = memory.reembed(on_progress)
    seconds = time.monotonic() - began
    is_ok = status.done_bytes >= status.log_bytes and not status.aside
    data = {
        "store": memory.store.path,
        "is_ok": is_ok,
        "seconds": round(seconds, 3),
        "model": status.model,
        "revision": status.revision,
        "dim": status.dim,
        "done_bytes": status.done_bytes,
        "log_bytes": status.log_bytes,
        "aside": status.aside,
    }
    told = f"Everything has vectors of {status.model}, {status.dim} values each"
    left = f"; {wording.counted(status.aside, 'passage')} could not be embedded"
    lines = (f"{told}{left if status.aside else ''} ({wording.span(seconds)}).",)
    return Outcome(data, lines, is_ok=is_ok)


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


def _is_there(cold: ColdStatus | None) -> bool:
    return cold is not None and cold.state != "absent"


def _is_whole(cold: ColdStatus) -> bool:
    return cold.state != "absent" and cold.indexed_bytes >= cold.log_bytes


def _unsearched(evicted: int, cold: ColdStatus | None) -> tuple[str, ...]:
    """What a search that did not wait for the disk has left out, as far as that is known."""
    older = wording.counted(evicted, "older segment")
    if cold is None:
        return (f"{older} are on disk only and were not searched.",)
    if cold.state == "absent":
        why = "" if cold.fault is None else f" ({cold.fault})"
        return (f"{older} are on disk only and not indexed yet{why}; --all searches them.",)
    if not _is_whole(cold):
        return (f"The log is indexed to {_share(cold)}; --all searches all of the {older}.",)
    return ()


def _indexed(cold: ColdStatus | None) -> tuple[tuple[str, str], ...]:
    """How far the index on disk is."""
    if cold is None:
        return (("index on disk", "off"),)
    return (
        ("index on disk", cold.state),
        ("log indexed", _share(cold)),
        ("segments indexed", f"{cold.segments:,}"),
        ("passages indexed", f"{cold.passages:,}"),
        ("passages in graphs", f"{cold.graph_passages:,}"),
    )


def _share(cold: ColdStatus) -> str:
    """How much of the log is indexed; less than all of it is never shown as all of it."""
    share = cold.indexed_bytes / cold.log_bytes if cold.log_bytes else 1.0
    return f"{int(100 * share)} %"


def _fault(cold: ColdStatus | None) -> tuple[str, ...]:
    return () if cold is None or cold.fault is None else (f"Index on disk: {cold.fault}",)


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
