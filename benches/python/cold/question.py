"""A query, ready for every engine; apart from what makes it, so that no process must know memctx to hold one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Question:
    """What is asked, whether it is short or long, its distinct tokens and its vector."""

    text: str
    kind: str
    tokens: list[str]
    vector: NDArray[np.float32]

    def to_json(self) -> dict[str, Any]:
        """For another process."""
        return {
            "text": self.text,
            "kind": self.kind,
            "tokens": self.tokens,
            "vector": self.vector.tolist(),
        }
