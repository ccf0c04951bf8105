"""Verbs on what is to be remembered: `memory show`, `memory add`, `memory forget`, `memory search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.commands import archive, facts, finding, wording
from memctx.commands.outcome import Outcome, Part, Table
from memctx.errors import ConfigError
from memctx.workspace import Workspace, WorkspaceSearch

if TYPE_CHECKING:
    from memctx import Memory
    from memctx.knowledge.draft import FactType
    from memctx.workspace import Cited

MOST_FACTS = 20
LEAST_MATCH = 0.25
"""How well a segment must match beside facts and notes, so that a faint likeness does not drown them."""
ADDED_AS: FactType = "config"
"""What a fact is where nobody says."""


def show(memory: Memory, name: str | None = None) -> Outcome:
    """The files of the workspace and the newest facts; or one of the files."""
    workspace = _workspace(memory)
    if name is not None:
        if workspace is None:
            raise ConfigError(f"name is {name!r}; there is no workspace, which `workspace` sets")
        text = workspace.read(name)
        return Outcome({"name": name, "text": text}, (text.rstrip(),))
    files = [] if workspace is None else _files(workspace)
    known = memory.facts.list(limit=MOST_FACTS)
    total = len(memory.facts)
    data = {
        "workspace": None if workspace is None else str(workspace.path),
        "files": files,
        "facts": [facts.fact_data(fact) for fact in known],
        "facts_total": total,
    }
    parts: list[Part] = []
    if workspace is not None and files:
        rows = tuple((file["name"], f"{file['chars']:,}") for file in files)
        parts += [f"Files of {workspace.path}:", Table(("file", "chars"), rows, right=("chars",))]
    if known:
        more = f", the newest {len(known)}" if len(known) < total else ""
        parts += [f"{wording.counted(total, 'fact')}{more}:", facts.fact_table(known)]
    return Outcome(data, tuple(parts) or ("Nothing is remembered yet.",), is_ok=bool(parts))


def add(
    memory: Memory, content: str, *, type: FactType = ADDED_AS, context: str | None = None
) -> Outcome:
    """State a fact; it is on disk when this returns."""
    before = len(memory.facts)
    fact = memory.facts.add(type, content, context=context)
    is_new = len(memory.facts) > before
    data = {"fact": facts.fact_data(fact), "is_new": is_new}
    done = "Remembered" if is_new else "Known already"
    return Outcome(data, (f"{done} as {wording.short(fact.id)}: {fact.content}",))


def forget(memory: Memory, id: str, *, is_sure: bool) -> Outcome:
    """Take a fact back, or say which one it would be."""
    fact = finding.fact(memory, id)
    told = f"{wording.short(fact.id)}: {fact.content}"
    if not fact.is_active:
        raise ConfigError(f"id is {id!r}; that fact holds no more: {fact.content}")
    if is_sure:
        memory.facts.forget(fact.id)
    words = f"Forgotten {told}" if is_sure else f"Would forget {told}"
    return Outcome({"fact": facts.fact_data(fact), "is_done": is_sure}, (words,))


def search(memory: Memory, query: str, *, limit: int = 5) -> Outcome:
    """What is known, noted and archived about something, so many of each."""
    known = memory.facts.search(query, limit=limit)
    workspace = _workspace(memory)
    noted = [] if workspace is None else WorkspaceSearch(workspace).search(query, limit)
    said = memory.search(query, limit=limit, min_score=LEAST_MATCH)
    data = {
        "query": query,
        "facts": [{"score": hit.score, "fact": facts.fact_data(hit.fact)} for hit in known],
        "notes": [_note(hit) for hit in noted],
        "archive": [
            {"score": hit.score, "segment": archive.segment_data(hit.segment)} for hit in said
        ],
    }
    parts: list[Part] = []
    if known:
        parts += ["Known:", facts.fact_table([hit.fact for hit in known])]
    if noted:
        rows = tuple((hit.citation, f"{hit.score:.2f}", wording.excerpt(hit.text)) for hit in noted)
        parts += ["Noted:", Table(("where", "score", "text"), rows, right=("score",))]
    if said:
        parts += ["Said:", archive.hit_table(said)]
    nothing = f"Nothing found for {wording.excerpt(query)!r}."
    return Outcome(data, tuple(parts) or (nothing,), is_ok=bool(parts))


def _workspace(memory: Memory) -> Workspace | None:
    path = memory.config.workspace
    return None if path is None else Workspace(path)


def _files(workspace: Workspace) -> list[dict[str, Any]]:
    loaded = {file.name: file for file in workspace.load().files}
    return [
        {
            "name": name,
            "chars": loaded[name].raw_chars if name in loaded else len(workspace.read(name)),
            "is_truncated": name in loaded and loaded[name].is_truncated,
        }
        for name in workspace.names()
    ]


def _note(hit: Cited) -> dict[str, Any]:
    return {
        "citation": hit.citation,
        "path": hit.path,
        "start": hit.start,
        "end": hit.end,
        "score": hit.score,
        "text": hit.text,
    }
