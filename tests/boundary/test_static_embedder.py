"""`memctx._core.StaticEmbedder`."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from memctx._core import StaticEmbedder
from memctx.errors import ConfigError

from . import golden, tables
from .strategies import for_all, texts

KINDS = ["bert", "llama", "crossing"]


@pytest.fixture(scope="module")
def embedders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StaticEmbedder]:
    folder = tmp_path_factory.mktemp("models")
    return {kind: StaticEmbedder.load(tables.save_golden(folder, kind)) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_golden_vectors(embedders: dict[str, StaticEmbedder], kind: str) -> None:
    """The vectors equal those that model2vec and WordLlama make from the same tables."""
    cases = golden.load("static.json")[kind]["cases"]
    assert len(cases) > 20
    for case in cases:
        vector = embedders[kind].embed(case["text"])
        assert vector == pytest.approx(case["vector"], abs=1e-5), case["text"]


def test_a_static_embedder_has_name_revision_and_dimension(tmp_path: Path) -> None:
    """Name, revision and dimension are the stamp of its vectors."""
    folder = tables.save_golden(tmp_path, "bert")
    embedder = StaticEmbedder.load(folder)
    assert (embedder.name, embedder.dim, embedder.is_instant) == ("bert", 6, True)
    assert StaticEmbedder.load(str(folder)).revision == embedder.revision
    assert len(embedder.revision) == 16
    named = StaticEmbedder.load(folder / "model.safetensors", name="mine", dim=3)
    assert (named.name, named.dim) == ("mine", 3)
    assert named.revision != embedder.revision
    assert StaticEmbedder.load(folder, max_tokens=7).revision != embedder.revision
    full = embedder.embed("the parcel")[:3]
    assert named.embed("the parcel") == pytest.approx(full / np.linalg.norm(full), abs=1e-6)


def test_many_texts_equal_one_by_one(embedders: dict[str, StaticEmbedder]) -> None:
    """The rows for many texts are the vectors of each, in order, from any iterable."""
    many = ["the parcel", "", "Zürich \ud800", "飞书"]
    for embedder in embedders.values():
        expected = np.array([embedder.embed(text) for text in many])
        for iterable in (many, tuple(many), iter(many)):
            matrix = embedder.embed_many(iterable)
            assert (matrix.shape, matrix.dtype) == ((4, embedder.dim), np.dtype("f4"))
            assert np.array_equal(matrix, expected)
        assert embedder.embed_many([]).shape == (0, embedder.dim)


@pytest.mark.parametrize("text", ["", " ", "\u3000\n", "\0", "[UNK]", "ж😀"])
def test_unknown_words_embed_to_zero(embedders: dict[str, StaticEmbedder], text: str) -> None:
    """A text without a known piece has the zero vector."""
    assert not embedders["bert"].embed(text).any()


def test_half_a_pair_reads_as_the_replacement_character(
    embedders: dict[str, StaticEmbedder],
) -> None:
    """A lone surrogate, which no tokenizer knows, stands for U+FFFD."""
    for embedder in embedders.values():
        expected = embedder.embed("the \ufffdparcel")
        assert np.array_equal(embedder.embed("the \udc00parcel"), expected)


def test_only_the_first_pieces_count(tmp_path: Path) -> None:
    """Of a longer text the first ``max_tokens`` pieces count, fifty megabytes or not."""
    folder = tables.save_golden(tmp_path, "llama")
    embedder = StaticEmbedder.load(folder, max_tokens=2)
    expected = StaticEmbedder.load(folder).embed("the parcel")
    for rest in (" was sent", " was sent" * (6 << 20), "\ud800" * 9):
        assert np.array_equal(embedder.embed("the parcel" + rest), expected)


def test_threads_share_one(embedders: dict[str, StaticEmbedder]) -> None:
    """Any number of threads may use an embedder at once."""
    many = [f"the parcel {number} was sent" for number in range(200)]
    for embedder in embedders.values():
        expected = embedder.embed_many(many)
        with ThreadPoolExecutor(4) as pool:
            for matrix in pool.map(embedder.embed_many, [many] * 8):
                assert np.array_equal(matrix, expected)


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"max_tokens": 0}, "max_tokens must be 1 or more, not 0"),
    ({"max_tokens": -1}, "max_tokens must be 0 or more, not -1"),
    ({"dim": 0}, "dim must be between 1 and the number of the table's columns, not 0"),
    ({"dim": 7}, "not 7: .*model.safetensors has 6"),
    ({"dim": -1}, "dim must be 0 or more, not -1"),
    ({"name": ""}, "name must be at least one character long"),
    ({"tokenizer": "no such file"}, "no such file: the table .* needs a tokenizer here"),
]


@pytest.mark.parametrize(("choices", "words"), BROKEN)
def test_impossible_choices_are_refused(
    tmp_path: Path, choices: dict[str, Any], words: str
) -> None:
    folder = tables.save_golden(tmp_path, "bert")
    with pytest.raises(ConfigError, match=words):
        StaticEmbedder.load(folder, **choices)


def test_broken_files_are_named(tmp_path: Path) -> None:
    """An error about a model names the file and what was expected."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        StaticEmbedder.load(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match=r"model\.safetensors is expected in this folder"):
        StaticEmbedder.load(tmp_path)
    folder = tables.save_golden(tmp_path, "bert")
    tokenizer = folder / "tokenizer.json"
    described = json.loads(tokenizer.read_text("utf-8"))
    described["model"]["type"] = "Unigram"
    tokenizer.write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"tokenizer\.json: a tokenizer of the kind Unigram; memctx reads"
    ):
        StaticEmbedder.load(folder)
    tables.save(
        folder, {"embeddings": tables.cells(9, 2)}, golden.load("static.json")["bert"]["tokenizer"]
    )
    with pytest.raises(ConfigError, match="but the table has rows for 9 pieces only"):
        StaticEmbedder.load(folder)


