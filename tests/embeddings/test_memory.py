"""Memories with an external embedder: late, failing, or replaced by another model."""

from __future__ import annotations

import json
import sys
import textwrap
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import memctx
import process
from facts.extractors.server import hang, serving, status
from memctx import ConfigError
from memctx.errors import EmbeddingError
from memctx.lowlevel import vmem

from .apis import embedder_at, embeds
from .test_remote import dead_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx import Memory

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

SUBJECTS = (("car", "automobile"), ("dog", "hound"), ("sea", "ocean"))
SAID = ("My automobile is in the garage", "The hound barked all night", "A bill is due on Monday")


class Meanings:
    """An embedder with the same vector for all words of a topic; it fails on demand."""

    name, revision, dim = "meanings", "1", 8

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.fault: Exception | None = None
        self.poison = "\N{SKULL AND CROSSBONES}"

    def embed(self, text: str) -> list[float]:
        if self.fault is not None:
            raise self.fault
        vector = [0.05] * self.dim
        for place, words in enumerate(SUBJECTS):
            vector[place] += any(word in text.lower() for word in words)
        return vector

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        if any(self.poison in text for text in texts):
            raise EmbeddingError("a text that cannot be embedded")
        vectors = [self.embed(text) for text in texts]
        self.embedded += texts
        return vectors


def opened(path: Path, model: Any, **settings: Any) -> Memory:
    config = memctx.Config(
        embedding_model=model,
        context_window=100_000,
        capture="evicted",  # else questions are found beside the answers
        disk={"durability": "os"},
        recall={"min_score": 0.0},
    )
    return memctx.open(path, session_id="s", config=config.replace(**settings))


def archive(memory: Memory, *texts: str) -> None:
    memory.archive([{"role": "user", "content": text} for text in texts])


def found(memory: Memory, query: str) -> list[str]:
    return [hit.segment.content for hit in memory.search(query, limit=3)]


def eventually(is_so: Any, seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def stamp(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "vectors.json").read_text())
    return found


def test_search_finds_meanings_without_common_words(tmp_path: Path) -> None:
    with opened(tmp_path, Meanings()) as memory:
        archive(memory, *SAID)
        eventually(lambda: not memory.store.embedding().lacking)
        assert found(memory, "which car?")[0] == SAID[0]
        turn = memory.prepare([{"role": "user", "content": "Tell me about my car, please"}])
        assert "automobile" in str(turn.messages)
        assert turn.report.degraded == ()
    assert stamp(tmp_path)["model"] == "meanings"
    ids, vectors = vmem.read(tmp_path / "vectors.bin")
    assert len(ids) == len(SAID)
    assert np.allclose((vectors**2).sum(axis=1), 1, atol=1e-5)


def test_an_embedder_may_be_asynchronous(tmp_path: Path) -> None:
    class Later(Meanings):
        async def embed(self, text: str) -> list[float]:  # type: ignore[override]
            return Meanings.embed(self, text)

        async def embed_many(self, texts: Sequence[str]) -> list[list[float]]:  # type: ignore[override]
            return [Meanings.embed(self, text) for text in texts]

    with opened(tmp_path, Later()) as memory:
        archive(memory, *SAID)
        assert memory.reembed().lacking == 0
        assert found(memory, "which car?")[0] == SAID[0]


def test_failed_texts_are_embedded_later_and_get_no_made_up_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memctx.embeddings.service.FIRST_DELAY", 0.04)
    model = Meanings()
    model.fault = ConnectionError("with a key: sk-heron")
    with opened(tmp_path, model) as memory:
        archive(memory, *SAID)
        assert found(memory, "garage") == [SAID[0]], "words carry the search"
        eventually(lambda: memory.health()["embedding"]["work"]["failures"] > 1)
        assert "sk-heron" not in str(memory.health())
        assert not (tmp_path / "vectors.bin").exists()
        with pytest.raises(EmbeddingError, match="meanings failed"):
            memory.reembed()
        model.fault = None
        eventually(lambda: not memory.store.embedding().lacking)
        assert found(memory, "which car?")[0] == SAID[0]
        assert memory.health()["embedding"]["work"]["last_error"] is None


def test_a_text_that_cannot_be_embedded_does_not_block_others(tmp_path: Path) -> None:
    model = Meanings()
    with opened(tmp_path, model) as memory:
        archive(memory, SAID[0], f"poison {model.poison}", *SAID[1:])
        eventually(lambda: memory.store.embedding().aside == 1)
        assert memory.store.embedding().lacking == 1
        assert found(memory, "which car?")[0] == SAID[0]
        assert found(memory, "poison")[0].startswith("poison")
    model.poison = "none"
    with opened(tmp_path, model) as memory:
        eventually(lambda: not memory.store.embedding().lacking)
        assert memory.store.embedding().aside == 0


