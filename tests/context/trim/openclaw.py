"""Reference implementation of OpenClaw's trim of messages without tools: no units, no plan, no cache."""

from __future__ import annotations

import math
from typing import Any

import memctx

Message = dict[str, Any]


def text_of(message: Message) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return " ".join(block["text"] for block in content if block["type"] == "text")


def estimate(message: Message) -> int:
    """Return a third of the text's UTF-16 length; nothing else in a message counts."""
    units = len(text_of(message).encode("utf-16-le", "surrogatepass")) // 2
    return max(1, math.ceil(units / 3))


def trim(messages: list[Message], query: str, limit: int, recent: int) -> list[int]:
    """Return the indices of the kept messages."""
    speakers = [index for index, message in enumerate(messages) if message["role"] != "system"]
    protected = set(speakers[-recent:]) if recent else set()
    protected |= set(range(len(messages))) - set(speakers)
    free = [place for place in range(len(messages)) if place not in protected]
    readable = [place for place in free if text_of(messages[place]).strip()]
    index = memctx.lowlevel.Bm25Index()
    index.add_many([(str(place), text_of(messages[place])) for place in readable])
    scores = {int(hit.id): hit.score for hit in index.search(query, len(messages) + 1)}
    by_relevance = sorted(readable, key=lambda place: scores.get(place, 0.0))
    kept = set(range(len(messages)))
    for place in [*by_relevance, *(place for place in free if place not in readable)]:
        if sum(estimate(messages[left]) for left in kept) <= limit:
            break
        kept.discard(place)
    return sorted(kept)
