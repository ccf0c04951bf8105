"""The encoder that comes with memctx: loading, the default of a store, and what its vectors replace."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

import memctx
import memctx_model
import process
from memctx import ConfigError, _session
from memctx.cli.verbs.shell import ShellRequest
from memctx.embeddings import packaged_encoder, resolution
from memctx.embeddings.local import packaged

if TYPE_CHECKING:
    from pathlib import Path

    from memctx._core import Encoder

pytestmark = pytest.mark.usefixtures("alone")

SAID = [{"role": "user", "content": "My automobile is in the garage"}]


@pytest.fixture(autouse=True)
def _undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolution, "_decided", {})
    monkeypatch.setattr(_session, "_logged", set())


def used_by(store: Path, **settings: Any) -> dict[str, Any]:
    """Open a store, wait for its vectors if they can be made, and return the health of embedding."""
    with memctx.open(store, session_id="s", **settings) as memory:
        memory.archive(SAID)
        if memory.health()["embedding"]["note"] is None:
            memory.reembed()
        health: dict[str, Any] = memory.health()["embedding"]
        return health


def model_of(store: Path) -> str:
    document: dict[str, Any] = json.loads((store / "vectors.json").read_text())
    return str(document["model"])


def test_the_package_is_intact() -> None:
    assert memctx_model.is_intact()
    assert len(memctx_model.sha256()) == 64


def test_a_changed_file_is_not_intact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / memctx_model.PATH.name
    file.write_bytes(b"other weights")
    shutil.copy(f"{memctx_model.PATH}.sha256", f"{file}.sha256")
    monkeypatch.setattr(memctx_model, "PATH", file)
    assert not memctx_model.is_intact()


def test_importing_memctx_loads_no_weights() -> None:
    program = "import memctx, memctx.embeddings, sys; print(*sys.modules)"
    loaded = process.run([sys.executable, "-c", program]).stdout.split()
    assert "memctx_model" not in loaded
    assert "memctx.embeddings.local.packaged" not in loaded


def test_all_threads_share_one_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "_loaded", {})
    found: list[Encoder] = []
    threads = [threading.Thread(target=lambda: found.append(packaged_encoder())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(encoder is found[0] for encoder in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_loads_the_encoder_that_its_parent_was_loading() -> None:
    with packaged._loading:  # noqa: SLF001 - the lock of another thread
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends the child if the lock is still held
            os._exit(0 if packaged_encoder().dim else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_the_default_of_a_new_store_is_the_encoder(tmp_path: Path) -> None:
    health = used_by(tmp_path / "store")
    name = packaged_encoder().name
    assert (health["asked"], health["used"], health["note"]) == ("auto", name, None)
    assert (health["lacking"], health["replacing"]) == (0, False)
    assert model_of(tmp_path / "store") == name


def test_the_encoder_and_its_file_can_be_named(tmp_path: Path) -> None:
    name = packaged_encoder().name
    assert used_by(tmp_path / "a", embedding_model="memctx")["used"] == name
    file = memctx_model.PATH
    assert used_by(tmp_path / "b", embedding_model=f"memctx:{file}")["used"] == name
    with pytest.raises(ConfigError, match=r"none\.safetensors"):
        packaged_encoder(tmp_path / "none.safetensors")


@pytest.mark.parametrize("fault", ["no package", "no file", "damaged file"])
def test_missing_weights_cost_one_warning_and_no_call(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    file = tmp_path / "encoder.safetensors"
    if fault == "no package":
        monkeypatch.setitem(sys.modules, "memctx_model", None)
    else:
        monkeypatch.setattr(memctx_model, "PATH", file)
        if fault == "damaged file":
            file.write_bytes(memctx_model.__doc__.encode() if memctx_model.__doc__ else b"")
    with caplog.at_level(logging.WARNING):
        health = used_by(tmp_path / "store")
        assert used_by(tmp_path / "store")["note"] == health["note"]
    assert health["used"] == "hash"
    assert health["note"].startswith("embedding_model 'auto' unavailable; falling back to 'hash'")
    assert [record.getMessage() for record in caplog.records] == [health["note"]]
    assert model_of(tmp_path / "store") == "hash"


def test_missing_weights_leave_the_vectors_that_were_made_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used_by(tmp_path)
    monkeypatch.setattr(resolution, "_decided", {})
    monkeypatch.setitem(sys.modules, "memctx_model", None)
    assert used_by(tmp_path)["used"] == "hash"
    assert model_of(tmp_path) == packaged_encoder_name(monkeypatch)


def packaged_encoder_name(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delitem(sys.modules, "memctx_model")
    return packaged_encoder().name


def test_a_key_in_the_environment_sends_no_text_unless_auto_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    default = memctx.Config(storage_path=tmp_path)
    assert resolution.Resolution.of(default).name == packaged_encoder().name
    named = default.replace(embedding_model="auto")
    assert resolution.Resolution.of(named).name == "text-embedding-3-small"


def test_hash_can_be_named_and_is_replaced_by_the_default(tmp_path: Path) -> None:
    used_by(tmp_path, embedding_model="hash")
    assert model_of(tmp_path) == "hash"
    assert used_by(tmp_path)["used"] == packaged_encoder().name
    assert model_of(tmp_path) == packaged_encoder().name
    used_by(tmp_path, embedding_model="hash")
    assert model_of(tmp_path) == "hash"


def test_other_weights_of_the_encoder_are_embedded_again(tmp_path: Path) -> None:
    used_by(tmp_path)
    document = json.loads((tmp_path / "vectors.json").read_text())
    (tmp_path / "vectors.json").write_text(json.dumps(document | {"revision": "older"}))
    used_by(tmp_path)
    assert json.loads((tmp_path / "vectors.json").read_text()) == document


class Other:
    name, revision, dim = "other", "1", 2

    def embed(self, text: str) -> list[float]:
        return [1.0, float(len(text))]

    def embed_many(self, texts: list[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def test_vectors_of_another_model_stay_under_the_default(tmp_path: Path) -> None:
    used_by(tmp_path, embedding_model=Other())
    assert model_of(tmp_path) == "other"
    health = used_by(tmp_path)
    assert health["used"] == "hash"
    assert "the store has vectors of 'other'" in health["note"]
    assert model_of(tmp_path) == "other"
    used_by(tmp_path, embedding_model="memctx")
    assert model_of(tmp_path) == packaged_encoder().name


def test_a_command_that_reads_a_hashed_store_leaves_it_hashed(tmp_path: Path) -> None:
    used_by(tmp_path, embedding_model="hash")
    with ShellRequest(tmp_path).open_memory() as memory:
        assert memory.search("garage")
        assert memory.health()["embedding"]["used"] == "hash"
    with ShellRequest(tmp_path).open_memory(may_reembed=True) as memory:
        memory.reembed()
    assert model_of(tmp_path) == packaged_encoder().name


def test_queries_need_no_thread_and_texts_have_their_vectors_soon(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="s") as memory:
        memory.archive(SAID)
        assert not memory.store.embedding().is_instant
        memory.reembed()
        assert memory.search("My automobile is in the garage")[0].vector > 0.99
        assert not [thread for thread in threading.enumerate() if "query" in thread.name]


def test_texts_in_which_nothing_is_known_are_stored(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="s") as memory:
        memory.archive([{"role": "user", "content": "☃ ☃ ☃ ☃ ☃"}, *SAID])
        status = memory.reembed()
        assert (status.lacking, status.aside) == (0, 0)
        assert memory.search("garage")
