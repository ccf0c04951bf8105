"""Verbs on what is known: `facts list`, `facts history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.commands import finding, wording
from memctx.commands.outcome import Outcome, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx import Fact, Memory
    from memctx.knowledge.draft import FactType


def listed(
    memory: Memory,
    *,
    types: Sequence[FactType] | None = None,
    limit: int | None = None,
    include_superseded: bool = False,
) -> Outcome:
    """The facts that hold, newest first."""
    found = memory.facts.list(types=types, limit=limit, include_superseded=include_superseded)
    data = {"facts": [fact_data(fact) for fact in found]}
    if not found:
        return Outcome(data, ("No facts.",), is_ok=False)
    return Outcome(data, (fact_table(found),))


def history(memory: Memory, id: str) -> Outcome:
    """How a fact came to be what it is, oldest state first."""
    # A fact that was forgotten is in no list, but has a history.
    states = memory.facts.history(id) or memory.facts.history(finding.fact(memory, id).id)
    data = {"states": [fact_data(fact) for fact in states]}
    return Outcome(data, (fact_table(states, is_history=True),))


def fact_table(facts: Sequence[Fact], *, is_history: bool = False) -> Table:
    """Facts for people; of a history, every word."""
    rows = tuple(
        (
            wording.short(fact.id),
            wording.moment(fact.timestamp),
            fact.type,
            _state(fact),
            fact.content if is_history else wording.excerpt(fact.content),
        )
        for fact in facts
    )
    return Table(("id", "when", "type", "state", "fact"), rows)


def fact_data(fact: Fact) -> dict[str, Any]:
    """All of a fact."""
    return {
        "id": fact.id,
        "type": fact.type,
        "content": fact.content,
        "context": fact.context,
        "timestamp": fact.timestamp,
        "session_id": fact.session_id,
        "sources": list(fact.sources),
        "is_active": fact.is_active,
        "superseded_by": fact.superseded_by,
        "revision": fact.revision,
    }


def _state(fact: Fact) -> str:
    if fact.is_active:
        return "holds"
    if fact.superseded_by is None:
        return "forgotten"
    return f"now {wording.short(fact.superseded_by)}"
