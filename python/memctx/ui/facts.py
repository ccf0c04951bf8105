"""Facts: current and superseded ones, histories, contradictions, and edits through the API of `memctx.facts`."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

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
MAX_FORGOTTEN = 100
"""Forgotten facts that are listed, newest first."""


def list_facts(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return facts, newest first: those of a ``session``, of a ``type``, and those that answer a ``query``.

    ``superseded`` adds those that no longer hold, but not to the answers to a query.
    """
    facts = backend.memories.reader().facts
    session, kind, query = (given.optional(name) for name in ("session", "type", "query"))
    types: list[FactType] | None = None if kind is None else [_check_type(kind)]
    include = given.optional("superseded") == "yes"
    if query is not None:
        found = [hit.fact for hit in facts.search(query, limit=MAX_FACTS, types=types)]
    else:
        found = facts.list(types=types, include_superseded=include)
        if include:
            forgotten = facts.store.forgotten(limit=MAX_FORGOTTEN)
            gone = [each for each in forgotten if kind in {None, each.type}]
            found = sorted([*found, *gone], key=lambda each: each.timestamp or 0, reverse=True)
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
    kind, new_id = _check_type(given.text("type")), str(uuid.uuid4())
    fact = facts.store.add(
        kind, given.text("content"), context=given.optional("context"), id=new_id
    )
    if fact.id != new_id:
        return _edited(fact, None, is_known=True)
    return _edited(fact, {"action": "forget", "id": fact.id, "revision": fact.revision})


def update_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Reword an active fact."""
    with _editing:
        facts, old = _editable(backend, given)
        fact = facts.update(old.id, given.text("content"))
    if fact.revision == old.revision:
        return _edited(fact, None, is_known=True)
    undo = {"id": fact.id, "revision": fact.revision, "content": old.content}
    return _edited(fact, {"action": "update", **undo})


def supersede_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Replace an active fact by a new one, or by one that is known and says the same."""
    new_id = str(uuid.uuid4())
    with _editing:
        facts, old = _editable(backend, given)
        fact = facts.store.supersede(old.id, old.type, given.text("content"), new_id=new_id)
    if fact.id == old.id:
        return _edited(fact, None, is_known=True)
    undo = {"action": "restore", "id": old.id}
    if fact.id != new_id:
        return _edited(fact, undo, is_known=True)
    return _edited(fact, {**undo, "instead_of": fact.id, "revision": fact.revision})


def forget_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Retract an active fact; its history is kept."""
    with _editing:
        facts, fact = _editable(backend, given)
        return _edited(facts.forget(fact.id), {"action": "restore", "id": fact.id})


def restore_fact(backend: Backend, given: Parameters) -> dict[str, Any]:
    """State a fact that no longer holds again, in its session, with its context and sources; it gets a new id.

    It takes the place of the fact ``instead_of``, of that ``revision``; without one, every other fact stays.
    """
    fact_id, new_id = given.text("id"), str(uuid.uuid4())
    with _editing:
        old = _last_state(backend.memories.reader().facts, fact_id)
        if old is None:
            raise RequestError(404, f"id is {fact_id!r}; no fact has it")
        if old.is_active:
            raise RequestError(409, f"id is {fact_id!r}; the fact holds, nothing is to be restored")
        if given.optional("instead_of") is not None:
            facts, new = _editable(backend, given, "instead_of")
            fact = facts.store.supersede(
                new.id,
                old.type,
                old.content,
                context=old.context,
                sources=old.sources,
                new_id=new_id,
            )
        else:
            # Facts that programs of others wrote may have no session.
            facts = backend.memories.of(old.session_id or "memctx-ui").facts
            fact = facts.store.add(
                old.type, old.content, context=old.context, sources=old.sources, id=new_id
            )
    return _edited(fact, None, is_known=fact.id != new_id)


def describe_fact(fact: Fact) -> dict[str, Any]:
    """Return a fact as a dictionary."""
    inactive = "forgotten" if _is_forgotten(fact) else "superseded"
    return {
        "id": fact.id,
        "type": fact.type,
        "content": fact.content,
        "context": fact.context,
        "time": fact.timestamp,
        "session": fact.session_id,
        "sources": list(fact.sources),
        "state": "active" if fact.is_active else inactive,
        "superseded_by": fact.superseded_by,
        "revision": fact.revision,
    }


def _edited(fact: Fact, undo: dict[str, Any] | None, *, is_known: bool = False) -> dict[str, Any]:
    """Return the answer to an edit: the fact, whether it held before, and the edit that undoes this one."""
    return {"fact": describe_fact(fact), "is_known": is_known, "undo": undo}


def _last_state(facts: Facts, fact_id: str) -> Fact | None:
    """Return a fact as it is now, also a forgotten one."""
    states = reversed(facts.history(fact_id))
    return next((each for each in states if each.id == fact_id), None)


def _is_forgotten(fact: Fact) -> bool:
    return not fact.is_active and fact.superseded_by is None


def _editable(backend: Backend, given: Parameters, name: str = "id") -> tuple[Facts, Fact]:
    """Return an active fact that is still as the page showed it; raise a 409 if another writer was faster."""
    facts = backend.memories.reader().facts
    fact = facts.get(given.text(name))
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
