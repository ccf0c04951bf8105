"""Plan and update: decide what candidate facts do to the stored facts, and write it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from memctx import _core

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memctx._core import FactChange, FactOutcome
    from memctx.protocols import Action, CandidateFact

MAX_NEAREST = 8
"""Number of nearest facts that are compared with each candidate."""


class KnownContent(Protocol):
    """The part of a fact that a plan reads."""

    @property
    def id(self) -> str:
        """Id of the fact."""
        ...

    @property
    def content(self) -> str:
        """Text of the fact."""
        ...


class StoredFact(KnownContent, Protocol):
    """The part of a stored fact that an update reads."""

    @property
    def is_active(self) -> bool:
        """True if the fact still holds."""
        ...


class Store(Protocol):
    """The part of a `FactStore` that an update uses."""

    def nearest(self, text: str, *, limit: int = 20) -> Sequence[StoredFact]:
        """Return the active facts closest to a text."""
        ...

    def get(self, id: str) -> StoredFact | None:
        """Return the fact of an id."""
        ...

    def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
        """Make changes in one append; return the outcome of each."""
        ...


@dataclass(frozen=True, slots=True)
class PlanStep:
    """Action that is taken for a candidate fact."""

    action: Action
    candidate: CandidateFact
    target: str | None
    """Id of the fact that the action changes or, for ``none``, of the fact that says the same."""
    reason: str
    degraded: str | None = None
    """The reason why the extractor's action was not taken; None where it was, or where there was none."""


def plan(
    candidates: Sequence[CandidateFact],
    existing: Sequence[KnownContent],
    *,
    allow_delete: bool = False,
) -> list[PlanStep]:
    """Return a step for each candidate, in order; a later candidate sees the effect of the earlier ones.

    An extractor's action is taken where it fits the known facts. Otherwise, and where there is none, a rule decides:
    another value, or the opposite, is SUPERSEDE; the same and more is UPDATE; nothing new is NONE; all else is ADD.
    A candidate with a value that no known fact has is never NONE.

    >>> from memctx.facts import CandidateFact
    >>> old = CandidateFact("config", "The webhook listens on port 3000", id="a")
    >>> new = CandidateFact("config", "The webhook listens on port 8443", id="b")
    >>> [(step.action, step.target) for step in plan([new, new], [old])]
    [('supersede', 'a'), ('none', 'b')]
    """
    rows = [(each.id, each.content, each.action, each.target) for each in candidates]
    known = [(fact.id, fact.content) for fact in existing]
    planned = _core.plan_facts(rows, known, allow_delete=allow_delete)
    return [PlanStep(row[0], each, *row[1:]) for each, row in zip(candidates, planned, strict=True)]


def update(
    store: Store,
    candidates: Sequence[CandidateFact],
    known: Sequence[KnownContent] = (),
    *,
    allow_delete: bool = False,
) -> list[PlanStep]:
    """Plan what the candidates do to the facts of a store, write it in one append, and return the steps taken.

    ``known`` are the facts that the extractor was shown; the facts nearest to each candidate are looked up. A step
    whose fact another process has removed in the meantime is written as an ADD and says so.
    """
    facts: dict[str, KnownContent] = {fact.id: fact for fact in known}
    for candidate in candidates:
        facts |= {fact.id: fact for fact in store.nearest(candidate.content, limit=MAX_NEAREST)}
    # A fact that the extractor was shown may have changed since, and one that it names may be none of these.
    named = [candidate.target for candidate in candidates if candidate.target is not None]
    for key in dict.fromkeys([*(fact.id for fact in known), *named]):
        fact = store.get(key)
        if fact is None or not fact.is_active:
            facts.pop(key, None)
        else:
            facts[key] = fact
    steps = plan(candidates, list(facts.values()), allow_delete=allow_delete)
    changes = [
        (at, change) for at, step in enumerate(steps) if (change := _change(step)) is not None
    ]
    if not changes:
        return steps
    outcomes = store.apply([change for _, change in changes])
    for (at, _), outcome in zip(changes, outcomes, strict=True):
        steps[at] = _revise(steps[at], outcome)
    return steps


def _change(step: PlanStep) -> FactChange | None:
    """Return the store change that a step means; None if it changes nothing."""
    new, target = step.candidate, step.target
    if step.action == "add":
        return ("add", new.id, new.type, new.content, new.context, new.sources)
    if target is None or step.action == "none":
        return None
    if step.action == "update":
        return ("update", target, new.content, new.context, new.sources)
    if step.action == "delete":
        return ("delete", target)
    return ("supersede", target, new.id, new.type, new.content, new.context, new.sources)


def _revise(step: PlanStep, outcome: FactOutcome) -> PlanStep:
    """Return the step as the store carried it out."""
    match outcome:
        case "done":
            return step
        case "duplicate":
            degraded = f"{step.action}: already stored"
            return replace(step, action="none", degraded=degraded)
        case "added":
            degraded = f"{step.action}: its target no longer exists"
            return replace(step, action="add", target=None, degraded=degraded)
        case "missing":
            degraded = f"{step.action}: its target no longer exists"
            return replace(step, action="none", target=None, degraded=degraded)
