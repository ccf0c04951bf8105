"""`latest_ask`: what a person asked for last, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.compact.scan import scanned
from memctx.compact.trigger import manual
from memctx.messages import edit, part
from memctx.messages.block import blocks_of, text_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation, Shape


def latest_ask(
    messages: Sequence[Any], shape: Shape | None = None, *, conversation: Conversation | None = None
) -> str | None:
    """The text of the newest message in which a person says something; None if there is none.

    Passed over are blocks that memctx recalled, summaries, the commands that ask for a compaction, and what hosts and
    tools say in a person's place.

    >>> latest_ask([{"role": "user", "content": "Fix the  port"}, {"role": "assistant", "content": "Done"}])
    'Fix the  port'
    """
    conversation = scanned(messages, shape, conversation)
    roles, summaries = conversation.roles, set(conversation.summaries)
    for place in reversed(range(len(roles))):
        message = messages[place]
        if roles[place] != "user" or place in summaries or edit.role(message) != "user":
            continue
        blocks = blocks_of(part.unwrapped(message), conversation.shape)
        texts = [text for block in blocks if (text := text_in(block, conversation.shape))]
        ask = "\n".join(text for text in texts if not _core.is_block(text))
        if ask.strip() and manual(ask) is None:
            return ask
    return None
