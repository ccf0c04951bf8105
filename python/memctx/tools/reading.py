"""Tools that read: `memory_search`, `memory_get`, `memory_sessions`, `memory_status`."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from memctx._core import SearchFilter, estimate_tokens
from memctx.errors import ConfigError
from memctx.tools.arguments import parse_time
from memctx.tools.definition import ToolError
from memctx.tools.lookup import find_fact, find_segment, neighbors

if TYPE_CHECKING:
    from memctx._core import Fact, SearchHit, Segment
    from memctx.memory import Memory
    from memctx.tools.call import Call
    from memctx.tools.results import (
        FactItem,
        FoundFact,
        FoundMessage,
        FoundNote,
        GetResult,
        MessageItem,
        SearchResult,
        SessionItem,
        SessionsResult,
        StatusResult,
    )

MIN_SCORE = 0.001
"""Least score of a message, so that weak hits do not crowd out the others."""
HIT_TOKENS = 400
"""Most tokens of one hit; `memory_get` returns the rest."""
NEIGHBOR_TOKENS = 200
HISTORY_TOKENS = 100
LEAD_CHARS = 80
"""Characters before the best passage of a hit that are shown with it."""
FIRST_WORDS_CHARS = 120
SCAN_STEP = 1_000
"""Messages between two reports of progress."""


def search(call: Call, given: dict[str, Any]) -> SearchResult:
    """Search facts, notes and messages; the room is given to them in this order."""
    memory, query, limit, kind = call.memory, given["query"], given["limit"], given["kind"]
    session: str | None = given["session"]
    if session is not None:
        _check_session(memory, session)
    conditions = SearchFilter(
        session_id=session,
        roles=None if given["role"] is None else [given["role"]],
        since=parse_time("since", given["since"]),
        until=parse_time("until", given["until"]),
    )
    # Only messages have a role; facts and notes are not bound to a period.
    is_about_messages = any(given[name] is not None for name in ("role", "since", "until"))
    facts: list[FoundFact] = []
    notes: list[FoundNote] = []
    hits: list[SearchHit] = []
    if kind in {"all", "facts"} and not is_about_messages:
        found = memory.facts.search(query, limit=limit)
        facts = [
            {**fact_item(hit.fact), "score": round(hit.score, 3)}
            for hit in found
            if session in {None, hit.fact.session_id}
        ]
    if kind in {"all", "notes"} and not is_about_messages and session is None:
        passages = memory.search_workspace(query, limit)
        notes = [
            {"where": each.citation, "text": each.text, "score": round(each.score, 3)}
            for each in passages
        ]
    if kind in {"all", "messages"}:
        if given["everything"]:
            _index_everything(call)
        hits = memory.search(
            query,
            limit=limit,
            filter=conditions,
            min_score=MIN_SCORE,
            everything=given["everything"],
        )
    return {
        "facts": call.fit_all(facts, most=HIT_TOKENS),
        "notes": call.fit_all(notes, most=HIT_TOKENS),
        "messages": call.fit_all([_found_message(hit) for hit in hits], most=HIT_TOKENS),
        "omitted": call.omitted,
        "unsearched": _count_unsearched(memory),
    }


def get(call: Call, given: dict[str, Any]) -> GetResult:
    """Return a message from an offset on with its neighbors, or a fact with its earlier states."""
    memory, offset = call.memory, given["offset"]
    segment, fact = _find(memory, given["id"].lstrip("#"))
    if segment is None:
        return _get_fact(call, fact)
    content = segment.content
    if offset and offset >= len(content):
        raise ToolError(
            "invalid_argument",
            f"offset is {offset}; the text has {len(content)} characters",
            "Leave offset out, or pass the next_offset of the last answer.",
        )
    earlier, later = neighbors(memory, segment, given["neighbors"])
    # Half of the room is for the message, and neighbors take no more than the other half.
    reserved = call.tokens_left // 2
    call.tokens_left -= reserved
    after = call.fit_all([message_item(each) for each in later], most=NEIGHBOR_TOKENS)
    nearest_first = [message_item(each) for each in reversed(earlier)]
    before = call.fit_all(nearest_first, most=NEIGHBOR_TOKENS)[::-1]
    call.tokens_left += reserved
    rest: MessageItem = {**message_item(segment), "text": content[offset:]}
    shown = call.fit(rest)
    end = offset if shown is None else offset + len(shown["text"])
    return {
        "message": shown,
        "before": before,
        "after": after,
        "next_offset": end if end < len(content) else None,
        "fact": None,
        "history": [],
        "omitted": call.omitted,
    }


def sessions(call: Call, given: dict[str, Any]) -> SessionsResult:
    """List the sessions that the memory may read, newest first, from an offset on."""
    memory, offset, limit = call.memory, given["offset"], given["limit"]
    memory.store.refresh()
    total: int = memory.store.stats()["log_lines"]
    items: dict[str, SessionItem] = {}
    for number, segment in enumerate(memory.store.segments()):
        if not number % SCAN_STEP:
            call.advance(number, max(total, number))
        at = format_time(segment.timestamp)
        item = items.setdefault(
            segment.session_id,
            {
                "id": segment.session_id,
                "messages": 0,
                "tokens": 0,
                "first_time": at,
                "last_time": at,
                "first_words": "",
                "is_current": segment.session_id == memory.session_id,
            },
        )
        item["messages"] += 1
        item["tokens"] += segment.tokens
        item["first_time"] = min(item["first_time"], at)
        item["last_time"] = max(item["last_time"], at)
        if not item["first_words"] and segment.role == "user":
            item["first_words"] = " ".join(segment.content.split())[:FIRST_WORDS_CHARS]
    newest = sorted(items.values(), key=lambda each: each["last_time"], reverse=True)
    page = newest[offset : offset + limit]
    # At least one, so that paging comes to an end.
    shown = page[:1] + list(takewhile(call.take, page[1:]))
    end = offset + len(shown)
    return {
        "sessions": shown,
        "total": len(newest),
        "next_offset": end if end < len(newest) else None,
    }


def status(call: Call, given: dict[str, Any]) -> StatusResult:  # noqa: ARG001 - it takes no arguments
    """Return the state of the memory."""
    memory = call.memory
    stats, health = memory.stats(), memory.health()
    return {
        "session_id": memory.session_id,
        "reads_all_sessions": memory.config.cross_session,
        "is_ok": bool(health["ok"] and not health["degraded"]),
        "problems": [str(reason) for reason in health["reasons"]],
        "messages": stats["segments"] + stats["evicted"],
        "facts": len(memory.facts),
        "sessions": len(memory.store.sessions()),
        "disk_bytes": stats["disk"]["total"],
        "embedding_model": str(health["embedding"]["used"]),
    }


def message_item(segment: Segment) -> MessageItem:
    """Return a segment as an item of a result."""
    return {
        "id": segment.id,
        "session_id": segment.session_id,
        "role": segment.role,
        "time": format_time(segment.timestamp),
        "text": segment.content,
        "is_cut": False,
    }


def fact_item(fact: Fact) -> FactItem:
    """Return a fact as an item of a result."""
    return {
        "id": fact.id,
        "session_id": fact.session_id,
        "type": fact.type,
        "text": fact.content,
        "context": fact.context,
        "time": None if fact.timestamp is None else format_time(fact.timestamp),
        "is_active": fact.is_active,
    }


def format_time(milliseconds: float) -> str:
    """Return a time in UTC.

    >>> format_time(1_770_000_000_000)
    '2026-02-02T02:40:00Z'
    """
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, OSError, ValueError):  # written by another program
        return ""


def _found_message(hit: SearchHit) -> FoundMessage:
    """Return a hit from a little before its best passage on."""
    start = max(hit.passage[0] - LEAD_CHARS, 0)
    item = message_item(hit.segment)
    is_long = start > 0 and estimate_tokens(item["text"]) > HIT_TOKENS
    text = item["text"][start:] if is_long else item["text"]
    return {**item, "text": text, "is_cut": is_long, "score": round(hit.score, 3)}


def _get_fact(call: Call, fact: Fact | None) -> GetResult:
    shown = None if fact is None else call.fit(fact_item(fact))
    states = [] if fact is None else call.memory.facts.history(fact.id)
    # The newest state of the fact is the fact itself.
    earlier = [fact_item(each) for each in states if each != fact]
    return {
        "message": None,
        "before": [],
        "after": [],
        "next_offset": None,
        "fact": shown,
        "history": call.fit_all(earlier, most=HISTORY_TOKENS),
        "omitted": call.omitted,
    }


def _find(memory: Memory, id: str) -> tuple[Segment | None, Fact | None]:
    """Return the segment or the fact with an id or a prefix of one."""
    segment = memory.store.get(id)
    if segment is not None:
        return segment, None
    fact = memory.facts.get(id)
    if fact is not None:
        return None, fact
    problems: list[str] = []
    try:
        return find_segment(memory, id), None
    except ConfigError as error:
        problems.append(str(error))
    try:
        return None, find_fact(memory, id)
    except ConfigError as error:
        problems.append(str(error))
    # Two messages with the same beginning say more than no fact with it.
    raise ToolError(
        "not_found",
        next(
            (each for each in problems if "begin with it" in each),
            f"no message or fact has the id {id!r}",
        ),
        "Pass an id exactly as memory_search returned it. Other sessions may be out of reach: see memory_status.",
    )


def _check_session(memory: Memory, session: str) -> None:
    if session == memory.session_id or session in memory.store.sessions():
        return
    is_isolated = not memory.config.cross_session
    raise ToolError(
        "not_found",
        f"session is {session!r}; this memory cannot read such a session",
        "Leave session out: this memory reads its own session only (setting cross_session)."
        if is_isolated
        else "memory_sessions lists the sessions.",
    )


def _index_everything(call: Call) -> None:
    index = call.memory.store.disk_index()
    if index is None:
        raise ToolError(
            "unavailable",
            "everything is true, but the setting disk.index is off",
            "Leave everything out.",
        )
    call.advance(index.indexed_bytes, index.log_bytes)
    call.memory.store.catch_up(call.advance)


def _count_unsearched(memory: Memory) -> int:
    index = memory.store.disk_index()
    is_searched = index is not None and index.state != "absent"
    return 0 if is_searched else int(memory.store.stats()["evicted"])
