"""`watch_stream`: observes the usage and the answer of a call when its stream ends, is closed or fails."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from memctx.bridge.answers import StreamedAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from memctx.bridge.sessions import Prepared
    from memctx.messages import FormatName

T = TypeVar("T")


def watch_stream(stream: object, prepared: Prepared[Any], format: FormatName) -> None:
    """Watch a stream of Anthropic's or OpenAI's SDK, synchronous or not; one of another kind is left alone."""
    sdk: Any = stream
    events: Any = getattr(sdk, "_iterator", None)
    if events is not None:
        start = _awatch if hasattr(events, "__anext__") else _watch
        sdk._iterator = start(events, prepared, format)  # noqa: SLF001 - no public way in


def _watch(events: Iterator[T], prepared: Prepared[Any], format: FormatName) -> Iterator[T]:
    answer = StreamedAnswer(format)
    try:
        for event in events:
            with suppress(Exception):
                answer.add(event)
            yield event
    finally:
        prepared.observe(answer.usage or None, answer.messages, format)


async def _awatch(
    events: AsyncIterator[T], prepared: Prepared[Any], format: FormatName
) -> AsyncIterator[T]:
    answer = StreamedAnswer(format)
    try:
        async for event in events:
            with suppress(Exception):
                answer.add(event)
            yield event
    finally:
        prepared.observe(answer.usage or None, answer.messages, format)