@pytest.mark.parametrize("text", [None, b"text", 1, ["text"]])
def test_a_text_is_a_string(embedders: dict[str, StaticEmbedder], text: Any) -> None:
    """One text is a string and nothing else, and several are not one."""
    with pytest.raises(TypeError):
        embedders["bert"].embed(text)
    with pytest.raises(TypeError):
        embedders["bert"].embed_many("the parcel")


SENTENCES = [
    "the parcel was sent to the new address last week",
    "Wo ist das Paket? Zürich, naïve café №5",
    "def main(args: list[str]) -> int:\n    return 0\n",
    "飞书消息 webhook 😀",
    "  spaces   and\ttabs\n\n",
    "<s>marks</s> and ▁literal ones",
    "a" * 300,
    "word " * 700,
]


# Words that are pieces, words that are not, marks, and characters that the rules treat apart.
PIECES = st.one_of(
    st.sampled_from(["the", "parcel", "newest", "unpacked", "room", "sent", "PARCEL", "Zürich"]),
    st.sampled_from(["<s>", "</s>", "[MASK]", "[UNK]", "[CLS", "<0x0A>", "##s", "followed"]),
    *(
        st.from_regex(pattern, fullmatch=True)
        for pattern in (
            "[a-z]{1,6}",
            " {1,5}",
            "▁{1,9}",
            "[A-Zäöüéß\u0130\u0131\u017f ΣςσÅǄﬁ]{1,3}",
            "[\t\n\r\x0b\x07\x85\xa0\u200b\u200d\xad\ufeff\ufffd\u2028\u3000]{1,2}",
            "[\u0301\u0307\u0327\u0323\u3099\u20dd]{1,3}",
            "[飞书消息漢字豈𠀀か가각힣ᄒ]{1,3}",
            "[!-/:-@\\[-`{-~\u2018\u2019“”…—¡¿、。·]{1,3}",
            "[0-9①½²]{1,4}",
            "[😀🚀\ufe0f\ue000]{1,2}",
            "a{95,105}",
        )
    ),
)


