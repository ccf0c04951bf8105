"""What went wrong in a call, told without the words of the server, which may repeat what was sent."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from memctx.compact.overflow import is_context_overflow
from memctx.errors import SummaryError
from memctx.extractors.failure import DEAD, TRANSIENT
from memctx.retry_after import retry_after_in

if TYPE_CHECKING:
    from collections.abc import Mapping

# How an error is named that comes in a stream which began well.
TRANSIENT_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
DEAD_TYPES = frozenset(
    {"authentication_error", "billing_error", "not_found_error", "permission_error"}
)


def failure_of(error: Exception, model: str) -> SummaryError:  # noqa: PLR0911 - a table
    """What an exception of the SDK means."""
    names = {cls.__name__ for cls in type(error).__mro__}
    if isinstance(error, TimeoutError) or "APITimeoutError" in names:
        return SummaryError(f"{model} did not answer in time", is_timeout=True)
    if is_context_overflow(error):
        return SummaryError(
            f"what was to be summarised does not fit {model}'s window", is_overflow=True
        )
    if "APIStatusError" in names:
        return _of_status(error, model)
    if "APIConnectionError" in names:
        return SummaryError(f"the connection to {model} failed")
    if "HTTPError" in names or "StreamError" in names:
        return SummaryError(f"the connection to {model} broke while it answered")
    if isinstance(error, (ValueError, AttributeError)) or "APIError" in names:
        return SummaryError(f"what {model} sent is no answer of its API")
    # The SDK does not get as far as a request without credentials.
    words = (
        f"{model} could not be called ({type(error).__name__}); are its API key and address set?"
    )
    return SummaryError(words, is_dead=True)


def _of_status(error: Exception, model: str) -> SummaryError:
    """What a status other than success means, or an error in the middle of a stream."""
    status = int(getattr(error, "status_code", 0))
    kind = getattr(error, "type", None)
    is_dead = status in DEAD or kind in DEAD_TYPES
    is_transient = not is_dead and (
        status in TRANSIENT
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        or kind in TRANSIENT_TYPES
        or status < HTTPStatus.BAD_REQUEST
    )
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    reason = f" ({kind})" if isinstance(kind, str) and re.fullmatch(r"[a-z_]{1,48}", kind) else ""
    return SummaryError(
        f"{model} answered with status {status}{reason}",
        is_final=not is_transient,
        is_dead=is_dead,
        retry_after=retry_after_in(headers) if is_transient else None,
    )
