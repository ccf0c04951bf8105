"""What went wrong in a call, told without the words of the server, which may repeat what was sent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from memctx.errors import ExtractionError
from memctx.retry_after import retry_after_in

if TYPE_CHECKING:
    from collections.abc import Mapping

# Asking for something else, or later, will not help: the account, the key or the model is not there.
DEAD = {
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.PAYMENT_REQUIRED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
}
DEAD_CODES = {"billing_error", "insufficient_quota"}
TRANSIENT = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
REFUSED = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}
CODE = re.compile(r"[a-z][a-z_]{0,47}")


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed."""

    error: ExtractionError
    is_transient: bool = False
    """Whether the same call may succeed in a moment."""
    is_refused: bool = False
    """Whether the server did not like what was asked, or how."""


def failure_of(error: Exception, model: str) -> Failure:
    """What an exception of an SDK means. Those of anthropic and openai are made alike."""
    if isinstance(error, ExtractionError):
        return Failure(error, is_transient=True)
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= HTTPStatus.BAD_REQUEST:
        return failure_of_status(error, status, model)
    names = {cls.__name__ for cls in type(error).__mro__}
    if isinstance(error, TimeoutError) or "APITimeoutError" in names:
        return Failure(ExtractionError(f"{model} did not answer in time"), is_transient=True)
    if "APIConnectionError" in names:
        return Failure(ExtractionError(f"the connection to {model} failed"), is_transient=True)
    if isinstance(error, ValueError) or "APIResponseValidationError" in names:
        text = f"what {model} sent is no answer of its API"
        return Failure(ExtractionError(text), is_transient=True)
    # Neither SDK gets as far as a request without credentials.
    text = f"{model} could not be called ({type(error).__name__}); are its API key and address set?"
    return Failure(ExtractionError(text, is_dead=True))


def failure_of_status(error: Exception, status: int, model: str) -> Failure:
    """What a status other than success means."""
    codes = codes_of(error)
    is_dead = status in DEAD or not DEAD_CODES.isdisjoint(codes)
    is_transient = not is_dead and (
        status in TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )
    response = getattr(error, "response", None)
    headers: Mapping[str, str] = getattr(response, "headers", {})
    reason = f" ({', '.join(codes)})" if codes else ""
    told = ExtractionError(
        f"{model} answered with status {status}{reason}",
        is_final=not is_dead and not is_transient,
        is_dead=is_dead,
        retry_after=retry_after_in(headers) if is_transient else None,
    )
    return Failure(told, is_transient=is_transient, is_refused=status in REFUSED and not is_dead)


def codes_of(error: Exception) -> list[str]:
    """The words for the cause that programs are meant to read."""
    found = (getattr(error, name, None) for name in ("type", "code", "error_code"))
    codes = [code for code in found if isinstance(code, str) and CODE.fullmatch(code)]
    return list(dict.fromkeys(codes))