def test_a_change_of_model_embeds_nothing_twice(tmp_path: Path) -> None:
    with opened(tmp_path, "hash") as memory:
        archive(memory, *SAID)
    model = Meanings()
    with opened(tmp_path, model) as memory:
        archive(memory, "The ocean is wide")
        steps: list[tuple[int, int]] = []
        status = memory.reembed(lambda done, all_: steps.append((done, all_)))
        assert (status.model, status.lacking, status.is_replacing) == ("meanings", 0, False)
        assert steps[-1] == (status.log_bytes, status.log_bytes)
    with opened(tmp_path, model) as memory:
        assert memory.reembed().lacking == 0
    assert sorted(model.embedded) == sorted((*SAID, "The ocean is wide"))
    assert stamp(tmp_path)["model"] == "meanings"
    with opened(tmp_path, "hash") as memory:
        assert memory.reembed().model == "hash"
    assert stamp(tmp_path)["model"] == "hash"
    assert len(vmem.read(tmp_path / "vectors.bin")[0]) == len(SAID) + 1


def test_a_fallback_does_not_replace_better_vectors(tmp_path: Path) -> None:
    with opened(tmp_path, Meanings()) as memory:
        archive(memory, *SAID)
        memory.reembed()
    before = (tmp_path / "vectors.bin").read_bytes()
    choices: tuple[dict[str, Any], ...] = (
        {},
        {"embedding_model": "transformer:/nowhere"},
        {"embedding_model": "auto"},
    )
    for settings in choices:
        with memctx.open(tmp_path, session_id="s", **settings) as memory:
            archive(memory, f"said with {settings}")
            memory.store.snapshot()
            assert found(memory, "hound")[0] == SAID[1]
        assert (tmp_path / "vectors.bin").read_bytes() == before
        assert stamp(tmp_path)["model"] == "meanings"


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_fork_goes_on_embedding(tmp_path: Path) -> None:
    """Fork in a child process, since this one has threads."""
    code = """
        import os, sys, time, memctx
        sys.path.insert(0, sys.argv[2])
        from embeddings.test_memory import SAID, Meanings, archive
        model = Meanings()
        memory = memctx.open(sys.argv[1], session_id="s", embedding_model=model)
        if (child := os.fork()) == 0:
            memory = memctx.open(sys.argv[1], session_id="s", embedding_model=model)
            archive(memory, *SAID)
            while memory.store.embedding().lacking:
                time.sleep(0.01)
            assert memory.search("which car?")[0].segment.content == SAID[0]
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    here = Path(__file__).parent.parent
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), str(here)]
    process.run(command)


@pytest.mark.parametrize("model", [object(), "no_such_module:Embedder", "hahs", "openai:"])
def test_an_object_that_is_no_embedder_is_rejected(tmp_path: Path, model: Any) -> None:
    with pytest.raises(ConfigError, match="embedding_model"):
        opened(tmp_path, model)


def turns(memory: Memory, count: int) -> tuple[list[float], list[tuple[str, ...]]]:
    """Return the milliseconds of turns with a new query each, and the reasons of missing vectors."""
    took, degraded = [], []
    for number in range(count):
        said = f"Question {zlib.crc32(str((count, number)).encode())} about the garage"
        start = time.perf_counter()
        turn = memory.prepare([{"role": "user", "content": said}])
        took.append((time.perf_counter() - start) * 1000)
        assert not turn.report.errors
        assert "automobile" in str(turn.messages), "words find it"
        degraded.append(turn.report.degraded)
    return took, degraded


def test_turns_go_on_beside_an_endpoint_that_is_dead_hangs_and_comes_back(tmp_path: Path) -> None:
    """Turns wait three times at most, then skip the endpoint, and use it again once it responds."""
    act = [embeds()]

    def answer(handler: Any) -> None:
        act[0](handler)

    with (
        serving(answer) as server,
        opened(tmp_path, embedder_at("openai", server.url), placement="tail") as memory,
    ):
        archive(memory, *SAID)
        eventually(lambda: not memory.store.embedding().lacking)
        assert turns(memory, 3)[1] == [()] * 3
        act[0] = hang(1.0)
        took, degraded = turns(memory, 30)
        assert sum(milliseconds > 100 for milliseconds in took) <= 4
        assert all("words alone" in words[0] for words in degraded)
        assert "timed out" in degraded[0][0]
        assert "breaker open" in degraded[-1][0]
        act[0] = embeds()
        eventually(lambda: turns(memory, 1)[1] == [()], seconds=20)


def test_a_rejected_key_is_reported_and_words_still_find(tmp_path: Path) -> None:
    with (
        serving(status(401, "authentication_error")) as server,
        opened(tmp_path, embedder_at("openai", server.url), placement="tail") as memory,
    ):
        archive(memory, *SAID)
        _, degraded = turns(memory, 2)
        assert all("401" in words[0] for words in degraded)
        eventually(lambda: memory.health()["embedding"]["work"]["failures"] > 0)
        assert memory.store.embedding().aside == 0, "no text is to blame"


def test_a_dead_endpoint_does_not_keep_a_store_from_opening(tmp_path: Path) -> None:
    """The length of its vectors is unknown."""
    unknown = embedder_at("openai", dead_url(), dim=None)
    with opened(tmp_path, unknown) as memory:
        archive(memory, *SAID)
        assert found(memory, "garage")[0] == SAID[0]
        assert memory.health()["embedding"]["used"] == "hash"
        assert "unknown" in memory.health()["embedding"]["note"]
