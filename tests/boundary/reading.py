"""Helpers for the tests of the message reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from hypothesis import strategies as st

from memctx._core import MessageReader
from memctx.messages import FormatName

if TYPE_CHECKING:
    from memctx._core import Conversation

FORMATS: tuple[FormatName, ...] = get_args(FormatName)
FRAME = 4
NAMES = """role type content text user assistant system tool toolResult tool_use tool_result id name input arguments
    tool_calls function_call function custom customType call_id tool_use_id function_call_output output action source
    image image_url url data message summary compaction bashExecution command exitCode reasoning timestamp thinking
    search_result title parts model functionCall functionResponse args response inlineData mimeType thought toolUse
    toolUseId json document format reasoningContent reasoningText redactedContent signature encrypted_content status
    server_tool_use web_search_tool_result mcp_call error stopReason aborted excludeFromContext cachePoint isError"""
words = st.sampled_from(NAMES.split())
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | words
    | st.text(st.characters(exclude_categories=[]), max_size=6)
    | st.binary(max_size=4)
    | st.just(object())
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(words, inner, max_size=6)
    ),
    max_leaves=12,
)


def scan(messages: Any, format: FormatName | None = None) -> Conversation:
    return MessageReader().read(messages, format)


def say(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def call(id: str, name: str = "f") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
