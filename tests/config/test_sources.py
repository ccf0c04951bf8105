"""Sources of settings: arguments before the environment, the environment before a file."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import Config, ConfigError
from memctx.config import RecallSettings
from memctx.config.environment import variable

if TYPE_CHECKING:
    from pathlib import Path

# Forms A and B of OpenClaw's plugin, each with every key it knows.
FORM_A = {
    "enabled": True,
    "hardCapTokens": 3000,
    "embeddingModel": "transformer",
    "storagePath": "~/.openclaw/memory/context",
    "redaction": True,
    "knowledgeExtraction": False,
    "autoRecallMinScore": 0.65,
    "maxSegments": 12_000,
    "crossSession": True,
    "evictionDays": 30,
}
FORM_B = {
    "autoRecall": True,
    "autoRecallMinScore": 0.6,
    "autoRecallMaxTokens": 12_000,
    "maxSegments": 20_000,
    "embeddingModel": "auto",
    "embeddingModelName": "some-model",
    "embeddingDim": 384,
    "indexType": "hnsw",
    "search": {"vectorWeight": 0.7, "bm25Weight": 0.3, "timeDecay": 0.995},
    "budget": {"maxTokens": 4000, "tokenEstimateRatio": 3},
    "crossSession": False,
    "evictionDays": 90,
    "vectorPersist": True,
    "redaction": False,
    "knowledgeExtraction": True,
    "storagePath": "~/memory",
}


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def load(file: Path | None = None, environ: dict[str, str] | None = None, **more: Any) -> Config:
    """Load with an environment that is empty unless given."""
    return Config.load(file=file, environ=environ or {}, **more)


def test_arguments_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    text = "auto_recall = false\n[disk]\nmax_segments = 1\nlock_timeout = 1\nindex = false\n"
    file = write(tmp_path, "memctx.toml", text)
    environ = {"MEMCTX_DISK_MAX_SEGMENTS": "2", "MEMCTX_DISK_LOCK_TIMEOUT": "2"}
    config = load(file, environ, disk={"max_segments": 3})
    disk = config.disk
    assert (disk.max_segments, disk.lock_timeout, disk.index) == (3, 2.0, False)
    assert not config.auto_recall
    assert config.given().keys() == {
        "auto_recall",
        "disk.max_segments",
        "disk.lock_timeout",
        "disk.index",
    }


def test_sources_that_depend_on_each_other_are_checked_together(tmp_path: Path) -> None:
    file = write(tmp_path, "memctx.toml", "[pruning]\nsoft_trim_max_chars = 9000\n")
    environ = {"MEMCTX_PRUNING_SOFT_TRIM_HEAD_CHARS": "7000"}
    assert load(file, environ).pruning.soft_trim_head_chars == 7_000
    with pytest.raises(
        ConfigError, match=r"^MEMCTX_PRUNING_SOFT_TRIM_HEAD_CHARS: pruning: head and"
    ):
        load(environ=environ)


def test_names_of_variables_are_unique() -> None:
    paths = [*Config.paths(), *Config.fields]
    assert len({variable(path) for path in paths}) == len(set(paths))


def test_the_environment_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTX_DISK_DURABILITY", "os")
    assert Config.load().disk.durability == "os"
    assert Config().disk.durability == "fsync"


def test_form_a_of_an_openclaw_file_loads(tmp_path: Path) -> None:
    document = {"agents": {"defaults": {"model": "x", "memoryContext": FORM_A}}, "gateway": {}}
    config = load(write(tmp_path, "openclaw.json", document))
    assert config.recall.hard_cap_tokens == 3000
    assert config.embedding_model == "transformer"
    assert str(config.storage_path) == "~/.openclaw/memory/context"
    assert (config.redaction, config.knowledge_extraction) == ("mask", False)
    assert (config.recall.min_score, config.disk.max_segments) == (0.65, 12_000)
    assert (config.cross_session, config.disk.eviction_days, config.enabled) == (True, 30, True)


PLACES = [
    {"agents": {"defaults": {"memoryContext": FORM_B}}},
    {"plugins": {"entries": {"memory-context": {"enabled": True, "config": FORM_B}}}},
    {"plugins": {"entries": {"memctx": {"enabled": True, "config": FORM_B}}}},
    FORM_B,
]


@pytest.mark.parametrize("document", PLACES, ids=["defaults", "plugin", "own plugin", "alone"])
def test_form_b_loads_wherever_it_stands(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, document: dict[str, Any]
) -> None:
    """Settings that only OpenClaw's plugin has change nothing, and the log says so once."""
    with caplog.at_level(logging.WARNING, "memctx.config"):
        config = load(write(tmp_path, "openclaw.json", document))
    assert (config.recall.hard_cap_tokens, config.redaction) == (12_000, "off")
    assert (config.embedding_model, config.auto_recall) == ("auto", True)
    (record,) = caplog.records
    assert record.getMessage().endswith(
        "no effect here: budget, embeddingDim, embeddingModelName, indexType, search, vectorPersist"
    )


