"""What summarising costs, counted where the calls are made and read where they are asked for."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memctx.extractors.protocol import Usage

if TYPE_CHECKING:
    from collections.abc import Generator


@dataclass(slots=True)
class Meter:
    """What the calls inside `metered` cost, and what was wrong with answers that were taken all the same."""

    usage: Usage = field(default_factory=Usage)
    problems: list[str] = field(default_factory=list[str])


_current: ContextVar[Meter | None] = ContextVar("memctx_summary_meter", default=None)


def count_usage(usage: Usage) -> None:
    """Say what a call cost; a summariser of one's own calls this once for each.

    It counts for the summary that is being made. Where none is, it counts for nothing.

    >>> with metered() as meter:
    ...     count_usage(Usage(calls=1, input_tokens=900, output_tokens=80))
    >>> meter.usage.input_tokens
    900
    """
    meter = _current.get()
    if meter is not None:
        meter.usage += usage


def note_problem(words: str) -> None:
    """Say what is wrong with an answer that is good enough to use."""
    meter = _current.get()
    if meter is not None:
        meter.problems.append(words)


@contextmanager
def metered() -> Generator[Meter]:
    """Count what is called inside, in tasks and threads started there too."""
    meter = Meter()
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)
