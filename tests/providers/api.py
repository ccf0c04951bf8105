"""Parts that every API of the loopback provider shares: requests as they are judged, replies before formatting."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Body: TypeAlias = dict[str, Any]
Event: TypeAlias = tuple[str | None, "Body | str"]
"""A server-sent event: its name, and its data."""


class Refused(Exception):  # noqa: N818 - it is the provider's answer, not an error of ours
    """The request is one that the real provider answers with status 400."""


@dataclass(frozen=True)
class Asked:
    """The content of a request, independent of its API."""

    head: tuple[Any, ...]
    """The part before the messages: system prompt and tools."""
    messages: list[Any]
    is_result: bool
    """True if the newest message holds results of calls."""
    text: str
    """The newest text of the person."""
    tools: tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """The text of the model, or its calls: id and arguments each."""

    text: str | None
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    reported: int | None = None
    """Tokens of the request that the response tells, if not its own: programs compact by them."""


class ScriptedModel(Protocol):
    """The model behind the provider."""

    def reply(self, asked: Asked, sent: str) -> Reply:
        """Return the model's part, given everything that was sent to it."""
        ...


@dataclass(frozen=True)
class Usage:
    """The usage of a request."""

    tokens: int
    cached: int
    output: int = 20


class Api(Protocol):
    """One API: its rules, and the format of its responses."""

    def serves(self, path: str) -> bool:
        """Return whether requests to a path are its own."""
        ...

    def check(self, body: Body, window: int) -> int:
        """Return the tokens of a request, or raise `Refused`."""
        ...

    def asked(self, body: Body) -> Asked:
        """Return what a valid request asks for."""
        ...

    def answer(self, body: Body, reply: Reply, usage: Usage, number: int) -> Body:
        """Return the response to a request."""
        ...

    def events(self, answer: Body) -> list[Event]:
        """Return the same response as a stream."""
        ...

    def is_stream(self, path: str, body: Body) -> bool:
        """Return whether a stream is asked for."""
        ...

    def refusal(self, message: str) -> Body:
        """Return the body of a response with status 400."""
        ...


def tokens(value: object) -> int:
    """Estimate the tokens of a value: four characters of its JSON each."""
    return len(json.dumps(value, ensure_ascii=False)) // 4


def wire(value: object) -> str:
    """Return a value as a cache of prompts compares it: without marks for the cache, text as a list of one part."""
    return json.dumps(_unmarked(value), ensure_ascii=False, sort_keys=True)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _unmarked(each) for key, each in value.items() if key != "cache_control"}
        if isinstance(kept.get("content"), str):
            kept["content"] = [{"type": "text", "text": kept["content"]}]
        return kept
    return [_unmarked(each) for each in value] if isinstance(value, list) else value


def joined(content: Any) -> str:
    """Return the text of a message whose content is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or ())


def fits(value: object, window: int, refusal: str) -> int:
    """Return the tokens of a request, or raise `Refused` with the provider's words."""
    count = tokens(value)
    if count > window:
        raise Refused(refusal.format(count=count, window=window))
    return count
