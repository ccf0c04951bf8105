"""Token counts in the usage of each provider."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import memctx
from memctx.context import prompt_tokens


@pytest.mark.parametrize(
    "usage",
    [
        150,
        {
            "prompt_tokens": 150,
            "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 100},
        },
        {"input_tokens": 150, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 100}},
        {"input_tokens": 20, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30},
        {"input_tokens": 150, "cache_read_input_tokens": None},
        {"inputTokens": 20, "cacheReadInputTokens": 100, "cacheWriteInputTokens": 30},
        {"promptTokenCount": 150, "candidatesTokenCount": 3},
        SimpleNamespace(prompt_token_count=150),
        {"usage": {"input_tokens": 150}},
        {"input": 50, "output": 5, "cacheRead": 100, "cacheWrite": 0},
    ],
    ids=str,
)
def test_every_providers_usage_is_read(usage: object) -> None:
    assert prompt_tokens(usage) == 150


@pytest.mark.parametrize("usage", [None, {}, "150", {"output_tokens": 3}, True])
def test_usage_of_an_unknown_kind_is_refused(usage: object) -> None:
    with pytest.raises(memctx.ConfigError, match="usage is"):
        prompt_tokens(usage)
