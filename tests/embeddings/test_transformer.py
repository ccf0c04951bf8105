"""Sentence encoders on ONNX Runtime, against numpy, and real weights against published scores."""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import process
from embeddings import models, onnx_files
from memctx import ConfigError
from memctx.embeddings import TransformerEmbedder
from memctx.embeddings.local import loading
from memctx.errors import EmbeddingError
from memctx.providers import sdk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

TEXTS = [
    "the webhook listens on port 8443",
    "cat",
    "",
    "the cats sits outside, payment unknownword",
    "支付 port",
    "a a a a a a a a a a a a a a a a a a",
]
POOLINGS: list[
    tuple[dict[str, Any] | None, Callable[[NDArray[np.float64]], NDArray[np.float64]]]
] = [
    (None, lambda x: x.mean(axis=0)),
    ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, lambda x: x.mean(axis=0)),
    ({"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, lambda x: x[0]),
    ({"pooling_mode_max_tokens": True}, lambda x: x.max(axis=0)),
    ({"pooling_mode": "cls"}, lambda x: x[0]),
    ({"pooling_mode": "mean"}, lambda x: x.mean(axis=0)),
]


@pytest.fixture(autouse=True)
def _runtime() -> None:
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="pip install 'memctx[transformer]'")


def tokens(text: str, limit: int = 12) -> list[int]:
    """Return the token ids of a text in the small model."""
    made = pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(models.tokenizer()))
    made.no_padding()
    made.enable_truncation(limit)
    ids: list[int] = made.encode(text).ids
    return ids


