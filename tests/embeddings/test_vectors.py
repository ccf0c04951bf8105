"""Checks of the vectors of embedders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.embeddings.vectors import check_matrix, check_vector, resolve_awaitable
from memctx.errors import EmbeddingError

numbers = st.floats(-(2.0**100), 2.0**100, width=32).filter(
    lambda number: number == 0 or abs(number) > 1e-15
)


@given(st.lists(numbers, min_size=1, max_size=20).filter(any))
def test_a_vector_keeps_its_direction_and_gets_length_1(values: list[float]) -> None:
    unit = check_vector(values, len(values), "m")
    exact = np.asarray(values, np.float64)
    assert unit.dtype == np.float32
    assert not unit.flags.writeable
    np.testing.assert_allclose(unit, exact / np.linalg.norm(exact), atol=1e-6)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1.0, float("nan"), 0.0], "a number that is not finite"),
        ([1.0, float("inf"), 0.0], "a number that is not finite"),
        ([1.0, 1e300, 0.0], "a number that is not finite"),
        ([0.0, 0.0, 0.0], "a vector of zeros"),
        ([0.0, -0.0, 1e-30], "a vector of zeros"),
        ([1.0, 2.0], "a vector of 2, expected 3 numbers"),
        ([[1.0, 2.0, 3.0]], "a vector of 1x3, expected 3 numbers"),
        (7.0, "a single number"),
        ([1.0, None, 2.0], "no vector of numbers"),
        (["1", "2", "3"], "no vector of numbers"),
        ([True, False, True], "no vector of numbers"),
        ([[1.0], [1.0, 2.0]], "no vector of numbers"),
        ({"a": 1}, "no vector of numbers"),
        (None, "no vector of numbers"),
    ],
)
def test_invalid_vectors_are_rejected(value: object, words: str) -> None:
    with pytest.raises(EmbeddingError, match=words) as caught:
        check_vector(value, 3, "model-x")
    assert "model-x" in str(caught.value)
    assert not caught.value.is_retryable


def test_a_matrix_has_a_row_of_equal_length_for_each_text() -> None:
    rows: list[Any] = [[3.0, 4.0], [0.0, 2.0]]
    expected = np.asarray([[0.6, 0.8], [0.0, 1.0]])
    np.testing.assert_allclose(check_matrix(rows, 2, None, "m"), expected, atol=1e-7)
    with pytest.raises(EmbeddingError, match="2 vectors for 3 texts") as caught:
        check_matrix(rows, 3, None, "m")
    assert caught.value.is_retryable
    assert check_matrix([], 0, 5, "m").shape == (0, 5)
    np.testing.assert_allclose(check_matrix(np.asarray(rows), 2, 2, "m"), expected, atol=1e-7)
    with pytest.raises(EmbeddingError, match="no list of vectors"):
        check_matrix(None, 1, None, "m")
    with pytest.raises(EmbeddingError, match="a vector of a single number"):
        check_matrix([1.0, 2.0], 2, None, "m")
    with pytest.raises(EmbeddingError, match="a vector of 1, expected 2 numbers"):
        check_matrix([[3.0, 4.0], [1.0]], 2, None, "m")


def test_a_value_that_is_not_awaitable_is_returned() -> None:
    value = [1.0]
    assert resolve_awaitable(value) is value


def test_an_error_of_an_awaitable_is_raised() -> None:
    async def fail() -> list[float]:
        raise EmbeddingError("no")

    with pytest.raises(EmbeddingError, match="no"):
        resolve_awaitable(fail())
