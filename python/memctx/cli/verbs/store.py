"""Verbs on a store: `status`, `sizes`, `verify`, `reindex`, `reembed`, `gc`."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx._session import disk_index_data
from memctx.cli.formatting import (
    Table,
    excerpt,
    format_count,
    format_duration,
    format_size,
    format_time,
)
from memctx.cli.naming import SessionName
from memctx.cli.verbs import upkeep
from memctx.cli.verbs.outcome import Outcome, Part
from memctx.compaction import plan
from memctx.context import state_writer
from memctx.errors import ConfigError
from memctx.hosts.hooks import find_records
from memctx.hosts.pi import CounterFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memctx._core import DiskIndexStatus, Segment
    from memctx.cli.verbs.request import Request
    from memctx.cli.verbs.shell import ShellRequest
    from memctx.memory import Memory

MAX_SESSIONS = 20
MAX_NAME, MAX_ID = 60, 100
"""Most characters of the name of a session, and of the id of one that has a name."""


@dataclass(slots=True)
class SessionStatus:
    """Usage of one session, from the archive and the session's state files."""

    id: str
    segments: int = 0
    tokens: int = 0
    """Tokens of all archived segments."""
    first: float | None = None
    last: float | None = None
    compactions: int = 0
    context_tokens: int | None = None
    """Tokens of the last prepared turn, if there was one."""
    host: str | None = None
    """The agent host of the session, if it was archived by hooks or imported."""
    project: str | None = None
    """The folder that the session was about."""
    title: str | None = None
    """The host's title of the session."""
    first_prompt: str | None = None
    """The beginning of the first prompt."""

    def add(self, segment: Segment) -> None:
        """Count a segment."""
        self.segments += 1
        self.tokens += segment.tokens
        at = segment.timestamp
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)

    @property
    def seconds(self) -> float:
        """The time between the first and the last segment."""
        return 0.0 if self.first is None or self.last is None else (self.last - self.first) / 1000

    @property
    def name(self) -> str:
        """The session as people know it: host, folder, and its title or first prompt; empty without a host."""
        known = (self.host, self.project, self.title, self.first_prompt)
        return str(SessionName(*(each or "" for each in known)))


def show_status(request: Request) -> Outcome:
    """Show context usage, compactions and duration of the sessions that the memory sees."""
    with request.status("Reading the store"), request.open_memory() as memory:
        window = plan.resolve_context_window_tokens(memory.config.context_window)
        health = memory.health()
        found = read_sessions(memory)
        _name_sessions(found, memory)
        if request.messages is not None:
            own = found.setdefault(memory.session_id, _read_session(memory, memory.session_id))
            own.context_tokens = plan.context_tokens(request.messages)
        facts = len(memory.facts)
        store = memory.store.path
    ordered = sorted(found.values(), key=lambda each: each.last or 0, reverse=True)
    is_ok = bool(health["ok"] and health["facts"]["ok"])
    data = {
        "store": store,
        "is_ok": is_ok,
        "context_window": window,
        "facts": facts,
        "sessions": [
            {**asdict(each), "seconds": each.seconds, "name": each.name} for each in ordered
        ],
    }
    segments = sum(each.segments for each in ordered)
    counts = (
        format_count(len(ordered), "session"),
        format_count(segments, "segment"),
        format_count(facts, "fact"),
    )
    head = f"{store}: {', '.join(counts)}"
    parts: list[Part] = [head if is_ok else f"{head}\nThe store is damaged: see `verify`."]
    if ordered:
        parts.append(_session_table(ordered[:MAX_SESSIONS], window))
    if len(ordered) > MAX_SESSIONS:
        parts.append(f"and {len(ordered) - MAX_SESSIONS} older sessions")
    return Outcome(data, tuple(parts))


