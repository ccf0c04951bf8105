"""LangChain's `trim_messages`: the newest messages that fit, counted by their lengths.

It is spared reading the host's messages: it gets its own objects ready. It looks at lengths and order only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

NAME = "LangChain trim_messages"


class Trim:
    """Trimming of one list of messages to a share of its tokens."""

    def __init__(self, messages: Sequence[dict[str, Any]], share: float = 0.6) -> None:
        self._messages = [own for message in messages for own in _own(message)]
        self._limit = int(count_tokens_approximately(self._messages) * share)

    def __call__(self) -> list[BaseMessage]:
        """Return the messages that stay."""
        return trim_messages(
            self._messages,
            max_tokens=self._limit,
            token_counter=count_tokens_approximately,
            strategy="last",
            start_on="human",
            include_system=True,
        )


def _own(message: dict[str, Any]) -> list[BaseMessage]:
    content = message["content"]
    if isinstance(content, str):
        return [HumanMessage(content)]
    results = [block for block in content if block["type"] == "tool_result"]
    if results:
        return [
            ToolMessage(block["content"], tool_call_id=block["tool_use_id"]) for block in results
        ]
    text = "\n".join(block["text"] for block in content if block["type"] == "text")
    if message["role"] == "user":
        return [HumanMessage(text)]
    calls = [
        {"name": block["name"], "args": block["input"], "id": block["id"]}
        for block in content
        if block["type"] == "tool_use"
    ]
    return [AIMessage(text, tool_calls=calls)]
