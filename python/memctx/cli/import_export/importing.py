"""`import_transcripts`: import of transcripts and facts into a store."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx import _core, checks
from memctx.cli.import_export.exporting import resolve_config
from memctx.cli.import_export.formats import check_format, read_messages
from memctx.cli.import_export.naming import find_prompt, name_of
from memctx.cli.import_export.sources import Journal, find_fact_files, find_sources
from memctx.cli.import_export.staging import Staging, stored_id
from memctx.cli.import_export.transcript_file import TOO_LONG, TranscriptFile
from memctx.cli.naming import SessionName
from memctx.errors import ConfigError, MemctxError, StoreError
from memctx.facts.worker import Cursor, create_cursor, cursor_path
from memctx.hosts.hooks.session import SessionRecord, record_import
from memctx.hosts.pi import milliseconds
from memctx.memory import Memory
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from memctx.cli.import_export.formats import Format
    from memctx.cli.import_export.sources import Source
    from memctx.cli.import_export.streams import Limits
    from memctx.cli.import_export.transcript_file import TranscriptMessage
    from memctx.config import Config

logger = logging.getLogger("memctx.cli.import_export")

# A batch is small enough to be read again after a crash.
MAX_MESSAGES, MAX_CHARACTERS = 2_000, 8 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    messages: int = 0
    """Messages that were read."""
    added: int = 0
    """New segments, stored durably."""
    duplicates: int = 0
    """Segments that their session already had."""
    skipped: int = 0
    """Messages and parts that were skipped."""
    skips: dict[str, int] = field(default_factory=dict[str, int])
    """Number of skips by reason: noise, the host's own messages, tools that ``privacy.archive_tools`` excludes."""
    damaged: int = 0
    """Lines and records that could not be read."""
    files: int = 0
    """Files that were read to their end."""
    unchanged: int = 0
    """Files that an earlier import read and that have not changed."""
    failed: tuple[str, ...] = ()
    """Files that could not be read to their end, each with the reason."""
    sessions: int = 0
    """Sessions that the messages belong to."""
    facts: int = 0
    """Facts of another memory that are new in this one."""
    seconds: float = 0.0
    """Duration of the import."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """The progress of an import."""

    path: Path
    """The file that is being read."""
    files_done: int
    files: int
    bytes_done: int
    bytes: int
    messages: int
    added: int


def import_transcripts(  # noqa: PLR0913 - the options
    memory: Memory | str | PathLike[str],
    source: str | PathLike[str],
    *,
    format: Format | None = None,
    extract: bool = False,
    limits: Limits | None = None,
    name_session: Callable[[str], str] | None = None,
    on_progress: Callable[[ImportProgress], object] | None = None,
) -> Imported:
    r"""Import transcripts of other hosts into a store: a file, or all files of a folder.

    Sessions keep their ids, or get those that ``name_session`` returns for them; messages keep their times. Secrets are
    masked and noise is dropped as by `Memory.archive`, with the settings of the memory; for a path, with those of the
    environment. ``format`` is detected for each file by default. Facts are extracted only with ``extract``. ``limits``
    bound what is read of one file. ``on_progress`` is called after each batch; an exception from it ends the import. An
    interrupted import resumes when it is called again: nothing is stored twice, and nothing is missing. A subagent's
    messages are a session of their own, whose segments name the parent in ``metadata["source"]``. Where a host's file
    tells folder, title or first prompt, they are recorded in ``hosts/`` of the store, secrets masked, unless
    ``name_session`` is given.

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
    config = resolve_config(memory)
    root = checks.path(source)
    if root.resolve() == Path(config.storage_path).resolve():
        raise ConfigError(f"source is {str(source)!r}, the memory itself; expected another folder")
    wanted = None if format is None else check_format(format)
    found = find_sources(source, wanted, without=Path(config.storage_path), limits=limits)
    run = _Run(
        config,
        root,
        found,
        extract=extract,
        limits=limits,
        name_session=name_session,
        on_progress=on_progress,
    )
    imported = run.import_all()
    if isinstance(memory, Memory):
        memory.store.refresh()
        if extract and memory.extraction is not None:
            memory.extraction.notify()
    return imported


