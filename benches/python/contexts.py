"""Long conversations of an agent, made of the corpus: questions, answers, tool calls and their results."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import corpus as corpora

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Message = dict[str, Any]

TEXTS_A_LOOP = 6
"""Texts in the four messages of a loop; with texts of about 1,050 characters a message has 1,500 in the mean."""


def texts(path: Path, messages: int, skipped: int) -> list[str]:
    """Return enough texts for a number of messages, none of which is in a store of ``skipped`` segments."""
    count = (messages // 4 + 1) * TEXTS_A_LOOP
    corpora.generate(path, skipped + count)
    with path.open(encoding="utf-8") as lines:
        entries = map(json.loads, lines)
        segments = (entry["text"] for entry in entries if entry["kind"] == "segment")
        return list(islice(segments, skipped, skipped + count))


def context(material: Iterable[str], count: int) -> list[Message]:
    """Return messages in Anthropic's format, the last of them a user's or a tool's."""
    messages = list(islice(_loops(iter(material)), count))
    while messages[-1]["role"] == "assistant":
        messages.pop()
    return messages


def _loops(material: Iterator[str]) -> Iterator[Message]:
    """Yield a question, a call, its result of three texts, and an answer, repeatedly."""
    for number, question in enumerate(material):
        call = f"toolu_{number:06}"
        asked = {"path": f"src/module_{number % 97}.rs", "query": question[:80]}
        use = {"type": "tool_use", "id": call, "name": ("read", "bash")[number % 2], "input": asked}
        said = {"type": "text", "text": next(material)}
        yield {"role": "user", "content": question}
        yield {"role": "assistant", "content": [said, use]}
        content = [{"type": "text", "text": "\n".join(islice(material, 3))}]
        result = {"type": "tool_result", "tool_use_id": call, "content": content}
        yield {"role": "user", "content": [result]}
        yield {"role": "assistant", "content": [{"type": "text", "text": next(material)}]}


def text_of(message: Message) -> str:
    """Return all text of a message."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(_block_text(block) for block in content)


def _block_text(block: Message) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "tool_use":
            return f"{block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
    return "\n".join(_block_text(inner) for inner in block["content"])
