"""Only what is a vector passes for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import EmbeddingError
from memctx.embeddings.awaited import awaited
from memctx.embeddings.vectors import matrix_of, vector_of

numbers = st.floats(-(2.0**100), 2.0**100, width=32).filter(
    lambda number: number == 0 or abs(number) > 1e-15
)


@given(st.lists(numbers, min_size=1, max_size=20).filter(any))
def test_a_vector_keeps_its_direction_and_gets_length_1(values: list[float]) -> None:
    unit = vector_of(values, len(values), "m")
    exact = np.asarray(values, np.float64)
    assert unit.dtype == np.float32
    assert not unit.flags.writeable
    np.testing.assert_allclose(unit, exact / np.linalg.norm(exact), atol=1e-6)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1.0, float("nan"), 0.0], "no finite number"),
        ([1.0, float("inf"), 0.0], "no finite number"),
        ([1.0, 1e300, 0.0], "no finite number"),
        ([0.0, 0.0, 0.0], "a vector of zeros"),
        ([0.0, -0.0, 1e-30], "a vector of zeros"),
        ([1.0, 2.0], "a vector of 2, where 3 numbers"),
        ([[1.0, 2.0, 3.0]], "a vector of 1x3, where 3 numbers"),
        (7.0, "a single number"),
        ([1.0, None, 2.0], "no vector of numbers"),
        (["1", "2", "3"], "no vector of numbers"),
        ([True, False, True], "no vector of numbers"),
        ([[1.0], [1.0, 2.0]], "no vector of numbers"),
        ({"a": 1}, "no vector of numbers"),
        (None, "no vector of numbers"),
    ],
)
def test_what_is_no_vector(value: object, words: str) -> None:
    with pytest.raises(EmbeddingError, match=words) as caught:
        vector_of(value, 3, "model-x")
    assert "model-x" in str(caught.value)
    assert not caught.value.can_retry


def test_a_matrix_has_a_row_for_each_text_and_all_are_as_long() -> None:
    rows: list[Any] = [[3.0, 4.0], [0.0, 2.0]]
    expected = np.asarray([[0.6, 0.8], [0.0, 1.0]])
    np.testing.assert_allclose(matrix_of(rows, 2, None, "m"), expected, atol=1e-7)
    with pytest.raises(EmbeddingError, match="2 vectors for 3 texts") as caught:
        matrix_of(rows, 3, None, "m")
    assert caught.value.can_retry
    assert matrix_of([], 0, 5, "m").shape == (0, 5)
    np.testing.assert_allclose(matrix_of(np.asarray(rows), 2, 2, "m"), expected, atol=1e-7)
    with pytest.raises(EmbeddingError, match="no list of vectors"):
        matrix_of(None, 1, None, "m")
    with pytest.raises(EmbeddingError, match="a vector of a single number"):
        matrix_of([1.0, 2.0], 2, None, "m")
    with pytest.raises(EmbeddingError, match="a vector of 1, where 2 numbers"):
        matrix_of([[3.0, 4.0], [1.0]], 2, None, "m")


def test_what_need_not_be_awaited_is_given_back() -> None:
    value = [1.0]
    assert awaited(value) is value


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_what_would_end_the_loop_does_not(ending: type[BaseException]) -> None:
    async def leave() -> list[float]:
        raise ending

    async def stay() -> list[float]:
        return [1.0]

    with pytest.raises(RuntimeError, match=ending.__name__):
        awaited(leave())
    assert awaited(stay()) == [1.0]


def test_an_error_comes_through_the_loop() -> None:
    async def fail() -> list[float]:
        raise EmbeddingError("no")

    with pytest.raises(EmbeddingError, match="no"):
        awaited(fail())