@cache
def tokenizer_pair(kind: str) -> tuple[Any, StaticEmbedder]:
    """Return a reference tokenizer, and an embedder with one dimension for each of its pieces."""
    model = golden.load("static.json")[kind]
    name = "embeddings" if kind == "bert" else "embedding.weight"
    table = {name: np.eye(model["rows"], dtype=np.float32)}
    with TemporaryDirectory() as folder:
        tables.save(Path(folder), table, model["tokenizer"])
        embedder = StaticEmbedder.load(folder, max_tokens=1 << 20)
    reference = import_module("tokenizers").Tokenizer.from_str(json.dumps(model["tokenizer"]))
    return reference, embedder


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=300, deadline=None)
@for_all(text=st.lists(PIECES, max_size=16).map("".join))
@pytest.mark.slow
def test_pieces_equal_those_of_the_tokenizers_package(kind: str, text: str) -> None:
    """Every text has the pieces, each as often, that the library for these tokenizers finds in it."""
    reference, embedder = tokenizer_pair(kind)
    pieces = reference.encode(text, add_special_tokens=False).ids if text.strip() else []
    counts = np.bincount(pieces, minlength=embedder.dim)
    if kind == "bert":  # model2vec leaves unknown words out
        counts[reference.token_to_id("[UNK]")] = 0
    expected = counts / (np.linalg.norm(counts) or 1)
    assert embedder.embed(text) == pytest.approx(expected, abs=1e-6)


@pytest.mark.skipif(find_spec("wordllama") is None, reason="wordllama is not installed")
@settings(max_examples=150, deadline=None)
@for_all(st.one_of(st.sampled_from(SENTENCES), texts))
def test_vectors_equal_those_of_wordllama(text: str) -> None:
    """With the weights in its package, every text has the vector that WordLlama itself gives."""
    reference, embedder = wordllama()
    if not text.strip() or "<unk>" in text:
        return
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert embedder.embed(text) == pytest.approx(reference.embed(text, norm=True)[0], abs=1e-5)


@cache
def wordllama() -> tuple[Any, StaticEmbedder]:
    """Return the package's own model, made without a search for downloads, and ours from the same files."""
    inference, tokenizers = import_module("wordllama.inference"), import_module("tokenizers")
    folder = Path(str(inference.__file__)).parent
    table = folder / "weights" / "l2_supercat_256.safetensors"
    tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    rows = import_module("safetensors.numpy").load_file(table)["embedding.weight"]
    theirs = inference.WordLlamaInference(rows, tokenizers.Tokenizer.from_file(str(tokenizer)))
    return theirs, StaticEmbedder.load(table, tokenizer=tokenizer, max_tokens=1 << 20)


@pytest.mark.skipif(find_spec("model2vec") is None, reason="model2vec is not installed")
@pytest.mark.parametrize("kind", ["plain", "weights", "mapping", "half", "bytes"])
def test_vectors_equal_those_of_model2vec(tmp_path: Path, kind: str) -> None:
    """Tables with weights, with shared rows and in fewer bits have the vectors that model2vec itself gives."""
    package: Any = import_module("model2vec")
    model = golden.load("static.json")["bert"]
    rows = model["rows"]
    table = tables.cells(rows, 8)
    tensors: dict[str, Any] = {"embeddings": table}
    if kind == "half":
        tensors = {"embeddings": table.astype(np.float16)}
    if kind == "bytes":
        tensors = {"embeddings": (table * 64).astype(np.int8)}
    if kind in {"weights", "mapping"}:
        tensors["weights"] = np.linspace(0.1, 2, rows, dtype=np.float32)
    if kind == "mapping":
        tensors |= {"embeddings": table[:20], "mapping": np.arange(rows) * 7 % 20}
    folder = tables.save(tmp_path, tensors, model["tokenizer"])
    (folder / "config.json").write_text("{}", encoding="utf-8")
    reference = package.StaticModel.from_pretrained(folder, normalize=True)
    embedder = StaticEmbedder.load(folder)
    # model2vec gives vectors in half precision where the table has it.
    error = 2e-3 if kind == "half" else 1e-5
    for text in [*SENTENCES, *(case["text"] for case in model["cases"])]:
        expected = reference.encode([text])[0]
        if len(text) < 1000:  # beyond that it cuts by characters
            assert embedder.embed(text) == pytest.approx(expected, abs=error), text
