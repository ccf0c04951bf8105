"""`Intake`: the way of messages into a store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation, WarmStore
    from memctx.embeddings.embedding import Embedding
    from memctx.extraction import Extraction

    Row: TypeAlias = tuple[str, str, float | None, str | None]


@dataclass(frozen=True, slots=True)
class Archived:
    """What became of the messages given to `Memory.archive`."""

    ids: tuple[str, ...]
    """The ids of the segments, in order; a piece that was there already has the id it had."""
    added: int
    """Pieces that are new in the store, and durable."""
    duplicates: int
    """Pieces that the session had already."""
    skipped: int
    """Pieces and messages left out: noise, tools not asked for, system prompts, nothing to read."""


class Intake:
    """Stores messages as far as the settings want them, and tells those who have work with what is new."""

    def __init__(
        self,
        store: WarmStore,
        *,
        tools: bool | Sequence[str],
        embedding: Embedding | None,
        extraction: Extraction | None,
    ) -> None:
        self._store = store
        self._tools = tools
        self._embedding = embedding
        self._extraction = extraction

    def add(self, conversation: Conversation) -> Archived:
        """Store all messages, and return once they are durable."""
        pieces = conversation.records()
        records = self._wanted(pieces)
        left_out = sum(not each for each in pieces) + sum(map(len, pieces)) - len(records)
        results = self._store.add(records) if records else []
        self._wake()
        outcomes = [result.outcome for result in results]
        return Archived(
            ids=tuple(result.id for result in results if result.id is not None),
            added=outcomes.count("added"),
            duplicates=outcomes.count("duplicate"),
            skipped=outcomes.count("noise") + left_out,
        )

    def put(self, conversation: Conversation, indices: Sequence[int]) -> None:
        """Store messages that leave the context, which the host still has."""
        if isinstance(self._tools, bool):
            self._store.put_messages(conversation, indices, tools=self._tools)
        elif records := self._wanted(conversation.records(indices)):
            self._store.put(records)
        self._wake()

    def _wanted(self, pieces: Sequence[Sequence[Row]]) -> list[Row]:
        return [record for each in pieces for record in each if is_wanted(record, self._tools)]

    def _wake(self) -> None:
        """There is more to embed and to extract from."""
        if self._embedding is not None:
            self._embedding.worker.wake()
        if self._extraction is not None:
            self._extraction.wake()


def is_wanted(record: Row, tools: bool | Sequence[str]) -> bool:  # noqa: FBT001 - as the setting has it
    """Whether `archive_tools` would have a record stored."""
    role, _, _, metadata = record
    if role != "tool" or isinstance(tools, bool):
        return role != "tool" or tools is True
    name = json.loads(metadata or "{}")["tool"].get("name", "")
    return any(fnmatchcase(name, pattern) for pattern in tools)
