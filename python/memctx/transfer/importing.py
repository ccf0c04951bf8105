"""`import_transcripts`: what was said elsewhere, brought into a store."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from memctx.errors import ConfigError, StoreError
from memctx.extraction import cursor as cursors
from memctx.memory import Memory
from memctx.transfer import facts, sources
from memctx.transfer.archive import Archive
from memctx.transfer.formats import READERS, checked
from memctx.transfer.journal import FOLDER, Journal
from memctx.transfer.place import config_of
from memctx.transfer.staging import Staging
from memctx.transfer.tape import UNREADABLE, Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from memctx.config import Config
    from memctx.transfer.formats import Format
    from memctx.transfer.said import Said
    from memctx.transfer.sources import Source

logger = logging.getLogger("memctx.transfer")

# A batch is as large as it may be lost and read again without anybody minding.
MOST_MESSAGES, MOST_CHARACTERS = 2_000, 8 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    messages: int = 0
    """Messages that were read."""
    added: int = 0
    """Pieces of them that are new in the store, and durable."""
    duplicates: int = 0
    """Pieces that their session had already."""
    skipped: int = 0
    """What was left out: noise, tools not asked for, system prompts, sidechains, hidden messages."""
    damaged: int = 0
    """Lines and records that could not be read."""
    files: int = 0
    """Files that were read to their end."""
    unchanged: int = 0
    """Files that an earlier import had read, and that are as they were."""
    failed: tuple[str, ...] = ()
    """Files that could not be read to their end, each with the reason."""
    sessions: int = 0
    """Sessions that the messages belong to."""
    facts: int = 0
    """Facts of another memory that are new in this one."""
    seconds: float = 0.0
    """How long it took."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is."""

    path: Path
    """The file that is being read."""
    files_done: int
    files: int
    bytes_done: int
    bytes: int
    messages: int
    added: int


def import_transcripts(
    memory: Memory | str | PathLike[str],
    source: str | PathLike[str],
    *,
    format: Format | None = None,
    extract: bool = False,
    on_progress: Callable[[ImportProgress], object] | None = None,
) -> Imported:
    r"""Bring transcripts of other hosts into a store: a file, or all that are in a folder.

    Sessions keep their ids and messages their times. Secrets are masked and noise is dropped as by `Memory.archive`,
    with the settings of the memory; for a path, with those of the environment. ``format`` is found out from each file
    if it is not given. No facts are looked for in what was imported, unless ``extract`` says so. ``on_progress`` is
    told after each batch; what it raises ends the import. An import that ended early, be it by a kill, goes on where
    it was when it is called again: nothing is stored twice, and nothing is missing.

    >>> import memctx, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "talk.jsonl").write_text('{"role": "user", "content": "The webhook listens on port 8443"}\n')
    >>> imported = import_transcripts(folder / "memory", folder / "talk.jsonl")
    >>> imported.added, import_transcripts(folder / "memory", folder / "talk.jsonl").unchanged
    (1, 1)
    >>> with memctx.open(folder / "memory", session_id="talk") as memory:
    ...     [hit.segment.content for hit in memory.search("which port?")]
    ['The webhook listens on port 8443']

    Raises:
        ConfigError: there is no transcript, or the format is unknown.
        StoreError: the store cannot be written. A file that cannot be read is in ``failed`` and stops nothing.
    """
    config = config_of(memory)
    if Path(source).expanduser().resolve() == Path(config.storage_path).resolve():
        raise ConfigError(f"source is {str(source)!r}, the memory itself; expected another folder")
    wanted = None if format is None else checked(format)
    found = sources.found(source, wanted, without=Path(config.storage_path))
    run = _Run(config, Path(source).expanduser(), found, extract=extract, on_progress=on_progress)
    imported = run.imported()
    if isinstance(memory, Memory):
        memory.store.refresh()
        if extract and memory.extraction is not None:
            memory.extraction.wake()
    return imported


