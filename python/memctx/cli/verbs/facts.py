"""Verbs on facts and workspace notes: `facts list|search|add|forget|history`, `notes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx import tools
from memctx.cli.formatting import Table, excerpt, format_count, format_time, shorten_id
from memctx.cli.verbs import archive
from memctx.cli.verbs.outcome import Outcome, Part
from memctx.cli.verbs.table import DEFAULT_FACT_TYPE
from memctx.errors import ConfigError
from memctx.hosts.openclaw import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Fact
    from memctx.cli.verbs.request import Request
    from memctx.hosts.openclaw import Cited
    from memctx.protocols import FactType

MAX_FACTS = 20
MIN_SCORE = 0.001
"""Least score of a segment that is shown beside facts and notes, so that weak hits do not crowd them out."""


def show_memory(request: Request, name: str | None = None) -> Outcome:
    """Show the files of the workspace and the newest facts, or one of the files."""
    with request.open_memory() as memory:
        workspace = Workspace.of(memory.config)
        if name is not None:
            return _show_file(workspace, name)
        known = memory.facts.list(limit=MAX_FACTS)
        total = len(memory.facts)
    files = [] if workspace is None else _list_files(workspace)
    data = {
        "workspace": None if workspace is None else str(workspace.path),
        "files": files,
        "facts": [fact_data(fact) for fact in known],
        "facts_total": total,
    }
    parts: list[Part] = []
    if workspace is not None and files:
        rows = tuple((file["name"], f"{file['chars']:,}") for file in files)
        parts += [f"Files of {workspace.path}:", Table(("file", "chars"), rows, right=("chars",))]
    if known:
        more = f", the newest {len(known)}" if len(known) < total else ""
        parts += [f"{format_count(total, 'fact')}{more}:", fact_table(known)]
    return Outcome(data, tuple(parts) or ("No facts or notes yet.",), is_ok=bool(parts))


def add_fact(
    request: Request,
    fact: str,
    *,
    type: FactType = DEFAULT_FACT_TYPE,
    context: str | None = None,
) -> Outcome:
    """Add a fact durably."""
    with request.open_writable_memory() as memory:
        before = len(memory.facts)
        added = memory.facts.add(type, fact, context=context)
        is_new = len(memory.facts) > before
    data = {"fact": fact_data(added), "is_new": is_new}
    done = "Added" if is_new else "Already known"
    return Outcome(data, (f"{done} as {shorten_id(added.id)}: {added.content}",))


def forget_fact(request: Request, id: str, *, is_sure: bool = False) -> Outcome:
    """Retract a fact, or describe it if that is not confirmed."""
    is_confirmed = request.is_confirmed(is_sure=is_sure)
    with request.open_memory() as memory:
        fact = tools.find_fact(memory, id)
        if not fact.is_active:
            raise ConfigError(f"id is {id!r}; the fact is no longer active: {fact.content}")
        if is_confirmed:
            memory.facts.forget(fact.id)
    verb = "Forgot" if is_confirmed else "Would forget"
    words = f"{verb} {shorten_id(fact.id)}: {fact.content}"
    outcome = Outcome({"fact": fact_data(fact), "is_done": is_confirmed}, (words,))
    return outcome if is_confirmed else outcome.unconfirmed()


def search_memory(request: Request, query: str, *, limit: int = 5) -> Outcome:
    """Search facts, notes and the archive; ``limit`` applies to each."""
    with request.open_memory() as memory:
        facts = memory.facts.search(query, limit=limit)
        notes = memory.search_workspace(query, limit)
        hits = memory.search(query, limit=limit, min_score=MIN_SCORE)
    data = {
        "query": query,
        "facts": [{"score": hit.score, "fact": fact_data(hit.fact)} for hit in facts],
        "notes": [_note_data(hit) for hit in notes],
        "archive": [
            {"score": hit.score, "segment": archive.segment_data(hit.segment)} for hit in hits
        ],
    }
    parts: list[Part] = []
    if facts:
        parts += ["Facts:", fact_table([hit.fact for hit in facts])]
    if notes:
        rows = tuple((hit.citation, f"{hit.score:.2f}", excerpt(hit.text)) for hit in notes)
        parts += ["Notes:", Table(("where", "score", "text"), rows, right=("score",))]
    if hits:
        parts += ["Archive:", archive.hit_table(hits, query)]
    nothing = f"Nothing found for {excerpt(query)!r}."
    return Outcome(data, tuple(parts) or (nothing,), is_ok=bool(parts))


def list_facts(
    request: Request,
    *,
    types: Sequence[FactType] | None = None,
    limit: int | None = None,
    include_superseded: bool = False,
) -> Outcome:
    """List active facts, newest first."""
    with request.open_memory() as memory:
        found = memory.facts.list(types=types, limit=limit, include_superseded=include_superseded)
    data = {"facts": [fact_data(fact) for fact in found]}
    if not found:
        return Outcome(data, ("No facts.",), is_ok=False)
    return Outcome(data, (fact_table(found),))


def show_history(request: Request, id: str) -> Outcome:
    """Show the states of a fact, oldest first."""
    with request.open_memory() as memory:
        # A forgotten fact is in no list, but has a history.
        states = memory.facts.history(id) or memory.facts.history(tools.find_fact(memory, id).id)
    data = {"states": [fact_data(fact) for fact in states]}
    return Outcome(data, (fact_table(states, is_history=True),))


def fact_table(facts: Sequence[Fact], *, is_history: bool = False) -> Table:
    """Return a table of facts; a history shows their whole content."""
    rows = tuple(
        (
            shorten_id(fact.id),
            format_time(fact.timestamp),
            fact.type,
            _describe_state(fact),
            fact.content if is_history else excerpt(fact.content),
        )
        for fact in facts
    )
    return Table(("id", "when", "type", "state", "fact"), rows)


def fact_data(fact: Fact) -> dict[str, Any]:
    """Return a fact as a dictionary."""
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


def _describe_state(fact: Fact) -> str:
    if fact.is_active:
        return "active"
    if fact.superseded_by is None:
        return "forgotten"
    return f"now {shorten_id(fact.superseded_by)}"


def _show_file(workspace: Workspace | None, name: str) -> Outcome:
    if workspace is None:
        raise ConfigError(f"name is {name!r}; there is no workspace (setting `workspace`)")
    text = workspace.read(name)
    return Outcome({"name": name, "text": text}, (text.rstrip(),))


def _list_files(workspace: Workspace) -> list[dict[str, Any]]:
    loaded = {file.name: file for file in workspace.load().files}
    return [
        {
            "name": name,
            "chars": loaded[name].raw_chars if name in loaded else len(workspace.read(name)),
            "is_truncated": name in loaded and loaded[name].is_truncated,
        }
        for name in workspace.names()
    ]


def _note_data(hit: Cited) -> dict[str, Any]:
    return {
        "citation": hit.citation,
        "path": hit.path,
        "start": hit.start,
        "end": hit.end,
        "score": hit.score,
        "text": hit.text,
    }
