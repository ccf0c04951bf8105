"""What an SDK's exception means, and that its words go no further."""

from __future__ import annotations

import time
from email.utils import formatdate
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.extractors.failure import failure_of
from memctx.retry_after import retry_after_in


class StatusError(Exception):
    """As both SDKs make theirs."""

    def __init__(self, status: int, code: object, headers: dict[str, str]) -> None:
        super().__init__(f"Error code: {status} - {code}")
        self.status_code = status
        self.type = self.code = code
        self.response = SimpleNamespace(headers=headers)


@given(st.integers(400, 599), st.text() | st.none() | st.integers(), st.text())
def test_every_status_means_one_thing(status: int, code: object, after: str) -> None:
    failure = failure_of(StatusError(status, code, {"retry-after": after}), "model")
    error = failure.error
    assert [failure.is_transient, error.is_final, error.is_dead].count(True) == 1
    assert str(status) in str(error)
    assert error.retry_after is None or (failure.is_transient and error.retry_after >= 0)


def test_only_words_for_programs_are_repeated() -> None:
    said = failure_of(StatusError(400, "Your prompt 'the heron' is bad", {}), "m").error
    assert str(said) == "m answered with status 400"
    named = failure_of(StatusError(429, "rate_limit_error", {}), "m").error
    assert str(named) == "m answered with status 429 (rate_limit_error)"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0),
    ],
)
def test_when_to_come_back(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_in(headers) == expected


def test_when_to_come_back_may_be_a_date() -> None:
    after = retry_after_in({"retry-after": formatdate(time.time() + 90, usegmt=True)})
    assert after is not None
    assert 85 < after < 91
