"""`Staging`: turns the messages of a batch into the records that a store takes."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from memctx import _core
from memctx.context import is_wanted
from memctx.errors import MessageFormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memctx.cli.import_export.transcript_file import TranscriptMessage
    from memctx.config import Config
    from memctx.context import Row
    from memctx.messages import FormatName

Record: TypeAlias = tuple[str, str, str, float | None, str | None]
"""Session, role, content, timestamp and metadata."""
# So many messages of so many sessions are read again with the next batch: results find there the names of the calls
# they answer.
CARRIED, MAX_SESSIONS = 16, 4
HISTORY = "history"


class Staging:
    """Reads messages, whatever their format, and counts what is left out."""

    def __init__(self, config: Config, *, extract: bool) -> None:
        self._config = config
        self._extract = extract
        self._reader = _core.MessageReader(config.trim.estimator, capacity=0)
        self._carried: dict[str, list[TranscriptMessage]] = {}
        self.skips = Counter[str]()
        """Pieces and messages that were left out, by reason."""
        self.damaged = 0
        """Records that are no messages."""

    def records(self, batch: Sequence[tuple[str, TranscriptMessage]]) -> list[Record]:
        """Return the records of a batch of messages, each given with the name of its format."""
        return [
            (session, *row)
            for session, group in _sessions(batch)
            for row in self._rows(session, group)
        ]

    def _rows(self, session: str, group: list[tuple[str, TranscriptMessage]]) -> Iterator[Row]:
        """Yield the rows to store of the messages of one session."""
        before = self._carried.pop(session, [])
        said = [each for _, each in group]
        pieces = self._scan(before, said)
        for (host, each), rows in zip(group, pieces, strict=True):
            wanted = [
                row
                for row in rows
                if each.metadata is not None or is_wanted(row, self._config.privacy.archive_tools)
            ]
            if len(rows) > len(wanted):
                self.skips["tool (archive_tools)"] += len(rows) - len(wanted)
            elif not rows:
                self.skips["nothing to store"] += 1
            for role, text, at, metadata in wanted:
                yield (
                    role,
                    text,
                    each.timestamp if at is None else at,
                    self._metadata_of(host, each, metadata),
                )
        self._carried[session] = [*before, *said][-CARRIED:]
        if len(self._carried) > MAX_SESSIONS:
            del self._carried[next(iter(self._carried))]

    def _scan(
        self, before: list[TranscriptMessage], said: list[TranscriptMessage]
    ) -> list[list[Row]]:
        """Return the rows of each message; messages of one format are read together."""
        everything = [*before, *said]
        message_formats: set[FormatName | None] = {
            each.message_format for each in said if each.metadata is None
        }
        found: list[list[Row]] = [[] for _ in everything]
        for message_format in message_formats:
            places = [
                at
                for at, each in enumerate(everything)
                if each.metadata is None and each.message_format == message_format
            ]
            messages = [everything[at].speech or everything[at].message for at in places]
            try:
                pieces = self._reader.read(messages, message_format).records()
            except MessageFormatError:
                pieces = [self._scan_alone(message, message_format) for message in messages]
            for at, rows in zip(places, pieces, strict=True):
                found[at] = list(rows)
        for at, each in enumerate(everything):
            if each.metadata is not None:
                found[at] = [(each.message["role"], each.message["content"], each.timestamp, None)]
        return found[len(before) :]

    def _scan_alone(self, message: dict[str, Any], message_format: FormatName | None) -> list[Row]:
        with contextlib.suppress(MessageFormatError):
            return [
                row
                for rows in self._reader.read([message], message_format).records()
                for row in rows
            ]
        self.damaged += 1
        return []

    def _metadata_of(self, format: str, said: TranscriptMessage, metadata: str | None) -> str:
        """Return the metadata of a row, with its source. No facts are extracted from a row that has a kind."""
        fields: dict[str, Any] = json.loads(metadata) if metadata else dict(said.metadata or {})
        source = {"format": format, "id": said.id}
        if said.parent is not None:
            source["parent"] = said.parent
        fields.setdefault("source", source)
        if not self._extract:
            fields.setdefault("kind", HISTORY)
        elif fields.get("kind") == HISTORY:
            del fields["kind"]
        return json.dumps(fields)


def _sessions(
    batch: Iterable[tuple[str, TranscriptMessage]],
) -> Iterator[tuple[str, list[tuple[str, TranscriptMessage]]]]:
    groups: dict[str, list[tuple[str, TranscriptMessage]]] = {}
    for host, said in batch:
        groups.setdefault(stored_id(said.session), []).append((host, said))
    yield from groups.items()


def stored_id(session: str) -> str:
    """Return the id that a session has in a store, which takes no half of a surrogate pair; some hosts leave one."""
    return session.encode("utf-8", "replace").decode() or "unnamed"
