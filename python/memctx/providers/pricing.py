"""Prices of model calls: token prices of a provider, and relative costs of cached prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctx.protocols import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

MILLION = 1_000_000

CACHE_WRITE = 1.25
"""Price of a token written to the provider's prompt cache, relative to one that is not cached."""
CACHE_READ = 0.05
"""Price of a token read from the cache; at some providers half as much, which makes a rewrite dearer."""
MAX_REWRITE_SHARE = 0.10
"""Share of a session's cost that may go into rewriting the cache to retire recalled blocks."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one call, each counted once."""

    input: int = 0
    """Input tokens at full price."""
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens, in any currency. memctx has no price list: prices change.

    >>> Price(input=1.0, output=5.0).cost(Tokens(input=2_000_000, output=100_000))
    2.5
    """

    input: float
    output: float
    cache_write: float | None = None
    """Tokens written to a cache; as ``input`` if None."""
    cache_read: float | None = None
    """Tokens read from a cache; as ``input`` if None."""

    def cost(self, tokens: Tokens) -> float:
        """Return the cost of the tokens."""
        write = self.input if self.cache_write is None else self.cache_write
        read = self.input if self.cache_read is None else self.cache_read
        total = (
            tokens.input * self.input
            + tokens.output * self.output
            + tokens.cache_write * write
            + tokens.cache_read * read
        )
        return total / MILLION


def usage_of_call(tokens: Tokens, model: str, price: Price | Mapping[str, Price] | None) -> Usage:
    """Return the usage of one call, with its cost if the price of the model is known."""
    known = price if price is None or isinstance(price, Price) else price.get(model)
    return Usage(
        calls=1,
        input_tokens=tokens.input + tokens.cache_write + tokens.cache_read,
        output_tokens=tokens.output,
        cost=None if known is None else known.cost(tokens),
    )


def turn_cost(tokens: int, new: int) -> float:
    """Return the cost of a prompt of which all but the ``new`` tokens are cached, in tokens at full price.

    >>> turn_cost(1000, 200)
    290.0
    """
    return CACHE_READ * (tokens - new) + CACHE_WRITE * new


def rewrite_cost(tokens: int) -> float:
    """Return the additional cost of cached tokens that must be written to the cache again."""
    return (CACHE_WRITE - CACHE_READ) * tokens
