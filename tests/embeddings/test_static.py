"""Tables of word pieces: where they are found, and their vectors."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import pytest

from embeddings import models
from memctx import ConfigError, _core
from memctx.embeddings import embedder_of, static_embedder
from memctx.embeddings.local import tables

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

pytestmark = pytest.mark.skipif(
    not hasattr(_core, "StaticEmbedder"), reason="this build of the core looks nothing up in tables"
)
TEXTS = ["the webhook listens on port 8443", "Cats", "支付 port", "the the cat"]
# What the vocabulary has of each; the rest is unknown, and does not count.
PIECES = [
    ["the", "webhook", "listens", "on", "port", "8443"],
    ["cat", "##s"],
    ["port"],
    ["the", "the", "cat"],
]


def means(rows: NDArray[np.float32]) -> list[NDArray[np.float64]]:
    exact = rows.astype(np.float64)
    places = [[models.WORDS.index(piece) for piece in pieces] for pieces in PIECES]
    return [models.unit(exact[found].mean(axis=0)) for found in places]


def test_vectors_are_the_mean_of_the_rows(tmp_path: Path) -> None:
    rows = models.table(tmp_path / "potion")
    embedder = static_embedder(tmp_path / "potion")
    assert (embedder.name, embedder.dim, embedder.is_instant) == (
        "potion",
        models.TABLE_WIDTH,
        True,
    )
    np.testing.assert_allclose(embedder.embed_many(TEXTS), means(rows), atol=1e-6)
    np.testing.assert_allclose(embedder.embed(TEXTS[0]), means(rows)[0], atol=1e-6)


def test_a_setting_names_the_folder_or_the_file(tmp_path: Path) -> None:
    rows = models.table(tmp_path / "m", "other.safetensors")
    embedder = embedder_of(f"static:{tmp_path / 'm' / 'other.safetensors'}")
    np.testing.assert_allclose(embedder.embed_many(TEXTS), means(rows), atol=1e-6)  # type: ignore[arg-type]


def test_a_tilde_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models.table(tmp_path / "m")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert embedder_of("static:~/m").dim == models.TABLE_WIDTH


def test_a_table_may_have_fewer_columns_and_another_name(tmp_path: Path) -> None:
    rows = models.table(tmp_path / "m")
    embedder = static_embedder(tmp_path / "m", dim=3, name="short")
    assert (embedder.name, embedder.dim) == ("short", 3)
    np.testing.assert_allclose(embedder.embed_many(TEXTS), means(rows[:, :3]), atol=1e-6)


def test_a_missing_table_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="none: there is no such file or folder"):
        static_embedder(tmp_path / "none")
    with pytest.raises(ConfigError, match=r"model\.safetensors"):
        static_embedder(tmp_path)
    monkeypatch.setattr(tables, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"name a folder, or pip install 'memctx\[static\]'"):
        embedder_of("static")


def test_an_installed_table_is_found() -> None:
    """Computed from its rows: importing the package would set up logging for the whole process."""
    found = tables.find_table(tables.PACKAGES)
    if found is None:
        pytest.skip("pip install 'memctx[static]'")
    tokenizers = pytest.importorskip("tokenizers", reason="pip install 'memctx[transformer]'")
    embedder = embedder_of("static")
    assert (embedder.name, embedder.dim) == ("wordllama-l2-supercat-256", 256)
    package, folder = found
    rows = import_module("safetensors.numpy").load_file(folder / package.table)["embedding.weight"]
    texts = [
        "The webhook listens on port 8443",
        "支付回调",
        "def main():\n    pass",
        " two  spaces ",
    ]
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / package.tokenizer))
    ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    expected = [models.unit(rows[row].astype(np.float64).mean(axis=0)) for row in ids]
    np.testing.assert_allclose(embedder.embed_many(texts), expected, atol=1e-6)  # type: ignore[arg-type]