class _Run:
    """One import."""

    def __init__(
        self,
        config: Config,
        source: Path,
        files: list[Source],
        *,
        extract: bool,
        on_progress: Callable[[ImportProgress], object] | None,
    ) -> None:
        self._config = config
        self._store = Path(config.storage_path)
        self._files = files
        self._extract = extract
        self._on_progress = on_progress
        self._archive = Archive(self._store, timeout=config.lock_timeout)
        self._journal = Journal(self._store, source, self._archive)
        self._staging = Staging(config, self._store / FOLDER, extract=extract)
        self._batch: list[tuple[str, Said]] = []
        self._characters = 0
        # For each file in the batch how many of its messages were read, and whether those are all.
        self._reached: dict[Source, tuple[int, bool]] = {}
        self._sessions: set[str] = set()
        self._messages = self._added = self._duplicates = self._skipped = self._damaged = 0
        self._bytes = 0
        self._read = self._unchanged = 0
        self._failed: list[str] = []

    def imported(self) -> Imported:
        began = time.monotonic()
        with self._staging:
            for source in self._files:
                if self._journal.is_done(source):
                    self._unchanged += 1
                else:
                    self._import(source)
                self._bytes += source.size
            if self._files:
                self._commit(self._files[-1], 0)
        new_facts = facts.imported(self._config, sources.facts_beside(self._files))
        return Imported(
            messages=self._messages,
            added=self._added,
            duplicates=self._duplicates + self._staging.repeated,
            skipped=self._skipped + self._staging.skipped,
            damaged=self._damaged + self._staging.damaged,
            files=self._read,
            unchanged=self._unchanged,
            failed=tuple(self._failed),
            sessions=len(self._sessions),
            facts=new_facts,
            seconds=time.monotonic() - began,
        )

    def _import(self, source: Source) -> None:
        tape, before = Tape(source.path), self._journal.messages(source)
        number = 0
        for number, said in enumerate(self._told(source, tape), start=1):
            if number <= before:
                continue
            self._take(source, said, number)
            if len(self._batch) >= MOST_MESSAGES or self._characters >= MOST_CHARACTERS:
                self._commit(source, tape.position)
        self._skipped += tape.left_out
        self._damaged += tape.damaged
        if not self._failed or not self._failed[-1].startswith(f"{source.name}: "):
            self._reached[source] = number, True
            self._read += 1

    def _told(self, source: Source, tape: Tape) -> Iterator[Said]:
        """The messages of a file, up to where it cannot be read. What a store raises does not pass through here."""
        try:
            yield from READERS[source.format](tape)
        except (StoreError, *UNREADABLE) as error:
            logger.warning("%s: not read to its end: %s", source.path, error)
            self._failed.append(f"{source.name}: {error}")

    def _take(self, source: Source, said: Said, number: int) -> None:
        self._messages += 1
        self._batch.append((source.format, said))
        self._characters += _size(said.message)
        self._reached[source] = number, False
        self._sessions.add(said.session)

    def _commit(self, source: Source, position: int) -> None:
        """Store the batch, then note how far the files are."""
        lines = self._staging.lines(self._batch) if self._batch else []
        if self._extract:
            self._expect_facts({said.session for _, said in self._batch})
        added, end = self._archive.append(lines) if lines else (0, self._archive.end)
        self._added += added
        self._duplicates += len(lines) - added
        if self._reached:
            reached = self._reached.items()
            self._journal.note(((each, *how) for each, how in reached), end)
        self._batch.clear()
        self._reached.clear()
        self._characters = 0
        if self._on_progress is not None:
            done = self._read + self._unchanged + len(self._failed)
            size = sum(each.size for each in self._files)
            self._on_progress(
                ImportProgress(
                    path=source.path,
                    files_done=done,
                    files=len(self._files),
                    bytes_done=min(size, self._bytes + position),
                    bytes=size,
                    messages=self._messages,
                    added=self._added,
                )
            )

    def _expect_facts(self, sessions: set[str]) -> None:
        """Have facts looked for from here on in sessions that nobody looked into before."""
        end = self._archive.end
        for session in sessions:
            path = cursors.path_of(self._store, session)
            cursors.create(path, session, cursors.Cursor(end, self._archive.mark(end) or 0))


def _size(value: object) -> int:
    """About how many characters a message has."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, cast("dict[str, object]", value).values()))
    return sum(map(_size, cast("list[object]", value))) if isinstance(value, list) else 8
