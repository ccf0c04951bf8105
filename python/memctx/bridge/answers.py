"""The usage and the answer in responses of the providers' APIs, whole or streamed, as objects or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memctx.messages import FormatName


def usage_of(response: object) -> object:
    """Return the usage in a response; None if it has none."""
    return _get(response, "usage")


def answer_of(response: object, format: FormatName) -> list[Any]:
    """Return the messages of an answer, in the format of the request; none if there are none.

    >>> answer_of({"choices": [{"message": {"role": "assistant", "content": "8443"}}]}, "openai")
    [{'role': 'assistant', 'content': '8443'}]
    """
    if format == "openai":
        choices = _list(response, "choices")
        message = _get(choices[0], "message") if choices else None  # others are alternatives
        return [] if message is None else [message]
    if format == "responses":
        return _list(response, "output")
    content = _list(response, "content")
    return [{"role": "assistant", "content": content}] if content else []


class StreamedAnswer:
    """Collects the usage and the answer of a stream from its events.

    >>> answer = StreamedAnswer("openai")
    >>> for text in ("84", "43"):
    ...     answer.add({"choices": [{"delta": {"content": text}}]})
    >>> answer.messages
    [{'role': 'assistant', 'content': '8443'}]
    """

    def __init__(self, format: FormatName) -> None:
        self.usage: dict[str, object] = {}
        self._format: FormatName = format
        self._texts: list[list[str]] = []
        self._whole: list[Any] = []

    def add(self, event: object) -> None:
        """Add an event. Of counts that are told several times the last are right."""
        if self._format == "openai":
            self.usage.update(counts(_get(event, "usage")))
            choices = _list(event, "choices")
            if choices and not _get(choices[0], "index"):
                self._add_text(_get(_get(choices[0], "delta"), "content"))
        elif self._format == "responses":
            response = _get(event, "response")
            self.usage.update(counts(_get(response, "usage")))
            self._whole = _list(response, "output") or self._whole
        else:
            holder = _get(event, "message")
            self.usage.update(counts(_get(event if holder is None else holder, "usage")))
            if _get(event, "type") == "content_block_start":
                self._texts.append([])
                self._add_text(_get(_get(event, "content_block"), "text"))
            self._add_text(_get(_get(event, "delta"), "text"))

    @property
    def messages(self) -> list[Any]:
        """The answer so far; of tool calls only those of the Responses API."""
        if self._whole:
            return self._whole
        texts = filter(None, map("".join, self._texts))
        if self._format == "openai":
            return [{"role": "assistant", "content": text} for text in texts]
        blocks = [{"type": "text", "text": text} for text in texts]
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def _add_text(self, text: object) -> None:
        if isinstance(text, str):
            if not self._texts:
                self._texts.append([])
            self._texts[-1].append(text)


def counts(usage: object) -> dict[str, object]:
    """Return the counts of a usage object that are set."""
    dump: Callable[..., dict[str, object]] | None = getattr(usage, "model_dump", None)
    if dump is not None:
        return dump(exclude_none=True, warnings=False)
    return cast("dict[str, object]", usage) if isinstance(usage, dict) else {}


def _get(holder: object, name: str) -> Any:  # noqa: ANN401 - what an SDK has there
    """Return a field of an object or of JSON; None if there is none."""
    if isinstance(holder, dict):
        return cast("Mapping[str, Any]", holder).get(name)
    return getattr(holder, name, None)


def _list(holder: object, name: str) -> list[Any]:
    found: object = _get(holder, name)
    return [*cast("Iterable[Any]", found)] if isinstance(found, list) else []
