"""ONNX graphs, written as bytes: the few parts of the format that an encoder takes, without a package for it.

Weights are not copied into the graph. It points at where they lie in a file, from which the runtime maps them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FLOAT, INT32, FLOAT16, BFLOAT16 = 1, 6, 10, 16
IR_VERSION = 8
OPSET = 17
# The operators that the runtime adds to those of the standard.
FUSED = "com.microsoft"
# How a value is written: as a number, as four bytes, or with its length before it.
VARINT, BYTES, FOUR = 0, 2, 5
# The kinds of an attribute, and the field that each has.
REAL, WHOLE, LIST = (1, 2), (2, 3), (7, 8)


@dataclass
class Graph:
    """A graph that grows node by node. Every value is known by its name."""

    parts: list[bytes] = field(default_factory=lambda: [text(2, "encoder")])
    count: int = 0

    def input(self, name: str, kind: int, *axes: str) -> str:
        """A value that the caller gives."""
        self.parts.append(block(11, value_info(name, kind, axes)))
        return name

    def output(self, value: str, name: str, *axes: str) -> None:
        """Give a value of floats to the caller, under a name."""
        self.parts.append(block(1, text(1, value), text(2, name), text(4, "Identity")))
        self.parts.append(block(12, value_info(name, FLOAT, axes)))

    def weight(self, name: str, kind: int, shape: Iterable[int], place: Place) -> str:
        """A tensor that lies in a file."""
        where = {"location": place.file, "offset": place.offset, "length": place.length}
        self.parts.append(
            block(
                5,
                *(number(1, size) for size in shape),
                number(2, kind),
                text(8, name),
                *(block(13, text(1, key), text(2, str(value))) for key, value in where.items()),
                number(14, 1),
            )
        )
        return name

    def node(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        outputs: int = 1,
        reals: dict[str, float] | None = None,
        wholes: dict[str, int | tuple[int, ...]] | None = None,
    ) -> list[str]:
        """Apply an operator; the names of what comes out."""
        self.count += 1
        names = [f"{operator}_{self.count}_{index}" for index in range(outputs)]
        self.parts.append(
            block(
                1,
                *(text(1, name) for name in inputs),
                *(text(2, name) for name in names),
                text(4, operator),
                *(real(name, value) for name, value in (reals or {}).items()),
                *(whole(name, value) for name, value in (wholes or {}).items()),
                text(7, domain),
            )
        )
        return names

    def model(self) -> bytes:
        """The whole model."""
        return b"".join(
            (
                number(1, IR_VERSION),
                text(2, "memctx"),
                block(7, *self.parts),
                block(8, text(1, ""), number(2, OPSET)),
                block(8, text(1, FUSED), number(2, 1)),
            )
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where the bytes of a tensor lie."""

    file: str
    offset: int
    length: int


def value_info(name: str, kind: int, axes: Iterable[str]) -> bytes:
    """A value's name, type and shape; an axis that is no number is open."""
    dims = [block(1, number(1, int(axis)) if axis.isdigit() else text(2, axis)) for axis in axes]
    tensor = block(1, number(1, kind), block(2, *dims))
    return text(1, name) + block(2, tensor)


def real(name: str, value: float) -> bytes:
    """An attribute that is a float."""
    kind, place = REAL
    bits = varint(place << 3 | FOUR) + struct.pack("<f", value)
    return block(5, text(1, name), bits, number(20, kind))


def whole(name: str, value: int | tuple[int, ...]) -> bytes:
    """An attribute that is an integer or a list of some."""
    kind, place = LIST if isinstance(value, tuple) else WHOLE
    values = value if isinstance(value, tuple) else (value,)
    return block(5, text(1, name), *(number(place, each) for each in values), number(20, kind))


def number(place: int, value: int) -> bytes:
    """A field with an integer."""
    return varint(place << 3 | VARINT) + varint(value)


def text(place: int, value: str) -> bytes:
    """A field with text."""
    return block(place, value.encode())


def block(place: int, *parts: bytes) -> bytes:
    """A field with bytes, or with fields of its own."""
    body = b"".join(parts)
    return varint(place << 3 | BYTES) + varint(len(body)) + body


def varint(value: int) -> bytes:
    """An integer, seven bits to a byte, the lowest first."""
    value &= (1 << 64) - 1
    written = bytearray()
    while value >> 7:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
