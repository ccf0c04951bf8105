"""The overview: sessions by host and project, the timeline, health of the store, and verification."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np

import memctx
from memctx import _core
from memctx.hosts.hooks import SessionRecord, find_records
from memctx.ui.replays import default_settings

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable

    from memctx.ui.backend import Backend
    from memctx.ui.log_index import SessionLog
    from memctx.ui.parameters import Parameters

MAX_SESSIONS = 500
"""Sessions that are listed at once; a filter finds the others."""
BUCKETS = 60
"""Bars of a timeline."""
MAX_PROBLEMS = 100


def show_page(backend: Backend, _: Parameters) -> dict[str, Any]:
    """Return what every view needs: the store, whether it may be changed, and the settings of its replays."""
    return {
        "version": memctx.__version__,
        "store": str(backend.path),
        "may_write": backend.may_write,
        "settings": default_settings(backend.memories.config),
    }


def show_overview(backend: Backend, given: Parameters) -> dict[str, Any]:
    """Return the sessions, newest first, those that ``filter`` matches, and the timeline of all."""
    wanted = (given.optional("filter") or "").casefold()
    logs = backend.index.sessions()
    names = find_records(backend.path)
    rows = [describe_session(each, names.get(each.id)) for each in logs.values()]
    rows.sort(key=lambda row: row["last"] or 0, reverse=True)
    found = [row for row in rows if not wanted or _matches(row, wanted)]
    return {
        "store": str(backend.path),
        "sessions": found[:MAX_SESSIONS],
        "found": len(found),
        "total": len(rows),
        "messages": sum(row["messages"] for row in rows),
        "tokens": sum(row["tokens"] for row in rows),
        "timeline": timeline(each.times for each in logs.values()),
    }


def describe_session(log: SessionLog, record: SessionRecord | None) -> dict[str, Any]:
    """Return a session as the overview lists it."""
    record = record or SessionRecord()
    times = np.frombuffer(log.times.tobytes(), np.float64)
    return {
        "id": log.id,
        "host": record.host,
        "project": record.project,
        "folder": _folder(record.project),
        "title": record.title or record.first_prompt or log.first_prompt or log.id,
        "messages": len(log),
        "tokens": log.tokens,
        "roles": log.roles,
        "first": float(times.min()) if len(times) else None,
        "last": float(times.max()) if len(times) else None,
        "compactions": record.compactions,
        "compacted_at": record.compacted_at or None,
    }


def find_record(backend: Backend, session: str) -> SessionRecord | None:
    """Return what is recorded about a session, if anything."""
    return find_records(backend.path).get(session)


def timeline(times: Iterable[array[float]]) -> dict[str, Any]:
    """Return the numbers of messages in equal periods between the first and the last."""
    # Copies: an array of which there is a view cannot grow.
    parts = [np.frombuffer(each.tobytes(), np.float64) for each in times if len(each)]
    if not parts:
        return {"first": None, "last": None, "counts": []}
    values = np.concatenate(parts)
    counts, edges = np.histogram(values, bins=BUCKETS)
    return {"first": float(edges[0]), "last": float(edges[-1]), "counts": counts.tolist()}


def show_health(backend: Backend, _: Parameters) -> dict[str, Any]:
    """Return the health of the store, counts and sizes."""
    memory = backend.memories.reader()
    health, stats = memory.health(), memory.stats()
    return {
        "is_ok": bool(health["ok"]),
        "degraded": bool(health["degraded"]),
        "reasons": health["reasons"],
        "embedding": {
            "used": health["embedding"]["used"],
            "note": health["embedding"]["note"],
            "lacking": health["embedding"]["lacking"],
        },
        "path": str(backend.path),
        "server": None if backend.mirror is None else backend.mirror.status(),
        "damaged": health["damaged"],
        "repaired": health["repaired"],
        "segments": stats["segments"],
        "evicted": stats["evicted"],
        "facts": stats["facts"],
        "disk": stats["disk"],
        "disk_index": stats["disk_index"],
    }


def verify_store(backend: Backend, _: Parameters) -> dict[str, Any]:
    """Read the whole store and report what cannot be read."""
    found = _core.LogEditor(backend.path).verify()
    problems = [
        {"file": file, "line": line, "fault": fault} for file, line, _, fault in found.problems
    ]
    return {
        "segments": found.segments,
        "facts": found.facts,
        "vectors": found.vectors,
        "problems": problems[:MAX_PROBLEMS],
        "found": len(problems),
    }


def _matches(row: dict[str, Any], wanted: str) -> bool:
    return any(wanted in str(row[name]).casefold() for name in ("id", "host", "project", "title"))


def _folder(project: str) -> str:
    """Return the name of a folder, whichever system its path is of."""
    windows = PureWindowsPath(project)
    return windows.name if windows.drive else PurePosixPath(project).name
