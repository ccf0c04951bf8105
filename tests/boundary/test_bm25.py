"""`memctx.lowlevel.Bm25Index`."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from memctx.lowlevel import Bm25Index, Hit

from . import golden, reference
from .strategies import documents, for_all, ids, texts

if TYPE_CHECKING:
    from memctx._core import TokenMode


def assert_same(found: list[Hit], expected: reference.Ranking, k: int) -> None:
    """Assert the same scores at the same ranks; documents whose scores differ by rounding only may be swapped."""
    scores = dict(expected)
    assert len({hit.id for hit in found}) == len(found) == min(k, len(expected))
    for hit, (_, score) in zip(found, expected, strict=False):
        assert hit.score == pytest.approx(score, abs=1e-9)
        assert hit.score == pytest.approx(scores[hit.id], abs=1e-9)


def ranking(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def fruits() -> Bm25Index:
    index = Bm25Index()
    index.add("a", "apple pear", group="green")
    index.add("b", "apple apple plum", group="blue")
    index.add("c", "apple fig", group="green")
    return index


@pytest.mark.parametrize("mode", ["memctx", "openclaw"])
def test_golden_scores(mode: TokenMode) -> None:
    """Both modes give the golden scores to 1e-9."""
    cases = golden.load("bm25.json")
    index = Bm25Index(mode)
    index.add_many((key, text) for key, text in cases["documents"])
    assert len(cases["queries"]) == 5
    for case in cases["queries"]:
        found = index.search(case["query"])
        assert ranking(found) == [key for key, _ in case["hits"]]
        assert_same(found, [(key, score) for key, score in case["hits"]], 10)


class Add(NamedTuple):
    id: str
    text: str
    group: str

    def run(self, index: Bm25Index, oracle: reference.Bm25) -> None:
        index.add(self.id, self.text, group=self.group)
        oracle.add(self.id, self.text, self.group)
        assert self.id in index


class Remove(NamedTuple):
    id: str

    def run(self, index: Bm25Index, oracle: reference.Bm25) -> None:
        assert index.remove(self.id) == oracle.remove(self.id)
        assert self.id not in index


class Search(NamedTuple):
    query: str
    k: int
    group: str | None
    within: set[str] | None

    def run(self, index: Bm25Index, oracle: reference.Bm25) -> None:
        found = index.search(self.query, self.k, group=self.group, within=self.within)
        assert_same(found, oracle.search(self.query, self.group, self.within), self.k)


groups = st.sampled_from(["", "first", "second"])
adds = st.builds(Add, ids, documents, groups)
removals = st.builds(Remove, ids)
searches = st.builds(
    Search,
    documents,
    st.integers(0, 8) | st.just(1000),
    st.none() | groups | st.just("unknown"),
    st.none() | st.sets(ids, max_size=12),
)


@settings(max_examples=150)
@for_all(st.lists(st.one_of(adds, adds, adds, removals, searches), max_size=40), searches)
def test_any_history_equals_counting_from_scratch(
    steps: list[Add | Remove | Search], last: Search
) -> None:
    """Whatever was added, replaced and removed, scores are those of the documents that are there now."""
    index, oracle = Bm25Index(), reference.Bm25()
    for step in [*steps, last]:
        step.run(index, oracle)
        assert len(index) == len(oracle.documents)


@pytest.mark.thread_unsafe(reason="long, and says nothing about threads")
def test_large_indexes_stay_exact() -> None:
    """With thousands of documents, and after most of them are gone, the best ten are still the best ten."""
    source = random.Random(7)  # noqa: S311 - a fixed text, not a secret
    words = [f"w{number}" for number in range(300)]
    weights = [1 / rank for rank in range(1, 301)]
    index, oracle = Bm25Index(), reference.Bm25()
    for number in range(3000):
        Add(str(number), " ".join(source.choices(words, weights, k=20)), "").run(index, oracle)
    for keep_every in (1, 4):
        for number in range(3000):
            if number % keep_every:
                Remove(str(number)).run(index, oracle)
        for _ in range(8):
            Search(" ".join(source.choices(words, weights, k=8)), 10, None, None).run(index, oracle)


@for_all(st.lists(st.integers(1, 700), min_size=1, max_size=6))
def test_very_frequent_terms_are_counted(counts: list[int]) -> None:
    """A document may hold a term any number of times, and every one of them counts."""
    index, oracle = Bm25Index(), reference.Bm25()
    for number, count in enumerate(counts):
        Add(str(number), "often " * count + "once", "").run(index, oracle)
    Search("often once", 10, None, None).run(index, oracle)


@for_all(st.lists(st.tuples(ids, documents), max_size=20), documents)
def test_explanations_give_the_score(items: list[tuple[str, str]], query: str) -> None:
    """The explanation of a hit has the very score of the hit, and its parts add up to it."""
    index = Bm25Index()
    index.add_many(items)
    for hit in index.search(query, 20):
        explained = index.explain(query, hit.id)
        assert explained is not None
        assert explained.value == hit.score == hit.explain.value
        assert sum(part.value for part in explained.parts) == pytest.approx(hit.score)
        assert {part.name for part in explained.parts} <= {
            f'term "{token}"' for token in reference.tokenize(query)
        }


def test_documents_that_are_no_hits_can_be_explained() -> None:
    """A document without a common term has the score 0, an unknown id has no explanation."""
    index = fruits()
    assert index.explain("apple", "unknown") is None
    explained = index.explain("mango", "a")
    assert explained is not None
    assert (explained.name, explained.value, explained.parts) == ("bm25", 0.0, ())


def test_equal_scores_are_ranked_by_age() -> None:
    """Of documents with the same score the older comes first, also where only some of them fit."""
    index = Bm25Index()
    for key in "zyxwv":
        index.add(key, "same words")
    assert ranking(index.search("words")) == list("zyxwv")
    assert ranking(index.search("words", 2)) == ["z", "y"]
    index.add("z", "same words")
    assert ranking(index.search("words")) == list("yxwvz")


def test_replacing_leaves_nothing_behind() -> None:
    """A document added under a known id takes the place of the old one, group included."""
    index = fruits()
    index.add("a", "mango", group="blue")
    assert len(index) == 3
    assert index.search("pear") == []
    assert ranking(index.search("mango apple", group="blue")) == ["a", "b"]
    assert ranking(index.search("mango apple", group="green")) == ["c"]


def test_changes_count_at_once() -> None:
    """A document is found by the first search after it was added and gone after it was removed."""
    index = fruits()
    index.add("d", "mango")
    assert ranking(index.search("mango")) == ["d"]
    assert index.remove("d")
    assert index.search("mango") == []
    assert not index.remove("d")
    assert "d" not in index


@pytest.mark.parametrize(("k", "found"), [(0, 0), (1, 1), (3, 3), (10_000, 3), (sys.maxsize, 3)])
def test_k_is_a_maximum(k: int, found: int) -> None:
    """A search gives as many hits as asked for or as there are, without limits too."""
    index = fruits()
    hits = index.search("apple", k)
    assert hits == index.search("apple", 10)[:found]
    assert len(hits) == found
    assert len(index.search("apple", k, group="green")) == min(k, 2)


def test_limits_leave_the_scores_alone() -> None:
    """A group or a choice of ids narrows the hits down; the counts remain those of the whole index."""
    index = fruits()
    everything = {hit.id: hit.score for hit in index.search("apple")}
    for limited in (
        index.search("apple", group="green"),
        index.search("apple", within=["a", "c", "unknown"]),
        index.search("apple", group="green", within={"a": 1, "b": 2, "c": 3}),
    ):
        assert {hit.id: hit.score for hit in limited} == {key: everything[key] for key in "ac"}


def test_filters_may_exclude_everything() -> None:
    """An empty group, no ids, and a group and ids that exclude each other give no hits."""
    index = fruits()
    assert index.search("apple", group="unknown") == []
    assert index.search("apple", group="") == []
    assert index.search("apple", within=set()) == []
    assert index.search("apple", within=frozenset({"unknown"})) == []
    assert index.search("apple", group="blue", within=("a", "c")) == []


def test_a_search_without_matches_is_empty() -> None:
    """Empty indexes, empty documents and empty queries are all fine and give no hits."""
    index = Bm25Index()
    assert index.search("apple") == []
    index.add_many([("a", ""), ("b", "、!")])
    assert len(index) == 2
    assert index.search("apple") == index.search("") == index.search("!") == []
    index.add("c", "apple")
    assert ranking(index.search("apple")) == ["c"]
    assert index.search("") == []


@for_all(st.lists(st.text(), unique=True, max_size=6), texts)
def test_ids_are_any_valid_text(keys: list[str], text: str) -> None:
    """An id comes back as it was given, the empty one and those with NUL included."""
    index = Bm25Index()
    index.add_many((key, f"common {text}") for key in keys)
    assert ranking(index.search("common")) == keys
    assert all(key in index for key in keys)
    assert [index.remove(key) for key in keys] == [True] * len(keys)
    assert len(index) == 0


@for_all(texts)
def test_any_text_is_found_by_itself(text: str) -> None:
    """A document is the best hit for its own text, whatever that holds, if it holds a term at all."""
    index = Bm25Index()
    index.add("other", "nothing in common 無関係")
    index.add("self", text)
    expected = ["self"] if reference.tokenize(text) else []
    assert ranking(index.search(text, 1)) == expected


def test_a_bad_item_adds_nothing() -> None:
    """No item is added when one of many is no pair of strings."""
    index = Bm25Index()
    with pytest.raises(TypeError):
        index.add_many([("a", "apple"), ("b", 1)])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        index.add_many([("a", "apple"), "b"])  # type: ignore[list-item]
    assert len(index) == 0


def test_the_mode_decides_the_terms() -> None:
    """An index reads documents and queries with the tokenizer it was made with."""
    memctx, openclaw = Bm25Index(), Bm25Index(mode="openclaw")
    assert (memctx.mode, openclaw.mode) == ("memctx", "openclaw")
    for index in (memctx, openclaw):
        index.add("a", "parseHTTPHeader")
    assert ranking(memctx.search("header")) == ["a"]
    assert openclaw.search("header") == []
    assert ranking(openclaw.search("PARSEHTTPHEADER")) == ["a"]
