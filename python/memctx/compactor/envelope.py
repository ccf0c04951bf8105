"""The message that a summary goes in, in every shape, and how it is known again."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from memctx.messages import edit
from memctx.messages.block import field_of
from memctx.session.spoken import spoken, summary_in
from memctx.turn.outgoing import ALTERNATING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Conversation
    from memctx.messages import Shape

# What the model seems to say between a summary and a person's message, where roles must take turns.
ACKNOWLEDGED = "[memctx] The summary is read; the conversation goes on."
LEFT_OUT = "[memctx] Messages that stood here are in the summary."
_ASK = re.compile(r"^<latest-ask>\n(.*?)\n</latest-ask>", re.DOTALL | re.MULTILINE)


def summary_message(summary: str, shape: Shape, tokens_before: int) -> dict[str, Any]:
    """The message of a summary.

    >>> summary_message("Port 8443.", "pi", 51_234)["role"]
    'compactionSummary'
    """
    if shape == "pi":
        now = time.time_ns() // 1_000_000
        told = {"summary": summary, "tokensBefore": tokens_before, "timestamp": now}
        return {"role": "compactionSummary", **told}
    if shape in {"anthropic", "openai"}:  # as `Context.for_model` has it
        return {"role": "user", "content": [{"type": "text", "text": spoken(summary)}]}
    return edit.user_message(spoken(summary), shape)


def summary_places(conversation: Conversation) -> list[int] | None:
    """Where earlier compactions left their messages; None where the scanner alone knows.

    One of ours is the first thing behind the system prompts, and says nothing else.
    """
    if conversation.shape == "pi":
        return None
    places = set(conversation.summaries)
    roles, recalled = conversation.roles, set(conversation.recalled)
    said = (at for at, role in enumerate(roles) if role != "system" and at not in recalled)
    first = next(said, None)
    if first is not None and _is_summary(conversation, first):
        places.add(first)
        after = first + 1
        if after < len(roles) and _texts(conversation, [after]) == [ACKNOWLEDGED]:
            places.add(after)
    return sorted(places)


def previous_summary(conversation: Conversation, places: Sequence[int]) -> str | None:
    """What earlier summaries say, without the words around them; None without any."""
    texts = [text for text in _texts(conversation, places) if text != ACKNOWLEDGED]
    return "\n\n".join(summary_in(text) or text for text in texts) or None


def ask_in(summary: str) -> str | None:
    r"""What a summary says was asked last.

    >>> ask_in("## Latest user ask\n<latest-ask>\nWhich port?\n</latest-ask>")
    'Which port?'
    """
    found = _ASK.findall(summary)
    return found[-1].replace("<\\/latest-ask", "</latest-ask") if found else None


def joined(parts: Sequence[Sequence[Any]], shape: Shape) -> list[Any]:
    """The parts as one list. Where roles must take turns, a word is put between those that do not."""
    messages: list[Any] = []
    for part in parts:
        if messages and part and shape in ALTERNATING:
            is_person, is_next = (_is_person(each) for each in (messages[-1], part[0]))
            if is_person and is_next:
                role = "model" if shape == "gemini" else "assistant"
                messages.append({"role": role, field_of(shape): [{"text": ACKNOWLEDGED}]})
            elif not is_person and not is_next:
                messages.append(edit.user_message(LEFT_OUT, shape))
        messages += part
    return messages


def _is_person(message: object) -> bool:
    return edit.role(message) not in {"assistant", "model"}


def _is_summary(conversation: Conversation, place: int) -> bool:
    """Whether a message is a summary of ours and nothing else."""
    texts = _texts(conversation, [place])
    return len(texts) == 1 and summary_in(texts[0]) is not None


def _texts(conversation: Conversation, places: Sequence[int]) -> list[str]:
    return [record[1] for records in conversation.records(places) for record in records]
