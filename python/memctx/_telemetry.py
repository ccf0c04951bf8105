"""Spans for OpenTelemetry, where the process uses it.

Nothing is imported for them: as long as no other part of the process has imported OpenTelemetry's tracing, no exporter
can have been set up, and a span would reach no one.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Value = str | int | float | bool

MODULE = "opentelemetry.trace"
NAME = "memctx"


def span(name: str) -> AbstractContextManager[Any]:
    """Return a context that is a span of this name; its value is None where the process has no tracing.

    >>> with span("memctx.search") as current:
    ...     describe(current, lambda: {"memctx.hits": 3})
    """
    # Another thread may be about to import it.
    get_tracer = getattr(sys.modules.get(MODULE), "get_tracer", None)
    if get_tracer is None:
        return nullcontext()
    started: AbstractContextManager[Any] = get_tracer(NAME).start_as_current_span(name)
    return started


def describe(current: Any, attributes: Callable[[], Mapping[str, Value]]) -> None:  # noqa: ANN401 - of an optional package
    """Set the attributes of a span, made only if it is recorded; texts of the conversation are never among them.

    A process that has imported OpenTelemetry need not trace: libraries import it for those who do.
    """
    if current is not None and current.is_recording():
        current.set_attributes(attributes())
