"""Extractors: what reads a conversation and says which facts are in it."""

from memctx.extractors.anthropic import AnthropicExtractor
from memctx.extractors.choice import extractor_of
from memctx.extractors.function import FunctionExtractor
from memctx.extractors.openai import OpenAIExtractor
from memctx.extractors.price import Price
from memctx.extractors.prompt import PROMPT_VERSION
from memctx.extractors.protocol import Extraction, Extractor, Known, Message, Request, Usage
from memctx.extractors.split import split

__all__ = [
    "PROMPT_VERSION",
    "AnthropicExtractor",
    "Extraction",
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
