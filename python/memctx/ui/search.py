"""Search as you type: hits with their passages, highlights, and the breakdown of each score."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.ui.facts import describe_fact
from memctx.ui.transcript import describe_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx._core import Fact, SearchHit, Segment
    from memctx.ui.backend import Backend
    from memctx.ui.parameters import Parameters

EXCERPT = 400
"""Characters of a passage that are shown, and characters before it."""
LEAD = 60
MAX_FACTS = 5
MAX_CANDIDATES = 1_000
"""Facts that are looked at for those of a session and a time."""
TELLING = 4
"""Letters from which on a word is likely to mean something."""
WORD = re.compile(r"\w+")
CERTAINTY, SHARE = "sure that the query is answered", "share of the best rank"
"""Names in the explanation of a score, and the levels on which they are."""
DEPTH = 2


def search_messages(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return the messages and facts that answer a query best, with reasons."""
    query = given.text("query")
    wanted = _core.SearchFilter(
        session_id=given.optional("session"),
        roles=_list(given.optional("role")),
        topics=_list(given.optional("topic")),
        since=given.number("since"),
        until=given.number("until"),
    )
    memory = backend.memories.reader()
    limit = given.integer("limit", 12, at_least=1, at_most=100)
    hits = memory.search(query, limit=limit, filter=wanted, explain=True)
    candidates = memory.facts.search(query, limit=MAX_CANDIDATES)
    facts = [hit for hit in candidates if _admits(wanted, hit.fact)]
    logs = backend.index.sessions()
    spans_of = cache(partial(_spans_in, _told_words(query)))  # most words of the hits repeat
    found: list[dict[str, Any]] = []
    for hit in hits:
        segment = hit.segment
        log = logs.get(segment.session_id)
        number = None if log is None else log.find(segment.id)
        found.append(_describe_hit(hit, segment, number, spans_of))
    return {
        "query": query,
        "hits": found,
        "facts": [{"score": hit.score, **describe_fact(hit.fact)} for hit in facts[:MAX_FACTS]],
        "facts_found": len(facts),
        "threshold": memory.config.recall.min_score,
        "topics": memory.store.topics(),
    }


def values_of(explanation: dict[str, Any] | None) -> dict[str, float]:
    """Return the named numbers at the top of an explanation: score, certainty, and share of the best rank.

    >>> values_of({"name": "score", "value": 0.5, "parts": [{"name": "rank", "value": 0.9, "parts": []}]})
    {'score': 0.5, 'rank': 0.9}
    """
    level = [] if explanation is None else [explanation]
    found: dict[str, float] = {}
    for _ in range(DEPTH):
        for node in level:
            found.setdefault(node["name"], node["value"])
        level = [part for node in level for part in node["parts"]]
    return found


def explanation_of(hit: SearchHit) -> dict[str, Any] | None:
    """Return the explanation of a score as dictionaries: reading the tree itself copies a branch at every step."""
    return None if hit.explanation is None else hit.explanation.to_dict()


def _admits(wanted: _core.SearchFilter, fact: Fact) -> bool:
    """Return whether a fact is of the session and the time that are wanted; it has no role and no topic."""
    if wanted.session_id not in {None, fact.session_id}:
        return False
    if wanted.since is None and wanted.until is None:
        return True
    time = fact.timestamp
    return (
        time is not None
        and (wanted.since is None or time >= wanted.since)
        and (wanted.until is None or time <= wanted.until)
    )


def _describe_hit(
    hit: SearchHit,
    segment: Segment,
    number: int | None,
    spans_of: Callable[[str], list[tuple[int, int]]],
) -> dict[str, Any]:
    start, end = hit.passage
    content = segment.content
    lead = max(start - LEAD, 0)
    excerpt = content[lead : max(lead + EXCERPT, min(end, lead + 2 * EXCERPT))]
    explanation = explanation_of(hit)
    values = values_of(explanation)
    return {
        **describe_message(segment, number),
        "text": excerpt,
        "is_cut": [lead > 0, lead + len(excerpt) < len(content)],
        "marks": _marks(excerpt, spans_of),
        "score": hit.score,
        "certainty": values.get(CERTAINTY),
        "share": values.get(SHARE),
        "explanation": explanation,
    }


def _told_words(query: str) -> set[str]:
    """Return the words of a query that are worth a highlight: not those as short as articles, if it has others."""
    words = set(_core.tokenize(query))
    return {
        each for each in words if len(each) >= TELLING or not (each.isascii() and each.isalpha())
    } or words


def _marks(text: str, spans_of: Callable[[str], list[tuple[int, int]]]) -> list[list[int]]:
    """Return the spans of a text to highlight, given those within a word.

    >>> text = "The parcels wait"
    >>> [text[start:end] for start, end in _marks(text, partial(_spans_in, {"parcel"}))]
    ['parcels']
    """
    return [
        [match.start() + start, match.start() + end]
        for match in WORD.finditer(text)
        for start, end in spans_of(match[0])
    ]


def _spans_in(wanted: set[str], word: str) -> list[tuple[int, int]]:
    """Return the spans of a word that a query has: all of it if the query has its beginning."""
    own = set(_core.tokenize(word))
    if word.isascii():
        lower = word.lower()
        is_wanted = own & wanted or any(
            lower.startswith(each) for each in wanted if len(each) >= TELLING
        )
        return [(0, len(word))] if is_wanted else []
    if not own & wanted:
        return []
    # Scripts without spaces: the words within.
    parts = "|".join(map(re.escape, sorted(own & wanted, key=len, reverse=True)))
    return [part.span() for part in re.finditer(parts, word, re.IGNORECASE)]


def _list(value: str | None) -> list[str] | None:
    return None if value is None else [value]
