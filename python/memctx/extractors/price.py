"""What a model's tokens cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx.extractors.protocol import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one call, each counted once."""

    input: int = 0
    """Those at full price."""
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in the currency of your choice. memctx knows no prices: they change.

    >>> Price(input=1.0, output=5.0).of(Tokens(input=2_000_000, output=100_000))
    2.5
    """

    input: float
    output: float
    cache_write: float | None = None
    """Tokens written to a cache; as ``input`` if None."""
    cache_read: float | None = None
    """Tokens read from a cache; as ``input`` if None."""

    def of(self, tokens: Tokens) -> float:
        """What the tokens cost."""
        write = self.input if self.cache_write is None else self.cache_write
        read = self.input if self.cache_read is None else self.cache_read
        total = (
            tokens.input * self.input
            + tokens.output * self.output
            + tokens.cache_write * write
            + tokens.cache_read * read
        )
        return total / MILLION


def usage_of(tokens: Tokens, model: str, price: Price | Mapping[str, Price] | None) -> Usage:
    """One call, with its cost if the price of the model is known."""
    known = price if price is None or isinstance(price, Price) else price.get(model)
    return Usage(
        calls=1,
        input_tokens=tokens.input + tokens.cache_write + tokens.cache_read,
        output_tokens=tokens.output,
        cost=None if known is None else known.of(tokens),
    )
