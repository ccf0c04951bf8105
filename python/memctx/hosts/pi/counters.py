"""`Counters` of a session's compactions, notes and tokens; `CounterFile` stores them.

>>> import pathlib, tempfile
>>> file = CounterFile(pathlib.Path(tempfile.mkdtemp()) / "session.counters.json", session_id="s1")
>>> counters = file.update(lambda counters: counters.after_notes(1770000000000).after_compaction(21_000))
>>> counters.compaction_count, counters.notes_written_count, file.load().total_tokens
(1, 0, 21000)
"""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx import files
from memctx.errors import StoreError
from memctx.hosts.pi.entry import dump_json, parse_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

logger = logging.getLogger("memctx.hosts.pi")

# Field names of hosts in their own session stores.
NAMES = {
    "compaction_count": "compactionCount",
    "notes_written_at": "memoryFlushAt",
    "notes_written_count": "memoryFlushCompactionCount",
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "total_tokens": "totalTokens",
    "context_tokens": "contextTokens",
}


@dataclass(frozen=True, slots=True)
class Counters:
    """Counters of a session.

    >>> Counters(compaction_count=2).after_compaction().compaction_count
    3
    """

    compaction_count: int = 0
    """Number of compactions."""
    notes_written_at: int | None = None
    """Time of the last notes, in milliseconds since the epoch."""
    notes_written_count: int | None = None
    """Number of compactions before the last notes."""
    input_tokens: int | None = None
    """Tokens sent so far; None once a compaction left only an estimate of the total."""
    output_tokens: int | None = None
    """Tokens answered so far."""
    total_tokens: int | None = None
    """Tokens in the context by the last count."""
    context_tokens: int | None = None
    """Token limit of the context."""

    def after_compaction(self, tokens_after: int | None = None) -> Counters:
        """Return the counters after a compaction that left about ``tokens_after`` tokens."""
        counted = replace(self, compaction_count=self.compaction_count + 1)
        if not tokens_after or tokens_after < 0:
            return counted
        return replace(counted, total_tokens=tokens_after, input_tokens=None, output_tokens=None)

    def after_notes(self, at: int) -> Counters:
        """Return the counters after notes, at a time in milliseconds since the epoch."""
        return replace(self, notes_written_at=at, notes_written_count=self.compaction_count)

    def after_call(
        self, input_tokens: int, output_tokens: int, total_tokens: int | None = None
    ) -> Counters:
        """Return the counters after a call of the model; the total is the sum if it is not given."""
        total = input_tokens + output_tokens if total_tokens is None else total_tokens
        return replace(
            self,
            input_tokens=(self.input_tokens or 0) + input_tokens,
            output_tokens=(self.output_tokens or 0) + output_tokens,
            total_tokens=total,
        )

    def at_least(self, compaction_count: int) -> Counters:
        """Return the counters with at least so many compactions, should a crash have kept one from being counted."""
        return replace(self, compaction_count=max(self.compaction_count, compaction_count))


class CounterFile:
    """The counters of one session in a small file, replaced as a whole. Safe for threads and processes."""

    def __init__(self, path: str | PathLike[str], *, session_id: str) -> None:
        self._path = Path(path)
        self._session_id = session_id
        self._lock = threading.Lock()

    @classmethod
    def beside(cls, transcript: str | PathLike[str], *, session_id: str) -> CounterFile:
        """Return the counters beside a session file.

        >>> CounterFile.beside("sessions/a.jsonl", session_id="s1").path.name
        'a.counters.json'
        """
        return cls(Path(transcript).with_suffix(".counters.json"), session_id=session_id)

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._path

    def load(self) -> Counters:
        """Return the saved counters; zeros if there are none or they are damaged, which is logged."""
        return _counters(self._document())

    def update(self, change: Callable[[Counters], Counters]) -> Counters:
        """Apply a change to the saved counters under a lock; return the counters after it.

        Raises:
            StoreError: they could not be saved.
        """
        with self._lock:
            files.make_folder(self._path.parent)
            with files.held(self._path) as file:
                document = self._document()
                counters = change(_counters(document))
                fields = {NAMES[name]: value for name, value in asdict(counters).items()}
                document |= {"sessionId": self._session_id, **fields}
                known = {name: value for name, value in document.items() if value is not None}
                file.replace(f"{dump_json(known)}\n".encode())
            return counters

    def _document(self) -> dict[str, Any]:
        """Return the content of the file, including fields of other programs."""
        try:
            data = files.read(self._path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error
        found = parse_json(data) if data.strip() else {}
        if found is None:
            logger.warning("%s: not a JSON object; counters start at zero", self._path)
            return {}
        # On file systems that ignore case, two sessions may share one file.
        return found if found.get("sessionId", self._session_id) == self._session_id else {}


def _counters(document: dict[str, Any]) -> Counters:
    found = {name: document.get(spelled) for name, spelled in NAMES.items()}
    counted = {name: value for name, value in found.items() if type(value) is int and value >= 0}
    return Counters(**counted)