class _Run:
    """One import."""

    def __init__(  # noqa: PLR0913 - the options
        self,
        config: Config,
        source: Path,
        files: list[Source],
        *,
        extract: bool,
        limits: Limits | None,
        name_session: Callable[[str], str] | None,
        on_progress: Callable[[ImportProgress], object] | None,
    ) -> None:
        self._config = config
        self._store = Path(config.storage_path)
        self._files = files
        self._extract = extract
        self._limits = limits
        self._name_session = name_session
        self._on_progress = on_progress
        self._importer = _core.Importer(
            self._store,
            redaction=config.redaction,
            pii=config.privacy.pii,
            patterns=config.privacy.patterns or None,
            lock_timeout=config.disk.lock_timeout,
        )
        self._redactor = _core.Redactor(
            config.redaction, pii=config.privacy.pii, patterns=config.privacy.patterns or None
        )
        self._log = _core.LogReader(self._store)
        self._journal = Journal(self._store, source, self._log)
        self._staging = Staging(config, extract=extract)
        self._batch: list[tuple[str, TranscriptMessage]] = []
        self._characters = 0
        # For each file of the batch: messages read, and whether the file is complete.
        self._reached: dict[Source, tuple[int, bool]] = {}
        self._sessions: set[str] = set()
        self._messages = self._added = self._duplicates = self._damaged = 0
        self._skips = Counter[str]()
        self._bytes = 0
        self._read = self._unchanged = 0
        self._failed: list[str] = []

    def import_all(self) -> Imported:
        began = time.monotonic()
        for source in self._files:
            if self._journal.is_done(source):
                self._unchanged += 1
            else:
                self._import_file(source)
            self._bytes += source.size
        if self._files:
            self._commit(self._files[-1], 0)
        skips = self._skips + self._staging.skips
        new_facts = import_facts(self._config, find_fact_files(self._files))
        return Imported(
            messages=self._messages,
            added=self._added,
            duplicates=self._duplicates,
            skipped=skips.total(),
            skips=dict(sorted(skips.items())),
            damaged=self._damaged + self._staging.damaged,
            files=self._read,
            unchanged=self._unchanged,
            failed=tuple(self._failed),
            sessions=len(self._sessions),
            facts=new_facts,
            seconds=time.monotonic() - began,
        )

    def _import_file(self, source: Source) -> None:
        if source.format is None:
            logger.warning("%s: not read: %s", source.path, source.fault)
            self._failed.append(f"{source.name}: {source.fault}")
            return
        transcript, before = (
            TranscriptFile(source.path, self._limits),
            self._journal.messages(source),
        )
        number, is_whole = 0, True
        prompts: dict[str, str] = {}
        said = read_messages(transcript, source.format)
        while True:
            # Errors of the store are not caught: they are no fault of the file.
            try:
                each = next(said, None)
            except StoreError as error:
                logger.warning("%s: not read to its end: %s", source.path, error)
                before_it = f"; imported up to message {number:,}" if number else ""
                self._failed.append(f"{source.name}: {error}{before_it}")
                is_whole = False
                break
            if each is None:
                break
            number += 1
            self._note_prompt(prompts, each)
            if number > before:
                self._add_message(source, source.format, each, number)
                if len(self._batch) >= MAX_MESSAGES or self._characters >= MAX_CHARACTERS:
                    self._commit(source, transcript.position)
        self._skips += transcript.skips
        self._damaged += transcript.damaged
        # Before the journal knows that the file is done.
        self._name_sessions(transcript, source.format, prompts)
        if is_whole:
            # Skipped long lines may be read next time, with other limits.
            is_complete = not transcript.skips[TOO_LONG]
            self._reached[source] = number if is_complete else 0, is_complete
            self._read += 1

    def _note_prompt(self, prompts: dict[str, str], said: TranscriptMessage) -> None:
        """Note the first prompt of each session that has kept messages, secrets masked."""
        if said.skip_reason is not None or prompts.get(said.session):
            return
        prompts.setdefault(said.session, "")
        if prompt := find_prompt(said):
            # Masked at once: whole prompts of many sessions would not fit into memory.
            name = SessionName(first_prompt=prompt).masked(self._redactor)
            prompts[said.session] = name.first_prompt

    def _name_sessions(
        self, transcript: TranscriptFile, format: Format, prompts: dict[str, str]
    ) -> None:
        """Record how people know the sessions of a file; those that are given other ids have names already."""
        if self._name_session is not None:
            return
        for session, prompt in prompts.items():
            name = name_of(transcript, format, session, prompt).masked(self._redactor)
            if not name:
                continue
            record = SessionRecord(
                host=name.host,
                project=name.project,
                conversation=session,
                title=name.title,
                first_prompt=name.first_prompt,
                session_id=stored_id(session),
            )
            try:
                record_import(self._store, record)
            except (MemctxError, OSError) as error:
                logger.warning("%s: its sessions are not named: %s", transcript.path, error)
                return

    def _add_message(
        self, source: Source, format: Format, said: TranscriptMessage, number: int
    ) -> None:
        self._messages += 1
        self._reached[source] = number, False
        if self._name_session is not None:
            said = replace(said, session=self._name_session(said.session))
        if said.skip_reason is not None:
            self._skips[said.skip_reason] += 1
            return
        self._batch.append((format, said))
        self._characters += _size(said.message)
        self._sessions.add(said.session)

    def _commit(self, source: Source, position: int) -> None:
        """Store the batch, then record the progress of its files."""
        records = self._staging.records(self._batch)
        if self._extract:
            self._expect_facts({said.session for _, said in self._batch})
        outcomes = Counter(self._importer.add(records) if records else ())
        self._added += outcomes["added"]
        self._duplicates += outcomes["duplicate"]
        if noise := outcomes["noise"]:
            self._skips["noise"] += noise
        if self._reached:
            reached = self._reached.items()
            self._journal.record(((each, *how) for each, how in reached), self._importer.end)
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
        """Create the extraction cursors of sessions that have none, at the end of the log."""
        end = self._importer.end
        for session in sessions:
            path = cursor_path(self._store, session)
            create_cursor(path, session, Cursor(end, self._log.mark(end) or 0))


