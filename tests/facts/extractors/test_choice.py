"""`extractor_of`: the extractor that a setting names."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from memctx import ConfigError
from memctx.facts.extractors import (
    AnthropicExtractor,
    ExtractionResult,
    FunctionExtractor,
    OpenAIExtractor,
    Request,
    extractor_of,
)


class Own:
    async def extract(self, request: Request) -> ExtractionResult:
        del request
        return ExtractionResult(())


@pytest.mark.parametrize(
    ("name", "kind", "model"),
    [
        ("anthropic", AnthropicExtractor, "claude-haiku-5-5"),
        ("anthropic:claude-sonnet-5-5", AnthropicExtractor, "claude-sonnet-5-5"),
        ("openai:gpt-6.1-sol", OpenAIExtractor, "gpt-6.1-sol"),
        ("openai:qwen3:8b", OpenAIExtractor, "qwen3:8b"),
    ],
)
def test_extractor_names_resolve_to_provider_and_model(
    name: str, kind: type[Any], model: str
) -> None:
    extractor = extractor_of(name)
    assert isinstance(extractor, kind)
    assert extractor.model == model


def test_an_extractor_instance_is_returned_as_it_is() -> None:
    own = Own()
    assert extractor_of(own) is own
    assert isinstance(extractor_of(lambda _: []), FunctionExtractor)


def test_rules_resolve_to_the_rules_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("memctx.facts.extractors.rules")
    monkeypatch.setattr(module, "RulesExtractor", Own, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert isinstance(extractor_of("rules"), Own)


@pytest.mark.parametrize(
    "choice",
    ["", "claude", "openai", "openai:", "anthropic:", "rules:x", ":", "Anthropic", 5, None, Own],
)
def test_an_unknown_extractor_is_refused_by_name(choice: Any) -> None:
    with pytest.raises(ConfigError, match=r"extractor must be 'anthropic', .*, not") as raised:
        extractor_of(choice)
    assert repr(choice) in str(raised.value)
