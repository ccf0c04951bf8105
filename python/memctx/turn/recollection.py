"""`Recollection`: what a turn brings back from the store, as one block under its cap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Protocol

from memctx import _core
from memctx.turn.report import Recalled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from memctx._core import Conversation, Fact, FactHit, StoreHit, WarmStore
    from memctx.config import Config, EstimatorName
    from memctx.embeddings.embedding import Embedding

# As many candidates as a block has room for, and never fewer than eight, as the original has it.
FEWEST_CANDIDATES = 8
# The original's weights, for the score that a report shows beside ours.
SEED_VECTOR, SEED_BM25 = 0.7, 0.3
# About what one segment takes of a block.
EXCERPT = 150
# Of the best score: beside other blocks, what scores less is not worth its room.
STANDING_OUT = 0.8
# Below this no block says anything.
SMALLEST_BLOCK = 60


class Facts(Protocol):
    """Where facts are searched."""

    def search(self, query: str, *, limit: int) -> Sequence[FactHit]:
        """The facts that answer a query, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Recollection:
    """A block and what is in it."""

    text: str
    tokens: int
    items: tuple[Recalled, ...]
    passages: tuple[str, ...] = ()
    """What tells the passages that it shows of items it does not show whole."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What the model knows by it: items by their ids, and passages of those that were cut."""
        return (*(item.id for item in self.items if not item.is_cut), *self.passages)


@dataclass(frozen=True, slots=True)
class Recall:
    """Searches one store for one session."""

    store: WarmStore
    facts: Facts
    config: Config
    embedding: Embedding | None = None
    """What makes the vectors of queries; None where the store does."""

    def search(
        self, query: str, conversation: Conversation, *, hidden: Sequence[int], room: int
    ) -> Candidates:
        """The best of the store that the model does not see, enough of it for a block of ``room`` tokens.

        ``hidden`` are the messages of the conversation that are not sent whole.
        """
        limit = max(FEWEST_CANDIDATES, room // EXCERPT)
        asked = None if self.embedding is None else self.embedding.queries.ask(query)
        hits = self.store.search(
            query,
            vector=None if asked is None else asked.vector,
            limit=limit,
            min_score=self.config.auto_recall_min_score,
            ranking=self.config.ranking,
            deadline_ms=self.config.cold_turn_deadline_ms,
        )
        best = hits[0].score if hits else 0.0
        facts = self.facts.search(query, limit=limit)
        contents: list[StoreHit | str] = [*hits, *(hit.fact.content for hit in facts)]
        unseen = [not is_seen for is_seen in _core.visible(conversation, hidden, contents)]
        facts = list(compress(facts, unseen[len(hits) :]))
        hits = list(compress(hits, unseen))
        degraded = None if asked is None else asked.reason
        return Candidates(query, facts, hits, best, self.config.estimator, degraded)


@dataclass(frozen=True)
class Candidates:
    """What may be recalled for a query."""

    query: str
    facts: Sequence[FactHit]
    hits: Sequence[StoreHit]
    best: float
    """The best score of all hits, those that the model sees included."""
    estimator: EstimatorName | Callable[[str], int]
    degraded: str | None = None
    """Why they were found by words alone, where vectors should have helped."""

    def has_new(self, known: Collection[str]) -> bool:
        """Whether any of it is worth a block beside the ids that are ``known``."""
        return any(self._new(known))

    def block(self, known: Collection[str], room: int) -> Recollection | None:
        """The best of it in at most ``room`` tokens, without the ids that are ``known``."""
        facts, hits = self._new(known)
        if room < SMALLEST_BLOCK or not (facts or hits):
            return None
        lines = [(hit.fact.type, hit.fact.content, hit.score) for hit in facts]
        estimator = self.estimator
        if callable(estimator):
            block = _fitted(self.query, lines, hits, room, estimator)
            tokens = estimator(block.text)
        else:
            block = _core.build_block(lines, hits, cap=room, query=self.query, estimator=estimator)
            tokens = block.tokens
        if not block.text or tokens > room:
            return None
        cut = sorted(block.cut)
        items = (
            *(_fact(facts[index]) for index in block.facts),
            *(_segment(hits[index], is_cut=index in cut) for index in block.details),
        )
        return Recollection(
            block.text, tokens, items, tuple(_passage(hits[index]) for index in cut)
        )

    def _new(self, known: Collection[str]) -> tuple[list[FactHit], list[StoreHit]]:
        least = STANDING_OUT * self.best if known else 0.0
        return (
            [hit for hit in self.facts if key_of(hit.fact) not in known],
            # Of a long segment the model may know another passage than the one that answers.
            [
                hit
                for hit, score, segment, passage in self._named
                if score >= least and segment not in known and passage not in known
            ],
        )

    @cached_property
    def _named(self) -> list[tuple[StoreHit, float, str, str]]:
        """Each hit with its score, its segment's id and what tells its passage."""
        return [(hit, hit.score, hit.segment.id, _passage(hit)) for hit in self.hits]


def _fitted(
    query: str,
    facts: list[tuple[str, str, float]],
    hits: list[StoreHit],
    room: int,
    count: Callable[[str], int],
) -> _core.Block:
    """A block that fits by somebody else's count: built by ours, and again smaller while it does not fit."""
    cap = room
    while True:
        block = _core.build_block(facts, hits, cap=cap, query=query)
        tokens = count(block.text)
        if not block.text or tokens <= room:
            return block
        cap = min(cap - 1, cap * room // tokens)


def key_of(fact: Fact) -> str:
    """What a recalled fact is known by. It changes with the fact, so that a corrected one is shown again."""
    return f"{fact.id}.{fact.revision}" if fact.revision else fact.id


def _passage(hit: StoreHit) -> str:
    """What tells the passage that answers from the others of its segment."""
    start, end = hit.passage
    return f"{hit.segment.id}:{start}-{end}"


def _fact(hit: FactHit) -> Recalled:
    return Recalled(
        id=key_of(hit.fact),
        role=hit.fact.type,
        timestamp=hit.fact.timestamp,
        score=hit.score,
        match=hit.score,
        seed_score=hit.score,
        is_cut=False,
    )


def _segment(hit: StoreHit, *, is_cut: bool) -> Recalled:
    return Recalled(
        id=hit.segment.id,
        role=hit.segment.role,
        timestamp=hit.segment.timestamp,
        score=hit.score,
        match=hit.match,
        seed_score=SEED_VECTOR * hit.vector + SEED_BM25 * hit.bm25,
        is_cut=is_cut,
    )
