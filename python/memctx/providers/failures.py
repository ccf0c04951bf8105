"""Classification of failed provider calls.

Exceptions of the anthropic and openai SDKs, of httpx and plain HTTP statuses are classified by the same tables. No SDK
is imported: exceptions are recognized by class name and attributes. Messages never repeat the server's text, which may
quote the request.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, TypeAlias

from memctx.providers.overflow import is_context_overflow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FailureKind: TypeAlias = Literal[
    "permanent", "rejected", "overflow", "timeout", "rate_limited", "transient"
]

# No other request can succeed either: the account, the key or the model is missing.
PERMANENT = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.PAYMENT_REQUIRED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
    }
)
PERMANENT_CODES = frozenset(
    {
        "authentication_error",
        "billing_error",
        "insufficient_quota",
        "not_found_error",
        "permission_error",
    }
)
TRANSIENT = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.CONFLICT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
# Error codes inside a stream whose status was a success.
TRANSIENT_CODES = frozenset({"api_error", "overloaded_error", "rate_limit_error", "timeout_error"})
BAD_REQUEST = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
CODE = re.compile(r"[A-Za-z][A-Za-z_]{0,47}")
CODE_FIELDS = ("type", "code", "error_code", "status")


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call to a provider.

    >>> failure = classify_status(429, "gpt", headers={"retry-after": "7"})
    >>> failure.kind, failure.retry_after, failure.is_retryable
    ('rate_limited', 7.0, True)
    """

    message: str
    kind: FailureKind
    """``permanent``: no call can succeed. ``rejected``: this request cannot. ``overflow``: the request is too large.
    The others may pass."""
    retry_after: float | None = None
    """Seconds that the server asked to wait."""
    is_bad_request: bool = False
    """True if the server rejected the content of the request, so that a simpler one may be accepted."""

    @property
    def is_retryable(self) -> bool:
        """Return whether the same call may succeed later."""
        return self.kind in {"timeout", "rate_limited", "transient"}


def classify(error: Exception, model: str) -> Failure:
    """Return the failure that an exception of an SDK or HTTP client stands for."""
    names = {cls.__name__ for cls in type(error).__mro__}
    if isinstance(error, TimeoutError) or names & {"APITimeoutError", "TimeoutException"}:
        return Failure(f"{model} did not answer in time", "timeout")
    if is_context_overflow(error):
        return Failure(f"the request does not fit the context window of {model}", "overflow")
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        headers = getattr(getattr(error, "response", None), "headers", {})
        codes = error_codes({name: getattr(error, name, None) for name in CODE_FIELDS})
        return classify_status(status, model, headers=headers, codes=codes)
    if "UnsupportedProtocol" not in names:
        if names & {"APIConnectionError", "HTTPError", "StreamError"}:
            return Failure(f"the connection to {model} failed", "transient")
        if isinstance(error, (ValueError, AttributeError)) or "APIError" in names:
            return malformed_response(model)
    # SDKs raise other exceptions before the first request, for example without credentials.
    message = f"{model} could not be called ({type(error).__name__}); check its API key and address"
    return Failure(message, "permanent")


def classify_status(
    status: int,
    model: str,
    *,
    headers: Mapping[str, str] | None = None,
    codes: Iterable[str] = (),
) -> Failure:
    """Return the failure that an HTTP status and the error codes of the response stand for."""
    found = list(codes)
    reason = f" ({', '.join(found)})" if found else ""
    message = f"{model} answered with status {status}{reason}"
    if status in PERMANENT or not PERMANENT_CODES.isdisjoint(found):
        return Failure(message, "permanent")
    is_transient = (
        status in TRANSIENT
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        or status < HTTPStatus.MULTIPLE_CHOICES
        or not TRANSIENT_CODES.isdisjoint(found)
    )
    if is_transient:
        is_limited = status == HTTPStatus.TOO_MANY_REQUESTS or "rate_limit_error" in found
        kind: FailureKind = "rate_limited" if is_limited else "transient"
        return Failure(message, kind, parse_retry_after(headers or {}))
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return Failure(message, "overflow")
    return Failure(message, "rejected", is_bad_request=status in BAD_REQUEST)


def malformed_response(model: str) -> Failure:
    """Return the failure of a response that does not follow the API."""
    return Failure(f"{model} sent a response that does not follow its API", "transient")


def error_codes(fields: Mapping[str, object]) -> list[str]:
    """Return the machine-readable codes among the fields of an error."""
    found = (fields.get(name) for name in CODE_FIELDS)
    codes = [code for code in found if isinstance(code, str) and CODE.fullmatch(code)]
    return list(dict.fromkeys(codes))


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, if it does.

    >>> parse_retry_after({"retry-after": "9", "retry-after-ms": "250"})
    0.25
    """
    milliseconds = _parse_seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _parse_seconds(value)
    if seconds is not None or value is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None


def _parse_seconds(value: str | None) -> float | None:
    return float(value) if value and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value.strip()) else None