def show_stats(request: Request) -> Outcome:
    """Show counts and sizes of the store."""
    with request.open_memory() as memory:
        data = memory.stats()
        index = memory.store.disk_index()
    facts: dict[str, Any] = data["facts"]
    disk: dict[str, int] = data["disk"]
    rows = (
        ("segments in memory", f"{data['segments']:,}"),
        ("passages", f"{data['passages']:,}"),
        ("segments on disk only", f"{data['evicted']:,}"),
        ("sessions", f"{data['sessions']:,}"),
        ("log lines", f"{data['log_lines']:,}"),
        ("active facts", f"{facts['active']:,}"),
        ("superseded facts", f"{facts['superseded']:,}"),
        ("forgotten facts", f"{facts['forgotten']:,}"),
        *_index_rows(index),
        ("size of the log", format_size(disk["log"])),
        ("size of the vectors", format_size(disk["vectors"])),
        ("size of the facts", format_size(disk["knowledge"])),
        ("size of the index", format_size(disk["index"])),
        ("size of session files", format_size(disk["sessions"])),
        ("total size", format_size(disk["total"])),
    )
    table = Table(("count", "value"), rows, right=("value",))
    return Outcome(data, (table, *_describe_fault(index)))


def verify(request: Request, *, repair: bool = False, is_sure: bool = False) -> Outcome:
    """Read the whole store and report damage; with ``repair``, move it out of the way."""
    with request.status("Reading the store"):
        outcome = upkeep.verify(request.store_path(), repair=repair, is_sure=is_sure)
    return outcome if is_sure or not repair or outcome.is_ok else outcome.unconfirmed()


def collect_garbage(
    request: ShellRequest, *, older_than: float | None = None, is_sure: bool = False
) -> Outcome:
    """Delete segments older than some days, one session, or leftover files."""
    sessions = () if request.session is None else (request.session,)
    with request.status("Reading the store"):
        outcome = upkeep.gc(
            request.store_path(), older_than_days=older_than, sessions=sessions, is_sure=is_sure
        )
    return outcome if is_sure else outcome.unconfirmed()


def reindex(request: Request, *, rebuild: bool = False) -> Outcome:
    """Index on disk what is not indexed yet; with ``rebuild``, everything."""
    with request.open_memory() as memory:
        started = time.monotonic()
        with request.progress("Indexing", is_logged=True) as advance:
            status = catch_up(memory, advance, rebuild=rebuild)
        seconds = time.monotonic() - started
        store = memory.store.path
    is_ok = is_indexed(status)
    data = {
        "store": store,
        "is_ok": is_ok,
        "rebuild": rebuild,
        "seconds": round(seconds, 3),
        **disk_index_data(status),
    }
    extent = (
        f"in {format_duration(seconds)}" if is_ok else f"{format_indexed_share(status)} of the log"
    )
    size = (
        f"{format_count(status.segments, 'segment')} in {format_count(status.passages, 'passage')}, "
        f"{format_size(status.disk_bytes)}"
    )
    return Outcome(data, (f"Indexed {extent}: {size}.", *_describe_fault(status)), is_ok=is_ok)


def catch_up(
    memory: Memory, on_progress: Callable[[int, int], object], *, rebuild: bool = False
) -> DiskIndexStatus:
    """Index the log to its end; ``on_progress`` is called with the bytes done and in total.

    Raises:
        ConfigError: the disk index is switched off.
    """
    status = memory.store.catch_up(on_progress, rebuild=rebuild)
    if status is None:
        raise ConfigError(
            "disk.index is False; expected the setting to be on, or nothing is indexed"
        )
    return status


