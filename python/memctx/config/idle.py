"""Settings that OpenClaw has and memctx does not: accepted, without effect, and named once in the log."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

_collector: ContextVar[list[str] | None] = ContextVar("idle_settings", default=None)
_logged: set[tuple[str, str]] = set()


def note(source: str, names: Iterable[str]) -> None:
    """Report settings without effect: to the open collector, or else once in the log."""
    collector = _collector.get()
    if collector is None:
        _log(source, names)
    else:
        collector += names


@contextmanager
def collected(source: str | None = None) -> Generator[list[str]]:
    """Collect the names noted inside; those of a ``source`` are logged once at the end, in one line."""
    names: list[str] = []
    token = _collector.set(names)
    try:
        yield names
    finally:
        _collector.reset(token)
        names[:] = sorted(set(names))
        if source is not None:
            _log(source, names)


def _log(source: str, names: Iterable[str]) -> None:
    new = sorted({name for name in names if (source, name) not in _logged})
    _logged.update((source, name) for name in new)
    if new:
        logging.getLogger("memctx.config").warning("%s: no effect here: %s", source, ", ".join(new))
