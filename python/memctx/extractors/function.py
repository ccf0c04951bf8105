"""`FunctionExtractor`: facts found by whatever you like."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from memctx.errors import ConfigError, ExtractionError
from memctx.extractors.protocol import Extraction
from memctx.extractors.reply import (
    at_most,
    is_action,
    is_object,
    kind_of,
    statement_in,
)
from memctx.knowledge import Draft

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from memctx.extractors.protocol import Request

    Found: TypeAlias = Extraction | Sequence[Draft] | Sequence[Mapping[str, Any]]


class FunctionExtractor:
    """Finds facts with a function of yours, plain or asynchronous. A plain one runs in a thread.

    It gets a `Request` and returns an `Extraction`, or a list of `Draft` or of dictionaries with the same fields, of
    which ``type`` and ``content`` are needed:

    >>> def ports(request):
    ...     return [{"type": "config", "content": m.text} for m in request.messages if "port" in m.text]
    >>> import asyncio
    >>> from memctx.extractors import Message, Request
    >>> request = Request((Message("user", "The port is 8443", "s1"), Message("assistant", "Noted", "s2")))
    >>> [draft.content for draft in asyncio.run(FunctionExtractor(ports).extract(request)).drafts]
    ['The port is 8443']
    """

    def __init__(self, function: Callable[[Request], Found | Awaitable[Found]]) -> None:
        if not callable(function):
            raise ConfigError(f"function must be callable, not {type(function).__name__}")
        self._function = function

    def __repr__(self) -> str:
        return f"FunctionExtractor({self._name})"

    @property
    def _name(self) -> str:
        return getattr(self._function, "__qualname__", type(self._function).__name__)

    async def extract(self, request: Request) -> Extraction:
        """The facts that the function finds."""
        try:
            found = await self._call(request)
        except ExtractionError:
            raise
        except Exception as error:
            # Its text may repeat what was said; the cause is there for whoever debugs the function.
            raise ExtractionError(f"{self._name} raised {type(error).__name__}") from error
        extraction = found if isinstance(found, Extraction) else Extraction(())
        items: Iterable[object] = extraction.drafts if extraction is found else self._items(found)
        problems = list(extraction.problems)
        read = (draft_of(item, f"fact {n}", problems) for n, item in enumerate(items, 1))
        drafts = [with_sources(draft, request) for draft in read if draft is not None]
        kept, told = at_most(drafts, request, problems)
        return Extraction(kept, extraction.usage, told)

    async def _call(self, request: Request) -> Found:
        function = self._function
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - not whether it is there, but what it is
        ):
            found = function(request)
        else:
            found = await asyncio.to_thread(function, request)
        return await found if inspect.isawaitable(found) else found

    def _items(self, found: object) -> list[object]:
        if isinstance(found, list | tuple):
            return list(cast("list[object]", found))
        told = f"{self._name} returned {type(found).__name__}; expected an Extraction or a list of facts"
        raise ExtractionError(told, is_malformed=True)


def draft_of(item: object, name: str, problems: list[str]) -> Draft | None:
    """A fact as a function gives it; None, with a problem more, if it cannot be used."""
    if isinstance(item, Draft):
        fields: dict[str, Any] = {
            "type": item.type,
            "content": item.content,
            "context": item.context,
        }
        stated = statement_in(fields, name, problems)
        return stated and replace(
            item, content=stated.content, context=stated.context, sources=tuple(item.sources)
        )
    if not is_object(item):
        problems.append(f"{name} is {kind_of(item)}, neither a Draft nor a dictionary")
        return None
    draft = statement_in(item, name, problems)
    if draft is None:
        return None
    sources = item.get("sources", ())
    if isinstance(sources, list | tuple):
        names = cast("list[object]", sources)
        draft = replace(draft, sources=tuple(name for name in names if isinstance(name, str)))
    action, target = item.get("action"), item.get("target")
    if action is not None and not is_action(action):
        problems.append(f"{name} has an action that is none; the local rule decides")
        return draft
    return replace(draft, action=action, target=target if isinstance(target, str) else None)


def with_sources(draft: Draft, request: Request) -> Draft:
    """The draft, taken to be from all messages if it does not say from which."""
    if draft.sources:
        return draft
    return replace(draft, sources=tuple(dict.fromkeys(m.segment for m in request.messages)))
