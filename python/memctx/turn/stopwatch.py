"""How long each step of a turn takes."""

from __future__ import annotations

from time import perf_counter


class Stopwatch:
    """Laps by name, in milliseconds."""

    __slots__ = ("_since", "laps")

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = perf_counter()

    def lap(self, step: str) -> None:
        """Count the time since the last lap to a step."""
        now = perf_counter()
        self.laps[step] = self.laps.get(step, 0.0) + (now - self._since) * 1000
        self._since = now
