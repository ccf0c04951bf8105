"""`Reading`: what a summariser reads of each message, and what that costs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.summarize.serialize import serialize_messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memctx import Redactor
    from memctx.messages import Shape


class Reading:
    """Messages that were written out once, for all the ways in which they may be put together.

    A result of a tool costs what is shown of it, so that a history of long results takes a few calls and not dozens.

    >>> said = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "8443"}]
    >>> reading = Reading(said, "anthropic")
    >>> reading.text(said[1:]), reading.tokens(said[1])
    ('[Assistant]: 8443', 6)
    """

    def __init__(
        self, messages: Sequence[Any], shape: Shape, redactor: Redactor | None = None
    ) -> None:
        self._messages = messages  # held, since messages are known by being the very same object
        texts = ["\n\n".join(entries) for entries in serialize_messages(messages, shape, redactor)]
        keys = [id(message) for message in messages]
        costs = (_core.estimate_tokens(text, "script") if text else 0 for text in texts)
        self._texts = dict(zip(keys, texts, strict=True))
        self._tokens = dict(zip(keys, costs, strict=True))

    def text(self, messages: Iterable[Any]) -> str:
        """What is read of some of the messages."""
        texts = (self._texts[id(message)] for message in messages)
        return "\n\n".join(filter(None, texts))

    def tokens(self, message: object) -> int:
        """What reading one of the messages costs."""
        return self._tokens[id(message)]
