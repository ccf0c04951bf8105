"""`watch`: the events of a stream, of which the usage is observed when it ends, is closed or fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from memctx.bridge.sessions import Prepared

T = TypeVar("T")


def watch(
    events: Iterator[T], prepared: Prepared[Any], read: Callable[[T], Mapping[str, object]]
) -> Iterator[T]:
    """Yield the events of a call. ``read`` returns the counts that an event tells, of which the last are right."""
    usage: dict[str, object] = {}
    try:
        for event in events:
            usage.update(read(event))
            yield event
    finally:
        prepared.observe(usage or None)


async def awatch(
    events: AsyncIterator[T], prepared: Prepared[Any], read: Callable[[T], Mapping[str, object]]
) -> AsyncIterator[T]:
    """Yield the events of an asynchronous call."""
    usage: dict[str, object] = {}
    try:
        async for event in events:
            usage.update(read(event))
            yield event
    finally:
        prepared.observe(usage or None)


def counts(usage: object) -> dict[str, object]:
    """Return the counts of a usage object that are set, for `watch`."""
    dump: Callable[..., dict[str, object]] | None = getattr(usage, "model_dump", None)
    return {} if dump is None else dump(exclude_none=True)
