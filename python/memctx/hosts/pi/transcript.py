"""`Transcript`: the append-only session file of one conversation.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "session.jsonl"
>>> transcript = Transcript.open(path)
>>> asked = transcript.append_message({"role": "user", "content": "Which port has the webhook?"})
>>> answered = transcript.append_message({"role": "assistant", "content": [{"type": "text", "text": "8443"}]})
>>> compacted = transcript.append_compaction("The user asked for a port.", answered, tokens_before=51_234)
>>> [message["role"] for message in Transcript.open(path).context().messages]
['compactionSummary', 'assistant']
"""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from memctx import files
from memctx.errors import ConfigError, MessageFormatError, StoreError, UnsupportedVersionError
from memctx.hosts.pi.context import Context, rebuild_context
from memctx.hosts.pi.entry import HEADER, VERSION, Entry, dump_json, iso, new_id
from memctx.hosts.pi.reader import EntryReader, back_up, rewrite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

logger = logging.getLogger("memctx.hosts.pi")


class Transcript:
    """The session file of one conversation, opened by `Transcript.open`. All methods are thread-safe.

    The entries form a tree; the leaf is where the next one is appended. An entry is on disk when the method that
    appends it returns. A line torn by a crash stays in the file and is skipped. Several processes may append: each
    follows the newest entry unless it is on a branch of its own.
    """

    def __init__(self, path: Path, *, session_id: str | None, cwd: str | None, sync: bool) -> None:
        self._path = path
        self._session_id = session_id
        self._cwd = cwd
        self._sync = sync
        self._lock = threading.RLock()
        self._reader = EntryReader()
        self._identity: files.Identity | None = None
        self._entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}
        self._leaf: str | None = None
        self._made_header: dict[str, Any] | None = None

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        session_id: str | None = None,
        cwd: str | None = None,
        sync: bool = True,
    ) -> Self:
        """Read a session file, or begin one: the first entry creates the file.

        Files of versions 1 and 2 and plain lines of messages are read as version 3. The first entry that is appended
        rewrites them, beside a backup. ``session_id`` and ``cwd`` are for the header of a new file; without ``sync``,
        appends do not wait for the disk, and a power failure may lose the last entries.

        >>> import tempfile
        >>> len(Transcript.open(tempfile.mkdtemp() + "/new.jsonl", session_id="s1"))
        0

        Raises:
            StoreError: the file cannot be read.
        """
        # Links are resolved once: a file replaced later must not replace the link.
        real = Path(os.path.realpath(path))
        transcript = cls(real, session_id=session_id, cwd=cwd, sync=sync)
        transcript.refresh()
        if transcript.skipped:
            logger.warning("%s: %d lines cannot be read", real, transcript.skipped)
        return transcript

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._path

    @property
    def header(self) -> dict[str, Any]:
        """First line of the file: its version, the id of the session, its time and folder."""
        with self._lock:
            found = self._reader.migration.header
            if found is None:
                found = self._made_header = self._made_header or self._make_header()
            return dict(found)

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return str(self.header.get("id", self._path.stem))

    @property
    def found_version(self) -> int | None:
        """Version of the file; None for plain lines, and where there is no file yet."""
        return self._reader.migration.found_version

    @property
    def skipped(self) -> int:
        """Number of lines that are unreadable, torn or repeated; they stay in the file."""
        reader = self._reader
        return reader.skipped + reader.migration.repeated + bool(reader.torn)

    @property
    def leaf(self) -> str | None:
        """Id of the entry that the next one follows; None before the first."""
        return self._leaf

    @property
    def compaction_count(self) -> int:
        """Number of compactions between the root and the leaf."""
        return sum(entry.type == "compaction" for entry in self.lineage())

    @property
    def name(self) -> str | None:
        """Name of the session, if it has one."""
        names = (
            each.fields.get("name")
            for each in reversed(self._entries)
            if each.type == "session_info"
        )
        return next((name for name in names if isinstance(name, str)), None)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries, in the order of the file."""
        with self._lock:
            return iter(tuple(self._entries))

    def get(self, id: str) -> Entry | None:
        """Return one entry, or None."""
        return self._by_id.get(id)

    def lineage(self, id: str | None = None) -> tuple[Entry, ...]:
        """Return the entries from the root to an entry, by default the leaf."""
        with self._lock:
            at = self._leaf if id is None else id
            if id is not None:
                self._check_known("id", id)
            found: list[Entry] = []
            while at is not None:
                entry = self._by_id[at]
                found.append(entry)
                at = entry.parent_id  # always an earlier line
            return tuple(reversed(found))

    def context(self, id: str | None = None) -> Context:
        """Return the messages that the model sees at an entry, by default the leaf."""
        with self._lock:
            context = rebuild_context(self.lineage(id), self._reader.migration.bridged)
            header = self.header
        provider, model = header.get("provider"), header.get("modelId")
        if context.model is None and isinstance(provider, str) and isinstance(model, str):
            return replace(context, model=(provider, model))
        return context

    def label_of(self, id: str) -> str | None:
        """Return the newest label of an entry, or None."""
        for entry in reversed(self._entries):
            if entry.type == "label" and entry.fields.get("targetId") == id:
                return entry.label
        return None

    def refresh(self) -> int:
        """Read what other processes appended; return the number of new entries."""
        with self._lock:
            try:
                with files.reading(self._path) as file:
                    found = os.fstat(file.fileno())
                    is_same = files.Identity.of(found) == self._identity
                    if not is_same or found.st_size < self._reader.offset:
                        return self._reread(file, files.Identity.of(found))
                    return self._add_entries(self._reader.read(file))
            except FileNotFoundError:
                self._reset()
                return 0
            except OSError as error:
                raise StoreError(f"{self._path}: cannot be read: {error}") from error

    def branch(self, id: str | None) -> None:
        """Go back to an entry, which the next one follows. None goes back before the first."""
        with self._lock:
            if id is not None:
                self._check_known("id", id)
            self._leaf = id

    def append(self, type: str, fields: Mapping[str, Any] | None = None) -> str:
        """Append an entry of any type; return its id."""
        return self._append(type, [dump_json(dict(fields or {}))])[0]

    def append_message(self, message: Any) -> str:  # noqa: ANN401 - of every format
        """Append a message, a dictionary or an SDK's model; return the id of its entry.

        Raises:
            MessageFormatError: it cannot be written as a JSON object.
            StoreError: it could not be stored.
        """
        return self.append_messages([message])[0]

    def append_messages(self, messages: Sequence[Any]) -> list[str]:
        """Append messages in one write, all or none; return the ids of their entries."""
        texts = [dump_json(message) for message in messages]
        for message, text in zip(messages, texts, strict=True):
            if not text.startswith("{"):
                kind = type(message).__name__
                raise MessageFormatError(f"expected a message that is a JSON object, got {kind}")
        return self._append("message", [f'{{"message":{text}}}' for text in texts])

    def append_compaction(  # noqa: PLR0913 - the fields of a compaction
        self,
        summary: str,
        first_kept_entry_id: str | None,
        tokens_before: int,
        tokens_after: int | None = None,
        details: Mapping[str, Any] | None = None,
        *,
        from_hook: bool = False,
    ) -> str:
        """Append a compaction, whose summary replaces everything before the first kept entry; return its id.

        Nothing is kept if ``first_kept_entry_id`` is None.

        Raises:
            ConfigError: the first kept entry does not lie between the root and the leaf.
        """
        fields: dict[str, Any] = {
            "summary": summary,
            "firstKeptEntryId": first_kept_entry_id or "",
            "tokensBefore": tokens_before,
        }
        fields |= {} if tokens_after is None else {"tokensAfter": tokens_after}
        fields |= {} if details is None else {"details": details}
        fields |= {"fromHook": True} if from_hook else {}
        with self._lock:
            kept = {entry.id for entry in self.lineage()}
            if first_kept_entry_id is not None and first_kept_entry_id not in kept:
                raise ConfigError(
                    f"first_kept_entry_id is {first_kept_entry_id!r}; "
                    "expected the id of an entry between the root and the leaf"
                )
            return self.append("compaction", fields)

    def append_custom(self, custom_type: str, data: Any = None) -> str:  # noqa: ANN401 - the host's
        """Append data of the host that the model does not see; return its id."""
        fields = {"customType": custom_type}
        return self.append("custom", fields if data is None else fields | {"data": data})

    def append_custom_message(
        self,
        custom_type: str,
        content: str | Sequence[Mapping[str, Any]],
        *,
        display: bool = True,
        details: Any = None,  # noqa: ANN401 - the host's
    ) -> str:
        """Append a message of the host to the model; return its id. ``display`` shows it to people too."""
        fields = {"customType": custom_type, "content": content, "display": display}
        return self.append(
            "custom_message", fields if details is None else fields | {"details": details}
        )

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Append a change of the model; return its id."""
        return self.append("model_change", {"provider": provider, "modelId": model_id})

    def append_thinking_level_change(self, level: str) -> str:
        """Append a change of the thinking level; return its id."""
        return self.append("thinking_level_change", {"thinkingLevel": level})

    def append_label(self, target_id: str, label: str | None) -> str:
        """Append a label for an entry, or its removal; return the id of the label."""
        self._check_known("target_id", target_id)
        fields = {"targetId": target_id}
        return self.append("label", fields if label is None else fields | {"label": label})

    def append_session_info(self, name: str) -> str:
        """Append the name of the session; return its id."""
        return self.append("session_info", {"name": name})

    def branch_with_summary(
        self, id: str | None, summary: str, details: Mapping[str, Any] | None = None
    ) -> str:
        """Go back to an entry and append a summary of the branch that is left; return its id."""
        with self._lock:
            left = self._leaf
            self.branch(id)
            fields: dict[str, Any] = {"fromId": left or "root", "summary": summary}
            try:
                return self.append(
                    "branch_summary", fields if details is None else fields | {"details": details}
                )
            except BaseException:
                self._leaf = left
                raise

    def upgrade(self) -> Path | None:
        """Rewrite a file of an old version as version 3; return the backup, or None if the file is not old.

        The first entry that is appended does the same.
        """
        with self._lock:
            self.refresh()
            self._refuse_newer()
            if not self._reader.migration.is_old:
                return None
            with files.held(self._path) as file:
                backup = back_up(self._path, self.found_version)
                data = rewrite(files.read(self._path), self.header)
                file.replace(data, sync=self._sync)
                self.refresh()
            logger.info("%s: rewritten as version %d, backup in %s", self._path, VERSION, backup)
            return backup

    def _append(self, type: str, bodies: Sequence[str]) -> list[str]:
        """Write entries of one type, whose fields are given as JSON, each behind the one before."""
        if not bodies:
            return []
        with self._lock:
            files.make_folder(self._path.parent)
            while True:
                with files.held(self._path) as file:
                    self.refresh()
                    self._refuse_newer()
                    if not self._reader.migration.is_old:
                        return self._write(file, type, bodies)
                self.upgrade()

    def _write(self, file: files.Held, type: str, bodies: Sequence[str]) -> list[str]:
        lines = [] if self._has_header else [dump_json(self.header)]
        ids: list[str] = []
        for body in bodies:
            parent = ids[-1] if ids else self._leaf
            ids.append(new_id(self._by_id, ids))
            lines.append(_line(type, ids[-1], parent, body))
        written = file.append("".join(f"{line}\n" for line in lines).encode(), sync=self._sync)
        # The entries are stored; nothing may fail from here on.
        self._add_entries(self._reader.read_written(written))
        self._leaf = ids[-1]
        return ids

    def _reread(self, file: BinaryIO, identity: files.Identity) -> int:
        """Read a file from its beginning. A branch that still exists stays current."""
        leaf, is_following = self._leaf, self._is_following
        self._reset()
        self._identity = identity
        count = self._add_entries(self._reader.read(file))
        if not is_following and (leaf is None or leaf in self._by_id):
            self._leaf = leaf
        return count

    def _add_entries(self, entries: Iterator[Entry]) -> int:
        is_following = self._is_following
        before = len(self._entries)
        try:
            for entry in entries:
                self._entries.append(entry)
                self._by_id[entry.id] = entry
        finally:  # also after a failed read
            if is_following and self._entries:
                self._leaf = self._entries[-1].id
        return len(self._entries) - before

    @property
    def _has_header(self) -> bool:
        """True if the file has a header, or had one that cannot be read."""
        return self._reader.migration.header is not None or bool(self._entries)

    @property
    def _is_following(self) -> bool:
        """True if the leaf is the newest entry."""
        return self._leaf == (self._entries[-1].id if self._entries else None)

    def _reset(self) -> None:
        self._reader = EntryReader()
        self._identity = self._leaf = None
        self._entries, self._by_id = [], {}

    def _make_header(self) -> dict[str, Any]:
        header: dict[str, Any] = {"type": HEADER, "version": VERSION}
        header["id"] = self._session_id or (self._path.stem if self._entries else str(uuid.uuid4()))
        header["timestamp"] = self._entries[0].timestamp if self._entries else iso(time.time())
        header["cwd"] = str(Path.cwd()) if self._cwd is None else self._cwd
        return header

    def _refuse_newer(self) -> None:
        if (self.found_version or 0) > VERSION:
            raise UnsupportedVersionError(
                f"{self._path}: version {self.found_version}; expected at most {VERSION} to append"
            )

    def _check_known(self, name: str, id: str) -> None:
        if id not in self._by_id:
            raise ConfigError(f"{name} is {id!r}; expected the id of an entry of {self._path.name}")


def _line(type: str, id: str, parent: str | None, body: str) -> str:
    head = {"type": type, "id": id, "parentId": parent, "timestamp": iso(time.time())}
    return dump_json(head) if body == "{}" else f"{dump_json(head)[:-1]},{body[1:]}"
