"""Source files of an import: discovery, and the journal of how far each has been imported."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memctx import files, store_files
from memctx.cli.import_export.formats import FORMATS, recognize
from memctx.cli.import_export.streams import TooLargeError
from memctx.cli.import_export.transcript_file import TranscriptFile, parse_object
from memctx.errors import ConfigError, StoreError
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from memctx._core import LogReader
    from memctx.cli.import_export.formats import Format
    from memctx.cli.import_export.streams import Limits

ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".zst", ".db", ".sqlite", ".sqlite3", ".zip")
HISTORY = ".aider.chat.history.md"
# Folders of opencode that are read through its sessions, and a store's files.
PARTS = (("message", "session"), ("part", "session"))


@dataclass(frozen=True, slots=True)
class Source:
    """A source file, as it was when it was found."""

    path: Path
    name: str
    """The path relative to the folder."""
    format: Format | None
    """The format; None if `fault` says why it could not be detected."""
    size: int
    changed: int
    """Modification time in nanoseconds."""
    fault: str | None = None


def find_sources(
    source: str | PathLike[str],
    format: Format | None,
    *,
    without: Path | None = None,
    limits: Limits | None = None,
) -> list[Source]:
    """Return the transcripts at a path, in the order of their names; none of those in the folder ``without``.

    Raises:
        ConfigError: there is nothing at the path, or no transcript.
        StoreError: the path is a file that cannot be read.
    """
    root = Path(source).expanduser()
    if not root.exists():
        raise ConfigError(
            f"source is {str(root)!r}, which does not exist; expected a file or a folder"
        )
    paths = (
        [root]
        if root.is_file()
        else list(_walk_files(root, None if without is None else without.resolve()))
    )
    sources: list[Source] = []
    for path in paths:
        recognized, fault = format, None
        try:
            recognized = format or recognize(TranscriptFile(path, limits))
        except TooLargeError as error:
            fault = str(error)
        except StoreError:
            if path == root:
                raise
        if recognized is not None or fault is not None:
            seen = path.stat()
            name = path.name if path == root else path.relative_to(root).as_posix()
            sources.append(Source(path, name, recognized, seen.st_size, seen.st_mtime_ns, fault))
    if not sources:
        known = ", ".join(FORMATS)
        count = f"{len(paths)} file" if len(paths) == 1 else f"{len(paths)} files"
        raise ConfigError(f"{root}: no transcripts in {count}; expected those of {known}")
    return sources


def find_fact_files(sources: list[Source]) -> list[Path]:
    """Return the fact files of the stores among the sources."""
    beside = [
        each.path.with_name(store_files.KNOWLEDGE)
        for each in sources
        if each.path.name == store_files.SEGMENTS
    ]
    return [path for path in beside if path.is_file()]


def _walk_files(root: Path, without: Path | None) -> Iterator[Path]:
    """Return the files below a folder that may be transcripts; links to folders are not followed."""
    for folder, folders, names in os.walk(root):
        beside = set(folders)
        if without is not None and Path(folder).resolve() == without:
            folders.clear()
            continue
        folders[:] = sorted(
            each for each in folders if not any(each == a and b in beside for a, b in PARTS)
        )
        if store_files.SEGMENTS in names:
            # A store: everything else in it is derived from the segments.
            folders.clear()
            yield Path(folder) / store_files.SEGMENTS
            continue
        for name in sorted(names):
            path = Path(folder) / name
            if (name.endswith(ENDINGS) or name == HISTORY) and path.is_file():
                yield path


JOURNAL_FOLDER = "imports"


class _Row(NamedTuple):
    """A journal line: progress of a file, and the durable end of the log."""

    format: str
    name: str
    size: int
    changed: int
    messages: int
    is_done: bool
    offset: int
    mark: int


class Journal:
    """The journal of one source, beside the store in ``imports/``.

    It only saves work: the store never holds a segment twice. A line is written after the segments that it covers, so
    that after a crash the journal is behind the store, never ahead.
    """

    def __init__(self, store: Path, source: Path, log: LogReader) -> None:
        self._path = store_files.path_of(store, JOURNAL_FOLDER, str(source.resolve()), ".jsonl")
        store_files.make_folder(self._path.parent)
        self._log = log
        self._messages: dict[tuple[str, str, int, int], int] = {}
        self._done: set[tuple[str, str, int, int]] = set()
        self._load()

    @property
    def path(self) -> Path:
        """The journal file."""
        return self._path

    def is_done(self, source: Source) -> bool:
        """Return whether a file was imported in its present state."""
        return _key(source) in self._done

    def messages(self, source: Source) -> int:
        """Return the number of imported messages of a file; 0 if it has changed since."""
        return self._messages.get(_key(source), 0)

    def record(self, progress: Iterable[tuple[Source, int, bool]], offset: int) -> None:
        """Record the progress of files, now that the log is durable up to an offset."""
        mark = self._log.mark(offset)
        lines = [
            store_files.json_of([*_key(source), messages, is_done, offset, mark])
            for source, messages, is_done in progress
        ]
        files.append(
            self._path, "".join(f'{{"v":1,"at":{line}}}\n' for line in lines).encode(), sync=False
        )

    def _load(self) -> None:
        """Read the journal; discard it if it belongs to another log."""
        try:
            data = files.read(self._path, follow=False)
        except FileNotFoundError:
            return
        rows = [row for line in data.splitlines() if (row := _parse_row(line)) is not None]
        if rows and self._log.mark(rows[-1].offset) != rows[-1].mark:
            self._path.unlink(missing_ok=True)
            return
        for row in rows:
            key = (row.format, row.name, row.size, row.changed)
            self._messages[key] = row.messages
            if row.is_done:
                self._done.add(key)


def _key(source: Source) -> tuple[str, str, int, int]:
    return source.format or "", source.name, source.size, source.changed


def _parse_row(line: bytes) -> _Row | None:
    found = part.items((parse_object(line) or {}).get("at"))
    if len(found) != len(_Row._fields) or not all(map(_is_value, found)):
        return None
    return _Row(*cast("Any", found))


def _is_value(value: object) -> bool:
    return isinstance(value, str | int)
