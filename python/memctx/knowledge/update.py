"""`update`: plan what new statements do to the facts of a store, and do it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from memctx.knowledge.plan import Op, Statement, plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memctx._core import FactChange, FactOutcome
    from memctx.knowledge.draft import Draft

NEAR = 8
"""So many of the nearest facts are looked at for each draft."""


class Held(Statement, Protocol):
    """A fact of a store."""

    @property
    def is_active(self) -> bool:
        """Whether it still holds."""
        ...


class Store(Protocol):
    """A `FactStore`, as far as an update uses it."""

    def nearest(self, text: str, *, limit: int = 20) -> Sequence[Held]:
        """The facts that hold and are closest to a text."""
        ...

    def get(self, id: str) -> Held | None:
        """The fact of that id."""
        ...

    def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
        """Make changes in one append; says of each what became of it."""
        ...


def update(
    store: Store,
    drafts: Sequence[Draft],
    known: Sequence[Statement] = (),
    *,
    allow_delete: bool = False,
) -> list[Op]:
    """Plan what the drafts do to the facts of the store, write it in one append, and say what was done.

    `known` are facts that the extractor was shown; those nearest to each draft are looked up. An operation whose fact
    another process has taken away in the meantime is written as an ADD and says so.
    """
    facts: dict[str, Statement] = {fact.id: fact for fact in known}
    for draft in drafts:
        facts |= {fact.id: fact for fact in store.nearest(draft.content, limit=NEAR)}
    # What the extractor was shown may have changed since, and what it names may be none of these.
    named = [draft.target for draft in drafts if draft.target is not None]
    for key in dict.fromkeys([*(fact.id for fact in known), *named]):
        fact = store.get(key)
        if fact is None or not fact.is_active:
            facts.pop(key, None)
        else:
            facts[key] = fact
    ops = plan(drafts, list(facts.values()), allow_delete=allow_delete)
    changes = [(at, change) for at, op in enumerate(ops) if (change := _change_of(op)) is not None]
    if not changes:
        return ops
    outcomes = store.apply([change for _, change in changes])
    for (at, _), outcome in zip(changes, outcomes, strict=True):
        ops[at] = _done(ops[at], outcome)
    return ops


def _change_of(op: Op) -> FactChange | None:
    draft, target = op.draft, op.target
    if op.action == "add":
        return ("add", draft.id, draft.type, draft.content, draft.context, draft.sources)
    if target is None or op.action == "none":
        return None
    if op.action == "update":
        return ("update", target, draft.content, draft.context, draft.sources)
    if op.action == "delete":
        return ("delete", target)
    return ("supersede", target, draft.id, draft.type, draft.content, draft.context, draft.sources)


def _done(op: Op, outcome: FactOutcome) -> Op:
    match outcome:
        case "done":
            return op
        case "duplicate":
            return replace(op, action="none", degraded=f"{op.action}: the store has it already")
        case "added":
            return replace(op, action="add", target=None, degraded=f"{op.action}: its fact is gone")
        case "missing":
            return replace(
                op, action="none", target=None, degraded=f"{op.action}: its fact is gone"
            )
