"""Teachers: three BERTs read from quantized ONNX files, and the multilingual Universal Sentence Encoder.

Weights are 8-bit in the files and 16- or 32-bit here, so that a graphics processor can run them in large batches.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import numpy as np
import onnx
import sentencepiece
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HALF = torch.float16 if DEVICE.type == "cuda" else torch.float32
MOST_TOKENS = 112


def in_batches(
    texts: Sequence[Sequence[int]],
    width: int,
    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    most: int,
) -> torch.Tensor:
    """Run token numbers through a teacher, texts of like length together, at most so many tokens at once."""
    out = torch.empty(len(texts), width, dtype=HALF, device=DEVICE)
    lengths = np.array([len(text) for text in texts])
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        end = min(len(order), start + 4096)
        end = start + max(1, min(end - start, most // int(lengths[order[end - 1]])))
        part = order[start:end]
        longest = -(-int(lengths[part[-1]]) // 8) * 8
        tokens = np.zeros((len(part), longest), np.int64)
        for row, at in zip(tokens, part, strict=True):
            row[: lengths[at]] = texts[at]
        found = run(torch.from_numpy(tokens).to(DEVICE), torch.from_numpy(lengths[part]).to(DEVICE))
        out[torch.from_numpy(part).to(DEVICE)] = found.to(HALF)
        start = end
    return out


class Bert:
    """A BERT whose vector is that of the first token, or the mean of all."""

    def __init__(self, model: Path, tokenizer: Path, heads: int, *, takes_first: bool) -> None:
        self._weights = {
            name: torch.from_numpy(values).to(DEVICE, HALF)
            for name, values in _weights(onnx.load(str(model))).items()
        }
        self.width = self._weights["embeddings.word_embeddings"].shape[1]
        self._layers = 1 + max(
            int(name.split(".")[2]) for name in self._weights if name.startswith("encoder.")
        )
        self._heads = heads
        self._takes_first = takes_first
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        """Return unit vectors."""
        tokens = [found.ids for found in self._tokenizer.encode_batch(list(texts))]
        return in_batches(tokens, self.width, self._run, 200_000)

    @torch.no_grad()
    def _run(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        weights = self._weights
        count, longest = tokens.shape
        counts = torch.arange(longest, device=DEVICE)[None] < lengths[:, None]
        hidden = (
            weights["embeddings.word_embeddings"][tokens]
            + weights["embeddings.position_embeddings"][:longest][None]
            + weights["embeddings.token_type_embeddings"][0]
        )
        hidden = self._norm(hidden, "embeddings")
        mask = torch.zeros(count, 1, 1, longest, device=DEVICE, dtype=HALF)
        mask = mask.masked_fill(~counts[:, None, None], -1e4)
        for at in range(self._layers):
            name = f"encoder.layer.{at}"
            query, key, value = (
                self._dense(hidden, f"{name}.attention.self.{part}")
                .view(count, longest, self._heads, -1)
                .transpose(1, 2)
                for part in ("query", "key", "value")
            )
            seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            seen = seen.transpose(1, 2).reshape(count, longest, self.width)
            seen = self._dense(seen, f"{name}.attention.output.dense")
            hidden = self._norm(hidden + seen, f"{name}.attention.output")
            wide = F.gelu(self._dense(hidden, f"{name}.intermediate.dense"))
            hidden = self._norm(
                hidden + self._dense(wide, f"{name}.output.dense"), f"{name}.output"
            )
        if self._takes_first:
            return F.normalize(hidden[:, 0].float(), dim=1)
        return F.normalize((hidden.float() * counts[..., None]).sum(1), dim=1)

    def _dense(self, values: torch.Tensor, name: str) -> torch.Tensor:
        return values @ self._weights[name] + self._weights[f"{name}.bias"]

    def _norm(self, values: torch.Tensor, name: str) -> torch.Tensor:
        scale, shift = (self._weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return F.layer_norm(values.float(), (self.width,), scale.float(), shift.float(), 1e-12).to(
            HALF
        )


def _weights(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Return the weights of a dynamically quantized BERT by the names of their layers."""
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}

    def array(name: str) -> np.ndarray:
        return numpy_helper.to_array(tensors[name])

    def full(name: str) -> np.ndarray:
        bare = name.removesuffix("_quantized")
        zero = array(f"{bare}_zero_point").astype(np.float32)
        return (array(name).astype(np.float32) - zero) * array(f"{bare}_scale")

    weights = {
        name: array(name).astype(np.float32)
        for name in tensors
        if re.fullmatch(r"(embeddings|encoder)\..*(\.bias|LayerNorm\.weight)", name)
    }
    for node in model.graph.node:
        layer = re.sub(r"/(MatMul|Gather).*$", "", node.name).strip("/").replace("/", ".")
        if node.op_type == "MatMulInteger" and node.input[1] in tensors:
            weights[layer] = full(node.input[1])
        elif node.op_type == "Gather" and node.input[0].endswith("_quantized"):
            weights[layer] = full(node.input[0])
    return weights


