"""A query, ready for every engine; its own module, so that no process must import memctx to hold one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Question:
    """Text of a query, its kind, its distinct tokens and its vector."""

    text: str
    kind: str
    tokens: list[str]
    vector: NDArray[np.float32]

    def to_json(self) -> dict[str, Any]:
        """Return the query as JSON for another process."""
        return {
            "text": self.text,
            "kind": self.kind,
            "tokens": self.tokens,
            "vector": self.vector.tolist(),
        }
