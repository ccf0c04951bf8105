"""The logs of a store: reader, writer, importer, editor, lease."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, final

from memctx._core._store import SearchFilter, Segment

@final
class LogReader:
    """Everything ever archived in a directory, read from disk one segment at a time."""

    def __new__(cls, path: str | PathLike[str]) -> LogReader: ...
    def scan(
        self, filter: SearchFilter | None = None, *, contains: str | None = None
    ) -> Iterator[Segment]:
        """Return the segments that pass the filter, in the order of the file; ``contains`` must be in their content."""

    def read_from(
        self, offset: int, filter: SearchFilter | None = None, *, limit: int = 256
    ) -> tuple[list[Segment], int]:
        """Return at most ``limit`` segments whose lines begin at or after an offset, and the offset to go on from.

        An incomplete line, and everything after it, is left for later.

        >>> log = LogReader(path)  # doctest: +SKIP
        >>> segments, offset = log.read_from(0, SearchFilter(roles=["user"]))  # doctest: +SKIP
        """

    def read_lines(
        self, offset: int, *, log: Literal["segments", "facts"] = "segments", limit: int = 256
    ) -> tuple[list[tuple[int, str]], int]:
        """Return lines of a log from an offset on, and the offset to go on from.

        Each line comes with the offset behind it, as its exact text without the line feed. Damaged lines are passed
        over; an incomplete line is left for later. At most ``limit`` lines are returned, and no more after about 4 MiB
        of them; there are none only if there is nothing more to read.

        >>> log = LogReader(path)  # doctest: +SKIP
        >>> lines, offset = log.read_lines(0, log="facts")  # doctest: +SKIP

        Raises:
            ConfigError: ``log`` is unknown, or a number is negative.
        """

    def end(self, *, log: Literal["segments", "facts"] = "segments") -> int:
        """Return the offset at which the last whole line of a log ends."""

    def mark(self, offset: int, *, log: Literal["segments", "facts"] = "segments") -> int | None:
        """Return a checksum of the bytes before an offset of a log; None if the log is shorter.

        It tells whether the log has been replaced since.
        """

    def offset_after(self, id: str, filter: SearchFilter | None = None) -> int | None:
        """Return the offset behind the first segment of an id; None if there is none."""

    def last_before(self, offset: int, filter: SearchFilter | None = None) -> str | None:
        """Return the id of the last segment that lies before an offset; None if there is none."""

    def health(self) -> dict[str, Any]:
        """Report what could not be read."""

@final
class LineWriter:
    """Appends lines that another store wrote to the logs of a store, as they are.

    Open stores follow it as they follow other processes. A line may be appended again: a segment stays one, and the
    state of a fact becomes the newest again.

    >>> writer = LineWriter(path)  # doctest: +SKIP
    >>> lines, offset = LogReader(other).read_lines(0)  # doctest: +SKIP
    >>> writer.append([text for _, text in lines])  # doctest: +SKIP
    2048
    """

    def __new__(cls, path: str | PathLike[str], *, lock_timeout: float = 5.0) -> LineWriter: ...
    def append(
        self, lines: Sequence[str], *, log: Literal["segments", "facts"] = "segments"
    ) -> int:
        """Append lines without their ends, and return the offset behind them once they are on disk.

        All are written at once, under the store's lock. The log is created if it is missing.

        Raises:
            ConfigError: ``log`` is unknown, or a line is not valid Unicode.
            StoreError: a line is no line of the log, or its checksum does not hold; nothing was written.
            StoreLockedError: another process held the lock for ``lock_timeout`` seconds; nothing was written.
        """

@final
class Importer:
    """Appends messages of many sessions to the log of a store, each once.

    >>> importer = Importer(path)  # doctest: +SKIP
    >>> importer.add([("s1", "user", "Port 8443", None, None)])  # doctest: +SKIP
    ['added']
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        redaction: Literal["mask", "openclaw", "off"] = "mask",
        pii: bool = False,
        patterns: Mapping[str, str] | None = None,
        lock_timeout: float = 5.0,
    ) -> Importer: ...
    @property
    def end(self) -> int:
        """The offset up to which the log is known."""

    def add(
        self, records: Iterable[tuple[str, str, str, float | None, str | None]]
    ) -> list[Literal["added", "duplicate", "noise"]]:
        """Append the ``(session_id, role, content, timestamp, metadata)`` records that are new, and wait for the disk.

        A record is a duplicate if its session has the same content from the same role, anywhere in the log.
        """

@final
class LogEditor:
    """Verifies and rewrites the files of a store, under its lock."""

    def __new__(cls, path: str | PathLike[str], *, lock_timeout: float = 5.0) -> LogEditor: ...
    def wait_for_writers(self) -> None:
        """Wait until no other process writes to the store."""

    def verify(self) -> Verified:
        """Read everything, and report what cannot be read. It takes no lock and writes nothing."""

    def repair(self) -> None:
        """Move damaged lines to a file beside their log, keep the vectors that can be read, remove derived files."""

    def find(
        self, *, sessions: Iterable[str] | None = None, before: float | None = None
    ) -> Removal:
        """Report what `remove` would take."""

    def remove(
        self, *, sessions: Iterable[str] | None = None, before: float | None = None
    ) -> Removal:
        """Delete segments, their vectors and what was derived from them.

        Segments go that are of one of the sessions, if any is named, and older than ``before``, in milliseconds since
        1970, if that is given. Facts go with whole sessions only. Without either, only snapshots go.
        """

@final
class Verified:
    """Findings of a verification."""

    @property
    def segments(self) -> int:
        """Segments that can be read."""

    @property
    def facts(self) -> int:
        """States of facts that can be read."""

    @property
    def vectors(self) -> int:
        """Vectors that can be read."""

    @property
    def problems(self) -> list[tuple[str, int | None, int | None, str]]:
        """File, line, offset and fault of what cannot be read; of many lines the first, and a count of the others."""

@final
class Removal:
    """Contents of a removal."""

    @property
    def segments(self) -> int:
        """Lines of segments."""

    @property
    def facts(self) -> int:
        """Lines of facts."""

    @property
    def files(self) -> list[str]:
        """Derived files and folders, by their paths in the store."""

    @property
    def bytes(self) -> int:
        """Size of all of these."""

@final
class Lease:
    """A lease on a lock file: of many processes one at a time holds it. The kernel releases it when its holder dies."""

    def __new__(cls, path: str | PathLike[str]) -> Lease: ...
    @property
    def is_held(self) -> bool:
        """True if this object holds the lease."""

    def acquire(self) -> bool:
        """Acquire the lease unless another holder has it, and return whether it is held."""

    def release(self) -> None:
        """Release the lease; in a forked child, leave it to the parent."""
