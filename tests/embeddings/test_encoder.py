"""`Encoder`: vectors from a file of weights, beside numpy's."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from embeddings.encoder_file import Reference, read, write
from memctx._core import Encoder
from memctx.errors import ConfigError
from memctx.lowlevel import Store, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

DIM, WIDE, LAYERS, HEADS = 64, 128, 2, 2
PIECES = [
    "",
    "▁",
    *"abcdefghijklmnopqrstuvwxyz0123456789",
    "▁port",
    "▁the",
    "▁data",
    "base",
    "端",
    "口",
    "端口",
]
SCORES = [0.0, -4.0, *[-8.0] * 36, -5.0, -4.5, -6.0, -6.0, -9.0, -9.0, -7.0]


def tensors(seed: int = 0) -> dict[str, NDArray[Any]]:
    """Return random weights."""
    random = np.random.default_rng(seed)

    def matrix(name: str, rows: int, columns: int) -> dict[str, NDArray[Any]]:
        return {
            f"{name}.weight": random.integers(-127, 128, (rows, columns)).astype(np.int8),
            f"{name}.scale": random.uniform(0.5, 1.5, rows).astype(np.float32)
            / 127
            / np.float32(8),
            f"{name}.bias": random.normal(0, 0.1, rows).astype(np.float32),
        }

    def norm(name: str) -> dict[str, NDArray[Any]]:
        return {
            f"{name}.weight": random.uniform(0.5, 1.5, DIM).astype(np.float32),
            f"{name}.bias": random.normal(0, 0.1, DIM).astype(np.float32),
        }

    found: dict[str, NDArray[Any]] = {
        "pieces": np.frombuffer("\n".join(PIECES).encode(), np.uint8),
        "scores": np.array(SCORES, np.float32),
        "fold": np.frombuffer("國国".encode(), np.uint8),
        "table": random.integers(-127, 128, (len(PIECES), DIM)).astype(np.int8),
        "table.scale": random.uniform(0.001, 0.01, len(PIECES)).astype(np.float32),
        **norm("gate.norm"),
        "gate.weight": random.normal(0, 0.3, DIM).astype(np.float32),
        "gate.bias": np.zeros(1, np.float32),
    }
    for number in range(LAYERS):
        name = f"layers.{number}."
        found |= norm(name + "before_attention") | norm(name + "before_feed")
        found |= matrix(name + "attention", 3 * DIM, DIM) | matrix(name + "attended", DIM, DIM)
        found |= matrix(name + "feed", WIDE, DIM) | matrix(name + "fed", DIM, WIDE)
    return found


HEADER = {
    "format": "memctx-encoder 1",
    "name": "tiny",
    "layers": str(LAYERS),
    "heads": str(HEADS),
    "max_chars": "200",
    "max_pieces": "12",
    "full_norm": "0.001",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny.safetensors", HEADER, tensors())


@pytest.mark.parametrize(
    "text",
    ["port", "the database", "the port 8080 of the database", "端口 port", "a" * 30, "zz " * 40],
)
def test_a_vector_is_that_of_numpy(path: Path, text: str) -> None:
    """Short texts, texts of several parts, and two scripts."""
    encoder = Encoder.load(path)
    expected = Reference(*read(path)).embed(encoder.tokens(text))
    np.testing.assert_allclose(encoder.embed(text), expected, atol=1e-3)
    unrounded = Reference(*read(path), is_rounded=False).embed(encoder.tokens(text))
    assert float(expected @ unrounded) > 0.99


def test_many_texts_have_the_vectors_of_each(path: Path) -> None:
    encoder = Encoder.load(path)
    texts = ["port", "", "the database", "???"]
    rows = encoder.embed_many(texts)
    for text, row in zip(texts, rows, strict=True):
        np.testing.assert_array_equal(encoder.embed(text), row)
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 0])


def test_pieces_are_the_most_probable_ones(path: Path) -> None:
    encoder = Encoder.load(path)
    assert [PIECES[each] for each in encoder.tokens("The DataBase端口!")] == [
        *("▁the", "▁data", "base", "端口")
    ]
    assert encoder.tokens("☃ ☃") == []


def test_a_store_searches_with_an_encoder(path: Path, tmp_path: Path) -> None:
    encoder = Encoder.load(path)
    assert (encoder.name, encoder.dim) == ("tiny", DIM)
    store = Store(tmp_path / "store", StoreOptions(session_id="s", model=encoder))
    store.add([("user", "the port of the database", None, None), ("user", "abc", None, None)])
    while store.embedding().lacking:
        store.embed_some()
    assert store.search("the port of the database")[0].vector == pytest.approx(1, abs=1e-5)
    assert store.embedding().model == "tiny"
    store.close()


@pytest.mark.parametrize("middle", ["zz " * 8, "zz " * 400], ids=["pieces", "characters"])
def test_of_a_long_query_the_start_and_the_end_count(
    path: Path, tmp_path: Path, middle: str
) -> None:
    options = StoreOptions(session_id="s", model=Encoder.load(path))
    with closing(Store(tmp_path / "store", options)) as store:
        store.add([("user", "the port of the database", None, None)])
        while store.embedding().lacking:
            store.embed_some()

        def cosine(query: str) -> float:
            return store.search(query, ranking="best")[0].vector

        start, end = "the port of abc ", " data and the database"
        whole = cosine(start + middle + end)
        assert cosine(start + middle.replace("z", "q") + end) == pytest.approx(whole, abs=1e-6)
        assert cosine(start + middle + " 0123456789") != pytest.approx(whole, abs=1e-3)
        assert cosine("the 0123456789 " + middle + end) != pytest.approx(whole, abs=1e-3)


def test_an_encoder_without_layers_adds_its_rows(tmp_path: Path) -> None:
    kept = {name: values for name, values in tensors().items() if not name.startswith("layers.")}
    path = write(tmp_path / "table.safetensors", HEADER | {"layers": "0"}, kept)
    encoder = Encoder.load(path)
    expected = Reference(*read(path)).embed(encoder.tokens("the database"))
    np.testing.assert_allclose(encoder.embed("the database"), expected, atol=1e-3)


@pytest.mark.parametrize(
    ("header", "changes", "fault"),
    [
        ({"format": "other"}, {}, r"`format` in its header is \"other\""),
        ({"heads": "0"}, {}, r"`heads` in its header is \"0\""),
        ({"layers": "two"}, {}, r"`layers` in its header is \"two\""),
        ({"full_norm": "-1"}, {}, r"`full_norm` in its header is \"-1\""),
        ({"heads": "3"}, {}, "multiple of 32"),
        ({}, {"table": np.zeros((3, DIM), np.int8)}, "`scores` must have 3 values"),
        ({}, {"table": np.zeros((3, DIM), np.float32)}, "`table` must hold I8, not F32"),
        ({}, {"gate.bias": np.array([np.nan], np.float32)}, "value 0 of the tensor `gate.bias`"),
        ({}, {"layers.0.feed.weight": np.zeros((20, DIM), np.int8)}, "multiple of 16 rows"),
        ({}, {"layers.1.fed.weight": np.zeros((16, WIDE), np.int8)}, "must be 64 x 128, not 16"),
        ({"layers": "3"}, {}, r"no tensor `layers\.2\."),
    ],
)
def test_a_damaged_file_is_refused_by_name(
    tmp_path: Path, header: dict[str, str], changes: dict[str, NDArray[Any]], fault: str
) -> None:
    path = write(tmp_path / "bad.safetensors", HEADER | header, tensors() | changes)
    with pytest.raises(ConfigError, match=fault) as caught:
        Encoder.load(path)
    assert "bad.safetensors" in str(caught.value)
