"""`update`: plan what new statements do to the facts of a store, and do it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeAlias

from memctx.knowledge.plan import Op, Statement, plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.knowledge.draft import Draft

Change: TypeAlias = tuple[object, ...]
"""A row of `FactStore.apply`."""

NEAR = 8
"""So many of the nearest facts are looked at for each draft."""


class Store(Protocol):
    """A `FactStore`, as far as an update uses it."""

    def nearest(self, text: str, *, limit: int = 20) -> Sequence[Statement]:
        """The facts that are closest to a text."""
        ...

    def get(self, id: str) -> Statement | None:
        """The fact of that id."""
        ...

    def apply(self, changes: Sequence[Change]) -> list[str]:
        """Write changes at once; says of each what became of it."""
        ...


def update(
    store: Store, drafts: Sequence[Draft], known: Sequence[Statement] = (), *, allow_delete: bool = False
) -> list[Op]:
    """Plan what the drafts do to the facts of the store, write it in one append, and say what was done.

    `known` are facts that the extractor was shown; those nearest to each draft are looked up. An operation whose fact
    another process has taken away in the meantime is written as an ADD and says so.
    """
    facts = {fact.id: fact for fact in known}
    for draft in drafts:
        facts |= {fact.id: fact for fact in store.nearest(draft.content, limit=NEAR)}
    # What the extractor was shown may have changed since, and what it names may be none of these.
    named = {draft.target for draft in drafts if draft.target is not None}
    for id in {fact.id for fact in known} | named:
        fact = store.get(id)
        if fact is None or not getattr(fact, "is_active", True):
            facts.pop(id, None)
        else:
            facts[id] = fact
    ops = plan(drafts, list(facts.values()), allow_delete=allow_delete)
    changes = [(at, change) for at, op in enumerate(ops) if (change := _change_of(op)) is not None]
    if not changes:
        return ops
    outcomes = store.apply([change for _, change in changes])
    for (at, _), outcome in zip(changes, outcomes, strict=True):
        ops[at] = _done(ops[at], outcome)
    return ops


def _change_of(op: Op) -> Change | None:
    draft = op.draft
    sources = list(draft.sources)
    match op.action:
        case "add":
            return ("add", draft.id, draft.type, draft.content, draft.context, sources)
        case "update":
            return ("update", op.target, draft.content, draft.context, sources)
        case "supersede":
            return ("supersede", op.target, draft.id, draft.type, draft.content, draft.context, sources)
        case "delete":
            return ("delete", op.target)
        case "none":
            return None


def _done(op: Op, outcome: str) -> Op:
    match outcome:
        case "duplicate":
            return replace(op, action="none", degraded=f"{op.action}: the store has it already")
        case "added":
            return replace(op, action="add", target=None, degraded=f"{op.action}: its fact is gone")
        case "missing":
            return replace(op, action="none", target=None, degraded=f"{op.action}: its fact is gone")
        case _:
            return op
