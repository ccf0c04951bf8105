"""Reporting from inside a summarizer: usage, problems and streamed text."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memctx.protocols import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

logger = logging.getLogger("memctx.compaction.summary")


@dataclass(slots=True)
class Meter:
    """Usage of the calls inside `collect_usage`, and the faults of answers that were used."""

    usage: Usage = field(default_factory=Usage)
    problems: list[str] = field(default_factory=list[str])


_current: ContextVar[Meter | None] = ContextVar("memctx_summary_meter", default=None)


def count_usage(usage: Usage) -> None:
    """Report the usage of a call; a custom summarizer calls this once for each.

    It counts for the summary being made, and has no effect outside of one.

    >>> with collect_usage() as meter:
    ...     count_usage(Usage(calls=1, input_tokens=900, output_tokens=80))
    >>> meter.usage.input_tokens
    900
    """
    meter = _current.get()
    if meter is not None:
        meter.usage += usage


def note_problem(words: str) -> None:
    """Report a fault of an answer that is used nevertheless."""
    meter = _current.get()
    if meter is not None:
        meter.problems.append(words)


@contextmanager
def collect_usage() -> Generator[Meter]:
    """Collect the usage of calls inside, also in tasks and threads started there."""
    meter = Meter()
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)


def shield_callback(on_text: Callable[[str], None] | None) -> Callable[[str], None] | None:
    """Wrap a host's callback so that it is not called again once it has raised."""
    if on_text is None:
        return None
    listeners = [on_text]

    def show(text: str) -> None:
        for listener in listeners:
            try:
                listener(text)
            except Exception:
                logger.warning("on_text raised and will not be called again", exc_info=True)
                listeners.clear()

    return show
