"""BERT encoders as a graph for ONNX Runtime, over the weights that a ``model.safetensors`` has.

Attention, the sums before a normalisation and the activation are operators of the runtime's own, so that nothing is
left for it to find out. Matrices are turned once, when the model is loaded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from memctx.embeddings.graph import BFLOAT16, FLOAT, FLOAT16, FUSED, INT32, Graph, Place
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {"F32": FLOAT, "F16": FLOAT16, "BF16": BFLOAT16}
# What comes before the names where the encoder is a part of something larger.
PREFIXES = ("", "bert.")
WORDS = "embeddings.word_embeddings.weight"


class Tensor(NamedTuple):
    """A tensor of the file."""

    kind: int
    shape: tuple[int, ...]
    place: Place


def encoder(weights: Path, config: dict[str, Any]) -> bytes:
    """The model for the weights in a file; ``config`` is the ``config.json`` beside it."""
    for setting, expected in {
        "model_type": "bert",
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
    }.items():
        if config.get(setting, expected) != expected:
            raise ConfigError(
                f"{weights}: only encoders whose {setting} is {expected!r} are run from safetensors, not "
                f"{config[setting]!r}; an ONNX file of the model is run whatever it is"
            )
    return _Bert(tensors(weights), config, weights).model()


def tensors(weights: Path) -> dict[str, Tensor]:
    """What a safetensors file holds, by name. That it is whole is made sure of, since it will be mapped."""
    with weights.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        length = file.seek(0, 2)
        file.seek(8)
        try:
            entries: dict[str, dict[str, Any]] = json.loads(file.read(min(start, length) - 8))
            entries.pop("__metadata__", None)
            shapes = {name: tuple(map(int, entry["shape"])) for name, entry in entries.items()}
            spans = {name: _span(*entry["data_offsets"]) for name, entry in entries.items()}
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ConfigError(f"{weights}: expected a safetensors file") from None
    whole = start + max((end for _, end in spans.values()), default=0)
    if length < whole:
        raise ConfigError(f"{weights}: ends early, {length} bytes where {whole} were expected")
    return {
        name: Tensor(KINDS[kind], shapes[name], Place(weights.name, start + begin, end - begin))
        for name, (begin, end) in spans.items()
        if (kind := entries[name].get("dtype")) in KINDS
    }


def _span(begin: int, end: int) -> tuple[int, int]:
    return int(begin), int(end)


def count_in(config: dict[str, Any], setting: str, weights: Path) -> int:
    """A number of things that the ``config.json`` has."""
    value = config.get(setting)
    if not isinstance(value, int) or value < 1:
        raise ConfigError(f"{weights}: expected a config.json with {setting}, and found {value!r}")
    return value


class _Bert:
    def __init__(self, found: dict[str, Tensor], config: dict[str, Any], weights: Path) -> None:
        prefix = next((prefix for prefix in PREFIXES if prefix + WORDS in found), None)
        if prefix is None:
            raise ConfigError(f"{weights}: expected a BERT encoder, and found no {WORDS}")
        self.prefix = prefix
        self.found = found
        self.weights = weights
        self.layers = count_in(config, "num_hidden_layers", weights)
        self.heads = count_in(config, "num_attention_heads", weights)
        self.epsilon = float(config.get("layer_norm_eps", 1e-12))
        self.graph = Graph()

    def model(self) -> bytes:
        ids = self.graph.input("input_ids", INT32, "batch", "sequence")
        mask = self.graph.input("attention_mask", INT32, "batch", "sequence")
        types = self.graph.input("token_type_ids", INT32, "batch", "sequence")
        hidden, lengths = self.graph.node(
            "EmbedLayerNormalization",
            *(ids, types),
            self.weight(WORDS),
            self.weight("embeddings.position_embeddings.weight"),
            self.weight("embeddings.token_type_embeddings.weight"),
            self.weight("embeddings.LayerNorm.weight"),
            self.weight("embeddings.LayerNorm.bias"),
            mask,
            domain=FUSED,
            outputs=2,
            reals={"epsilon": self.epsilon},
        )
        for index in range(self.layers):
            hidden = self.layer(f"encoder.layer.{index}", hidden, lengths)
        width = str(self.tensor(WORDS).shape[1])
        self.graph.output(hidden, "last_hidden_state", "batch", "sequence", width)
        return self.graph.model()

    def layer(self, name: str, hidden: str, lengths: str) -> str:
        attention = f"{name}.attention"
        parts = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
        (attended,) = self.graph.node(
            "Attention",
            hidden,
            self.turned(*(f"{part}.weight" for part in parts)),
            self.joined(*(f"{part}.bias" for part in parts)),
            lengths,
            domain=FUSED,
            wholes={"num_heads": self.heads},
        )
        between = self.added(f"{attention}.output", attended, hidden)
        (wide,) = self.graph.node(
            "MatMul", between, self.turned(f"{name}.intermediate.dense.weight")
        )
        bias = self.weight(f"{name}.intermediate.dense.bias")
        (active,) = self.graph.node("BiasGelu", wide, bias, domain=FUSED)
        return self.added(f"{name}.output", active, between)

    def added(self, name: str, hidden: str, before: str) -> str:
        """A dense layer, the sum with what was there before, and their normalisation."""
        (dense,) = self.graph.node("MatMul", hidden, self.turned(f"{name}.dense.weight"))
        return self.graph.node(
            "SkipLayerNormalization",
            *(dense, before),
            self.weight(f"{name}.LayerNorm.weight"),
            self.weight(f"{name}.LayerNorm.bias"),
            self.weight(f"{name}.dense.bias"),
            domain=FUSED,
            reals={"epsilon": self.epsilon},
        )[0]

    def turned(self, *names: str) -> str:
        """Matrices below each other, turned to have a column for each output."""
        return self.graph.node("Transpose", self.joined(*names), wholes={"perm": (1, 0)})[0]

    def joined(self, *names: str) -> str:
        weights = [self.weight(name) for name in names]
        if len(weights) == 1:
            return weights[0]
        return self.graph.node("Concat", *weights, wholes={"axis": 0})[0]

    def weight(self, name: str) -> str:
        """A tensor of the file, as floats."""
        kind, shape, place = self.tensor(name)
        placed = self.graph.weight(name, kind, shape, place)
        if kind == FLOAT:
            return placed
        return self.graph.node("Cast", placed, wholes={"to": FLOAT})[0]

    def tensor(self, name: str) -> Tensor:
        found = self.found.get(self.prefix + name)
        if found is None:
            raise ConfigError(f"{self.weights}: expected a BERT encoder, and found no {name}")
        return found
