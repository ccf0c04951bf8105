"""Verbs on the archive: `search`, `show`."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, Unpack

from memctx import _core, tools
from memctx._session import disk_index_data
from memctx.cli.formatting import Table, excerpt, format_count, format_time, shorten_id
from memctx.cli.naming import SessionName
from memctx.cli.verbs.outcome import Outcome
from memctx.cli.verbs.store import (
    MAX_NAME,
    catch_up,
    format_indexed_share,
    is_index_present,
    is_indexed,
)
from memctx.context import matched_words
from memctx.hosts.hooks import find_records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memctx._core import DiskIndexStatus, SearchHit, Segment
    from memctx.cli.verbs.request import Request
    from memctx.hosts.hooks import SessionRecord
    from memctx.memory import Memory, SearchOptions


def search(  # noqa: PLR0913 - one for each flag
    request: Request,
    query: str,
    *,
    roles: Sequence[str] | None = None,
    topics: Sequence[str] | None = None,
    since: float | None = None,
    until: float | None = None,
    **options: Unpack[SearchOptions],
) -> Outcome:
    """Search the archive, best matches first; with ``everything``, index what is not indexed yet."""
    options["filter"] = _core.SearchFilter(roles=roles, topics=topics, since=since, until=until)
    with request.open_memory() as memory:
        if options.get("everything", False):
            with request.progress("Indexing") as advance:
                catch_up(memory, advance)
        return search_archive(memory, query, **options)


def search_archive(memory: Memory, query: str, **options: Unpack[SearchOptions]) -> Outcome:
    """Return the hits of a query and, as far as known, what was not searched."""
    hits = memory.search(query, **options)
    evicted: int = memory.store.stats()["evicted"]
    index = memory.store.disk_index()
    is_all = options.get("everything", False) or not evicted
    unsearched = () if is_all else _describe_unsearched(evicted, index)
    lacking = memory.store.embedding().lacking
    notes = (*unsearched, *_describe_lacking(lacking))
    data = {
        "query": query,
        "hits": [_hit_data(hit) for hit in hits],
        "lacking": lacking,
        "unsearched": 0 if is_all or is_index_present(index) else evicted,
        "disk_index": None if index is None else disk_index_data(index),
    }
    if not hits:
        nothing = f"Nothing found for {excerpt(query)!r}."
        return Outcome(data, (nothing, *notes), is_ok=False)
    explanations = tuple(
        f"{shorten_id(hit.segment.id)}\n{hit.explanation}" for hit in hits if hit.explanation
    )
    table = hit_table(hits, query, _session_names(memory, hits))
    return Outcome(data, (table, *explanations, *notes))


def show(request: Request, id: str, *, neighbors: int = 2) -> Outcome:
    """Show one segment in full, between its neighbors."""
    with request.open_memory() as memory:
        found = tools.find_segment(memory, id)
        before, after = tools.neighbors(memory, found, neighbors)
    data = {
        "segment": segment_data(found),
        "before": [segment_data(each) for each in before],
        "after": [segment_data(each) for each in after],
    }
    parts = (
        *(_format_segment(each, " ") for each in before),
        _format_segment(found, ">"),
        *(_format_segment(each, " ") for each in after),
    )
    return Outcome(data, parts)


def hit_table(
    hits: Sequence[SearchHit], query: str, sessions: Mapping[str, str] | None = None
) -> Table:
    """Return a table of hits: score, the name of the session if ``sessions`` has any, and the best passage."""
    names = sessions or {}
    texts = [excerpt(hit.segment.content, hit.passage[0]) for hit in hits]
    rows = tuple(
        (
            shorten_id(hit.segment.id),
            format_time(hit.segment.timestamp),
            hit.segment.role,
            f"{hit.score:.2f}" if not hit.distance else "near",
            *((excerpt(names[hit.segment.session_id], longest=MAX_NAME),) if names else ()),
            text,
        )
        for hit, text in zip(hits, texts, strict=True)
    )
    headings = ("id", "when", "role", "score", *(("session",) if names else ()), "text")
    marked = dict.fromkeys(word for text in texts for word in matched_words(query, text))
    return Table(headings, rows, right=("score",), marked=tuple(marked))


def _session_names(memory: Memory, hits: Sequence[SearchHit]) -> dict[str, str]:
    """Return the names of the sessions of hits by id; none if all are of one session."""
    ids = dict.fromkeys(hit.segment.session_id for hit in hits)
    if len(ids) == 1:
        return {}
    records = find_records(Path(memory.store.path))
    return {each: _name_of(records.get(each)) or each for each in ids}


def _name_of(record: SessionRecord | None) -> str:
    if record is None:
        return ""
    return str(SessionName(record.host, record.project, record.title, record.first_prompt))


def segment_data(segment: Segment) -> dict[str, Any]:
    """Return a segment as a dictionary."""
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


def _describe_unsearched(evicted: int, index: DiskIndexStatus | None) -> tuple[str, ...]:
    """Describe what a search that did not wait for the disk index left out."""
    older = format_count(evicted, "older segment")
    if index is None:
        return (f"{older} are on disk only and were not searched.",)
    if index.state == "absent":
        why = "" if index.fault is None else f" ({index.fault})"
        return (f"{older} are on disk only and not indexed yet{why}; --all searches them.",)
    if not is_indexed(index):
        share = format_indexed_share(index)
        return (f"The log is indexed to {share}; --all searches all of the {older}.",)
    return ()


def _describe_lacking(lacking: int) -> tuple[str, ...]:
    """Describe the passages that are found by their words only."""
    if not lacking:
        return ()
    return (
        f"{format_count(lacking, 'passage')} without vectors: run `memctx reembed` to find other words, too.",
    )


def _hit_data(hit: SearchHit) -> dict[str, Any]:
    explanation = {} if hit.explanation is None else {"explanation": hit.explanation.to_dict()}
    return {
        "segment": segment_data(hit.segment),
        "score": hit.score,
        "vector": hit.vector,
        "bm25": hit.bm25,
        "distance": hit.distance,
        "passage": list(hit.passage),
        **explanation,
    }


def _format_segment(segment: Segment, mark: str) -> str:
    when = format_time(segment.timestamp)
    head = f"{mark} {segment.id}  {when}  {segment.role}  {segment.session_id}"
    return f"{head}\n{indent(segment.content, '    ')}"
