"""Retries of provider calls, on tenacity.

An attempt returns its result or a `Failure`; nothing is raised, since exceptions of SDKs hold the request.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memctx.providers.failures import Failure

if TYPE_CHECKING:
    import threading
    from collections.abc import Awaitable, Callable

    from tenacity import RetryCallState

Result = TypeVar("Result")

FIRST_DELAY = 0.5
"""Seconds before the first retry, unless the server asks for others."""
MAX_DOUBLINGS = 30

logger = logging.getLogger("memctx.providers")


def backoff(failures: int, first: float, max_delay: float) -> float:
    """Return the seconds to wait after some failures in a row: ``first``, doubled after each but the first.

    >>> [backoff(failures, 0.5, 5.0) for failures in (1, 2, 3, 4, 5)]
    [0.5, 1.0, 2.0, 4.0, 5.0]
    """
    return min(first * 2.0 ** min(max(failures - 1, 0), MAX_DOUBLINGS), max_delay)


def jitter(delay: float) -> float:
    """Return half of the delay to all of it, at random, so that processes that failed together spread out."""
    return delay * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of the retries of one call, in seconds.

    >>> policy = RetryPolicy(max_retries=3)
    >>> outcomes = iter([Failure("busy", "transient", retry_after=0.0), "done"])
    >>> import threading
    >>> policy.run(lambda: next(outcomes), threading.Event())
    'done'
    """

    max_retries: int
    max_delay: float = 8.0
    max_retry_after: float | None = 15.0
    """A longer wait that the server asks for is left to the caller; None waits ``max_delay`` instead."""
    retries_timeouts: bool = True
    """False for callers that have no time left after a timeout."""

    def should_retry(self, outcome: object) -> bool:
        """Return whether an outcome is a failure that is worth another attempt."""
        if not isinstance(outcome, Failure) or not outcome.is_retryable:
            return False
        if outcome.kind == "timeout" and not self.retries_timeouts:
            return False
        return self.max_retry_after is None or (outcome.retry_after or 0.0) <= self.max_retry_after

    def delay(self, failure: Failure, attempt: int) -> float:
        """Return the seconds between an attempt, counted from 1, and the next."""
        if failure.retry_after is None:
            return jitter(backoff(attempt, FIRST_DELAY, self.max_delay))
        asked = failure.retry_after + FIRST_DELAY - jitter(FIRST_DELAY)
        return asked if self.max_retry_after is not None else min(asked, self.max_delay)

    def run(
        self, attempt: Callable[[], Result | Failure], cancelled: threading.Event
    ) -> Result | Failure:
        """Return the first result, or the failure after the last attempt or a cancellation."""
        import tenacity  # noqa: PLC0415 - slow to import, and most processes call no provider

        outcome: Result | Failure | None = None

        def try_once() -> Result | Failure:
            nonlocal outcome
            if outcome is None or not cancelled.is_set():  # not after a wait that was cut short
                outcome = attempt()
            return outcome

        stop = tenacity.stop_when_event_set(cancelled)
        arguments = self._arguments()
        arguments["stop"] = arguments["stop"] | stop
        return tenacity.Retrying(sleep=tenacity.sleep_using_event(cancelled), **arguments)(try_once)

    async def run_async(
        self, attempt: Callable[[], Awaitable[Result | Failure]]
    ) -> Result | Failure:
        """Return the first result, or the failure after the last attempt."""
        import asyncio  # noqa: PLC0415 - as above

        import tenacity  # noqa: PLC0415 - as above

        async def try_once() -> Result | Failure:  # tenacity awaits coroutine functions only
            return await attempt()

        retrying = tenacity.AsyncRetrying(sleep=asyncio.sleep, **self._arguments())
        return cast("Result | Failure", await retrying(try_once))

    def _arguments(self) -> dict[str, Any]:
        import tenacity  # noqa: PLC0415 - as above

        def wait(state: RetryCallState) -> float:
            return self.delay(_failure_in(state), state.attempt_number)

        return {
            "retry": tenacity.retry_if_result(self.should_retry),
            "stop": tenacity.stop_after_attempt(self.max_retries + 1),
            "wait": wait,
            "before_sleep": _log_retry,
            "retry_error_callback": _failure_in,
        }


def _failure_in(state: RetryCallState) -> Failure:
    return cast("Failure", state.outcome.result()) if state.outcome else Failure("", "permanent")


def _log_retry(state: RetryCallState) -> None:
    logger.info(
        "%s; retry %d in %.1f s",
        _failure_in(state).message,
        state.attempt_number,
        state.upcoming_sleep,
    )
