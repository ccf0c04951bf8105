"""Token counts in the usage that a provider reports for a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from memctx.errors import ConfigError
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Sequence

# The fields that make up a prompt, by provider. Where cached tokens are counted apart they are part of the sum: with
# Anthropic, Bedrock and Pi. OpenAI's ``cached_tokens`` and Gemini's ``cached_content_token_count`` say how many of the
# prompt's tokens were cached, and must not be counted twice.
PROMPTS: Sequence[Sequence[str]] = (
    ("prompt_tokens",),
    ("prompt_token_count",),
    ("promptTokenCount",),
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    (
        "inputTokens",
        "cacheReadInputTokens",
        "cacheWriteInputTokens",
        # As earlier versions of Bedrock's SDK spell them.
        "cacheReadInputTokenCount",
        "cacheWriteInputTokenCount",
    ),
    ("input", "cacheRead", "cacheWrite"),
)
# The fields that make up an answer. Gemini counts thinking apart.
ANSWERS: Sequence[Sequence[str]] = (
    ("completion_tokens",),
    ("candidates_token_count", "thoughts_token_count"),
    ("candidatesTokenCount", "thoughtsTokenCount"),
    ("output_tokens",),
    ("outputTokens",),
    ("output",),
)
# The field of a whole response that holds its usage.
USAGES = ("usage", "usage_metadata", "usageMetadata")
# Some totals leave cached tokens out: they are used only where they are more than the sum of the parts.
TOTALS = ("total_tokens", "total_token_count", "totalTokenCount", "totalTokens")


def prompt_tokens(usage: object) -> int:
    """Return the tokens of a prompt from the usage of any SDK, an object or a dictionary, or from their number."""
    if _is_count(usage):
        return usage
    usage = _inner(usage)
    found = _sum(usage, PROMPTS)
    if found is not None:
        return found
    kind = type(usage).__name__
    expected = "a number of tokens, or an object with input_tokens, prompt_tokens or the like"
    raise ConfigError(f"usage is {kind}; expected {expected}")


def answer_tokens(usage: object) -> int:
    """Return the tokens of an answer, thinking included; 0 where the usage has none.

    >>> answer_tokens({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}})
    5
    """
    return _sum(_inner(usage), ANSWERS) or 0


def total_tokens(usage: object) -> int:
    """Return the tokens of a prompt and of its answer, which is part of the next prompt.

    >>> total_tokens({"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5})
    105
    """
    prompt = prompt_tokens(usage)
    usage = _inner(usage)
    totals = (part.get(usage, name) for name in TOTALS)
    total = next(filter(_is_count, totals), 0)
    return max(prompt + (_sum(usage, ANSWERS) or 0), total)


def _inner(usage: object) -> object:
    """Return the usage inside of a whole response, or ``usage`` itself."""
    found = (part.get(usage, name) for name in USAGES)
    return next((inner for inner in found if inner is not None), usage)


def _sum(usage: object, names: Sequence[Sequence[str]]) -> int | None:
    """Return the sum of the fields of the first provider whose first field is present."""
    for fields in names:
        first = part.get(usage, fields[0])
        if _is_count(first):
            more = (part.get(usage, name) for name in fields[1:])
            return first + sum(count for count in more if _is_count(count))
    return None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