class Use:
    """The multilingual Universal Sentence Encoder: n-grams of pieces through convolutions, then a sum."""

    width = 512
    PARTS = 17
    """The table is kept in parts; row n of it is in part n modulo this."""
    WINDOWS = ((2, 0), (3, 1), (5, 2))
    """Pieces of each n-gram, and how many of them stand before its piece."""

    def __init__(self, weights: Path, pieces: Path) -> None:
        with np.load(weights) as file:
            stored = {name: file[name] for name in file.files}
        first = stored["q1"]
        table = np.empty((self.PARTS * len(first), first.shape[1]), np.float32)
        for at in range(self.PARTS):
            part = stored.pop(f"q{at + 1}").astype(np.float32)
            table[at :: self.PARTS] = part * stored["scale"][at] + stored["lo"][at]
        self._table = torch.from_numpy(table).to(DEVICE)
        self._eps = float(stored.pop("eps"))
        self._weights = {
            name: torch.from_numpy(values.astype(np.float32)).to(DEVICE)
            for name, values in stored.items()
        }
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(pieces))

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        """Return unit vectors."""
        first, last = self._pieces.bos_id(), self._pieces.eos_id()
        threads = os.cpu_count() or 1
        found = self._pieces.encode(list(texts), num_threads=threads)
        tokens = [[first, *(ids or [self._pieces.unk_id()])[:MOST_TOKENS], last] for ids in found]
        return in_batches(tokens, self.width, self._run, 60_000)

    @torch.no_grad()
    def _run(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        weights = self._weights
        longest = tokens.shape[1]
        counts = (torch.arange(longest, device=DEVICE)[None] < lengths[:, None]).float()[..., None]
        pieces = self._table[tokens]
        sizes = [size for size, _ in self.WINDOWS]
        joined = torch.cat(
            [pieces @ weights[f"proj{size}"] + weights[f"proj_b{size}"] for size in sizes], -1
        )
        # One norm over the three projections together.
        scale, shift = (
            torch.cat([weights[f"{name}{size}"] for size in sizes]) for name in ("ln_g", "ln_b")
        )
        joined = F.layer_norm(joined, (joined.shape[-1],), scale, shift, self._eps) * counts
        features = [pieces]
        width = joined.shape[-1] // len(self.WINDOWS)
        for at, (size, before) in enumerate(self.WINDOWS):
            values = joined[..., at * width : (at + 1) * width]
            hidden = torch.relu(
                _windows(values, size, before) @ weights[f"w1_{size}"] + weights[f"b1_{size}"]
            )
            hidden = (hidden + values) * counts
            wide = torch.relu(
                _windows(hidden, size, before) @ weights[f"w2_{size}"] + weights[f"b2_{size}"]
            )
            features.append(wide + hidden)
        everything = torch.cat(features, -1)
        everything = F.layer_norm(
            everything, (everything.shape[-1],), weights["ln_g"], weights["ln_b"], self._eps
        )
        number = lengths.float()[:, None]
        total = (everything * counts).sum(1) @ weights["cnn_W"] + number * weights["cnn_b"]
        total = total / number.sqrt()
        first = torch.relu(
            total @ weights["p1"] + torch.relu(total @ weights["d0"]) @ weights["d1"]
        )
        second = torch.relu(first @ weights["d2"])
        return F.normalize(torch.tanh(first @ weights["p3"] + second @ weights["d3"]), dim=1)


def _windows(values: torch.Tensor, size: int, before: int) -> torch.Tensor:
    """Return each piece's n-gram as one row."""
    longest = values.shape[1]
    padded = F.pad(values, (0, 0, before, size - 1 - before))
    return torch.cat([padded[:, at : at + longest] for at in range(size)], -1)
