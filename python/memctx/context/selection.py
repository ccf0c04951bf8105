"""`select`: the passages of a search that are worth showing, and the reasons for leaving out the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from memctx._core import SearchHit, Verdict
    from memctx.context.companions import Companions
    from memctx.context.report import Reason


@dataclass(frozen=True, slots=True)
class Selection:
    """The passages worth showing, and those that are not."""

    hits: Sequence[SearchHit]
    """The passages to show, best first."""
    marked: Mapping[str, float | None]
    """Ids of segments that are shown as replaced, with the time; None where that is not known."""
    left_out: Mapping[str, tuple[Reason, str | None]]
    """Ids of the others with the reason, and the id of what is shown in their place."""


def select(
    query: str,
    hits: Sequence[SearchHit],
    seen: Sequence[SearchHit],
    companions: Companions,
    taken_back: Mapping[str, bool],
) -> Selection:
    """Choose what adds something to what the model sees, for ``hits`` best first.

    A past question that asks the same gives way to its answer, also one that the model sees. ``taken_back`` has the
    ids of segments that the conversation takes back.
    """
    found = [*hits, *seen]
    shown_already = {hit.segment.id for hit in seen}
    verdicts = _judge(query, found, companions, taken_back, shown_already)
    asked = [hit for hit in found if verdicts[hit.segment.id][0] == "past question"]
    answers = _answers(asked, [hit for hit in found if hit not in asked], companions)
    if answers:
        found += answers
        verdicts = _judge(query, found, companions, taken_back, shown_already)
    times = {hit.segment.id: hit.segment.timestamp for hit in found}
    shown: list[SearchHit] = []
    marked: dict[str, float | None] = {}
    left_out: dict[str, tuple[Reason, str | None]] = {}
    for hit in found:
        key = hit.segment.id
        verdict, of = verdicts[key]
        if key in shown_already:
            continue
        if verdict in {"shown", "marked"}:
            shown.append(hit)
            if verdict == "marked":
                marked[key] = None if of is None else times[of]
        else:
            left_out[key] = (cast("Reason", verdict), of)
    return Selection(sorted(shown, key=lambda hit: -hit.score), marked, left_out)


def _judge(
    query: str,
    hits: Sequence[SearchHit],
    companions: Companions,
    taken_back: Mapping[str, bool],
    seen: Collection[str],
) -> dict[str, tuple[Verdict, str | None]]:
    """Return what becomes of each segment, and the id of the one that it gives way to."""
    order = companions.store.log_order(hits)
    ids = [hits[index].segment.id for index in order]
    gone = {at: taken_back[key] for at, key in enumerate(ids) if key in taken_back}
    visible = [at for at, key in enumerate(ids) if key in seen]
    verdicts = _core.select_passages(query, [hits[index] for index in order], gone, visible)
    return {
        key: (verdict, None if of is None else ids[of])
        for key, (verdict, of) in zip(ids, verdicts, strict=True)
    }


def _answers(
    asked: Sequence[SearchHit], others: Sequence[SearchHit], companions: Companions
) -> list[SearchHit]:
    """Return the answers of past questions that the model does not see, no better than the best passage."""
    if not asked:
        return []
    best = max((hit.score for hit in others), default=1.0)
    known = {hit.segment.id for hit in others}
    return [
        asked[of].moved_to(segment, min(asked[of].score, best))
        for of, segment, is_before in companions.find(asked, (), len(asked))
        if not is_before and segment.id not in known and _core.has_topic(segment.content)
    ]
