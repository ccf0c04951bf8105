"""`Intake`: the archiving of messages in a store."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memctx._core import Captured, Conversation, Store
    from memctx.embeddings import EmbeddingService
    from memctx.facts.worker import BackgroundExtraction

Row: TypeAlias = tuple[str, str, float | None, str | None]
"""Role, text, timestamp and metadata of a record."""


@dataclass(frozen=True, slots=True)
class Archived:
    """Outcome of `Memory.archive`.

    >>> print(Archived(("a", "b"), added=2, duplicates=0, skipped=3, reasons={"noise": 1, "system": 2}))
    2 added, 0 duplicates, 3 skipped (1 noise, 2 system)
    """

    ids: tuple[str, ...] = field(repr=False)
    """Ids of the segments, in order; a duplicate has the id of the stored segment."""
    added: int
    """Records that are new in the store, and durable."""
    duplicates: int
    """Records that the session had already."""
    skipped: int
    """Records and messages left out."""
    reasons: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """Number left out by reason. A message is not stored if it is a ``"system"`` prompt, a block that was
    ``"recalled"``, ``"thinking"``, of an ``"unknown"`` type, a session file's own line or one the user hid from the
    model (``"host"``), or ``"empty"``; a record is left out as ``"noise"``, or as one of the ``"tools"`` that
    `privacy.archive_tools` does not name."""

    def __str__(self) -> str:
        """Return the counts on one line."""
        why = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        counts = f"{self.added} added, {self.duplicates} duplicates, {self.skipped} skipped"
        return f"{counts} ({why})" if why else counts


class Intake:
    """Stores messages as the settings ask, and notifies the embedding and extraction workers."""

    def __init__(
        self,
        store: Store,
        *,
        tools: bool | Sequence[str],
        embedding: EmbeddingService | None,
        extraction: BackgroundExtraction | None,
    ) -> None:
        self._store = store
        self._tools = tools
        self._embedding = embedding
        self._extraction = extraction

    def add(self, conversation: Conversation) -> Archived:
        """Store all messages, and return once they are durable."""
        rows = conversation.records()
        records = self._select(rows)
        results = self._store.add(records) if records else []
        self._notify()
        outcomes = [result.outcome for result in results]
        counts = Counter(conversation.silences())
        counts["tools"] = sum(map(len, rows)) - len(records)
        counts["noise"] = outcomes.count("noise")
        reasons = {reason: counts[reason] for reason in sorted(counts) if counts[reason]}
        return Archived(
            ids=tuple(result.id for result in results if result.id is not None),
            added=outcomes.count("added"),
            duplicates=outcomes.count("duplicate"),
            skipped=sum(reasons.values()),
            reasons=reasons,
        )

    def put(self, conversation: Conversation, indices: Sequence[int], captured: Captured) -> None:
        """Store messages that the host still has, and note them in ``captured``."""
        if isinstance(self._tools, bool):
            self._store.put_messages(conversation, indices, tools=self._tools, captured=captured)
        else:
            rows = [self._select([each]) for each in conversation.records(indices)]
            records = [record for each in rows for record in each]
            results = iter(self._store.put(records) if records else [])
            digests = [
                [
                    result.digest
                    for result in islice(results, len(each))
                    if result.digest is not None
                ]
                for each in rows
            ]
            captured.note(conversation, indices, digests)
        self._notify()

    def _select(self, rows: Sequence[Sequence[Row]]) -> list[Row]:
        return [record for each in rows for record in each if is_wanted(record, self._tools)]

    def _notify(self) -> None:
        """Notify the workers that there is more to embed and to extract from."""
        if self._embedding is not None:
            self._embedding.worker.notify()
        if self._extraction is not None:
            self._extraction.notify()


def is_wanted(record: Row, tools: bool | Sequence[str]) -> bool:  # noqa: FBT001 - as the setting has it
    """Return whether `privacy.archive_tools` lets a record be stored."""
    role, _, _, metadata = record
    if role != "tool" or isinstance(tools, bool):
        return role != "tool" or tools is True
    name = json.loads(metadata or "{}")["tool"].get("name", "")
    return any(fnmatchcase(name, pattern) for pattern in tools)
