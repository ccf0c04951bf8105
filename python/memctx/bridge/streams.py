"""`watch_stream`: observes the usage of a call when its stream ends, is closed or fails."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from memctx.bridge.sessions import Prepared

T = TypeVar("T")
Read: TypeAlias = "Callable[[Any], Mapping[str, object]]"
"""Returns the counts that an event tells; the last ones are right."""


def watch_stream(stream: object, prepared: Prepared[Any], read: Read) -> None:
    """Watch a stream of Anthropic's or OpenAI's SDK, synchronous or not; one of another kind is left alone."""
    sdk: Any = stream
    events: Any = getattr(sdk, "_iterator", None)
    if events is not None:
        start = _awatch if hasattr(events, "__anext__") else _watch
        sdk._iterator = start(events, prepared, read)  # noqa: SLF001 - no public way in


def _watch(events: Iterator[T], prepared: Prepared[Any], read: Read) -> Iterator[T]:
    usage: dict[str, object] = {}
    try:
        for event in events:
            with suppress(Exception):
                usage.update(read(event))
            yield event
    finally:
        prepared.observe(usage or None)


async def _awatch(
    events: AsyncIterator[T], prepared: Prepared[Any], read: Read
) -> AsyncIterator[T]:
    usage: dict[str, object] = {}
    try:
        async for event in events:
            with suppress(Exception):
                usage.update(read(event))
            yield event
    finally:
        prepared.observe(usage or None)


def counts(usage: object) -> dict[str, object]:
    """Return the counts of a usage object that are set."""
    dump: Callable[..., dict[str, object]] | None = getattr(usage, "model_dump", None)
    return {} if dump is None else dump(exclude_none=True, warnings=False)
