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


def prompt_tokens(usage: object) -> int:
    """The tokens of a prompt, by the usage of any SDK, as an object or a dictionary; or just their number."""
    if isinstance(usage, int) and not isinstance(usage, bool):
        return usage
    inner = part.get(usage, "usage")
    usage = usage if inner is None else inner
    for fields in PROMPTS:
        first = part.get(usage, fields[0])
        if isinstance(first, int):
            more = (part.get(usage, name) for name in fields[1:])
            return first + sum(count for count in more if isinstance(count, int))
    kind = type(usage).__name__
    expected = "a number of tokens, or an object with input_tokens, prompt_tokens or the like"
    raise ConfigError(f"usage is {kind}; expected {expected}")
