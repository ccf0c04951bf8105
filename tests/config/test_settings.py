"""One `Config`: what it takes, what it refuses, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic import ValidationError

from memctx import Config, ConfigError
from memctx.config import arguments
from memctx.embeddings import HashedEmbedder


def make(**settings: Any) -> Config:
    """Return a config of anything, past the type checker."""
    return Config(**settings)


def test_defaults_are_those_of_the_design() -> None:
    config = Config()
    assert config.hard_cap_tokens == 4000
    assert config.embedding_model == "hash"
    assert config.embedding_url is None
    assert config.embedding_timeout_ms == 150
    assert config.redaction == "mask"
    assert config.knowledge_extraction is True
    assert config.auto_recall_min_score == 0.7
    assert config.max_segments == 20_000
    assert config.cross_session is False
    assert config.eviction_days == 90
    assert config.cold is True
    assert config.cold_deadline_ms == 50
    assert config.cold_turn_deadline_ms == 0
    assert config.protected_recent == 6
    assert config.durability == "fsync"
    assert config.archive_tools is True
    assert config.ranking == "best"
    assert config.given() == {}


def test_every_setting_is_described() -> None:
    assert len(Config.model_fields) > 15
    assert [name for name, field in Config.model_fields.items() if not field.description] == []


def test_every_setting_is_a_typed_argument() -> None:
    """The dictionary that type checkers see has the fields of the class, no more and no less."""
    assert arguments.Arguments.__annotations__.keys() == Config.model_fields.keys()
    assert arguments.OpenArguments.__annotations__.keys() == Config.model_fields.keys() - {
        "context_window"
    }
    assert get_type_hints(Config)["max_segments"] is int


@pytest.mark.parametrize("name", Config.model_fields)
def test_both_spellings_of_a_setting_mean_the_same(name: str) -> None:
    """A setting in camelCase, as OpenClaw's plugin spells it, is the setting in snake_case."""
    head, *tail = name.split("_")
    camel = head + "".join(word.capitalize() for word in tail)
    value = getattr(Config(), name)
    assert make(**{camel: value}).given() == {name: value}


