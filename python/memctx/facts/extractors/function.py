"""Extractors that users name or write: `FunctionExtractor`, and `extractor_of`, which resolves a setting."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from memctx.errors import ConfigError, ExtractionError
from memctx.facts import CandidateFact
from memctx.facts.extractors.reply import describe, is_action, is_object, limit_facts, parse_content
from memctx.protocols import ExtractionResult, Extractor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from memctx.protocols import Request

    Found: TypeAlias = ExtractionResult | Sequence[CandidateFact] | Sequence[Mapping[str, Any]]

Choice: TypeAlias = "str | Extractor | Callable[[Request], Any]"
EXPECTED = "'anthropic', 'anthropic:<model>', 'openai:<model>', 'rules', an Extractor or a function"
# Imported when chosen.
CLASSES = {
    "anthropic": ("memctx.facts.extractors.anthropic", "AnthropicExtractor"),
    "openai": ("memctx.facts.extractors.openai", "OpenAIExtractor"),
    "rules": ("memctx.facts.extractors.rules", "RulesExtractor"),
}


class FunctionExtractor:
    """Finds facts with a user's function, plain or asynchronous. A plain function runs in a thread.

    The function gets a `Request` and returns an `ExtractionResult`, or a list of `CandidateFact` or of dictionaries
    with the same fields, of which ``type`` and ``content`` are required:

    >>> def ports(request):
    ...     return [{"type": "config", "content": m.text} for m in request.messages if "port" in m.text]
    >>> import asyncio
    >>> from memctx.facts.extractors import Message, Request
    >>> request = Request((Message("user", "The port is 8443", "s1"), Message("assistant", "Noted", "s2")))
    >>> [fact.content for fact in asyncio.run(FunctionExtractor(ports).extract(request)).candidates]
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

    async def extract(self, request: Request) -> ExtractionResult:
        """Return the facts that the function finds."""
        try:
            found = await self._call(request)
        except ExtractionError:
            raise
        except Exception as error:
            # Its text may quote the conversation; the cause helps to debug the function.
            raise ExtractionError(f"{self._name} raised {type(error).__name__}") from error
        result = found if isinstance(found, ExtractionResult) else ExtractionResult(())
        items: Iterable[object] = result.candidates if result is found else self._items(found)
        problems = list(result.problems)
        parsed = (_parse_fact(item, f"fact {n}", problems) for n, item in enumerate(items, 1))
        candidates = [_with_sources(each, request) for each in parsed if each is not None]
        kept, problems_kept = limit_facts(candidates, request, problems)
        return ExtractionResult(kept, result.usage, problems_kept)

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
        kind = type(found).__name__
        message = f"{self._name} returned {kind}; expected an ExtractionResult or a list of facts"
        raise ExtractionError(message, is_malformed=True)


def extractor_of(choice: Choice) -> Extractor:
    """Return the extractor that a setting names: ``<provider>:<model>``, an extractor itself, or a function as one.

    >>> extractor_of("openai:gpt-6.1-sol").model
    'gpt-6.1-sol'
    >>> extractor_of(lambda request: [])
    FunctionExtractor(<lambda>)
    """
    if isinstance(choice, str):
        return _make_extractor(choice)
    if isinstance(choice, type) or not callable(getattr(choice, "extract", choice)):
        raise ConfigError(f"extractor must be {EXPECTED}, not {choice!r}")
    return choice if isinstance(choice, Extractor) else FunctionExtractor(choice)


def _make_extractor(name: str) -> Extractor:
    provider, colon, model = name.partition(":")
    takes_model = provider in {"anthropic", "openai"}
    is_known = provider in CLASSES and bool(model) == bool(colon) and (takes_model or not colon)
    if not is_known or (provider == "openai" and not model):
        raise ConfigError(f"extractor must be {EXPECTED}, not {name!r}")
    module, attribute = CLASSES[provider]
    made: Extractor = getattr(import_module(module), attribute)(*([model] if model else ()))
    return made


def _parse_fact(item: object, name: str, problems: list[str]) -> CandidateFact | None:
    """Return a fact that a function gave; None, with a further problem, if it cannot be used."""
    if isinstance(item, CandidateFact):
        fields: dict[str, Any] = {
            "type": item.type,
            "content": item.content,
            "context": item.context,
        }
        checked = parse_content(fields, name, problems)
        return checked and replace(
            item, content=checked.content, context=checked.context, sources=tuple(item.sources)
        )
    if not is_object(item):
        problems.append(f"{name} is {describe(item)}, neither a CandidateFact nor a dictionary")
        return None
    candidate = parse_content(item, name, problems)
    if candidate is None:
        return None
    sources = item.get("sources", ())
    if isinstance(sources, list | tuple):
        ids = cast("list[object]", sources)
        candidate = replace(candidate, sources=tuple(id_ for id_ in ids if isinstance(id_, str)))
    action, target = item.get("action"), item.get("target")
    if action is not None and not is_action(action):
        problems.append(f"{name} has an unknown action; the local rule decides")
        return candidate
    return replace(candidate, action=action, target=target if isinstance(target, str) else None)


def _with_sources(candidate: CandidateFact, request: Request) -> CandidateFact:
    """Return the candidate, with all messages as its sources if it names none."""
    if candidate.sources:
        return candidate
    return replace(candidate, sources=tuple(dict.fromkeys(m.segment for m in request.messages)))
