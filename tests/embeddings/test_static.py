"""Tables of word pieces: where they are found, and that their vectors are those of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from embeddings import models
from memctx import ConfigError, _core
from memctx.embeddings import embedder_of, packages, static_embedder
from memctx.embeddings.bert import tensors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

pytestmark = pytest.mark.skipif(
    not hasattr(_core, "StaticEmbedder"), reason="this build of the core looks nothing up in tables"
)
WIDTH = 8
TEXTS = ["the webhook listens on port 8443", "Cats", "支付 port", "the the cat"]
# What the vocabulary has of each; the rest is unknown, and does not count.
PIECES = [
    ["the", "webhook", "listens", "on", "port", "8443"],
    ["cat", "##s"],
    ["port"],
    ["the", "the", "cat"],
]


def table(path: Path, name: str = "model.safetensors") -> NDArray[np.float32]:
    """A folder with a table in it, as model2vec saves one; its rows."""
    path.mkdir(parents=True)
    rows = np.random.default_rng(5).normal(size=(len(models.WORDS), WIDTH)).astype(np.float32)
    models.save(path / name, {"embeddings": rows})
    models.write(path / "tokenizer.json", models.tokenizer())
    return rows


def means(rows: NDArray[np.float32]) -> list[NDArray[np.float64]]:
    exact = rows.astype(np.float64)
    places = [[models.WORDS.index(piece) for piece in pieces] for pieces in PIECES]
    return [models.unit(exact[found].mean(axis=0)) for found in places]


def test_vectors_are_the_mean_of_the_rows(tmp_path: Path) -> None:
    rows = table(tmp_path / "potion")
    embedder = static_embedder(tmp_path / "potion")
    assert (embedder.name, embedder.dim, embedder.is_instant) == ("potion", WIDTH, True)
    np.testing.assert_allclose(embedder.embed_many(TEXTS), means(rows), atol=1e-6)
    np.testing.assert_allclose(embedder.embed(TEXTS[0]), means(rows)[0], atol=1e-6)


def test_a_setting_names_the_folder_or_the_file(tmp_path: Path) -> None:
    rows = table(tmp_path / "m", "other.safetensors")
    embedder = embedder_of(f"static:{tmp_path / 'm' / 'other.safetensors'}")
    np.testing.assert_allclose(embedder.embed_many(TEXTS), means(rows), atol=1e-6)  # type: ignore[arg-type]


def test_a_home_folder_may_be_written_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(tmp_path / "m")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert embedder_of("static:~/m").dim == WIDTH


def test_fewer_columns_and_another_name_can_be_asked_for(tmp_path: Path) -> None:
    rows = table(tmp_path / "m")
    embedder = static_embedder(tmp_path / "m", dim=3, name="short")
    assert (embedder.name, embedder.dim) == ("short", 3)
    np.testing.assert_allclose(embedder.embed_many(TEXTS), means(rows[:, :3]), atol=1e-6)


def test_what_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="none: there is no such file or folder"):
        static_embedder(tmp_path / "none")
    with pytest.raises(ConfigError, match=r"model\.safetensors"):
        static_embedder(tmp_path)
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"name a folder, or pip install 'memctx\[static\]'"):
        embedder_of("static")


def test_an_installed_table_is_found_and_gives_the_mean_of_its_rows() -> None:
    """As the package reckons it, which is not imported: it sets up logging for the whole process."""
    found = packages.carried(packages.TABLES)
    if found is None:
        pytest.skip("pip install 'memctx[static]'")
    tokenizers = pytest.importorskip("tokenizers", reason="pip install 'memctx[transformer]'")
    embedder = embedder_of("static")
    assert (embedder.name, embedder.dim) == ("wordllama-l2-supercat-256", 256)
    tensor = tensors(found.weights)["embedding.weight"]
    start, end = tensor.place.offset, tensor.place.offset + tensor.place.length
    rows = np.frombuffer(found.weights.read_bytes()[start:end], "<f2").reshape(tensor.shape)
    texts = [
        "The webhook listens on port 8443",
        "支付回调",
        "def main():\n    pass",
        " two  spaces ",
    ]
    tokenizer = tokenizers.Tokenizer.from_file(str(found.tokenizer))
    ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    expected = [models.unit(rows[row].astype(np.float64).mean(axis=0)) for row in ids]
    np.testing.assert_allclose(embedder.embed_many(texts), expected, atol=1e-6)  # type: ignore[arg-type]
