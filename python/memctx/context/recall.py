"""Recall: the search of a turn, and the block of text made of what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import compress
from typing import TYPE_CHECKING, Protocol, TypedDict

from memctx import _core
from memctx.context.companions import Companions, excerpt_key
from memctx.context.report import Recalled
from memctx.context.selection import Selection, select

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from memctx._core import Fact, FactHit, SearchHit, Segment, Store, VisibleSegments
    from memctx.config import Config, EstimatorName
    from memctx.context.companions import FindVisible
    from memctx.context.report import Reason, Unsearched
    from memctx.embeddings import EmbeddingService

# A search asks for as many candidates as a block has room for, and never fewer, as OpenClaw's plugin does.
FEWEST_CANDIDATES = 8
# A search asks for so many times as many where it is not known beforehand which segments are visible.
UNKNOWN_VISIBLE = 4
# Least probability that a passage of an answered question is part of the answer, and where many passages are.
LEAST_SCORE, LEAST_OF_MANY = 0.005, 0.001
# Candidates that are looked at where a question asks for many: a list, an order of events, a summary.
POOL_OF_MANY = 200
# Passages in earlier blocks that a search finds beside its candidates, at most.
MOST_SHOWN = 16
# Share of the best score from which what somebody said stands beside the best passage, in the order of saying.
NEARLY = 0.5
# Time in which a turn makes vectors that are still missing. Most take less than a millisecond.
EMBEDDING_MS = 250.0
# Weights of OpenClaw's plugin, for the score that a report shows beside ours.
OPENCLAW_VECTOR, OPENCLAW_BM25 = 0.7, 0.3
# Tokens that one segment takes of a block, about.
EXCERPT = 150
# Tokens of the line above a passage, and characters of a passage to a token, about.
HEAD, CHARS_PER_TOKEN = 20, 4
# Tokens of the smallest block that says anything.
SMALLEST_BLOCK = 60


class Facts(Protocol):
    """A store of facts."""

    def search(self, query: str, *, limit: int) -> Sequence[FactHit]:
        """Return the facts that answer a query, best first."""
        ...

    def get(self, id: str) -> Fact | None:
        """Return the fact of an id, superseded or not; None if there is none."""
        ...


class Thresholds(TypedDict, total=False):
    """Thresholds of a search."""

    min_certainty: float
    min_score: float


@dataclass(frozen=True, slots=True)
class RecalledBlock:
    """A block of recalled text and its items."""

    text: str
    tokens: int
    items: tuple[Recalled, ...]
    passages: tuple[str, ...] = ()
    """Keys of the passages shown of items that are not shown whole."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Ids of the items that the model sees whole, and keys of the passages of others."""
        return (*(item.id for item in self.items if not item.is_cut), *self.passages)


