"""`Breaker`: leaves an extractor alone that fails, for longer and longer."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds."""

    pause: float = 1.0
    """After a first failure; each further one doubles it."""
    failures: int = 3
    """In a row, after which the extractor is taken for dead."""
    rest: float = 60.0
    """For how long one that is taken for dead is left alone; each further failure doubles it."""
    longest: float = 1800.0
    """Never longer than this, whatever is asked for; and this long if it said itself that it is dead."""


class Breaker:
    """Says when to try next. Closed, all is well; open, nobody tries but one probe each time the rest is over."""

    def __init__(
        self,
        patience: Patience,
        *,
        clock: Callable[[], float] = time.monotonic,
        seed: int | None = None,
    ) -> None:
        self._patience = patience
        self._clock = clock
        # Several processes that failed together should not come back together.
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        self.close()

    def close(self) -> None:
        """All is well, or is to be taken so."""
        self._failures = 0
        self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether it is taken for dead, until a probe went well."""
        return self._failures >= self._patience.failures

    @property
    def wait(self) -> float:
        """Seconds until the next try is due."""
        return max(0.0, self._until - self._clock())

    def fail(self, *, is_dead: bool = False, retry_after: float | None = None) -> float:
        """Count a failure; the seconds until the next try."""
        patience = self._patience
        self._failures += 1
        asked = retry_after or 0.0
        if is_dead or asked >= patience.rest:
            self._failures = max(self._failures, patience.failures)
        # The exponents are bounded: a float can be too large, too.
        if is_dead:
            wait = patience.longest
        elif self.is_open:
            wait = patience.rest * 2.0 ** min(self._failures - patience.failures, 30)
        else:
            wait = patience.pause * 2.0 ** min(self._failures - 1, 30)
        wait = min(wait, patience.longest) * self._chance.uniform(0.75, 1.25)
        wait = max(wait, min(asked, patience.longest))
        self._until = self._clock() + wait
        return wait