def test_a_setting_without_effect_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    document = {
        "agents": {"defaults": {"compaction": {"notifyUser": True}}},
        "memory": {"backend": "qmd"},
    }
    file = write(tmp_path, "openclaw.json", document)
    with caplog.at_level(logging.WARNING, "memctx.config"):
        for _ in range(3):
            load(file).replace(privacy={"pii": True})
    assert [record.getMessage() for record in caplog.records] == [
        f"{file}: no effect here: compaction.notifyUser, memory.backend"
    ]


def test_the_entry_of_the_own_plugin_is_the_strongest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = {"enabled": True, "config": {"command": "/opt/memctx", "maxSegments": 9}}
    document = {
        "agents": {"defaults": {"memoryContext": {"maxSegments": 7, "hardCapTokens": 3000}}},
        "plugins": {"slots": {"memory": "memctx"}, "entries": {"memctx": own}},
    }
    with caplog.at_level(logging.WARNING, "memctx.config"):
        config = load(write(tmp_path, "openclaw.json", document))
    assert (config.disk.max_segments, config.recall.hard_cap_tokens) == (9, 3000)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("document", "enabled"),
    [
        ({"agents": {"defaults": {"memoryContext": {"enabled": False}}}}, False),
        ({"plugins": {"entries": {"memory-context": {"enabled": False}}}}, False),
        (
            {
                "plugins": {
                    "entries": {"memory-context": {"enabled": False, "config": {"maxSegments": 9}}}
                }
            },
            False,
        ),
        ({"plugins": {"entries": {"memory-context": {"config": {}}}}}, True),
        ({"plugins": {"entries": {"memory-context": {"enabled": True}}}}, True),
        ({"plugins": {"entries": {"memctx": {"enabled": False}}}}, False),
    ],
)
def test_the_switch_of_an_openclaw_file_counts(
    tmp_path: Path, document: dict[str, Any], *, enabled: bool
) -> None:
    assert load(write(tmp_path, "openclaw.json", document)).enabled is enabled