def reembed(request: Request, *, model: str | None = None) -> Outcome:
    """Embed all segments with ``model`` or the configured model."""
    with request.open_memory(model=model, may_reembed=True) as memory:
        started = time.monotonic()
        with request.progress("Embedding", is_logged=True) as advance:
            status = memory.reembed(advance)
        seconds = time.monotonic() - started
        store = memory.store.path
    is_ok = status.done_bytes >= status.log_bytes and not status.aside
    data = {
        "store": store,
        "is_ok": is_ok,
        "seconds": round(seconds, 3),
        "model": status.model,
        "revision": status.revision,
        "dim": status.dim,
        "done_bytes": status.done_bytes,
        "log_bytes": status.log_bytes,
        "aside": status.aside,
    }
    failed = f"; {format_count(status.aside, 'passage')} could not be embedded"
    words = f"All segments have vectors of {status.model}, {status.dim} dimensions"
    words += f"{failed if status.aside else ''} ({format_duration(seconds)})."
    return Outcome(data, (words,), is_ok=is_ok)


def read_sessions(memory: Memory) -> dict[str, SessionStatus]:
    """Read the sessions that a memory sees from disk, in one pass."""
    found: dict[str, SessionStatus] = {}
    for segment in _visible_segments(memory):
        if segment.session_id not in found:
            found[segment.session_id] = _read_session(memory, segment.session_id)
        found[segment.session_id].add(segment)
    return found


def is_index_present(index: DiskIndexStatus | None) -> bool:
    """Return whether there is a disk index."""
    return index is not None and index.state != "absent"


def is_indexed(index: DiskIndexStatus) -> bool:
    """Return whether the disk index covers the whole log."""
    return index.state != "absent" and index.indexed_bytes >= index.log_bytes


def format_indexed_share(index: DiskIndexStatus) -> str:
    """Return the indexed share of the log, rounded down so that only a complete index shows 100 %."""
    share = index.indexed_bytes / index.log_bytes if index.log_bytes else 1.0
    return f"{int(100 * share)} %"


def _visible_segments(memory: Memory) -> Iterable[Segment]:
    memory.store.refresh()
    return memory.store.segments()


def _read_session(memory: Memory, id: str) -> SessionStatus:
    path = state_writer.path_of(memory.store.path, id)
    counters = CounterFile.beside(path, session_id=id).load()
    states = state_writer.load(path, id)
    tokens = states[0].estimate + states[0].excess if states else counters.total_tokens
    return SessionStatus(id, compactions=counters.compaction_count, context_tokens=tokens)


def _name_sessions(sessions: dict[str, SessionStatus], memory: Memory) -> None:
    """Fill in what hooks of hosts and imports have recorded."""
    for own, record in find_records(Path(memory.store.path)).items():
        if own in sessions:
            status = sessions[own]
            status.host, status.project = record.host, record.project or None
            status.title, status.first_prompt = record.title or None, record.first_prompt or None
            status.compactions = max(status.compactions, record.compactions)


def _session_table(sessions: Sequence[SessionStatus], window: int) -> Table:
    has_names = any(each.name for each in sessions)
    rows = tuple(
        (
            *((excerpt(each.name, longest=MAX_NAME),) if has_names else ()),
            excerpt(each.id, longest=MAX_ID if each.name else 40),
            f"{each.segments:,}",
            "" if each.context_tokens is None else _format_usage(each.context_tokens, window),
            f"{each.compactions:,}",
            format_duration(each.seconds),
            format_time(each.last),
        )
        for each in sessions
    )
    headings = ("session", "segments", "context", "compactions", "duration", "last message")
    named = ("name", *headings) if has_names else headings
    return Table(named, rows, right=("segments", "context", "compactions", "duration"))


def _format_usage(tokens: int, window: int) -> str:
    return f"{tokens:,} of {window:,} ({tokens / window:.0%})"


def _index_rows(index: DiskIndexStatus | None) -> tuple[tuple[str, str], ...]:
    if index is None:
        return (("disk index", "off"),)
    return (
        ("disk index", index.state),
        ("log indexed", format_indexed_share(index)),
        ("segments indexed", f"{index.segments:,}"),
        ("passages indexed", f"{index.passages:,}"),
    )


def _describe_fault(index: DiskIndexStatus | None) -> tuple[str, ...]:
    return () if index is None or index.fault is None else (f"Disk index: {index.fault}",)