@pytest.mark.parametrize(("pooling", "pool"), POOLINGS)
def test_vectors_agree_with_the_reference_implementation(
    tmp_path: Path,
    pooling: dict[str, Any] | None,
    pool: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> None:
    embedder = TransformerEmbedder(models.folder(tmp_path / "m", pooling=pooling))
    expected = [models.unit(pool(models.hidden(tokens(text)))) for text in TEXTS]
    found = embedder.embed_many(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-6)
    np.testing.assert_allclose([embedder.embed(text) for text in TEXTS], expected, atol=2e-6)


@given(st.lists(st.sampled_from(TEXTS), max_size=12), st.integers(1, 60))
def test_a_vector_does_not_depend_on_its_batch(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], batch: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "together"
    if not path.exists():
        models.folder(path)
    found = TransformerEmbedder(path, batch=batch).embed_many(texts)
    alone = TransformerEmbedder(path)
    expected = np.reshape([alone.embed(text) for text in texts], (len(texts), models.WIDTH))
    assert found.shape == (len(texts), models.WIDTH)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@given(st.lists(st.integers(1, 300), max_size=80), st.integers(1, 2_000))
def test_groups_have_every_text_once_and_stay_within_the_size(
    lengths: list[int], most: int
) -> None:
    found = loading.group_by_length(lengths, most)
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or len(batch) * longest <= most
    padded = [lengths[place] for batch in found for place in batch]
    assert padded == sorted(lengths, reverse=True)


def test_text_beyond_the_limit_is_ignored(tmp_path: Path) -> None:
    """The limit counts the two tokens that mark the ends; the tokenizer's own limit of 4 does not count."""
    embedder = TransformerEmbedder(models.folder(tmp_path / "m", limit=6))
    assert embedder.limit == 6
    short, long, other = embedder.embed_many(
        ["the cat sits outside", "the cat sits outside " + "port " * 90_000, "the cat sits port"]
    )
    np.testing.assert_allclose(short, long, atol=1e-6)
    assert np.abs(short - other).max() > 1e-3


@pytest.mark.parametrize(
    ("limit", "positions", "length", "expected"),
    [
        (12, 32, 99, 12),
        (None, 32, 20, 20),
        (None, 32, int(1e30), 32),
        (99, 32, 20, 32),
        (None, 32, 0, 32),
    ],
)
def test_the_limit_is_the_smallest_of_the_files(
    tmp_path: Path, limit: int | None, positions: int, length: int, expected: int
) -> None:
    config = {"max_position_embeddings": positions}
    path = models.folder(tmp_path / "m", limit=limit, config=config)
    models.write(path / "tokenizer_config.json", {"model_max_length": length})
    assert TransformerEmbedder(path).limit == expected


def test_prompts_go_before_queries_and_documents(tmp_path: Path) -> None:
    path = models.folder(tmp_path / "m")
    plain = TransformerEmbedder(path)
    prompts = {"query": "port ", "document": "cat "}
    models.write(path / "config_sentence_transformers.json", {"prompts": prompts})
    prompted = TransformerEmbedder(path)
    np.testing.assert_array_equal(prompted.embed("webhook"), plain.embed("port webhook"))
    np.testing.assert_array_equal(prompted.embed_many(["webhook"])[0], plain.embed("cat webhook"))
    assert prompted.revision != plain.revision


@pytest.mark.parametrize("text", ["\ud800", "cat \udfff port", "\x00", "\U0010ffff"])
def test_any_text_has_a_vector(tmp_path: Path, text: str) -> None:
    vector = TransformerEmbedder(models.folder(tmp_path / "m")).embed(text)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_no_texts_have_no_vectors(tmp_path: Path) -> None:
    found = TransformerEmbedder(models.folder(tmp_path / "m")).embed_many([])
    assert found.shape == (0, models.WIDTH)
    assert found.dtype == np.float32


def test_embed_many_rejects_a_single_text(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="takes a list of texts"):
        TransformerEmbedder(models.folder(tmp_path / "m")).embed_many("cat")


def test_the_revision_covers_everything_that_vectors_depend_on(tmp_path: Path) -> None:
    first = TransformerEmbedder(models.folder(tmp_path / "a" / "small"))
    moved = TransformerEmbedder(models.folder(tmp_path / "b" / "small"))
    assert (first.name, first.revision, first.dim) == (moved.name, moved.revision, moved.dim)
    assert (first.name, first.dim, len(first.revision)) == ("small", models.WIDTH, 16)
    others = [
        models.folder(tmp_path / "c", seed=1),
        models.folder(tmp_path / "d", limit=11),
        models.folder(tmp_path / "e", pooling={"pooling_mode_cls_token": True}),
        models.folder(tmp_path / "f"),
    ]
    models.write(others[3] / "tokenizer.json", models.tokenizer([*models.WORDS, "more"]))
    revisions = {TransformerEmbedder(path).revision for path in others} | {first.revision}
    assert len(revisions) == 5


def test_a_replaced_file_is_hashed_again(tmp_path: Path) -> None:
    before = TransformerEmbedder(models.folder(tmp_path / "m")).revision
    assert TransformerEmbedder(models.folder(tmp_path / "m", seed=1)).revision != before


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("all-MiniLM", "all-MiniLM"),
        ("my-model/model", "my-model"),
        (
            "hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots/8b3219a",
            "all-MiniLM-L6-v2",
        ),
    ],
)
def test_a_model_has_the_name_of_its_folder(tmp_path: Path, place: str, name: str) -> None:
    path = models.folder(tmp_path / place)
    assert TransformerEmbedder(path).name == name
    assert TransformerEmbedder(path, name="other").name == "other"


def test_nothing_is_loaded_until_a_text_is_embedded(tmp_path: Path) -> None:
    path = models.folder(tmp_path / "m")
    program = (
        "import sys; from memctx.embeddings import embedder_of; "
        f"embedder = embedder_of({'transformer:' + str(path)!r}); embedder.name, embedder.revision, embedder.dim; "
        "print(*sys.modules)"
    )
    loaded = run(program).split()
    assert "memctx.embeddings.local.transformer" in loaded
    assert {"numpy", "onnxruntime", "tokenizers", "pydantic"}.isdisjoint(loaded)


def run(program: str) -> str:
    command = [sys.executable, "-c", program]
    return process.run(command, timeout=20).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted there")
def test_the_runtime_sends_no_telemetry(tmp_path: Path) -> None:
    """By default it starts a thread that sends telemetry."""
    path = models.folder(tmp_path / "m")
    program = (
        "import os; from memctx.embeddings import TransformerEmbedder; import numpy; "
        "threads = lambda: len(os.listdir('/proc/self/task')); before = threads(); "
        f"TransformerEmbedder({str(path)!r}, threads=1).embed('cat'); print(threads() - before)"
    )
    assert run(program) == "0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("does", ["embedder.embed('cat')", "None", "embedder.close()"])