@dataclass(frozen=True, slots=True)
class Recall:
    """Searches one store for one session."""

    store: Store
    facts: Facts
    config: Config
    embedding: EmbeddingService | None = None
    """Makes the vectors of queries; None where the store does."""

    def search(
        self,
        query: str,
        find_visible: FindVisible,
        *,
        room: int,
        visible: VisibleSegments | None,
        shown: int = 0,
    ) -> Candidates:
        """Find what the model does not see yet, enough for a block of ``room`` tokens beside ``shown`` passages.

        ``visible`` are the segments that it is known to see, as far as that is known beforehand; ``find_visible``
        returns for each text whether it does. Passages that are shown in earlier blocks are found, too.
        """
        asks_for_many = _core.asks_for_many(query)
        limit = max(FEWEST_CANDIDATES, room // EXCERPT) + min(shown, MOST_SHOWN)
        if asks_for_many:
            limit = max(limit, min(POOL_OF_MANY, room // (2 * HEAD)))
        asked = None if self.embedding is None else self.embedding.queries.request(query)
        hits, unsearched, unembedded = self.store.search_within(
            query,
            self.config.disk.turn_deadline_ms,
            vector=None if asked is None else asked.vector,
            # Of those that are found some may be visible.
            limit=limit if visible is not None else limit * UNKNOWN_VISIBLE,
            **self._thresholds(LEAST_OF_MANY if asks_for_many else LEAST_SCORE),
            pool=POOL_OF_MANY if asks_for_many else 0,
            ranking=self.config.recall.ranking,
            window=self.config.recall.window,
            without=visible,
            embedding_ms=EMBEDDING_MS,
        )
        facts = self.facts.search(query, limit=limit)
        contents: list[SearchHit | str] = [*hits, *(hit.fact.content for hit in facts)]
        unseen = [not is_seen for is_seen in find_visible(contents)]
        new_facts = list(compress(facts, unseen[len(hits) :]))
        new_hits = list(compress(hits, unseen))
        return Candidates(
            query,
            new_facts,
            new_hits[:limit],
            self.config.trim.estimator,
            Companions(self.store, visible, find_visible),
            found=(hits, facts, unseen),
            degraded=None if asked is None else asked.reason,
            unsearched=unsearched,
            unembedded=unembedded,
        )

    def _thresholds(self, least: float) -> Thresholds:
        """Return the least score of a segment, and how sure it must be that the query is answered."""
        certainty = self.config.recall.min_score
        if self.config.recall.ranking == "openclaw":
            return {"min_score": certainty}
        return {"min_certainty": certainty, "min_score": min(least, certainty)}


@dataclass(frozen=True)
class Candidates:
    """Facts and segments that may be recalled for a query."""

    query: str
    facts: Sequence[FactHit]
    hits: Sequence[SearchHit]
    estimator: EstimatorName | Callable[[str], int]
    companions: Companions
    found: tuple[Sequence[SearchHit], Sequence[FactHit], Sequence[bool]]
    """All segments and facts that the search found, and for each whether the model does not see it; for the report."""
    degraded: str | None = None
    """Reason why the search did without vectors, if it should have used them."""
    unsearched: Unsearched | None = None
    """Part of the messages on disk that the search did not cover."""
    unembedded: int = 0
    """Passages that the search compared by their words alone, because their vectors are not made yet."""
    taken_back: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Ids of segments that the conversation takes back, with True for those of which nothing holds."""

    def block(self, known: Collection[str], room: int) -> RecalledBlock | None:
        """Return the best candidates in at most ``room`` tokens, without the ids in ``known``.

        What they leave goes to their companions.
        """
        facts, hits, size = self._select_new(known)
        if room < SMALLEST_BLOCK or not (facts or hits):
            return None
        best = self._best(hits)
        hits, companions = self.companions.arrange(hits, known, room - size)
        marked = self._selection.marked
        replaced = {
            index: marked[hit.segment.id]
            for index, hit in enumerate(hits)
            if hit.segment.id in marked
        }
        lines = [(hit.fact.type, hit.fact.content, hit.score) for hit in facts]
        estimator = self.estimator
        build = partial(
            _core.build_block,
            lines,
            hits,
            query=self.query,
            annotate=True,
            companions=companions,
            replaced=replaced,
            last=[index for index, hit in enumerate(hits) if hit.segment.id in best],
        )
        if callable(estimator):
            block = _build_to_fit(build, room, estimator)
            tokens = estimator(block.text)
        else:
            block = build(cap=room, estimator=estimator)
            tokens = block.tokens
        if not block.text or tokens > room:
            return None
        cut = sorted(block.cut)
        items = {index: _segment(hits[index], is_cut=index in cut) for index in block.details}
        beside = [(*companions[index], is_cut) for index, is_cut in block.companions]
        return RecalledBlock(
            block.text,
            tokens,
            (
                *(_fact(facts[index]) for index in block.facts),
                *items.values(),
                *(_companion(items[of], segment, is_cut=cut) for of, segment, _, cut in beside),
            ),
            (
                *(passage_id(hits[index]) for index in cut),
                *(excerpt_key(segment) for _, segment, _, is_cut in beside if is_cut),
            ),
        )

    def _select_new(self, known: Collection[str]) -> tuple[list[FactHit], list[SearchHit], int]:
        """Return the facts and hits that are not known, and about how many tokens they take."""
        facts = [hit for hit in self.facts if fact_id(hit.fact) not in known]
        # Of a long segment the model may know another passage than the one that answers.
        new = [
            (hit, tokens)
            for hit, segment, passage, tokens in self._identified
            if segment not in known and passage not in known
        ]
        size = sum(_tokens(len(hit.fact.content)) for hit in facts)
        return facts, [hit for hit, _ in new], size + sum(tokens for _, tokens in new)

    @cached_property
    def _selection(self) -> Selection:
        """The passages worth showing, and the reasons for leaving out the others."""
        hits, _, unseen = self.found
        seen = [hit for hit, is_unseen in zip(hits, unseen, strict=False) if not is_unseen]
        return select(self.query, self.hits, seen, self.companions, self.taken_back)

    def _best(self, hits: Sequence[SearchHit]) -> Collection[str]:
        """Return the ids of what stands nearest to the question: the best hit, its other half, what is nearly as good.

        Versions of a statement are often alike, and the newest of them must stand last. Of many that are asked for, the
        order is part of the answer.
        """
        if not hits or _core.asks_for_many(self.query):
            return ()
        pair = self.companions.store.companions(hits[:1], limit=1)
        least = NEARLY * hits[0].score
        nearly = [each for each in hits if each.segment.role != "tool" and each.score >= least]
        return {each.segment.id for each in [hits[0], *nearly]}.union(
            segment.id for _, segment, _ in pair
        )

    def reason(self, segment_id: str) -> tuple[Reason, str | None] | None:
        """Return why a segment is not worth showing and for which other one; None if it is, or if nothing was shown.

        Reports are read later, when the store may be closed.
        """
        selection: Selection | None = self.__dict__.get("_selection")
        return None if selection is None else selection.left_out.get(segment_id)

    @cached_property
    def _identified(self) -> list[tuple[SearchHit, str, str, int]]:
        """Each hit with its segment's id, its passage's id, and about how many tokens it takes."""
        found = [(hit, hit.segment.id, *hit.passage) for hit in self._selection.hits]
        return [
            (hit, segment, f"{segment}:{start}-{end}", _tokens(end - start))
            for hit, segment, start, end in found
        ]


def _tokens(chars: int) -> int:
    """Return about how many tokens of a block a text takes."""
    return min(EXCERPT, HEAD + chars // CHARS_PER_TOKEN)


def _build_to_fit(
    build: Callable[..., _core.Block], room: int, count: Callable[[str], int]
) -> _core.Block:
    """Build a block that fits by a custom estimator: by ours first, then smaller until it fits."""
    cap = room
    while True:
        block = build(cap=cap)
        tokens = count(block.text)
        if not block.text or tokens <= room:
            return block
        cap = min(cap - 1, cap * room // tokens)


def fact_id(fact: Fact) -> str:
    """Return the id of a recalled fact. It changes with the fact, so that a corrected one is shown again."""
    return f"{fact.id}.{fact.revision}" if fact.revision else fact.id


def passage_id(hit: SearchHit) -> str:
    """Return the id of the passage that answers."""
    start, end = hit.passage
    return f"{hit.segment.id}:{start}-{end}"


def _fact(hit: FactHit) -> Recalled:
    return Recalled(
        id=fact_id(hit.fact),
        role=hit.fact.type,
        timestamp=hit.fact.timestamp,
        score=hit.score,
        openclaw_score=hit.score,
        is_cut=False,
        text=hit.fact.content,
    )


def _segment(hit: SearchHit, *, is_cut: bool) -> Recalled:
    segment, vector = hit.segment, hit.vector
    return Recalled(
        id=segment.id,
        role=segment.role,
        timestamp=segment.timestamp,
        score=hit.score,
        openclaw_score=OPENCLAW_VECTOR * vector + OPENCLAW_BM25 * hit.bm25,
        is_cut=is_cut,
        text=segment.content[slice(*hit.passage)] if is_cut else segment.content,
        similarity=vector or None,
    )


def _companion(owner: Recalled, segment: Segment, *, is_cut: bool) -> Recalled:
    """Return a companion, which has the scores of the item it belongs to."""
    return replace(
        owner,
        id=segment.id,
        role=segment.role,
        timestamp=segment.timestamp,
        is_cut=is_cut,
        companion_of=owner.id,
        text=segment.content,
        similarity=None,
    )
