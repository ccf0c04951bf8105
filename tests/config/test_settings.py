"""One `Config`: what it takes, what it refuses, and in which words."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from memctx import Config, ConfigError
from memctx.config import DiskSettings, PruningSettings, RecallSettings, settings
from memctx.config.names import OPENCLAW_NAMES
from memctx.embeddings import HashedEmbedder


def make(**given: Any) -> Config:
    """Return a config of anything, past the type checker."""
    return Config(**given)


def test_defaults_are_those_of_the_design() -> None:
    config = Config()
    assert config.recall.hard_cap_tokens == 4000
    assert config.embedding_model == "auto"
    assert config.embedding.url is None
    assert config.embedding.timeout_ms == 150
    assert config.redaction == "mask"
    assert config.knowledge_extraction is True
    assert config.recall.min_score == 0.7
    assert config.disk.max_segments == 20_000
    assert config.cross_session is False
    assert config.disk.eviction_days == 90
    assert config.disk.index is True
    assert config.disk.deadline_ms == 50
    assert config.disk.turn_deadline_ms == 20
    assert config.trim.protected_recent == 6
    assert config.disk.durability == "fsync"
    assert config.privacy.archive_tools is True
    assert config.recall.ranking == "best"
    assert config.given() == {}


def test_every_setting_is_described() -> None:
    assert len(Config.paths()) > 75
    assert [path for path, field in Config.paths().items() if not field.description] == []
    assert [name for name, field in Config.fields.items() if not field.description] == []


@pytest.mark.parametrize("path", Config.paths())
def test_defaults_are_values_that_their_settings_take(path: str) -> None:
    kind = Config.paths()[path].kind
    value = attrgetter(path)(Config())
    assert not isinstance(kind, type)
    assert kind.check(value) == value


def test_every_setting_is_a_typed_argument() -> None:
    """The dictionary that type checkers see has the fields of the class, no more and no less."""
    fields = Config.fields.keys()
    assert settings.Arguments.__annotations__.keys() == fields
    assert settings.OpenArguments.__annotations__.keys() == fields - {"context_window"}
    assert get_type_hints(Config)["enabled"] is bool
    assert get_type_hints(DiskSettings)["max_segments"] is int


@pytest.mark.parametrize("path", Config.paths())
def test_both_spellings_of_a_setting_mean_the_same(path: str) -> None:
    """A setting in camelCase, as OpenClaw spells it, is the setting in snake_case, in a group and by its path."""
    head, *tail = path.split("_")
    camel = head + "".join(word.capitalize() for word in tail)
    value = attrgetter(path)(Config())
    assert make(**{camel: value}).given() == {path: value}
    group, dot, name = camel.partition(".")
    assert make(**({group: {name: value}} if dot else {group: value})).given() == {path: value}


@pytest.mark.parametrize(("name", "path"), OPENCLAW_NAMES.items())
def test_names_of_openclaw_mean_settings(name: str, path: str) -> None:
    value = attrgetter(path)(Config())
    assert make(**{name: value}) == Config()
    assert path in Config.paths() or path in Config.fields


def test_a_group_is_an_object_a_mapping_or_dotted_names() -> None:
    config = Config(recall=RecallSettings(min_score=0.5, window=2))
    assert config == Config(recall={"minScore": 0.5, "window": 2})
    assert config == make(**{"recall.min_score": 0.5, "recall.window": 2})
    assert config.given() == {"recall.min_score": 0.5, "recall.window": 2}


def test_settings_of_a_group_are_replaced_one_by_one() -> None:
    config = Config(disk={"max_segments": 5, "index": False}, pruning={"deny": ("read",)})
    changed = config.replace(disk=DiskSettings(index=True), pruning="adaptive")
    assert (changed.disk.max_segments, changed.disk.index) == (5, True)
    assert (changed.pruning.mode, changed.pruning.deny) == ("adaptive", ("read",))
    assert config.replace(pruning=False).replace(pruning=True).pruning.mode == "cache-ttl"


def test_settings_that_depend_on_each_other_are_checked_together() -> None:
    config = Config(pruning={"soft_trim_max_chars": 9_000})
    assert config.replace(pruning={"soft_trim_head_chars": 7_000}).pruning.soft_trim_head_chars
    with pytest.raises(ConfigError, match=r"^pruning: head and tail of a long result are 8500"):
        Config(pruning={"soft_trim_head_chars": 7_000})


def test_faults_of_a_group_alone_have_its_name() -> None:
    with pytest.raises(ConfigError, match=r"^disk\.max_segments is 0; expected a value greater"):
        DiskSettings(max_segments=0)
    with pytest.raises(ConfigError, match=r"^pruning\.hardClearRation is no setting; did you mean"):
        PruningSettings(hardClearRation=0.5)  # type: ignore[call-arg]


def test_a_group_that_is_no_group_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^disk is 5; expected a valid dictionary or instance"):
        make(disk=5)


@pytest.mark.parametrize(
    "given", [{"max_segments": 1, "maxSegments": 2}, {"maxSegments": 1, "disk.max_segments": 2}]
)
def test_a_setting_in_both_spellings_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(
        ConfigError, match=r"maxSegments is given twice: it is another spelling of disk\.max_seg"
    ):
        make(**given)


def test_a_setting_twice_in_a_group_is_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"disk\.maxSegments is given twice: it is another spelling of disk\.max_segments",
    ):
        make(disk={"max_segments": 1, "maxSegments": 2})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("max_segment", "disk.max_segments"),
        ("maxSegment", "disk.max_segments"),
        ("durabilty", "disk.durability"),
        ("eviction_day", "disk.eviction_days"),
        ("pii", "privacy.pii"),
        ("disk.durabilty", "disk.durability"),
        ("disk.pii", "privacy.pii"),
        ("privacy.pattern", "privacy.patterns"),
        ("turnDeadline", "disk.turn_deadline_ms"),
    ],
)
def test_a_misspelled_setting_is_refused_with_the_nearest_name(wrong: str, right: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{wrong} is no setting; did you mean {right}\?$"):
        make(**{wrong: 1})


def test_an_unknown_setting_is_refused_with_all_names() -> None:
    with pytest.raises(
        ConfigError, match=r"^zzz is no setting; expected one of auto_recall, bootstrap, "
    ):
        make(zzz=1)


REFUSED: list[tuple[str, Any, str]] = [
    ("disk.max_segments", 0, "disk.max_segments is 0; expected a value greater than or equal to 1"),
    ("disk.max_segments", "many", "disk.max_segments is 'many'; expected a valid integer"),
    ("disk.max_segments", True, "disk.max_segments is True; expected a valid integer"),
    ("disk.max_segments", 1.5, "disk.max_segments is 1.5; expected a valid integer"),
    (
        "disk.eviction_days",
        -1,
        "disk.eviction_days is -1; expected a value greater than or equal to 0",
    ),
    ("disk.lock_timeout", float("nan"), "disk.lock_timeout is nan; expected a finite number"),
    ("disk.lock_timeout", float("inf"), "disk.lock_timeout is inf; expected a finite number"),
    ("disk.index", 1, "disk.index is 1; expected a valid boolean"),
    ("disk.index", "on", "disk.index is 'on'; expected a valid boolean"),
    ("disk.deadline_ms", -0.1, "disk.deadline_ms is -0.1; expected a value greater than"),
    ("disk.deadline_ms", True, "disk.deadline_ms is True; expected a valid number"),
    ("disk.deadline_ms", "2", "disk.deadline_ms is '2'; expected a valid number"),
    ("disk.deadline_ms", float("inf"), "disk.deadline_ms is inf; expected a finite number"),
    ("disk.deadline_ms", float("nan"), "disk.deadline_ms is nan; expected a finite number"),
    ("privacy.pii", 1, "privacy.pii is 1; expected a valid boolean"),
    ("cross_session", "yes", "cross_session is 'yes'; expected a valid boolean"),
    ("disk.durability", "none", "disk.durability is 'none'; expected 'fsync' or 'os'"),
    ("redaction", "all", "redaction is 'all'; expected 'mask', 'openclaw' or 'off'"),
    ("recall.ranking", None, "recall.ranking is None; expected 'best' or 'openclaw'"),
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
    ("embedding.url", "127.0.0.1:11434", "embedding.url is '127.0.0.1:11434'; expected an address"),
    ("embedding.url", 7, "embedding.url is 7; expected an address that starts with http://"),
    ("embedding.timeout_ms", -1, "embedding.timeout_ms is -1; expected a value greater than"),
    ("embedding.timeout_ms", "fast", "embedding.timeout_ms is 'fast'; expected a valid number"),
    (
        "recall.hard_cap_tokens",
        499,
        "recall.hard_cap_tokens is 499; expected a value greater than or equal",
    ),
    ("recall.min_score", 1.1, "recall.min_score is 1.1; expected a value less than or"),
    (
        "privacy.archive_tools",
        [1],
        "privacy.archive_tools is [1]; expected true, false or a list of tool names",
    ),
    (
        "privacy.archive_tools",
        [[]],
        "privacy.archive_tools is [[]]; expected true, false or a list of tool names",
    ),
    (
        "privacy.archive_tools",
        "read",
        "privacy.archive_tools is 'read'; expected true, false or a list of tool",
    ),
    ("privacy.patterns", {"a": 1}, "privacy.patterns.a is 1; expected a valid string"),
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
        make(disk={"durability": "x" * 10_000})
    assert len(str(caught.value)) < 200


def test_a_fault_shows_no_secret() -> None:
    for given in (
        {"embedding.url": "ftp://admin:k3jf9slw-Qp0@host"},
        {"pruning": {"mode": "Authorization: Bearer k3jf9slw-Qp0k3jf9slw"}},
        {"extractor": {"apiKey": "k3jf9slw-Qp0k3jf9slw"}},
    ):
        with pytest.raises(ConfigError) as caught:
            make(**given)
        assert "k3jf9slw" not in str(caught.value)
        assert "REDACTED" in str(caught.value)


def test_a_long_name_is_shown_in_part() -> None:
    with pytest.raises(ConfigError) as caught:
        make(**{"x" * 1_000_000: 1})
    assert len(str(caught.value)) < 2_000


def test_all_faults_of_settings_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        make(disk={"max_segments": 0}, privacy={"pii": 1})
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    "choice",
    [
        "static",
        "use",
        "transformer:models/a",
        "openai:x:1b",
        "auto",
        "json:loads",
        HashedEmbedder(),
    ],
)
def test_an_embedder_setting_is_a_name_a_path_or_an_object(choice: Any) -> None:
    """Opening a memory finds out whether it is available."""
    config = make(embedding_model=choice, embedding={"url": "http://127.0.0.1:11434/v1"})
    assert config.embedding_model is choice
    assert config.replace(privacy={"pii": True}).embedding_model is choice


@pytest.mark.parametrize(("switch", "mode"), [(True, "mask"), (False, "off")])
def test_redaction_may_be_a_switch(switch: bool, mode: str) -> None:  # noqa: FBT001
    assert make(redaction=switch).redaction == mode


def test_names_of_tools_have_one_order() -> None:
    """Equal sets of tools are equal settings, however they were written."""
    assert make(privacy={"archive_tools": ["read", "bash", "read"]}) == make(
        privacy={"archive_tools": {"bash", "read"}}
    )
    assert make(privacy={"archive_tools": ()}).privacy.archive_tools == ()


def test_a_config_does_not_change() -> None:
    config = Config(disk={"max_segments": 5})
    with pytest.raises(AttributeError, match="frozen"):
        config.disk.max_segments = 6  # type: ignore[misc]
    assert config.disk.max_segments == 5


def test_replacing_gives_another_config_and_checks_it() -> None:
    config = Config(disk={"max_segments": 5})
    changed = config.replace(privacy={"pii": True}, storage_path="elsewhere")
    assert (config.privacy.pii, changed.privacy.pii, changed.disk.max_segments) == (False, True, 5)
    assert changed.storage_path == Path("elsewhere")
    with pytest.raises(ConfigError, match=r"disk\.lock_timeout is -1"):
        config.replace(disk={"lock_timeout": -1})


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
