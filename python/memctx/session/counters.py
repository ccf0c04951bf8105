"""`Counters`: how often a session was compacted and flushed, and what it costs; `CounterFile` keeps them.

>>> import pathlib, tempfile
>>> file = CounterFile(pathlib.Path(tempfile.mkdtemp()) / "session.counters.json", session_id="s1")
>>> counters = file.update(lambda counters: counters.flushed(at=1770000000000).compacted(tokens_after=21_000))
>>> counters.compaction_count, counters.memory_flush_compaction_count, file.load().total_tokens
(1, 0, 21000)
"""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx import durable
from memctx.errors import StoreError
from memctx.session.entry import dumped, parsed

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

logger = logging.getLogger("memctx.session")

# As hosts spell them in their own session stores.
NAMES = {
    "compaction_count": "compactionCount",
    "memory_flush_at": "memoryFlushAt",
    "memory_flush_compaction_count": "memoryFlushCompactionCount",
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "total_tokens": "totalTokens",
    "context_tokens": "contextTokens",
}


@dataclass(frozen=True, slots=True)
class Counters:
    """What is counted of a session.

    >>> Counters(compaction_count=2).compacted().compaction_count
    3
    """

    compaction_count: int = 0
    """How often it was compacted."""
    memory_flush_at: int | None = None
    """When its memory was last flushed, in milliseconds since the epoch."""
    memory_flush_compaction_count: int | None = None
    """How often it had been compacted then."""
    input_tokens: int | None = None
    """What was sent so far; None once a compaction left only an estimate of the total."""
    output_tokens: int | None = None
    """What was answered so far."""
    total_tokens: int | None = None
    """What the context holds by the last count."""
    context_tokens: int | None = None
    """What the context may hold."""

    def compacted(self, tokens_after: int | None = None) -> Counters:
        """After a compaction, which left about ``tokens_after`` tokens."""
        counted = replace(self, compaction_count=self.compaction_count + 1)
        if not tokens_after or tokens_after < 0:
            return counted
        return replace(counted, total_tokens=tokens_after, input_tokens=None, output_tokens=None)

    def flushed(self, at: int) -> Counters:
        """After a flush of the memory, at a time in milliseconds since the epoch."""
        return replace(
            self, memory_flush_at=at, memory_flush_compaction_count=self.compaction_count
        )

    def used(
        self, input_tokens: int, output_tokens: int, total_tokens: int | None = None
    ) -> Counters:
        """After a call of the model; the total is that of both if it is not given."""
        total = input_tokens + output_tokens if total_tokens is None else total_tokens
        return replace(
            self,
            input_tokens=(self.input_tokens or 0) + input_tokens,
            output_tokens=(self.output_tokens or 0) + output_tokens,
            total_tokens=total,
        )

    def at_least(self, compaction_count: int) -> Counters:
        """With the compactions that a session file shows, should a crash have kept one from being counted."""
        return replace(self, compaction_count=max(self.compaction_count, compaction_count))


class CounterFile:
    """The counters of one session in a small file, replaced as a whole. May be shared by threads and processes."""

    def __init__(self, path: str | PathLike[str], *, session_id: str) -> None:
        self._path = Path(path)
        self._session_id = session_id
        self._lock = threading.Lock()

    @classmethod
    def beside(cls, transcript: str | PathLike[str], *, session_id: str) -> CounterFile:
        """The counters that stand beside a session file.

        >>> CounterFile.beside("sessions/a.jsonl", session_id="s1").path.name
        'a.counters.json'
        """
        return cls(Path(transcript).with_suffix(".counters.json"), session_id=session_id)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def load(self) -> Counters:
        """The counters that were saved; all at zero if there are none, or they cannot be read, which is logged."""
        return _counters(self._document())

    def update(self, change: Callable[[Counters], Counters]) -> Counters:
        """Change what is counted, whatever other processes counted meanwhile; the counters after that.

        Raises:
            StoreError: they could not be saved.
        """
        with self._lock:
            durable.make_folder(self._path.parent)
            with durable.held(self._path):
                document = self._document()
                counters = change(_counters(document))
                told = {NAMES[name]: value for name, value in asdict(counters).items()}
                document |= {"sessionId": self._session_id, **told}
                known = {name: value for name, value in document.items() if value is not None}
                durable.replace(self._path, f"{dumped(known)}\n".encode())
            return counters

    def _document(self) -> dict[str, Any]:
        """What the file says, also what others put there."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error
        found = parsed(data) if data.strip() else {}
        if found is None:
            logger.warning("%s: no JSON object, the counters start anew", self._path)
            return {}
        # Where names differ in case only, one file may stand for two sessions.
        return found if found.get("sessionId", self._session_id) == self._session_id else {}


def _counters(document: dict[str, Any]) -> Counters:
    found = {name: document.get(spelled) for name, spelled in NAMES.items()}
    counted = {name: value for name, value in found.items() if type(value) is int and value >= 0}
    return Counters(**counted)