def test_the_search_of_an_openclaw_file_is_read(tmp_path: Path) -> None:
    """Every setting of ``memorySearch`` that the documents name, and those of its later versions."""
    (tmp_path / "agents" / "main" / "sessions").mkdir(parents=True)
    found = {
        "enabled": True,
        "provider": "openai",
        "model": "text-embedding-3-small",
        "extraPaths": ["../docs", "/srv/notes.md"],
        "experimental": {"sessionMemory": True},
        "sources": ["memory", "sessions"],
        "remote": {"baseUrl": "http://127.0.0.1:1/v1"},
        "chunking": {"tokens": 200, "overlap": 20},
        "query": {
            "maxResults": 3,
            "minScore": 0.35,
            "hybrid": {
                "enabled": True,
                "vectorWeight": 0.6,
                "textWeight": 0.4,
                "candidateMultiplier": 8,
                "mmr": {"enabled": True},
                "temporalDecay": {"enabled": True, "halfLifeDays": 10},
            },
        },
    }
    for document in (
        {"agents": {"defaults": {"memorySearch": found}}},
        {"memory": {"search": found}},
    ):
        search = load(write(tmp_path, "openclaw.json", document)).workspace_search
        assert search.embedding_model == "openai:text-embedding-3-small"
        assert search.embedding_url == "http://127.0.0.1:1/v1"
        assert [str(path) for path in search.extra_paths] == ["../docs", "/srv/notes.md"]
        assert search.sources == ("memory", "sessions")
        assert search.sessions == (tmp_path / "agents" / "main" / "sessions",)
        assert (search.chunk_tokens, search.overlap_tokens) == (200, 20)
        assert (search.max_results, search.min_score) == (3, 0.35)
        assert (search.vector_weight, search.text_weight) == (0.6, 0.4)
        assert (search.candidate_multiplier, search.mmr_lambda) == (8, 0.7)
        assert search.half_life_days == 10


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"provider": "local"}, {"embedding_model": "transformer"}),
        ({"provider": "gemini"}, {"embedding_model": "gemini"}),
        ({"query": {"hybrid": {"enabled": False}}}, {"vector_weight": 1.0, "text_weight": 0.0}),
        ({"query": {"hybrid": {"mmr": {"enabled": False, "lambda": 0.5}}}}, {"mmr_lambda": None}),
        (
            {"experimental": {"sessionMemory": False}, "sources": ["memory", "sessions"]},
            {"sources": ("memory",)},
        ),
        (False, {"enabled": False}),
    ],
)
def test_switches_of_the_search_apply(given: Any, expected: dict[str, Any]) -> None:
    search = Config(workspace_search=given).workspace_search
    assert {name: getattr(search, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"provider": "opnai"},
            "workspace_search.embedding_model is 'opnai'; did you mean 'openai'",
        ),
        ({"chunking": {"tokens": 50}}, "overlap_tokens is 80; expected less than chunk_tokens, 50"),
        ({"sources": []}, "sources is empty; expected"),
        ({"sources": ["web"]}, "workspace_search.sources.0 is 'web'"),
        ({"vectorWeight": 0.0, "textWeight": 0.0}, "expected one of them to be more"),
    ],
)
def test_faults_of_search_settings_are_reported(given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config(workspace_search=given)


@pytest.mark.parametrize("document", [{"agents": {}}, {"plugins": {"entries": []}, "agents": 3}])
def test_an_openclaw_file_without_memory_sets_nothing(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    assert load(write(tmp_path, "openclaw.json", document)).given() == {}


BROKEN: list[tuple[str, Any, str]] = [
    ("a.toml", "max_segments = ", "cannot be read: "),
    ("a.json", "{", "cannot be read: "),
    ("a.json", [1], "expected an object with settings in it, not a list"),
    ("a.yaml", "a: 1", "expected a file that ends in .toml or .json"),
    ("a.json", {"max_segment": 1}, "max_segment is no setting; did you mean disk.max_segments?"),
    ("a.json", {"maxSegments": 0}, "disk.max_segments is 0; expected a value greater than or"),
    ("a.json", "[" * 100_000, "cannot be read: "),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN)
def test_faults_of_a_file_name_the_file(
    tmp_path: Path, name: str, content: Any, message: str
) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_missing_settings_file_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.toml")


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert load(write(tmp_path, "a.json", '\ufeff{"privacy": {"pii": true}}')).privacy.pii


@pytest.mark.parametrize(
    ("variable", "text", "setting", "value"),
    [
        ("MEMCTX_PRIVACY_PII", "1", "privacy.pii", True),
        ("MEMCTX_PRIVACY_PII", "off", "privacy.pii", False),
        ("MEMCTX_PRIVACY_PII", "True", "privacy.pii", True),
        ("MEMCTX_REDACTION", "off", "redaction", "off"),
        ("MEMCTX_REDACTION", "true", "redaction", "mask"),
        ("MEMCTX_PRIVACY_ARCHIVE_TOOLS", "no", "privacy.archive_tools", False),
        ("MEMCTX_PRIVACY_ARCHIVE_TOOLS", "read, bash*", "privacy.archive_tools", ("bash*", "read")),
        ("MEMCTX_PRIVACY_ARCHIVE_TOOLS", '["read"]', "privacy.archive_tools", ("read",)),
        ("MEMCTX_PRIVACY_PATTERNS", '{"a": "b+"}', "privacy.patterns", {"a": "b+"}),
        ("MEMCTX_DISK_EVICTION_DAYS", "0.5", "disk.eviction_days", 0.5),
        ("MEMCTX_CONTEXT_WINDOW", "200000", "context_window", 200_000),
        ("MEMCTX_DISK", '{"maxSegments": 5}', "disk.max_segments", 5),
        ("MEMCTX_PRUNING", "adaptive", "pruning.mode", "adaptive"),
        ("MEMCTX_PRUNING_MODE", "off", "pruning.mode", "off"),
        ("MEMCTX_PRUNING_DENY", "read, bash", "pruning.deny", ("read", "bash")),
        ("MEMCTX_PRUNING_PLACEHOLDER", "123", "pruning.placeholder", "123"),
        ("MEMCTX_COMPACTION", "off", "compaction.enabled", False),
        ("MEMCTX_RECALL_QUERY_MESSAGES", "auto", "recall.query_messages", "auto"),
        ("MEMCTX_EMBEDDING_URL", "http://a/v1", "embedding.url", "http://a/v1"),
    ],
)
def test_the_environment_is_text(variable: str, text: str, setting: str, value: Any) -> None:
    assert load(environ={variable: text}).given() == {setting: value}


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"MEMCTX_DISK_MAX_SEGMENTS": "x"},
            "MEMCTX_DISK_MAX_SEGMENTS: disk.max_segments is 'x'; e",
        ),
        ({"MEMCTX_PRIVACY_PII": "2"}, "MEMCTX_PRIVACY_PII: privacy.pii is 2; expected a valid"),
        (
            {"MEMCTX_DISK_MAX_SEGMENT": "1"},
            "MEMCTX_DISK_MAX_SEGMENT in the environment is no setting; did you mean MEMCTX_DISK_MAX_SEGMENTS?",
        ),
        (
            {"MEMCTX_MAX_SEGMENT": "1"},
            "MEMCTX_MAX_SEGMENT in the environment is no setting; did you mean MEMCTX_DISK_MAX_SEGMENTS?",
        ),
        (
            {"MEMCTX_PII": "1"},
            "MEMCTX_PII in the environment is no setting; did you mean MEMCTX_PRIVACY_PII?",
        ),
        (
            {"MEMCTX_PRUNING": '{"mode": "x"}'},
            "MEMCTX_PRUNING: pruning.mode is 'x'; expected 'off'",
        ),
    ],
)
def test_faults_of_the_environment_name_the_variable(environ: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(environ=environ)
    assert str(caught.value).startswith(message)


def test_faults_of_arguments_name_them_as_the_source() -> None:
    with pytest.raises(ConfigError, match=r"^arguments: disk\.max_segments is 0; expected"):
        load(disk={"max_segments": 0})


def test_variables_of_other_programs_are_ignored() -> None:
    assert load(environ={"MEMCTX_BENCH_SEGMENTS": "2000", "HOME": "/"}).given() == {}


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
configs = st.builds(
    Config,
    storage_path=st.sampled_from(["~/.memctx", "/srv/memory", "123", "true"]),
    disk=st.fixed_dictionaries(
        {
            "durability": st.sampled_from(["fsync", "os"]),
            "lock_timeout": st.floats(0, 1e6),
            "max_segments": st.integers(1, 10**9),
            "index": st.booleans(),
            "deadline_ms": st.floats(0, 1e6),
            "turn_deadline_ms": st.floats(0, 1e6),
        }
    ),
    privacy=st.fixed_dictionaries(
        {
            "archive_tools": st.booleans() | st.lists(words),
            "patterns": st.dictionaries(words, words, max_size=3),
            "pii": st.booleans(),
        }
    ),
    redaction=st.sampled_from(["mask", "openclaw", "off"]),
    context_window=st.none() | st.integers(1, 10**7),
    recall=st.builds(
        RecallSettings,
        min_score=st.floats(0, 1),
        query_messages=st.sampled_from(["auto", 1, 3]),
    ),
    knowledge_extraction=st.sampled_from([True, False, "rules"]),
    extractor=st.sampled_from([None, "anthropic", "openai:local"]),
    workspace_search=st.sampled_from(
        [True, False, {"extraPaths": ["docs", "~/notes.md"], "sources": ["sessions"]}]
    ),
)


@given(configs)
def test_a_config_survives_json(config: Config) -> None:
    """Dumped settings load as the same settings."""
    assert Config(**json.loads(json.dumps(config.to_dict()))) == config


@given(configs)
def test_a_config_survives_the_environment(config: Config) -> None:
    """Text as it is and everything else as JSON loads as the same settings."""
    values = config.to_dict()
    single = {}
    for path in Config.paths():
        name, _, inner = path.partition(".")
        single[path] = values[name][inner] if inner else values[name]
    for named in (values, single):
        environ = {
            variable(path): value if isinstance(value, str) else json.dumps(value)
            for path, value in named.items()
        }
        assert load(environ=environ) == config
