"""`State`: the decisions of earlier turns, so that messages sent once are sent again byte for byte.

Subagents, handoffs and parallel branches often run under the id of the session that started them, so a session has a
state for each conversation. A list of messages goes on with the state of the conversation it extends. A list that
extends none but begins or ends like one is another version of it: it starts from a copy of that state, and the
conversation it left may still go on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from memctx.context.store_mark import NOTHING, Sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memctx.context.read import MessageRef, Source

Decision: TypeAlias = tuple[str, float]
"""The layer that removed a unit, and its score then."""

# Conversations of a session that are remembered; of more, the least recently used is forgotten.
MOST = 16
TOO_MANY = (
    f"more than {MOST} conversations share this session id, and the least recently used is forgotten; "
    "expected a session_id for each conversation"
)
# Last messages of a conversation, by which it is found again if its first ones are gone.
TAIL = 4
# A single message, such as "go on", may be part of any conversation.
FEWEST_ALIKE = 2


@dataclass(frozen=True, slots=True)
class Block:
    """A block of recalled text that was sent."""

    text: str
    tokens: int
    items: tuple[str, ...]
    """Ids of the recalled items, with the passage where only that is shown."""
    anchor: MessageRef | None
    """The message after it; None at the head."""

    def to_json(self) -> list[Any]:
        """Return the block as a JSON array."""
        return [self.text, self.tokens, self.items, self.anchor]


@dataclass(frozen=True, slots=True)
class State:
    """Decisions of the earlier turns of one conversation.

    Each turn makes a new state, which is kept only if the whole turn succeeds.
    """

    id: int = 1
    """Number of the conversation in the session."""
    head: int | None = None
    """Key of the first message that is neither a system prompt nor a summary."""
    tail: tuple[int, ...] = ()
    """Keys of the last messages of the last turn."""
    trimmed: Mapping[int, Decision] = field(default_factory=dict[int, Decision])
    """Decisions by the keys of removed units."""
    pruned: dict[int, str] = field(default_factory=dict[int, str])
    """Forms of shortened tool results, by their keys."""
    blocks: tuple[Block, ...] = ()
    """Recalled blocks in the order they were sent."""
    bound: dict[MessageRef, int] = field(default_factory=dict["MessageRef", int])
    """For messages with signed thinking, the chain of what had been sent when the model wrote them."""
    recalled_for: MessageRef | None = None
    """The user's message of the last search."""
    searched: Sizes = NOTHING
    """Sizes of the store's logs at that search, with what was archived since of messages that the model sees."""
    is_recall_late: bool = False
    """True if that search was not answered by the disk index in time."""
    newest: MessageRef | None = None
    """The last message of the last turn, as the host passed it."""
    sent: Sequence[int] = ()
    """Chain of the messages sent last, one link for each."""
    estimate: int = 0
    """Estimated cost of those messages."""
    excess: int = 0
    """Cost beyond the estimate by the provider's count: system prompt, tools, and the estimate's error."""
    observed: int = 0
    """Number of the turn that was counted, in this process."""
    spent: float = 0.0
    """Cost of all turns so far, in tokens at full price, without retired blocks."""
    rewritten: float = 0.0
    """Cost of retired blocks on top of that."""
    touched: float | None = None
    """Time of the last turn, in seconds since the epoch."""
    model: str | None = None
    """Model of the last turn."""

    def __bool__(self) -> bool:
        return bool(self.sent)

    def decides_as(self, other: State) -> bool:
        """Return whether another state would send the same messages in the same way."""
        return (
            # Mostly they are identical, which the comparison of dictionaries does not check first.
            (self.trimmed is other.trimmed or self.trimmed == other.trimmed)
            and self.pruned == other.pruned
            and self.blocks == other.blocks
            and self.bound == other.bound
        )

    def to_json(self) -> dict[str, Any]:
        """Return the state as a JSON object."""
        return {
            **self.rest_to_json(),
            "blocks": [block.to_json() for block in self.blocks],
            "sent": list(self.sent),
            "trimmed": self.trims_to_json(),
        }

    def trims_to_json(self) -> list[list[Any]]:
        """Return the removed units as a JSON array."""
        return [[key, layer, score] for key, (layer, score) in self.trimmed.items()]

    def rest_to_json(self) -> dict[str, Any]:
        """Return everything but the removed units, the blocks, and the chain, as a JSON object."""
        return {
            "id": self.id,
            "head": self.head,
            "tail": self.tail,
            "pruned": [[key, form] for key, form in self.pruned.items()],
            "bound": [[*ref, link] for ref, link in self.bound.items()],
            "recalledFor": self.recalled_for,
            "searched": self.searched,
            "recallLate": self.is_recall_late,
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
        """Return the state that `to_json` wrote; raise `ValueError` for anything else."""
        try:
            head = found.get("head")
            return cls(
                id=int(found.get("id", 1)),
                head=None if head is None else int(head),
                tail=tuple(map(int, found.get("tail", ()))),
                trimmed={
                    int(key): (str(layer), float(score)) for key, layer, score in found["trimmed"]
                },
                pruned={int(key): str(form) for key, form in found["pruned"]},
                blocks=tuple(
                    Block(str(text), int(tokens), tuple(map(str, items)), _ref(anchor))
                    for text, tokens, items, anchor in found["blocks"]
                ),
                bound={(int(key), int(nth)): int(link) for key, nth, link in found["bound"]},
                recalled_for=_ref(found["recalledFor"]),
                searched=Sizes(*map(int, found.get("searched", ()))),
                is_recall_late=bool(found.get("recallLate", False)),
                newest=_ref(found["newest"]),
                sent=tuple(map(int, found["sent"])),
                estimate=int(found["estimate"]),
                excess=int(found["excess"]),
                spent=float(found["spent"]),
                rewritten=float(found["rewritten"]),
                touched=None if found["touched"] is None else float(found["touched"]),
                model=None if found["model"] is None else str(found["model"]),
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None


def _ref(found: Sequence[int] | None) -> MessageRef | None:
    return None if found is None else (int(found[0]), int(found[1]))


States: TypeAlias = tuple[State, ...]
"""States of a session, the most recently used first."""


def choose_state(states: States, source: Source) -> State:
    """Return the state that a list of messages goes on with: one of the states, or a new one."""
    for state in states:
        if _is_extended(state, source):
            return state
    head = source.head
    for state in states:
        if (head is not None and state.head == head) or _shares_tail(state, source):
            return replace(state, id=_next_id(states))
    # System prompt and tools are mostly those of the other conversations.
    excess = max(states[0].excess, 0) if states else 0
    return State(id=_next_id(states), excess=excess)


def update_states(states: States, state: State) -> States:
    """Return the states with a changed or new one first."""
    return (state, *(other for other in states if other.id != state.id))[:MOST]


def _is_extended(state: State, source: Source) -> bool:
    """Return whether the list holds all of a conversation up to its last message, its first ones perhaps left out."""
    index = None if state.newest is None else source.find(state.newest)
    if index is None:
        return False
    if state.head == source.head or state.head is None:
        return True
    alike = min(index + 1, len(state.tail))
    return (
        alike >= FEWEST_ALIKE
        and tuple(source.keys[index + 1 - alike : index + 1])
        == (state.tail[len(state.tail) - alike :])
    )


def _shares_tail(state: State, source: Source) -> bool:
    """Return whether most of the last messages of a conversation are in the list."""
    keys = set(source.keys)
    alike = sum(key in keys for key in state.tail)
    return alike >= max(FEWEST_ALIKE, len(state.tail) / 2)


def _next_id(states: Sequence[State]) -> int:
    return max((state.id for state in states), default=0) + 1