def test_a_forked_child_can_embed_and_exit(tmp_path: Path, does: str) -> None:
    """The child does not have the threads of the parent's session."""
    path = models.folder(tmp_path / "m")
    program = f"""
import os, sys
from memctx.embeddings import TransformerEmbedder
embedder = TransformerEmbedder({str(path)!r}, threads=2)
before = embedder.embed("cat")
child = os.fork()
if child == 0:
    found = {does}
    sys.exit(0 if found is None or (found == before).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), (embedder.embed("cat") == before).all())
"""
    assert run(program) == "0 True\n"


def test_threads_may_share_an_embedder(tmp_path: Path) -> None:
    path = models.folder(tmp_path / "m")
    expected = TransformerEmbedder(path).embed_many(TEXTS)
    shared = TransformerEmbedder(path)
    found: list[NDArray[np.float32]] = []
    threads = [
        threading.Thread(target=lambda: found.append(shared.embed_many(TEXTS))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for vectors in found:
        np.testing.assert_array_equal(vectors, expected)


def test_a_closed_embedder_loads_its_model_again(tmp_path: Path) -> None:
    embedder = TransformerEmbedder(models.folder(tmp_path / "m"))
    embedder.warm()
    before = embedder.embed("cat")
    embedder.close()
    embedder.close()
    np.testing.assert_array_equal(embedder.embed("cat"), before)


# ---------------------------------------------------------------------------------------------- ONNX files


@pytest.mark.parametrize(
    "place", ["model.onnx", "onnx/model.onnx", "onnx/model_int8.onnx", "q4.onnx"]
)
def test_an_onnx_file_is_found(tmp_path: Path, place: str) -> None:
    expected = TransformerEmbedder(models.folder(tmp_path / "plain")).embed_many(TEXTS)
    path = models.folder(tmp_path / "m", file=place)
    np.testing.assert_array_equal(TransformerEmbedder(path).embed_many(TEXTS), expected)
    by_file = TransformerEmbedder(path / place)
    assert by_file.name == "m"
    np.testing.assert_array_equal(by_file.embed_many(TEXTS), expected)


def lookup(path: Path, *, is_pooled: bool) -> NDArray[np.float32]:
    """Write a model that looks tokens up, with 64-bit inputs and a symbolic width, and return its table."""
    path.mkdir()
    models.write(path / "tokenizer.json", models.tokenizer())
    table = np.random.default_rng(3).normal(size=(len(models.WORDS), 5)).astype("<f4")
    graph = onnx_files.Graph()
    ids = graph.input("input_ids", onnx_files.INT64, "batch", "sequence")
    graph.input("attention_mask", onnx_files.INT64, "batch", "sequence")
    weight = graph.weight("table", table)
    (found,) = graph.node("Gather", weight, ids)
    if is_pooled:
        (found,) = graph.node("ReduceMax", found, axes=(1,), keepdims=0)
        graph.output(found, "sentence_embedding", "batch", "width")
    else:
        graph.output(found, "hidden", "batch", "sequence", "width")
    (path / "model.onnx").write_bytes(graph.model())
    return table


@pytest.mark.parametrize("is_pooled", [False, True])
def test_a_model_may_pool_by_itself_and_take_64_bit_inputs(
    tmp_path: Path, *, is_pooled: bool
) -> None:
    """It has no config, so the mean is used unless the model pools by itself."""
    table = lookup(tmp_path / "m", is_pooled=is_pooled).astype(np.float64)
    embedder = TransformerEmbedder(tmp_path / "m")
    assert (embedder.dim, embedder.limit) == (5, 512)
    rows = [table[tokens(text, 512)] for text in TEXTS[:2]]
    pooled = [row.max(axis=0) if is_pooled else row.mean(axis=0) for row in rows]
    for text, expected in zip(TEXTS, pooled, strict=False):
        np.testing.assert_allclose(embedder.embed(text), models.unit(expected), atol=1e-6)


# ------------------------------------------------------------------------------------------- what is refused


def test_threads_and_batch_must_be_positive(tmp_path: Path) -> None:
    path = models.folder(tmp_path / "m")
    with pytest.raises(ConfigError, match="threads must be at least 1, not 0"):
        TransformerEmbedder(path, threads=0)
    with pytest.raises(ConfigError, match="batch must be at least 1, not -1"):
        TransformerEmbedder(path, batch=-1)


def test_a_missing_package_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = models.folder(tmp_path / "m")
    monkeypatch.setattr(sdk, "find_spec", lambda _: None)
    needed = r"needs the package 'onnxruntime', .*: pip install 'memctx\[transformer\]'"
    with pytest.raises(ConfigError, match=needed):
        TransformerEmbedder(path)


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        TransformerEmbedder(path)
    return str(raised.value)


def test_an_incomplete_folder_is_rejected(tmp_path: Path) -> None:
    path = models.folder(tmp_path / "m")
    assert refused(tmp_path / "none") == f"{tmp_path / 'none'}: there is no such folder"
    (path / "tokenizer.json").unlink()
    assert refused(path) == f"{path}: expected a tokenizer.json beside model.onnx"
    (path / "model.onnx").unlink()
    (path / "model.safetensors").touch()
    assert refused(path) == (
        f"{path}: there is no model.onnx or onnx/model.onnx; take a model whose repository has one, or export it: "
        f"optimum-cli export onnx --model <model> {path}"
    )
    for name in ("a.onnx", "b.onnx"):
        (path / name).touch()
    assert refused(path) == f"{path}: has a.onnx, b.onnx; pass the path of one of them"


def test_unsupported_settings_are_rejected(tmp_path: Path) -> None:
    path = models.folder(tmp_path / "m", pooling={"pooling_mode_lasttoken": True})
    assert "expected one of pooling_mode_mean_tokens, " in refused(path)
    assert "not pooling_mode_lasttoken" in refused(path)
    models.write(path / "1_Pooling/config.json", {"pooling_mode": "mean"})
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    models.write(path / "modules.json", [dense])
    assert "has a module 'Dense'; only Transformer, Pooling, " in refused(path)
    (path / "config.json").write_text("{")
    assert "config.json: cannot be read: " in refused(path)
    models.write(path / "config.json", [1])
    assert "config.json: expected an object, not a list" in refused(path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"\xff" * 64, b"\x02\0\0\0\0\0\0\0{}"])
def test_a_broken_file_is_reported_by_name(tmp_path: Path, name: str, content: bytes) -> None:
    path = models.folder(tmp_path / "m")
    (path / name).write_bytes(content)
    with pytest.raises((ConfigError, EmbeddingError), match=name) as raised:
        TransformerEmbedder(path).embed("cat")
    assert not getattr(raised.value, "is_retryable", False)


def test_vectors_that_are_not_finite_are_rejected(tmp_path: Path) -> None:
    path = models.folder(tmp_path / "m")
    broken = models.weights() | {"embeddings.LayerNorm.bias": np.full(models.WIDTH, np.nan)}
    (path / "model.onnx").write_bytes(onnx_files.bert(broken, models.CONFIG))
    with pytest.raises(EmbeddingError, match="returns numbers that are not finite"):
        TransformerEmbedder(path).embed("cat")


# ---------------------------------------------------------------------------------------------- real weights


def test_similarities_are_the_published_ones(tmp_path: Path) -> None:
    """All-MiniLM-L6-v2, with the pairs and scores of the manual of sentence-transformers."""
    pairs = [
        ("The cat sits outside", "The dog plays in the garden", 0.2838),
        ("A man is playing guitar", "A woman watches TV", -0.0327),
        ("The new movie is awesome", "The new movie is so great", 0.8939),
        ("The cat sits outside", "The cat plays in the garden", 0.6788),
        ("I love pasta", "Do you like pizza?", 0.5096),
    ]
    embedder = TransformerEmbedder(models.minilm(tmp_path / "all-MiniLM-L6-v2"))
    assert (embedder.name, embedder.dim, embedder.limit) == ("all-MiniLM-L6-v2", 384, 256)
    left = embedder.embed_many([pair[0] for pair in pairs])
    right = embedder.embed_many([pair[1] for pair in pairs])
    found = (left * right).sum(axis=1)
    np.testing.assert_allclose(found, [pair[2] for pair in pairs], atol=1e-4)
