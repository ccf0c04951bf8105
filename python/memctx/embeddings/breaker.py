"""`Breaker`: leaves alone what keeps failing, and tries it again now and then."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

State = Literal["closed", "open", "half-open"]


class Breaker:
    """Lets calls through until several in a row fail, then a single one now and then until one succeeds.

    Every call asks to be let through and says afterwards how it went. What is said of a call that began before the
    breaker opened or closed comes too late to count. Threads may share a breaker.

    >>> now = 0.0
    >>> breaker = Breaker(failures=2, cool_down=5.0, clock=lambda: now)
    >>> for _ in range(2):
    ...     breaker.settle(breaker.admit(), is_success=False)
    >>> breaker.state, breaker.admit()
    ('open', None)
    >>> now = 5.0
    >>> probe = breaker.admit()
    >>> breaker.state, breaker.admit()
    ('half-open', None)
    >>> breaker.settle(probe, is_success=True)
    >>> breaker.state
    'closed'

    Args:
        failures: How many in a row open it.
        cool_down: Seconds until the first call is let through again; twice as many after each that fails.
        longest: Seconds that a cool-down takes at most.
        clock: Tells the time in seconds.
    """

    def __init__(
        self,
        failures: int = 3,
        cool_down: float = 2.0,
        longest: float = 120.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if failures < 1:
            raise ConfigError(f"failures must be at least 1, not {failures!r}")
        if not 0 < cool_down <= longest:
            raise ConfigError(
                f"cool_down must be above 0 and at most longest ({longest!r}), not {cool_down!r}"
            )
        self._most = failures
        self._first = cool_down
        self._longest = longest
        self._clock = clock
        self._lock = threading.Lock()
        self._state: State = "closed"
        self._failures = 0
        self._cool_down = cool_down
        self._since = 0.0
        self._era = 0

    @property
    def state(self) -> State:
        """``closed`` lets all calls through, ``open`` none, ``half-open`` waits for the one that may try."""
        with self._lock:
            return self._state

    def admit(self) -> int | None:
        """A permit for one call, to be given to `settle`; None if there is to be no call."""
        with self._lock:
            if self._state == "closed":
                return self._era
            # A probe that never said how it went is given up after as long.
            if self._clock() - self._since < self._cool_down:
                return None
            self._become("half-open")
            return self._era

    def settle(self, permit: int | None, *, is_success: bool) -> None:
        """Say how a call went that was let through."""
        with self._lock:
            if permit != self._era:
                return
            if is_success:
                self._failures = 0
                self._cool_down = self._first
                if self._state == "half-open":
                    self._become("closed")
                return
            self._failures += 1
            if self._state == "half-open":
                self._cool_down = min(2 * self._cool_down, self._longest)
                self._become("open")
            elif self._failures >= self._most:
                self._become("open")

    def _become(self, state: State) -> None:
        self._state = state
        self._since = self._clock()
        self._era += 1
