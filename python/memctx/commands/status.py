"""The verb `status`: how a store and its sessions stand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from memctx import compact
from memctx.commands import wording
from memctx.commands.outcome import Outcome, Part, Table
from memctx.session import CounterFile
from memctx.turn import saved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memctx import Memory, Segment

MOST_SESSIONS = 20


@dataclass(slots=True)
class Session:
    """What the archive and the small files of a session tell of it."""

    id: str
    segments: int = 0
    tokens: int = 0
    """What all that was archived would cost."""
    first: float | None = None
    last: float | None = None
    compactions: int = 0
    context_tokens: int | None = None
    """What was sent last, as far as a turn was prepared."""

    def take_in(self, segment: Segment) -> None:
        """Count a segment."""
        self.segments += 1
        self.tokens += segment.tokens
        at = segment.timestamp
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)

    @property
    def seconds(self) -> float:
        """How long it lasted, from the first to the last thing said."""
        return 0.0 if self.first is None or self.last is None else (self.last - self.first) / 1000


def status(memory: Memory, *, messages: Sequence[Any] | None = None) -> Outcome:
    """Context usage, compactions and duration: of the session, or of all that the memory sees."""
    window = compact.resolve_context_window_tokens(memory.config.context_window)
    health = memory.health()
    found = sessions(memory)
    if messages is not None:
        mine = found.setdefault(memory.session_id, _session(memory, memory.session_id))
        mine.context_tokens = compact.context_tokens(messages)
    ordered = sorted(found.values(), key=lambda each: each.last or 0, reverse=True)
    is_ok = bool(health["ok"] and health["facts"]["ok"])
    data = {
        "store": memory.store.path,
        "is_ok": is_ok,
        "context_window": window,
        "facts": len(memory.facts),
        "sessions": [{**asdict(each), "seconds": each.seconds} for each in ordered],
    }
    segments = sum(each.segments for each in ordered)
    told = [wording.counted(len(ordered), "session"), wording.counted(segments, "segment")]
    told.append(wording.counted(len(memory.facts), "fact"))
    head = f"{memory.store.path}: {', '.join(told)}"
    parts: list[Part] = [head if is_ok else f"{head}\nSomething is wrong: see `verify`."]
    if ordered:
        parts.append(_table(ordered[:MOST_SESSIONS], window))
    if len(ordered) > MOST_SESSIONS:
        parts.append(f"and {len(ordered) - MOST_SESSIONS} older sessions")
    return Outcome(data, tuple(parts))


def sessions(memory: Memory) -> dict[str, Session]:
    """The sessions that a memory sees, read from disk in one pass."""
    found: dict[str, Session] = {}
    for segment in _seen(memory):
        if segment.session_id not in found:
            found[segment.session_id] = _session(memory, segment.session_id)
        found[segment.session_id].take_in(segment)
    return found


def _seen(memory: Memory) -> Iterable[Segment]:
    memory.store.refresh()
    return memory.store.segments()


def _session(memory: Memory, id: str) -> Session:
    store = memory.store.path
    path = saved.path_of(store, id)
    counters = CounterFile.beside(path, session_id=id).load()
    state = saved.load(path, id)
    tokens = state.estimate + state.excess if state else counters.total_tokens
    return Session(id, compactions=counters.compaction_count, context_tokens=tokens)


def _table(ordered: Sequence[Session], window: int) -> Table:
    rows = tuple(
        (
            wording.excerpt(each.id, longest=40),
            f"{each.segments:,}",
            "" if each.context_tokens is None else _share(each.context_tokens, window),
            f"{each.compactions:,}",
            wording.span(each.seconds),
            wording.moment(each.last),
        )
        for each in ordered
    )
    headings = ("session", "segments", "context", "compactions", "lasted", "last said")
    return Table(headings, rows, right=("segments", "context", "compactions", "lasted"))


def _share(tokens: int, window: int) -> str:
    return f"{tokens:,} of {window:,} ({tokens / window:.0%})"
