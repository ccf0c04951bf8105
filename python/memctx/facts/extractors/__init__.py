"""Extractors: objects that find facts in a conversation."""

from memctx import checks
from memctx._lazy import lazy_exports
from memctx.facts.extractors.split import split  # eager: a submodule has the same name
from memctx.protocols import ExtractionResult, Extractor, Known, Message, Request, Usage

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.facts.extractors.anthropic import AnthropicExtractor
    from memctx.facts.extractors.function import FunctionExtractor, extractor_of
    from memctx.facts.extractors.openai import OpenAIExtractor
    from memctx.facts.extractors.prompt import PROMPT_VERSION
    from memctx.providers.options import ClientOptions
    from memctx.providers.pricing import Price

__all__ = [
    "PROMPT_VERSION",
    "AnthropicExtractor",
    "ClientOptions",
    "ExtractionResult",
    "Extractor",
    "FunctionExtractor",
    "Known",
    "Message",
    "OpenAIExtractor",
    "Price",
    "Request",
    "Usage",
    "extractor_of",
    "split",
]

# Modules imported on first use of a name: most memories extract nothing.
_LATER = {
    "PROMPT_VERSION": "memctx.facts.extractors.prompt",
    "AnthropicExtractor": "memctx.facts.extractors.anthropic",
    "ClientOptions": "memctx.providers.options",
    "FunctionExtractor": "memctx.facts.extractors.function",
    "OpenAIExtractor": "memctx.facts.extractors.openai",
    "Price": "memctx.providers.pricing",
    "extractor_of": "memctx.facts.extractors.function",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


checks.guard(globals(), [name for name in __all__ if name in globals()])
