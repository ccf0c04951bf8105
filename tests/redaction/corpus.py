"""Corpus of secrets to find and of look-alikes to leave alone, each kind with a generator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .draw import Draw


@dataclass(frozen=True)
class Secret:
    """A text, the parts that must be masked, and those that may be masked with them."""

    text: str
    parts: tuple[str, ...]
    heads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of secret with its generator."""

    group: str
    name: str
    draw: Callable[[Draw, bool], Secret]


@dataclass(frozen=True)
class LookAlike:
    """A kind of harmless text with its generator."""

    name: str
    draw: Callable[[Draw], str]


@dataclass
class Corpus:
    """Kinds of secrets and look-alikes; `usual` and `held_out` are contexts of tokens, `{}` in each."""

    name: str
    usual: Sequence[str]
    held_out: Sequence[str] = ()
    secrets: list[Kind] = field(default_factory=list[Kind])
    look_alikes: list[LookAlike] = field(default_factory=list[LookAlike])

    def prefix(self, name: str, make: Callable[[Draw], tuple[str, str]]) -> None:
        """Add a token with a telling prefix and a random part, in any context."""

        def draw(d: Draw, held_out: bool) -> Secret:
            head, rest = make(d)
            place = d.rng.choice(self.held_out if held_out else self.usual)
            return Secret(place.replace("{}", head + rest), (rest,), (head + rest,))

        self.secrets.append(Kind("prefix", name, draw))

    def placed(
        self, group: str, name: str, make: Callable[[Draw], str], *places: str, other: str = ""
    ) -> None:
        """Add a value that its context identifies; `other` is only for the run with held-out contexts."""

        def draw(d: Draw, held_out: bool) -> Secret:
            value = make(d)
            place = other if held_out else d.rng.choice(places)
            return Secret(place.replace("{}", value).replace("{word}", d.word()), (value,))

        self.secrets.append(Kind(group, name, draw))

    def plain(self, name: str, *texts: str) -> None:
        """Add fixed harmless texts."""
        self.look_alikes.append(LookAlike(name, lambda d: d.rng.choice(texts)))

    def drawn(self, name: str, make: Callable[[Draw], str], *places: str) -> None:
        """Add a random value that is not a secret, at `{}` in each context."""
        self.look_alikes.append(
            LookAlike(name, lambda d: d.rng.choice(places).replace("{}", make(d)))
        )
