"""`Capture`: which messages a turn archives, and which stored messages are visible.

Messages are archived behind the turn, since the host still has them. Those that the turn removes and that answer its
question are archived before it searches, so that it can recall them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from memctx import _core
from memctx.context.store_mark import StoreMark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Conversation, Store, VisibleSegments
    from memctx.config import Config
    from memctx.context.cut import Cut
    from memctx.context.read import SourceIndex

    Archive = Callable[[Conversation, Sequence[SourceIndex], _core.Captured], None]
    """Stores some messages of a conversation and notes them as captured; raises if that fails."""

# Units that a turn stores before it searches, if it removes messages that were not stored before.
STORED_AT_ONCE = 16


class Capture:
    """The messages of one session that are stored, by the setting ``capture``."""

    def __init__(self, store: Store, config: Config, archive: Archive) -> None:
        self._store = store
        self._config = config
        self._archive = archive
        self._captured = _core.Captured()
        self.mark = StoreMark(store.path)

    def recognize(self, conversation: Conversation) -> None:
        """Learn which messages of a conversation are stored, which another process may have done."""
        tools = bool(self._config.privacy.archive_tools)
        self._store.recognize(conversation, self._captured, tools=tools)

    def visible(self, cut: Cut) -> VisibleSegments | None:
        """Return the segments of messages that are sent whole; None if none are known."""
        return cut.visible_segments(self._captured) if len(self._captured) else None

    def store(self, conversation: Conversation, indices: Sequence[SourceIndex]) -> None:
        """Store some messages; raise if that fails."""
        self._store_as(conversation, indices, is_answer=False)

    def store_answer(self, answer: Conversation) -> None:
        """Store the messages that answer a turn; raise if that fails."""
        indices = cast("Sequence[SourceIndex]", range(len(answer)))
        self._store_as(answer, indices, is_answer=True)

    def _store_as(
        self, conversation: Conversation, indices: Sequence[SourceIndex], *, is_answer: bool
    ) -> None:
        with self.mark.storing(is_answer=is_answer):
            self._archive(conversation, indices, self._captured)

    def find_new(
        self, conversation: Conversation, removed: Sequence[SourceIndex]
    ) -> list[SourceIndex]:
        """Return the messages to archive: of all, or of those removed."""
        capture = self._config.capture
        if capture == "off" or (capture == "evicted" and not removed):
            return []
        new = cast("list[SourceIndex]", self._captured.missing(conversation))
        if capture == "all":
            return new
        gone = set(removed)
        return [index for index in new if index in gone]

    def store_answers(
        self,
        conversation: Conversation,
        new: list[SourceIndex],
        removed: Sequence[SourceIndex],
        query: str,
    ) -> list[SourceIndex]:
        """Store the removed messages that answer the query best; return the new messages that are left.

        Most messages are stored before they are removed. A long history that comes at once is not.
        """
        gone = set(removed).intersection(new) if self._config.auto_recall else None
        if not gone:
            return new
        best = _core.most_relevant(conversation, sorted(gone), query, STORED_AT_ONCE)
        chosen = gone.intersection(cast("list[SourceIndex]", best))
        if chosen:
            self.store(conversation, sorted(chosen))
        return [index for index in new if index not in chosen]
