"""`extractor_of`: the extractor that a setting means."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from memctx.errors import ConfigError
from memctx.extractors.function import FunctionExtractor
from memctx.extractors.protocol import Extractor

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.extractors.protocol import Request

Choice: TypeAlias = "str | Extractor | Callable[[Request], Any]"
EXPECTED = "'anthropic', 'anthropic:<model>', 'openai:<model>', 'rules', an Extractor or a function"
# Each is imported when it is chosen.
CLASSES = {
    "anthropic": ("memctx.extractors.anthropic", "AnthropicExtractor"),
    "openai": ("memctx.extractors.openai", "OpenAIExtractor"),
    "rules": ("memctx.extractors.rules", "RulesExtractor"),
}


def extractor_of(choice: Choice) -> Extractor:
    """The extractor that is meant: one by name, ``<provider>:<model>``; your own; or a function as one.

    >>> extractor_of("openai:gpt-6.1-sol").model
    'gpt-6.1-sol'
    >>> extractor_of(lambda request: [])
    FunctionExtractor(<lambda>)
    """
    if isinstance(choice, str):
        return named(choice)
    if isinstance(choice, type) or not callable(getattr(choice, "extract", choice)):
        raise ConfigError(f"extractor must be {EXPECTED}, not {choice!r}")
    return choice if isinstance(choice, Extractor) else FunctionExtractor(choice)


def named(name: str) -> Extractor:
    """The extractor of a name."""
    provider, colon, model = name.partition(":")
    takes_model = provider in {"anthropic", "openai"}
    is_known = provider in CLASSES and bool(model) == bool(colon) and (takes_model or not colon)
    if not is_known or (provider == "openai" and not model):
        raise ConfigError(f"extractor must be {EXPECTED}, not {name!r}")
    module, attribute = CLASSES[provider]
    made: Extractor = getattr(import_module(module), attribute)(*([model] if model else ()))
    return made
