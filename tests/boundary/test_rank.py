"""`Store.rank` and `Store.passage_vectors`: lines from elsewhere are ranked as a search ranks the store's own."""

from __future__ import annotations

import operator
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memctx import ConfigError
from memctx._core import Importer
from memctx.errors import DimensionMismatchError, StoreError, VectorError
from memctx.lowlevel import HashEmbedder, LogReader, Store, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [
    "port",
    "webhook",
    "payment",
    "redis",
    "deploy",
    "staging",
    "飞书",
    "消息",
    "retry",
    "index",
]
QUERIES = [
    "which port has the webhook?",
    "飞书消息",
    "deploys of staging",
    "redis retry queue",
    "x",
]
EXTERNAL = ("outside", "1", 4, False)


def options(session: str = "s1", model: Any = None) -> StoreOptions:
    embedder = HashEmbedder(64) if model is None else model
    return StoreOptions(
        session_id=session, durability="os", cross_session=True, model=embedder, disk_index=False
    )


def text_of(number: int) -> str:
    return f"Remark {number}: " + " ".join(
        WORDS[(number * k + k) % len(WORDS)] for k in range(1, 6)
    )


@pytest.fixture
def elsewhere(tmp_path: Path) -> Store:
    """Return a store with one segment for each session, so that none has a neighbor."""
    folder = tmp_path / "elsewhere"
    said = [
        (f"s{number}", "user", text_of(number), 1_770_000_000_000.0 + number, None)
        for number in range(80)
    ]
    said.append(("long", "tool", "webhook port\n\n" * 400, 1_770_000_001_000.0, None))
    Importer(folder).add(said)
    return Store(folder, options())


def lines_of(store: Store) -> list[str]:
    return [text for _, text in LogReader(store.path).read_lines(0, limit=10_000)[0]]


def assert_same_hits(found: Any, expected: Any) -> None:
    for key in ("segment.id", "vector", "passage"):
        values = operator.attrgetter(key)
        assert list(map(values, found)) == list(map(values, expected))
    # Some scores depend on the age of a segment to the millisecond.
    scores = [hit.score for hit in found]
    assert scores == pytest.approx([hit.score for hit in expected], abs=1e-6)


@pytest.mark.parametrize("ranking", ["best", "openclaw"])
@pytest.mark.parametrize("query", QUERIES)
def test_ranking_everything_equals_a_search(
    elsewhere: Store, tmp_path: Path, query: str, ranking: Any
) -> None:
    lines = lines_of(elsewhere)
    wanted = elsewhere.search(query, limit=20, ranking=ranking)
    here = Store(tmp_path / "here", options("other"))
    candidates: list[tuple[str, Any]] = [(line, None) for line in reversed(lines)]
    assert_same_hits(here.rank(query, candidates, limit=20, ranking=ranking), wanted)
    ids = [segment.id for segment in elsewhere.segments()]
    vectors = {id_: rows for id_, _, rows in elsewhere.passage_vectors(ids)}
    candidates = [(line, vectors[id_]) for line, id_ in zip(lines, ids, strict=True)]
    assert_same_hits(here.rank(query, candidates, limit=20, ranking=ranking), wanted)
    assert len(here) == 0


def test_lines_that_cannot_be_read_are_skipped(elsewhere: Store) -> None:
    lines = lines_of(elsewhere)
    wrong = ["", "{}", "no JSON", lines[0].replace("Remark", "remark"), "\ud83d", '{"id":"a"}']
    candidates: list[tuple[str, Any]] = [(line, None) for line in wrong]
    assert elsewhere.rank("remark", candidates) == []
    assert elsewhere.rank("remark", []) == []
    assert len(elsewhere.rank("remark", [*candidates, (lines[0], None)])) == 1


def test_options_of_a_ranking_are_those_of_a_search(elsewhere: Store) -> None:
    candidates: list[tuple[str, Any]] = [(line, None) for line in lines_of(elsewhere)]
    best = elsewhere.rank("webhook port", candidates, limit=3, explain=True)
    assert len(best) == 3
    assert best[0].explanation is not None
    assert elsewhere.rank("webhook port", candidates, limit=0) == []
    least = best[1].score
    assert all(
        hit.score >= least for hit in elsewhere.rank("webhook port", candidates, min_score=least)
    )
    vector = HashEmbedder(64).embed("webhook port")
    assert elsewhere.rank("webhook port", candidates, vector=vector, limit=1)


