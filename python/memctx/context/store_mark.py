"""`StoreMark`: tells whether a store has changed since a search, by the sizes of its logs.

Every turn archives messages that the model sees anyway. They are nothing that a search could newly find, so what they
add to the log is counted apart: as long as the log has grown by nothing else, a step of a tool loop searches nothing.
What another process writes in the very moment in which a turn is archived is counted with it, and found by the next
question.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from memctx import store_files

if TYPE_CHECKING:
    from collections.abc import Generator
    from os import PathLike


class Sizes(NamedTuple):
    """Bytes of the logs of a store."""

    segments: int = 0
    facts: int = 0


NOTHING = Sizes()


class StoreMark:
    """Sizes of a store's logs, and by how much the turns of this process made them grow."""

    def __init__(self, store: str | PathLike[str]) -> None:
        self._segments = os.path.join(store, store_files.SEGMENTS)  # noqa: PTH118 - in every turn
        self._facts = os.path.join(store, store_files.KNOWLEDGE)  # noqa: PTH118
        self._messages = 0
        self._answers = 0

    def sizes(self) -> Sizes:
        """Return the sizes now."""
        return Sizes(_size(self._segments), _size(self._facts))

    @contextmanager
    def storing(self, *, is_answer: bool) -> Generator[None]:
        """Count what is stored in the meantime as messages of a turn, or as the model's answer to it."""
        before = _size(self._segments)
        yield
        grown = _size(self._segments) - before
        if is_answer:
            self._answers += grown
        else:
            self._messages += grown

    def take_messages(self) -> int:
        """Return the bytes of the messages stored since the last call."""
        grown, self._messages = self._messages, 0
        return grown

    def take_answers(self) -> int:
        """Return the bytes of the answers stored since the last call."""
        grown, self._answers = self._answers, 0
        return grown


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return 0
