"""Circuit breaker around a model that keeps failing."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from memctx.errors import ConfigError
from memctx.providers.retry import backoff

if TYPE_CHECKING:
    from collections.abc import Callable

State: TypeAlias = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """Thresholds of a circuit breaker; times are in seconds.

    Raises:
        ConfigError: A value is out of range.
    """

    failures: int = 3
    """Failures in a row that open it."""
    cool_down: float = 2.0
    """From opening to the first probe; doubled by each probe that fails."""
    max_cool_down: float = 120.0
    """The longest cool-down, and the one after a permanent failure."""
    delay: float = 0.0
    """Back-off after a failure that does not open it; doubled by each further one."""
    jitter: float = 0.0
    """Share by which waits vary at random, so that processes that failed together spread out."""

    def __post_init__(self) -> None:
        if self.failures < 1:
            raise ConfigError(f"failures must be at least 1, not {self.failures!r}")
        if not 0 < self.cool_down <= self.max_cool_down:
            raise ConfigError(
                f"cool_down must be above 0 and at most max_cool_down ({self.max_cool_down!r}), "
                f"not {self.cool_down!r}"
            )
        for name, value in (("delay", self.delay), ("jitter", self.jitter)):
            if not value >= 0:
                raise ConfigError(f"{name} must be 0 or more, not {value!r}")


class CircuitBreaker:
    """Admits calls until several in a row fail, then single probes until one succeeds.

    Threads that share a breaker call `admit` before and `settle` after each call; the outcome of a call that began
    before the breaker opened or closed is ignored. A single caller may use `fail`, `reset` and `wait` instead.

    >>> now = 0.0
    >>> breaker = CircuitBreaker(BreakerPolicy(failures=2, cool_down=5.0), clock=lambda: now)
    >>> for _ in range(2):
    ...     breaker.settle(breaker.admit(), is_success=False)
    >>> breaker.state, breaker.admit(), breaker.wait
    ('open', None, 5.0)
    >>> now = 5.0
    >>> probe = breaker.admit()
    >>> breaker.state, breaker.admit()
    ('half-open', None)
    >>> breaker.settle(probe, is_success=True)
    >>> breaker.state
    'closed'

    Args:
        policy: When to open, and for how long.
        clock: The time in seconds.
        seed: The seed of the jitter.
    """

    def __init__(
        self,
        policy: BreakerPolicy | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        seed: int | None = None,
    ) -> None:
        self._policy = policy or BreakerPolicy()
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._lock = threading.Lock()
        self._state: State = "closed"
        self._failures = 0
        self._cool_down = self._policy.cool_down
        self._until = 0.0
        self._permit = 0

    @property
    def state(self) -> State:
        """``closed`` admits all calls, ``open`` none, ``half-open`` waits for the outcome of a probe."""
        with self._lock:
            return self._state

    @property
    def is_open(self) -> bool:
        """Return whether calls are held back until a probe succeeds."""
        return self.state != "closed"

    @property
    def wait(self) -> float:
        """Seconds until the next call is due."""
        with self._lock:
            return max(0.0, self._until - self._clock())

    def admit(self) -> int | None:
        """Return a permit for one call, to be passed to `settle`; None if no call is admitted."""
        with self._lock:
            if self._state == "closed":
                return self._permit
            now = self._clock()
            if now < self._until:
                return None
            self._change("half-open")
            # A probe without an outcome is given up after another cool-down.
            self._until = now + self._cool_down
            return self._permit

    def settle(self, permit: int | None, *, is_success: bool) -> None:
        """Record the outcome of an admitted call."""
        with self._lock:
            if permit != self._permit:
                return
            if is_success:
                self._reset()
            else:
                self._fail(is_permanent=False, retry_after=None)

    def fail(self, *, is_permanent: bool = False, retry_after: float | None = None) -> float:
        """Record a failure and return the seconds until the next call is due."""
        with self._lock:
            return self._fail(is_permanent=is_permanent, retry_after=retry_after)

    def reset(self) -> None:
        """Close the breaker and forget all failures."""
        with self._lock:
            self._reset()

    def _reset(self) -> None:
        self._failures = 0
        self._cool_down = self._policy.cool_down
        self._until = 0.0
        if self._state != "closed":
            self._change("closed")

    def _fail(self, *, is_permanent: bool, retry_after: float | None) -> float:
        policy = self._policy
        self._failures += 1
        asked = retry_after or 0.0
        if is_permanent or asked >= policy.cool_down:
            self._failures = max(self._failures, policy.failures)
        is_opening = self._failures >= policy.failures
        if is_permanent:
            wait = policy.max_cool_down
        elif is_opening:
            times = self._failures - policy.failures + 1
            wait = self._cool_down = backoff(times, policy.cool_down, policy.max_cool_down)
        else:
            wait = backoff(self._failures, policy.delay, policy.max_cool_down)
        wait *= self._random.uniform(1 - policy.jitter, 1 + policy.jitter)
        wait = max(wait, min(asked, policy.max_cool_down))
        self._until = self._clock() + wait
        if is_opening:
            self._change("open")
        return wait

    def _change(self, state: State) -> None:
        self._state = state
        self._permit += 1
