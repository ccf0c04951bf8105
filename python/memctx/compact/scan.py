"""`scanned`: messages as the scanner reads them, read once for all that is planned about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation, Shape


def scanned(
    messages: Sequence[Any], shape: Shape | None, conversation: Conversation | None
) -> Conversation:
    """The conversation that was read off the messages before, or off them now.

    >>> talk = [{"role": "user", "content": "go on"}]
    >>> conversation = scanned(talk, None, None)
    >>> scanned(talk, None, conversation) is conversation
    True
    """
    if conversation is None:
        return _core.Scanner(capacity=0).scan(messages, shape)
    if len(conversation) != len(messages):
        raise ConfigError(
            f"the conversation has {len(conversation)} messages; expected {len(messages)}, those that were given"
        )
    return conversation
