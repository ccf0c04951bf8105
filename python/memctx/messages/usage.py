"""What a provider says a request cost, whichever provider it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.errors import ConfigError
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Sequence

# The fields that make up a prompt, by provider. Where cached tokens are counted apart they are part of the sum.
PROMPTS: Sequence[Sequence[str]] = (
    ("prompt_tokens",),
    ("prompt_token_count",),
    ("promptTokenCount",),
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
    ("input", "cacheRead", "cacheWrite"),
)
# The fields that make up an answer. Gemini counts what was thought apart.
ANSWERS: Sequence[Sequence[str]] = (
    ("completion_tokens",),
    ("candidates_token_count", "thoughts_token_count"),
    ("candidatesTokenCount", "thoughtsTokenCount"),
    ("output_tokens",),
    ("outputTokens",),
    ("output",),
)
# Some leave cached tokens out of it, so that it counts only where it is more than the parts.
TOTALS = ("total_tokens", "total_token_count", "totalTokenCount", "totalTokens")


def prompt_tokens(usage: object) -> int:
    """The tokens of a prompt, by the usage of any SDK, as an object or a dictionary; or just their number."""
    if isinstance(usage, int) and not isinstance(usage, bool):
        return usage
    usage = _inner(usage)
    found = _sum(usage, PROMPTS)
    if found is not None:
        return found
    kind = type(usage).__name__
    expected = "a number of tokens, or an object with input_tokens, prompt_tokens or the like"
    raise ConfigError(f"usage is {kind}; expected {expected}")


def total_tokens(usage: object) -> int:
    """The tokens of a prompt and of its answer, which is part of the next prompt.

    >>> total_tokens({"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5})
    105
    """
    prompt = prompt_tokens(usage)
    usage = _inner(usage)
    totals = (part.get(usage, name) for name in TOTALS)
    total = next((count for count in totals if isinstance(count, int)), 0)
    return max(prompt + (_sum(usage, ANSWERS) or 0), total)


def _inner(usage: object) -> object:
    """The usage of a whole answer, or what was given."""
    inner = part.get(usage, "usage")
    return usage if inner is None else inner


def _sum(usage: object, names: Sequence[Sequence[str]]) -> int | None:
    """The fields of the first provider whose first field is there."""
    for fields in names:
        first = part.get(usage, fields[0])
        if isinstance(first, int):
            more = (part.get(usage, name) for name in fields[1:])
            return first + sum(count for count in more if isinstance(count, int))
    return None
