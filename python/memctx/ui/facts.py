"""Facts: current and superseded ones, histories, contradictions, and edits through the API of `memctx.facts`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

from memctx import _core
from memctx.errors import ConfigError
from memctx.protocols import FACT_TYPES
from memctx.ui.backend import RequestError

if TYPE_CHECKING:
    from memctx._core import Fact
    from memctx.facts import Facts
    from memctx.protocols import FactType
    from memctx.ui.backend import Backend
    from memctx.ui.parameters import Parameters

# An edit is checked against what the page showed, and made, without another edit in between.
_editing = threading.Lock()

MAX_FACTS = 1_000
MAX_COMPARED = 300
"""Newest active facts that are compared with each other."""


def list_facts(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return facts, newest first: those of a ``session``, of a ``type``, and those that answer a ``query``."""
    facts = backend.memories.reader().facts
    session, kind, query = (given.optional(name) for name in ("session", "type", "query"))
    types: list[FactType] | None = None if kind is None else [_check_type(kind)]
    include = given.optional("superseded") == "yes"
    if query is not None:
        found = [hit.fact for hit in facts.search(query, limit=MAX_FACTS, types=types)]
    else:
        found = facts.list(types=types, include_superseded=include)
    if session is not None:
        found = [each for each in found if each.session_id == session]
    return {
        "facts": [describe_fact(each) for each in found[:MAX_FACTS]],
        "found": len(found),
        "active": len(facts),
        "types": list(FACT_TYPES),
    }


def show_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return all states of a fact and of those it superseded, oldest first, with the messages it was taken from."""
    memory = backend.memories.reader()
    fact_id = given.text("id")
    states = memory.facts.history(fact_id)
    if not states:
        raise RequestError(404, f"id is {fact_id!r}; no fact has it")
    sources = dict.fromkeys(source for each in states for source in each.sources)
    return {
        "id": fact_id,
        "states": [describe_fact(each) for each in states],
        "sources": [
            {
                "id": source,
                "session": segment.session_id,
                "role": segment.role,
                "text": segment.content[:400],
            }
            for source in sources
            if (segment := memory.store.get(source)) is not None
        ],
        "missing": sum(memory.store.get(source) is None for source in sources),
    }


def find_contradictions(backend: Backend, _: Parameters) -> dict[str, Any]:
    """Return pairs of active facts of which the newer contradicts the older, as background extraction would see it."""
    facts = backend.memories.reader().facts.list(limit=MAX_COMPARED)
    by_id = {each.id: each for each in facts}
    oldest = facts[::-1]
    steps = _core.plan_facts([(each.id, each.content, None, None) for each in oldest], [])
    pairs = [
        {"older": describe_fact(by_id[target]), "newer": describe_fact(fact), "reason": reason}
        for fact, (action, target, reason, _) in zip(oldest, steps, strict=True)
        if action == "supersede" and target in by_id
    ]
    return {"pairs": pairs[::-1], "compared": len(facts)}


def add_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Add a fact to a session."""
    session = given.text("session")
    if session not in backend.index.sessions():
        raise RequestError(404, f"session is {session!r}; the store has no such session")
    facts = backend.memories.of(session).facts
    kind = _check_type(given.text("type"))
    fact = facts.add(kind, given.text("content"), context=given.optional("context"))
    return {"fact": describe_fact(fact)}


def update_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Reword an active fact."""
    with _editing:
        facts, fact = _editable(backend, given)
        return {"fact": describe_fact(facts.update(fact.id, given.text("content")))}


def supersede_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Replace an active fact by a new one."""
    with _editing:
        facts, fact = _editable(backend, given)
        return {"fact": describe_fact(facts.supersede(fact.id, given.text("content")))}


def forget_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Retract an active fact; its history is kept."""
    with _editing:
        facts, fact = _editable(backend, given)
        return {"fact": describe_fact(facts.forget(fact.id))}


def restore_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """State a forgotten fact again, in its session and with its sources; it gets a new id."""
    fact_id = given.text("id")
    states = backend.memories.reader().facts.history(fact_id)
    last = next((each for each in reversed(states) if each.id == fact_id), None)
    if last is None:
        raise RequestError(404, f"id is {fact_id!r}; no fact has it")
    if last.is_active or last.superseded_by is not None:
        raise RequestError(
            409, f"id is {fact_id!r}; the fact was not forgotten, or somebody restored it"
        )
    # Facts that programs of others wrote may have no session.
    facts = backend.memories.of(last.session_id or "memctx-ui").facts
    kind = cast("FactType", last.type)
    fact = facts.add(kind, last.content, context=last.context, sources=last.sources)
    return {"fact": describe_fact(fact)}


def describe_fact(fact: Fact) -> dict[str, Any]:
    """Return a fact as a dictionary."""
    is_forgotten = not fact.is_active and fact.superseded_by is None
    return {
        "id": fact.id,
        "type": fact.type,
        "content": fact.content,
        "context": fact.context,
        "time": fact.timestamp,
        "session": fact.session_id,
        "sources": list(fact.sources),
        "state": "active" if fact.is_active else "forgotten" if is_forgotten else "superseded",
        "superseded_by": fact.superseded_by,
        "revision": fact.revision,
    }


def _editable(backend: Backend, given: Parameters) -> tuple[Facts, Fact]:
    """Return an active fact that is still as the page showed it; raise a 409 if another writer was faster."""
    facts = backend.memories.reader().facts
    fact_id = given.text("id")
    fact = facts.get(fact_id)
    revision = given.integer("revision", -1, at_most=10**9)
    if fact is None or not fact.is_active:
        now = "was forgotten" if fact is None else f"was superseded by {fact.superseded_by!r}"
        raise RequestError(409, f"The fact {now} meanwhile, or never existed; nothing was changed.")
    if fact.revision != revision:
        raise RequestError(409, f"The fact was changed meanwhile; it reads now: {fact.content}")
    return facts, fact


def _check_type(name: str) -> FactType:
    if name not in FACT_TYPES:
        raise ConfigError(f"type is {name!r}; expected one of {', '.join(FACT_TYPES)}")
    return name
