"""`memctx.lowlevel.FlatIndex`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from memctx.lowlevel import FlatIndex, Hit

from . import reference
from .strategies import for_all, matrices

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


def ranking(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def compass() -> FlatIndex:
    index = FlatIndex(2)
    index.add_many(["north", "east"], [[0, 1], [1, 0]], group="plus")
    index.add_many(["south", "west"], [[0, -1], [-1, 0]], group="minus")
    return index


def filled(matrix: Matrix) -> FlatIndex:
    """Return an index in which every row stands under its number."""
    index = FlatIndex(matrix.shape[1])
    index.add_many(keys_of(matrix), matrix)
    return index


def keys_of(matrix: Matrix) -> list[str]:
    return [str(row) for row in range(len(matrix))]


def assert_same(found: list[Hit], cosines: dict[str, float], k: int) -> None:
    """Assert the best cosines at their ranks; vectors whose cosines differ by rounding only may be swapped."""
    best = sorted(cosines.values(), reverse=True)[:k]
    assert len(set(ranking(found))) == len(found) == len(best)
    assert [hit.score for hit in found] == pytest.approx(best, abs=1e-12)
    assert [hit.score for hit in found] == pytest.approx(
        [cosines[hit.id] for hit in found], abs=1e-12
    )


dims = st.sampled_from([1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 100])
problems = dims.flatmap(
    lambda dim: st.tuples(matrices(dim=dim), matrices(dim=dim, least=1, most=4))
)
"""Vectors to search among and vectors to search for."""

numbers = st.integers(0, 30).map(str)


@settings(max_examples=100)
@for_all(problems, st.integers(0, 50))
def test_the_answer_is_that_of_brute_force(problem: tuple[Matrix, Matrix], k: int) -> None:
    """Scores and ranks are those of a scan in float64, whatever the vectors are like."""
    matrix, queries = problem
    index = filled(matrix)
    for query in queries:
        cosines = dict(zip(keys_of(matrix), reference.cosines(matrix, query).tolist(), strict=True))
        assert_same(index.search(query, k), cosines, k)


@settings(max_examples=100)
@for_all(problems, st.data())
@pytest.mark.slow
def test_any_history_equals_brute_force(
    problem: tuple[Matrix, Matrix], data: st.DataObject
) -> None:
    """Whatever was added, replaced and removed, a search sees the vectors that are there now and no others."""
    matrix, queries = problem
    index, kept = FlatIndex(matrix.shape[1]), {}
    for row in matrix:
        key = data.draw(numbers)
        index.add(key, row)
        kept[key] = row
        gone = data.draw(numbers)
        assert index.remove(gone) == (kept.pop(gone, None) is not None)
    assert len(index) == len(kept)
    cosines = {key: float(reference.cosines(row[None], queries[0])[0]) for key, row in kept.items()}
    assert_same(index.search(queries[0], 5), cosines, 5)


@for_all(problems, st.integers(0, 50), st.none() | st.sets(numbers))
def test_limits_equal_brute_force(
    problem: tuple[Matrix, Matrix], k: int, within: set[str] | None
) -> None:
    """Group and ids narrow the hits down and leave the scores as they are."""
    matrix, queries = problem
    index = filled(matrix)
    odd = {key for key in keys_of(matrix) if int(key) % 2}
    for key in odd:
        index.add(key, matrix[int(key)], group="odd")
    admitted = odd if within is None else odd & within
    found = index.search(queries[0], k, group="odd", within=within)
    cosines = reference.cosines(matrix, queries[0])
    assert_same(found, {key: float(cosines[int(key)]) for key in admitted}, k)


@for_all(problems, st.integers(0, 12), st.sampled_from([None, ""]), st.none() | st.sets(numbers))
def test_many_searches_equal_one_by_one(
    problem: tuple[Matrix, Matrix], k: int, group: str | None, within: set[str] | None
) -> None:
    """Searching for many vectors at once gives what searching for each of them gives."""
    matrix, queries = problem
    index = filled(matrix)
    many = np.repeat(queries, 9, axis=0)
    expected = [index.search(query, k, group=group, within=within) for query in many]
    assert index.search_many(many, k, group=group, within=within) == expected


def test_searching_for_no_vectors_gives_no_results() -> None:
    """A matrix without rows is a batch of no searches."""
    assert compass().search_many(np.zeros((0, 2))) == []


@pytest.mark.thread_unsafe(reason="long, and says nothing about threads")
def test_large_indexes_stay_exact() -> None:
    """With thousands of vectors, and after most of them are gone, the best ten are still the best ten."""
    source = np.random.default_rng(7)
    matrix = source.standard_normal((5000, 48)).astype(np.float32)
    matrix[1000:2000] = matrix[0] + 1e-3 * matrix[1000:2000]  # a crowd around one place
    index, kept = filled(matrix), set(keys_of(matrix))
    for keep_every in (1, 4):
        for key in [key for key in kept if int(key) % keep_every]:
            assert index.remove(key)
            kept.remove(key)
        for query in matrix[[0, 1500, 4999]]:
            cosines = reference.cosines(matrix, query)
            assert_same(index.search(query), {key: float(cosines[int(key)]) for key in kept}, 10)


def test_equal_scores_are_ranked_by_age() -> None:
    """Of vectors with the same cosine the older comes first, also where only some of them fit."""
    index = FlatIndex(3)
    for key in "zyxwv":
        index.add(key, [1, 2, 3])
    index.add("far", [-1, 0, 0])
    assert ranking(index.search([3, 2, 1], 5)) == list("zyxwv")
    assert ranking(index.search([3, 2, 1], 2)) == ["z", "y"]
    index.add("z", [1, 2, 3])
    assert ranking(index.search([3, 2, 1], 5)) == list("yxwvz")


def test_zero_vectors_are_unlike_everything() -> None:
    """A zero vector has the cosine 0 to every other and to itself, stored or asked for."""
    index = compass()
    index.add("nowhere", [0, 0])
    assert [hit.score for hit in index.search([0, 0])] == [0.0] * 5
    assert ranking(index.search([0, 0])) == ["north", "east", "south", "west", "nowhere"]
    found = {hit.id: hit.score for hit in index.search([0, 5])}
    assert found == {"north": 1, "east": 0, "west": 0, "nowhere": 0, "south": -1}


@pytest.mark.parametrize(("k", "found"), [(0, 0), (1, 1), (4, 4), (10_000, 4), (sys.maxsize, 4)])
def test_k_is_a_maximum(k: int, found: int) -> None:
    """A search gives as many hits as asked for or as there are."""
    index = compass()
    assert index.search([1, 2], k) == index.search([1, 2])[:found]
    assert [len(hits) for hits in index.search_many([[1, 2], [2, 1]], k)] == [found, found]
    assert len(index.search([1, 2], k, group="plus")) == min(k, 2)
    assert len(index.search([1, 2], k, within=["east"])) == min(k, 1)


def test_filters_may_exclude_everything() -> None:
    """An empty group, no ids, and a group and ids that exclude each other give no hits."""
    index = compass()
    assert index.search([1, 2], group="unknown") == index.search([1, 2], group="") == []
    assert index.search([1, 2], within=[]) == index.search([1, 2], within={"unknown"}) == []
    assert index.search([1, 2], group="plus", within=("south", "west")) == []
    assert index.search_many([[1, 2], [2, 1]], within=[]) == [[], []]
    assert FlatIndex(2).search([1, 2]) == []


def unaligned(matrix: Matrix) -> Matrix:
    """Return the matrix one byte behind an address that suits its type."""
    shifted = np.frombuffer(b"\0" + matrix.tobytes(), dtype=np.float32, offset=1)
    assert not shifted.flags.aligned
    return shifted.reshape(matrix.shape)


def read_only(matrix: Matrix) -> Matrix:
    copy = matrix.copy()
    copy.flags.writeable = False
    return copy


FORMS: dict[str, Callable[[Matrix], Any]] = {
    "float32": lambda matrix: matrix,
    "float64": lambda matrix: matrix.astype(np.float64),
    "float16": lambda matrix: matrix.astype(np.float16),
    "int64": lambda matrix: matrix.astype(np.int64),
    "big-endian": lambda matrix: matrix.astype(">f4"),
    "lists": lambda matrix: matrix.tolist(),
    "tuples": lambda matrix: tuple(map(tuple, matrix.tolist())),
    "rows": list,
    "every second column": lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2],
    "every second row": lambda matrix: np.repeat(matrix, 2, axis=0)[::2],
    "backwards": lambda matrix: matrix[::-1].copy()[::-1],
    "Fortran": np.asfortranarray,
    "transposed": lambda matrix: matrix.T.copy().T,
    "read-only": read_only,
    "unaligned": unaligned,
}


@pytest.mark.parametrize("form", FORMS)
def test_any_array_of_numbers_will_do(form: str) -> None:
    """Values are taken by what they are, whatever their type and however they lie in memory."""
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    expected = filled(matrix).search_many(matrix)
    shaped = FORMS[form](matrix)
    index, one_by_one = FlatIndex(3), FlatIndex(3)
    index.add_many(["0", "1", "2", "3"], shaped)
    for number in range(4):
        one_by_one.add(str(number), shaped[number])
    assert index.search_many(shaped) == expected
    assert [one_by_one.search(row) for row in shaped] == expected


def test_vectors_are_kept_as_they_were_added() -> None:
    """The values of `get` are those of the moment of adding, and changing them changes nothing else."""
    index, vector = FlatIndex(3), np.array([0.1, 2, -3], dtype=np.float32)
    expected = vector.tolist()
    index.add("a", vector)
    vector[:] = 0
    for _ in range(2):
        kept = index.get("a")
        assert kept is not None
        assert (kept.dtype, kept.tolist()) == (np.dtype("f4"), expected)
        kept[:] = 7
    assert index.get("unknown") is None


def test_replacing_leaves_nothing_behind() -> None:
    """A vector added under a known id takes the place of the old one, group included."""
    index = compass()
    index.add("north", [-1, 0], group="minus")
    assert len(index) == 4
    assert [round(hit.score, 6) for hit in index.search([0, 1], 1)] == [0]
    assert ranking(index.search([-1, 0], group="minus")) == ["west", "north", "south"]
    assert ranking(index.search([-1, 0], group="plus")) == ["east"]


def test_the_last_of_equal_ids_counts() -> None:
    """An id given twice in one call is replaced within that call."""
    index = FlatIndex(2)
    index.add_many(["a", "b", "a"], [[1, 0], [1, 1], [0, 1]])
    assert len(index) == 2
    assert index.search([0, 1], 1)[0].score == 1
    assert index.remove("a")
    assert not index.remove("a")
    assert "a" not in index
    assert "b" in index


@for_all(problems)
def test_explanations_give_the_score(problem: tuple[Matrix, Matrix]) -> None:
    """The explanation of a hit has the very score of the hit, made of a product and two lengths."""
    matrix, (query, *_) = problem
    index = filled(matrix)
    for hit in index.search(query):
        explained = index.explain(query, hit.id)
        assert explained is not None
        assert (explained.name, explained.value) == ("cosine", hit.score)
        product, of_query, of_row = (part.value for part in explained.parts)
        assert of_query == pytest.approx(np.linalg.norm(query.astype(np.float64)))
        assert of_row == pytest.approx(np.linalg.norm(matrix[int(hit.id)].astype(np.float64)))
        assert product == pytest.approx(hit.score * of_query * of_row)
    assert index.explain(query, "unknown") is None


def test_vectors_of_every_length() -> None:
    """An index has the dimension it was made with, from 1 to 65536."""
    for dim in (1, 384, 65_536):
        index = FlatIndex(dim)
        index.add("a", np.ones(dim))
        assert index.dim == dim
        assert index.search(np.full(dim, 2.0))[0].score == pytest.approx(1, abs=1e-12)
