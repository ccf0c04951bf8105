"""`State`: what a session remembers from turn to turn, so that what was sent once is sent again byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Place: TypeAlias = tuple[int, int]
"""The key of a message, and how many messages of the same key stand before it."""

Decision: TypeAlias = tuple[str, float]
"""What took a unit out, and its score then."""

VERSION = 1


@dataclass(frozen=True, slots=True)
class Block:
    """A block of recalled text that was sent."""

    text: str
    tokens: int
    items: tuple[str, ...]
    """The ids of what it recalls, with the passage where that is all it shows."""
    anchor: Place | None
    """The message it stands before; None at the head."""

    def to_json(self) -> list[Any]:
        """The block as a JSON array."""
        return [self.text, self.tokens, self.items, self.anchor]


@dataclass(frozen=True, slots=True)
class State:
    """What was decided in earlier turns. Each turn makes a new one and keeps it only if all of it went well."""

    trimmed: Mapping[int, Decision] = field(default_factory=dict[int, Decision])
    """By the keys of units that are out."""
    pruned: dict[int, str] = field(default_factory=dict[int, str])
    """By the keys of tool results: how they were shortened."""
    blocks: tuple[Block, ...] = ()
    """In the order they were sent."""
    bound: dict[Place, int] = field(default_factory=dict[Place, int])
    """For messages with signed thinking: the chain of what had been sent when the model wrote them."""
    recalled_for: Place | None = None
    """The user's message that was last searched for."""
    newest: Place | None = None
    """The last message of the last turn, as it came."""
    sent: Sequence[int] = ()
    """The chain of what was sent last: one link for each message."""
    estimate: int = 0
    """What we thought that would cost."""
    excess: int = 0
    """What it cost more, by the provider's count: system prompt, tools, and our error."""
    spent: float = 0.0
    """What all turns cost so far, in tokens at full price, had nothing been retired."""
    rewritten: float = 0.0
    """What retired blocks cost on top of that."""
    touched: float | None = None
    """When, in seconds since the epoch."""
    model: str | None = None
    """The model it was for."""

    def __bool__(self) -> bool:
        return bool(self.sent)

    def decides_as(self, other: State) -> bool:
        """Whether another state would send the same messages in the same way."""
        return (
            # Mostly it is the very same, which dictionaries do not notice by themselves.
            (self.trimmed is other.trimmed or self.trimmed == other.trimmed)
            and self.pruned == other.pruned
            and self.blocks == other.blocks
            and self.bound == other.bound
        )

    def to_json(self) -> dict[str, Any]:
        """The state as a JSON object."""
        return {
            **self.rest_to_json(),
            "blocks": [block.to_json() for block in self.blocks],
            "sent": list(self.sent),
            "trimmed": self.trims_to_json(),
        }

    def trims_to_json(self) -> list[list[Any]]:
        """What trims took out."""
        return [[key, layer, score] for key, (layer, score) in self.trimmed.items()]

    def rest_to_json(self) -> dict[str, Any]:
        """All but what trims took out, the blocks, and the chain of what was sent."""
        return {
            "version": VERSION,
            "pruned": [[key, form] for key, form in self.pruned.items()],
            "bound": [[*place, link] for place, link in self.bound.items()],
            "recalledFor": self.recalled_for,
            "newest": self.newest,
            "estimate": self.estimate,
            "excess": self.excess,
            "spent": self.spent,
            "rewritten": self.rewritten,
            "touched": self.touched,
            "model": self.model,
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> State:
        """The state that `to_json` gave; a `ValueError` for anything else."""
        try:
            if found["version"] != VERSION:
                raise ValueError(f"version {found['version']!r}; expected {VERSION}")
            return cls(
                trimmed={
                    int(key): (str(layer), float(score)) for key, layer, score in found["trimmed"]
                },
                pruned={int(key): str(form) for key, form in found["pruned"]},
                blocks=tuple(
                    Block(str(text), int(tokens), tuple(map(str, items)), _place(anchor))
                    for text, tokens, items, anchor in found["blocks"]
                ),
                bound={(int(key), int(nth)): int(link) for key, nth, link in found["bound"]},
                recalled_for=_place(found["recalledFor"]),
                newest=_place(found["newest"]),
                sent=tuple(map(int, found["sent"])),
                estimate=int(found["estimate"]),
                excess=int(found["excess"]),
                spent=float(found["spent"]),
                rewritten=float(found["rewritten"]),
                touched=None if found["touched"] is None else float(found["touched"]),
                model=None if found["model"] is None else str(found["model"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None

    def observed(self, tokens: int) -> State:
        """The state once the provider said what the last turn cost."""
        # An error of more than half of our estimate is no error of an estimate but another prompt.
        return replace(self, excess=max(tokens - self.estimate, -self.estimate // 2))


def _place(found: Sequence[int] | None) -> Place | None:
    return None if found is None else (int(found[0]), int(found[1]))