def _size(value: object) -> int:
    """Return the approximate number of characters of a message."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, cast("dict[str, object]", value).values()))
    return sum(map(_size, cast("list[object]", value))) if isinstance(value, list) else 8


# The session of facts that have none.
FACT_SESSION = "imported"


def import_facts(config: Config, files: Sequence[Path]) -> int:
    """Import active facts and return how many are new."""
    if not files:
        return 0
    store = _core.FactStore(
        config.storage_path,
        _core.StoreOptions(
            session_id=FACT_SESSION,
            cross_session=True,
            durability=config.disk.durability,
            redaction=config.redaction,
            pii=config.privacy.pii,
            patterns=config.privacy.patterns or None,
            lock_timeout=config.disk.lock_timeout,
        ),
    )
    try:
        before = len(store)
        for path in files:
            for fact in _active_facts(path):
                _add_fact(store, fact)
        return len(store) - before
    finally:
        store.close()


def _active_facts(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the active facts of a file; the last line of each fact counts."""
    found: dict[str, dict[str, Any]] = {}
    for line in TranscriptFile(path).objects():
        if (own := part.text(line, "id")) is not None:
            found[own] = line
    for fact in found.values():
        if not fact.get("supersededBy") and fact.get("_deleted") is not True:
            yield fact


def _add_fact(store: _core.FactStore, fact: dict[str, Any]) -> None:
    kind, content = part.text(fact, "type"), part.text(fact, "content")
    if kind is None or content is None:
        return
    try:
        store.add(
            kind,
            content,
            context=part.text(fact, "context"),
            id=fact["id"],
            timestamp=milliseconds(fact.get("timestamp")),
        )
    except MemctxError as error:
        logger.info("fact %r: not imported: %s", fact["id"], error)