def test_a_setting_in_both_spellings_is_refused() -> None:
    with pytest.raises(ConfigError, match="maxSegments is given twice: it is another spelling of"):
        make(max_segments=1, maxSegments=2)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("max_segment", "max_segments"),
        ("maxSegment", "max_segments"),
        ("durabilty", "durability"),
        ("eviction_day", "eviction_days"),
        ("redactionPattern", "redaction_patterns"),
        ("coldDeadline", "cold_deadline_ms"),
    ],
)
def test_a_misspelled_setting_is_refused_with_the_nearest_name(wrong: str, right: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{wrong} is no setting; did you mean {right}\?$"):
        make(**{wrong: 1})


def test_an_unknown_setting_is_refused_with_all_names() -> None:
    with pytest.raises(ConfigError, match=r"^zzz is no setting; expected one of archive_tools, "):
        make(zzz=1)


REFUSED: list[tuple[str, Any, str]] = [
    ("max_segments", 0, "max_segments is 0; expected a value greater than or equal to 1"),
    ("max_segments", "many", "max_segments is 'many'; expected a valid integer"),
    ("max_segments", True, "max_segments is True; expected a valid integer"),
    ("max_segments", 1.5, "max_segments is 1.5; expected a valid integer"),
    ("eviction_days", -1, "eviction_days is -1; expected a value greater than or equal to 0"),
    ("lock_timeout", float("nan"), "lock_timeout is nan; expected a finite number"),
    ("lock_timeout", float("inf"), "lock_timeout is inf; expected a finite number"),
    ("cold", 1, "cold is 1; expected a valid boolean"),
    ("cold", "on", "cold is 'on'; expected a valid boolean"),
    ("cold_deadline_ms", -0.1, "cold_deadline_ms is -0.1; expected a value greater than"),
    ("cold_deadline_ms", True, "cold_deadline_ms is True; expected a valid number"),
    ("cold_deadline_ms", "2", "cold_deadline_ms is '2'; expected a valid number"),
    ("cold_deadline_ms", float("inf"), "cold_deadline_ms is inf; expected a finite number"),
    ("cold_deadline_ms", float("nan"), "cold_deadline_ms is nan; expected a finite number"),
    ("pii", 1, "pii is 1; expected a valid boolean"),
    ("cross_session", "yes", "cross_session is 'yes'; expected a valid boolean"),
    ("durability", "none", "durability is 'none'; expected 'fsync' or 'os'"),
    ("redaction", "all", "redaction is 'all'; expected 'mask', 'seed' or 'off'"),
    ("ranking", None, "ranking is None; expected 'best' or 'seed'"),
    (
        "embedding_model",
        "transfomer",
        "embedding_model is 'transfomer'; did you mean 'transformer'?",
    ),
    ("embedding_model", "hash:9", "embedding_model is 'hash:9'; expected 'hash'"),
    ("embedding_model", "llama", "embedding_model is 'llama'; expected 'hash', 'transformer' or "),
    (
        "embedding_model",
        None,
        "embedding_model is None; expected a name or an embedder, and it has no",
    ),
    ("embedding_url", "127.0.0.1:11434", "embedding_url is '127.0.0.1:11434'; expected an address"),
    ("embedding_url", 7, "embedding_url is 7; expected an address that starts with http://"),
    ("embedding_timeout_ms", -1, "embedding_timeout_ms is -1; expected a value greater than"),
    ("embedding_timeout_ms", "fast", "embedding_timeout_ms is 'fast'; expected a valid number"),
    ("hard_cap_tokens", 499, "hard_cap_tokens is 499; expected a value greater than or equal"),
    ("auto_recall_min_score", 1.1, "auto_recall_min_score is 1.1; expected a value less than or"),
    ("archive_tools", [1], "archive_tools is [1]; expected true, false or a list of tool names"),
    ("archive_tools", [[]], "archive_tools is [[]]; expected true, false or a list of tool names"),
    ("archive_tools", "read", "archive_tools is 'read'; expected true, false or a list of tool"),
    ("redaction_patterns", {"a": 1}, "redaction_patterns.a is 1; expected a valid string"),
    ("context_window", 0, "context_window is 0; expected a value greater than or equal to 1"),
    ("storage_path", 7, "storage_path is 7; Input is not a valid path"),
]


@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_invalid_settings_are_refused(name: str, value: Any, message: str) -> None:
    """The message has the setting, the value, and what was expected."""
    with pytest.raises(ConfigError) as caught:
        make(**{name: value})
    assert str(caught.value).startswith(message)


def test_a_long_value_is_shown_in_part() -> None:
    with pytest.raises(ConfigError) as caught:
        make(durability="x" * 10_000)
    assert len(str(caught.value)) < 200


def test_a_fault_shows_no_secret() -> None:
    for settings in (
        {"embedding_url": "ftp://admin:k3jf9slw-Qp0@host"},
        {"pruning": {"mode": "Authorization: Bearer k3jf9slw-Qp0k3jf9slw"}},
        {"extractor": {"apiKey": "k3jf9slw-Qp0k3jf9slw"}},
    ):
        with pytest.raises(ConfigError) as caught:
            make(**settings)
        assert "k3jf9slw" not in str(caught.value)
        assert "REDACTED" in str(caught.value)


def test_a_long_name_is_shown_in_part() -> None:
    with pytest.raises(ConfigError) as caught:
        make(**{"x" * 1_000_000: 1})
    assert len(str(caught.value)) < 2_000


def test_all_faults_of_settings_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        make(max_segments=0, pii=1)
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    "choice",
    ["static", "transformer:models/a", "openai:x:1b", "auto", "json:loads", HashedEmbedder()],
)
def test_an_embedder_setting_is_a_name_a_path_or_an_object(choice: Any) -> None:
    """Opening a memory finds out whether it is available."""
    config = make(embedding_model=choice, embedding_url="http://127.0.0.1:11434/v1")
    assert config.embedding_model is choice
    assert config.replace(pii=True).embedding_model is choice


@pytest.mark.parametrize(("switch", "mode"), [(True, "mask"), (False, "off")])
def test_redaction_may_be_a_switch(switch: bool, mode: str) -> None:  # noqa: FBT001
    assert make(redaction=switch).redaction == mode


def test_names_of_tools_have_one_order() -> None:
    """Equal sets of tools are equal settings, however they were written."""
    assert make(archive_tools=["read", "bash", "read"]) == make(archive_tools={"bash", "read"})
    assert make(archive_tools=()).archive_tools == ()


def test_a_config_does_not_change() -> None:
    config = Config(max_segments=5)
    with pytest.raises(ValidationError, match="frozen"):
        config.max_segments = 6  # type: ignore[misc]
    assert config.max_segments == 5


def test_replacing_gives_another_config_and_checks_it() -> None:
    config = Config(max_segments=5)
    changed = config.replace(pii=True, storage_path="elsewhere")
    assert (config.pii, changed.pii, changed.max_segments) == (False, True, 5)
    assert changed.storage_path == Path("elsewhere")
    with pytest.raises(ConfigError, match="lock_timeout is -1"):
        config.replace(lock_timeout=-1)


@pytest.mark.parametrize("value", ["openai", "gemini:flash", 3, object()])
def test_an_extractor_is_a_provider_or_a_function(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^extractor is .*; expected 'anthropic'"):
        make(extractor=value)


def test_an_extractor_may_be_a_function() -> None:
    assert Config(extractor=repr).extractor is repr


@pytest.mark.parametrize("value", ["model", 1, None])
def test_facts_are_extracted_by_a_model_by_rules_or_not_at_all(value: object) -> None:
    with pytest.raises(ConfigError, match=r"^knowledge_extraction is .*; expected true, false"):
        make(knowledge_extraction=value)
