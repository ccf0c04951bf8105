"""Classification of failures: exceptions of the SDKs and of httpx, and HTTP statuses."""

from __future__ import annotations

import time
from email.utils import formatdate
from types import SimpleNamespace

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.providers.failures import Failure, classify, classify_status, parse_retry_after

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
RETRYABLE = {"timeout", "rate_limited", "transient"}


class StatusError(Exception):
    """An exception as both SDKs make theirs."""

    def __init__(self, status: int, code: object, headers: dict[str, str]) -> None:
        super().__init__(f"Error code: {status} - {code}")
        self.status_code = status
        self.type = self.code = code
        self.response = SimpleNamespace(headers=headers)


@given(st.integers(200, 599), st.text() | st.none() | st.integers(), st.text())
def test_every_status_has_one_kind(status: int, code: object, after: str) -> None:
    failure = classify(StatusError(status, code, {"retry-after": after}), "model")
    assert failure.is_retryable == (failure.kind in RETRYABLE)
    assert str(status) in failure.message or failure.kind == "overflow"
    assert failure.retry_after is None or (failure.is_retryable and failure.retry_after >= 0)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (200, "overloaded_error", "transient"),
        (200, "permission_error", "permanent"),
        (301, "moved", "rejected"),
        (400, "invalid_request_error", "rejected"),
        (401, "authentication_error", "permanent"),
        (402, "billing_error", "permanent"),
        (403, "PERMISSION_DENIED", "permanent"),
        (404, "not_found_error", "permanent"),
        (405, "method", "rejected"),
        (408, "timeout_error", "transient"),
        (409, "conflict", "transient"),
        (413, "invalid_request_error", "overflow"),
        (422, "invalid", "rejected"),
        (425, "early", "transient"),
        (429, "rate_limit_error", "rate_limited"),
        (429, "insufficient_quota", "permanent"),
        (500, "api_error", "transient"),
        (529, "overloaded_error", "transient"),
    ],
)
def test_a_status_and_an_exception_with_it_are_classified_alike(
    status: int, code: str, kind: str
) -> None:
    assert classify_status(status, "m", codes=[code]).kind == kind
    assert classify(StatusError(status, code, {}), "m").kind == kind


@pytest.mark.parametrize("status", [400, 413, 422, 429, 500])
def test_bad_requests_are_marked(status: int) -> None:
    assert classify_status(status, "m").is_bad_request == (status in {400, 422})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (anthropic.APITimeoutError(REQUEST), "timeout"),
        (openai.APITimeoutError(REQUEST), "timeout"),
        (httpx2.ReadTimeout("slow"), "timeout"),
        (anthropic.APIConnectionError(request=REQUEST), "transient"),
        (openai.APIConnectionError(request=REQUEST), "transient"),
        (httpx2.ConnectError("refused"), "transient"),
        (httpx2.RemoteProtocolError("closed"), "transient"),
        (httpx2.DecodingError("gzip"), "transient"),
        (httpx2.UnsupportedProtocol("ftp"), "permanent"),
        (ValueError("no JSON"), "transient"),
        (RuntimeError("prompt is too long: 213462 tokens > 200000 maximum"), "overflow"),
        (TypeError("no credentials"), "permanent"),
        (ImportError("httpx2"), "permanent"),
    ],
    ids=lambda value: (
        f"{type(value).__module__}.{type(value).__name__}"
        if isinstance(value, Exception)
        else value
    ),
)
def test_exceptions_without_a_status_are_classified_by_class(error: Exception, kind: str) -> None:
    failure = classify(error, "m")
    assert failure.kind == kind
    assert str(error) not in failure.message or not str(error)


def test_messages_repeat_only_machine_readable_codes() -> None:
    quoted = classify(StatusError(400, "Your prompt 'the heron' is bad", {}), "m")
    assert quoted.message == "m answered with status 400"
    coded = classify(StatusError(429, "rate_limit_error", {}), "m")
    assert coded.message == "m answered with status 429 (rate_limit_error)"


def test_retry_after_is_read_for_retryable_failures_only() -> None:
    headers = {"retry-after": "7"}
    assert classify_status(429, "m", headers=headers).retry_after == 7
    assert classify_status(400, "m", headers=headers) == Failure(
        "m answered with status 400", "rejected", is_bad_request=True
    )


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
def test_retry_after_headers_are_parsed(headers: dict[str, str], expected: float | None) -> None:
    assert parse_retry_after(headers) == expected


def test_retry_after_may_be_a_date() -> None:
    after = parse_retry_after({"retry-after": formatdate(time.time() + 90, usegmt=True)})
    assert after is not None
    assert 85 < after < 91