def test_vectors_of_an_external_model_decide_where_words_do_not(tmp_path: Path) -> None:
    store = Store(tmp_path, options(model=EXTERNAL))
    store.add([("user", text, None, None) for text in ("apples are red", "the sky is blue")])
    lines = lines_of(store)
    ids = [segment.id for segment in store.segments()]
    assert store.passage_vectors(ids) == [], "they are still to come"
    assert [hit.segment.content for hit in store.rank("apples", [(line, None) for line in lines])]
    near, far = np.array([[1.0, 0, 0, 0]]), np.array([[0, 1.0, 0, 0]])
    (hit, *_) = store.rank("fruit", [(lines[0], near), (lines[1], far)], vector=[1.0, 0, 0, 0])
    assert hit.segment.content == "apples are red"
    assert hit.vector == pytest.approx(1.0)
    # As many rows as there are passages, or none of them counts.
    found = store.rank("sky", [(lines[1], np.ones((3, 4)))], vector=[1.0, 0, 0, 0])
    assert [hit.vector for hit in found] == [0.0]
    texts = dict(store.unembedded())
    store.supply(list(texts), np.eye(len(texts), 4, dtype=np.float32))
    found_vectors = store.passage_vectors([*ids, "missing"])
    assert [(id_, passages, rows.shape) for id_, passages, rows in found_vectors] == [
        (id_, 1, (1, 4)) for id_ in ids
    ]
    assert all(rows.dtype == np.float32 for _, _, rows in found_vectors)


def test_passage_vectors_have_a_row_for_each_passage(elsewhere: Store) -> None:
    (segment,) = [each for each in elsewhere.segments() if each.session_id == "long"]
    ((id_, passages, rows),) = elsewhere.passage_vectors([segment.id])
    assert (id_, rows.shape) == (segment.id, (passages, 64))
    assert passages > 1
    assert elsewhere.passage_vectors([]) == []


def test_unfit_candidates_are_refused(elsewhere: Store) -> None:
    line = lines_of(elsewhere)[0]
    with pytest.raises(DimensionMismatchError, match="3 values where 64"):
        elsewhere.rank("port", [(line, np.ones((1, 3)))])
    with pytest.raises(DimensionMismatchError):
        elsewhere.rank("port", [(line, None)], vector=[1.0])
    with pytest.raises(VectorError, match="two dimensions"):
        elsewhere.rank("port", [(line, np.ones(64))])
    with pytest.raises(VectorError, match="finite"):
        elsewhere.rank("port", [(line, np.full((1, 64), np.nan))])
    with pytest.raises(ConfigError, match="ranking"):
        elsewhere.rank("port", [], ranking="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="limit must be 0 or more"):
        elsewhere.rank("port", [], limit=-1)
    for wrong in (line, [line], [(line,)], [(1, None)], 5):
        with pytest.raises((TypeError, ConfigError)):
            elsewhere.rank("port", wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="put it in a list"):
        elsewhere.passage_vectors("id")


@pytest.mark.thread_unsafe(reason="closes the store of all")
def test_a_closed_store_ranks_nothing(elsewhere: Store) -> None:
    elsewhere.close()
    with pytest.raises(StoreError, match="closed"):
        elsewhere.rank("port", [])


@pytest.mark.thread_unsafe(reason="measures time")
def test_ranking_400_candidates_is_fast(elsewhere: Store, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    said = [
        (f"s{number % 40}", "user", (text_of(number) + ". ") * 12, None, None)
        for number in range(400)
    ]
    Importer(folder).add(said)
    many = Store(folder, options())
    ids = [segment.id for segment in many.segments()]
    vectors = {id_: rows for id_, _, rows in many.passage_vectors(ids)}
    candidates = [(line, vectors[id_]) for line, id_ in zip(lines_of(many), ids, strict=True)]
    assert len(candidates) == 400
    times: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        elsewhere.rank(QUERIES[0], candidates)
        times.append(time.perf_counter() - start)
    # Far more than it takes, for machines that do other things too.
    assert min(times) < 0.3
