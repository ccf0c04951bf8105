"""A writer of small ONNX files, for tests: BERT encoders and graphs of a few nodes, without the `onnx` package."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

FLOAT, INT32, INT64 = 1, 6, 7
IR_VERSION = 8
OPSET = 17
# The operators that ONNX Runtime adds to the standard.
FUSED = "com.microsoft"
# Wire types of protocol buffers.
VARINT, BYTES, FOUR = 0, 2, 5
# Attribute types, each with the number of its field.
FLOAT_ATTRIBUTE, INT_ATTRIBUTE, INTS_ATTRIBUTE = (1, 2), (2, 3), (7, 8)


@dataclass
class Graph:
    """A graph that grows node by node. Values are known by name."""

    parts: list[bytes] = field(default_factory=lambda: [text(2, "encoder")])
    count: int = 0

    def input(self, name: str, kind: int, *axes: str) -> str:
        """Add an input."""
        self.parts.append(block(11, value_info(name, kind, axes)))
        return name

    def output(self, value: str, name: str, *axes: str) -> None:
        """Return a value of floats under a name."""
        self.parts.append(block(1, text(1, value), text(2, name), text(4, "Identity")))
        self.parts.append(block(12, value_info(name, FLOAT, axes)))

    def weight(self, name: str, tensor: NDArray[Any]) -> str:
        """Add a constant of floats."""
        data = np.ascontiguousarray(tensor, "<f4")
        dims = (number(1, size) for size in data.shape)
        self.parts.append(
            block(5, *dims, number(2, FLOAT), text(8, name), block(9, data.tobytes()))
        )
        return name

    def node(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        outputs: int = 1,
        **attributes: float | tuple[int, ...],
    ) -> list[str]:
        """Apply an operator and return the names of its outputs."""
        self.count += 1
        names = [f"{operator}_{self.count}_{index}" for index in range(outputs)]
        self.parts.append(
            block(
                1,
                *(text(1, name) for name in inputs),
                *(text(2, name) for name in names),
                text(4, operator),
                *(attribute(name, value) for name, value in attributes.items()),
                text(7, domain),
            )
        )
        return names

    def model(self) -> bytes:
        """Return the file."""
        return b"".join(
            (
                number(1, IR_VERSION),
                text(2, "tests"),
                block(7, *self.parts),
                block(8, text(1, ""), number(2, OPSET)),
                block(8, text(1, FUSED), number(2, 1)),
            )
        )


def bert(weights: Mapping[str, NDArray[Any]], config: Mapping[str, Any]) -> bytes:
    """Return a BERT encoder as an ONNX file; ``config`` is its ``config.json``."""
    graph = Graph()
    epsilon = float(config["layer_norm_eps"])

    def weight(name: str) -> str:
        return graph.weight(name, weights[name])

    def matrix(*names: str) -> str:
        return graph.weight("+".join(names), np.concatenate([weights[name] for name in names]).T)

    def dense(name: str, hidden: str, before: str) -> str:
        """Add a dense layer, with the value before it added and the sum normalized."""
        (wide,) = graph.node("MatMul", hidden, matrix(f"{name}.dense.weight"))
        norm = [weight(f"{name}.LayerNorm.weight"), weight(f"{name}.LayerNorm.bias")]
        bias = weight(f"{name}.dense.bias")
        return graph.node(
            "SkipLayerNormalization", wide, before, *norm, bias, domain=FUSED, epsilon=epsilon
        )[0]

    names = ("input_ids", "attention_mask", "token_type_ids")
    ids, mask, types = (graph.input(name, INT32, "batch", "sequence") for name in names)
    tables = [f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]
    norm = ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    hidden, lengths = graph.node(
        "EmbedLayerNormalization",
        *(ids, types, *map(weight, tables), *map(weight, norm), mask),
        domain=FUSED,
        outputs=2,
        epsilon=epsilon,
    )
    for index in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{index}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        biases = np.concatenate([weights[f"{part}.bias"] for part in parts])
        (attended,) = graph.node(
            "Attention",
            hidden,
            matrix(*(f"{part}.weight" for part in parts)),
            graph.weight(f"{layer}.attention.biases", biases),
            lengths,
            domain=FUSED,
            num_heads=config["num_attention_heads"],
        )
        between = dense(f"{layer}.attention.output", attended, hidden)
        (wide,) = graph.node("MatMul", between, matrix(f"{layer}.intermediate.dense.weight"))
        bias = weight(f"{layer}.intermediate.dense.bias")
        (active,) = graph.node("BiasGelu", wide, bias, domain=FUSED)
        hidden = dense(f"{layer}.output", active, between)
    graph.output(hidden, "last_hidden_state", "batch", "sequence", str(config["hidden_size"]))
    return graph.model()


def value_info(name: str, kind: int, axes: Iterable[str]) -> bytes:
    """Return a value's name, type and shape; an axis that is no number is symbolic."""
    dims = [block(1, number(1, int(axis)) if axis.isdigit() else text(2, axis)) for axis in axes]
    tensor = block(1, number(1, kind), block(2, *dims))
    return text(1, name) + block(2, tensor)


def attribute(name: str, value: float | tuple[int, ...]) -> bytes:
    """Return an attribute of a node: a float, an integer or a list of integers."""
    if isinstance(value, tuple):
        kind, tag = INTS_ATTRIBUTE
        values = b"".join(number(tag, each) for each in value)
    elif isinstance(value, int):
        kind, tag = INT_ATTRIBUTE
        values = number(tag, value)
    else:
        kind, tag = FLOAT_ATTRIBUTE
        values = varint(tag << 3 | FOUR) + struct.pack("<f", value)
    return block(5, text(1, name), values, number(20, kind))


def number(tag: int, value: int) -> bytes:
    """Return a field with an integer."""
    return varint(tag << 3 | VARINT) + varint(value)


def text(tag: int, value: str) -> bytes:
    """Return a field with text."""
    return block(tag, value.encode())


def block(tag: int, *parts: bytes) -> bytes:
    """Return a field with bytes, or with fields of its own."""
    body = b"".join(parts)
    return varint(tag << 3 | BYTES) + varint(len(body)) + body


def varint(value: int) -> bytes:
    """Return an integer in seven bits to a byte, the lowest first."""
    value &= (1 << 64) - 1
    written = bytearray()
    while value >> 7:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
