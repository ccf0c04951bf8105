"""Unknown messages are refused at every entry point, and never changed."""

from __future__ import annotations

import asyncio
import copy
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memctx
from memctx import MessageFormatError, messages
from memctx.messages import FormatName

from . import foreign
from .foreign import CONVERSATIONS, FRAMEWORKS, MODULES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memctx import Memory

HELLO = {"role": "user", "content": "hello"}
ENTRIES: dict[str, Callable[[Memory, list[Any]], object]] = {
    "prepare": lambda memory, given: memory.prepare(given),
    "aprepare": lambda memory, given: asyncio.run(memory.aprepare(given)),
    "archive": lambda memory, given: memory.archive(given),
    "should_compact": lambda memory, given: memory.should_compact(given),
    "compact": lambda memory, given: memory.compact_sync(given),
    "validate": lambda _, given: memctx.validate(given),
    "repair": lambda _, given: memctx.repair(given),
    "smart_trim": lambda _, given: memctx.context.smart_trim(given, "port", safe_limit=1),
    "detect": lambda _, given: messages.detect(given),
    "read": lambda _, given: messages.read(given),
    "read_each": lambda _, given: messages.read_each(given),
}


@pytest.fixture(name="memory")
def _memory(tmp_path: Path) -> Any:
    with memctx.open(tmp_path, session_id="s1", context_window=2_000) as memory:
        yield memory


def state(value: Any) -> Any:
    """Return a deep copy of an object's contents, to be compared later."""
    if isinstance(value, dict):
        return {name: state(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [state(item) for item in value]
    return (type(value), state(vars(value))) if hasattr(value, "__dict__") else value


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_messages_of_frameworks_are_refused_and_stay_as_they_are(
    name: str, entry: str, memory: Memory
) -> None:
    conversation = CONVERSATIONS[name]
    before = state(conversation)
    with pytest.raises(MessageFormatError, match=r"^message 0 \(.*\) is not understood: "):
        ENTRIES[entry](memory, conversation)
    assert state(conversation) == before
    assert list(memory.store.segments()) == []


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if "value" not in name])
def test_the_error_names_class_field_and_remedy(name: str) -> None:
    """It does for classes that only look like a framework's as well."""
    conversation = CONVERSATIONS[name]
    with pytest.raises(MessageFormatError) as caught:
        memctx.validate(conversation)
    told = str(caught.value)
    assert f"({type(conversation[0]).__module__}.{type(conversation[0]).__qualname__})" in told
    fields = ("role ", "content ", "parts[0] ", "additional_kwargs ")
    assert any(f"understood: {field}" in told for field in fields)
    (remedy,) = [remedy for framework, remedy in FRAMEWORKS.items() if framework in name]
    assert remedy in told


@pytest.mark.parametrize("module", MODULES)
def test_a_framework_is_recognized_by_its_module(module: str) -> None:
    """A class that a host derives from one is told too."""
    made: dict[type, Any] = {
        foreign.RoleMessage: foreign.RoleMessage(role="user", content="hi"),
        foreign.ChatMessage: foreign.ChatMessage(blocks=[]),
        foreign.Message: foreign.Message("user", []),
        foreign.ModelRequest: foreign.ModelRequest([]),
    }
    (message,) = [copy.copy(each) for kind, each in made.items() if kind in MODULES[module]]
    message = foreign.of(module, message)
    derived = type("Own", (type(message),), {"__module__": "app.chat"})
    message.__class__ = derived
    with pytest.raises(MessageFormatError, match="messages are not read as they are"):
        memctx.validate([HELLO, message])


def test_an_orphan_that_is_not_understood_does_not_pass() -> None:
    with pytest.raises(MessageFormatError):
        memctx.validate([foreign.ToolMessage(content="8443", tool_call_id="gone")])


def test_a_computed_content_is_refused() -> None:
    """A copy with another content would lose it."""

    class Computed:
        role = "user"

        @property
        def content(self) -> str:
            return "hello"

    with pytest.raises(MessageFormatError, match="content is a property"):
        memctx.validate([Computed()])


CALLED = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
}
STRANGE: list[tuple[Any, str]] = [
    ("text", "role is missing"),
    (None, "role is missing"),
    (7, "role is missing"),
    (["user", "hi"], "role is missing"),
    (object(), "role is missing"),
    ({}, "role is missing"),
    ({"role": "narrator", "content": "x"}, 'role is "narrator"; expected user, assistant'),
    ({"role": 7, "content": "x"}, "role is int; expected user, assistant"),
    ({"role": "x" * 999, "content": "x"}, f'role is "{"x" * 40}"…; expected'),
    ({"role": "user"}, "content is missing"),
    ({"role": "user", "contents": []}, "content is missing.*Agent Framework"),
    ({"role": "user", "content": 7}, "content is int; expected text or a block"),
    ({"role": "user", "content": b"x"}, "content is bytes; expected text or a block"),
    ({"role": "user", "content": {"text": "x"}}, "content is a dictionary without a type"),
    ({"role": "user", "content": [7]}, r"content\[0\] is int; expected text or a block"),
    ({"role": "user", "content": [None]}, r"content\[0\] is NoneType"),
    ({"role": "user", "content": ["x", {"said": "x"}]}, r"content\[1\] is a dictionary without"),
    ({"role": "user", "content": [SimpleNamespace(said="x")]}, r"content\[0\] is SimpleNamespace"),
    ({"type": "human", "content": "x"}, "role is missing.*LangChain"),
    ({"type": "ai", "data": {"content": "x"}}, "role is missing.*LangChain"),
    ({"type": "note", "content": "x"}, "role is missing"),
    ({"kind": "request", "parts": [{"content": "x", "part_kind": "user-prompt"}]}, "Pydantic AI"),
    ({"role": "user", "blocks": [], "additional_kwargs": {}}, "content is missing.*LlamaIndex"),
    (
        {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {}}]},
        r"content\[0\].id is missing; a tool call needs the id",
    ),
    (
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        r"content\[0\].tool_use_id is missing",
    ),
    (
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": 7}]},
        r"content\[0\].content is int; expected text or blocks",
    ),
    ({"role": "tool", "content": "x"}, "tool_call_id is missing"),
    ({"role": "tool", "tool_call_id": 7, "content": "x"}, "tool_call_id is missing"),
    ({"role": "tool", "tool_call_id": "c"}, "content is missing"),
    ({"role": "function", "content": "x"}, "name is missing"),
    (
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]},
        r"tool_calls\[0\].id is missing",
    ),
    ({"role": "assistant", "content": None, "tool_calls": "f"}, "tool_calls.id is missing"),
    ({"type": "function_call", "name": "f", "arguments": "{}"}, "call_id is missing"),
    ({"type": "function_call_output", "output": "x"}, "call_id is missing"),
    ({"role": "model", "parts": [{"functionCall": {"args": {}}}]}, r"parts\[0\].id is missing"),
    ({"role": "user", "parts": [{"functionResponse": {}}]}, r"parts\[0\].tool_use_id is missing"),
    ({"role": "model"}, "parts is missing"),
    ({"role": "agent", "parts": [{"kind": "text", "text": "x"}]}, 'role is "agent"'),
    ({"role": "user", "parts": [{"type": "tool-look", "state": "done"}]}, r"parts\[0\] is dict"),
    ({"role": "assistant", "content": [{"toolUse": {"name": "f"}}]}, r"content\[0\].id is missing"),
    ({"role": "toolResult", "content": []}, "toolCallId is missing"),
    ({"role": "toolResult", "toolCallId": "c"}, "content is missing"),
    (
        {"role": "assistant", "content": [{"type": "toolCall", "name": "f"}], "stopReason": "stop"},
        r"content\[0\].id is missing",
    ),
    ({"type": "message", "id": "1", "timestamp": 1, "message": {"kind": "x"}}, "role is missing"),
]


@pytest.mark.parametrize(("strange", "told"), STRANGE)
def test_a_message_that_is_not_understood_is_refused_with_its_index_and_field(
    strange: Any, told: str
) -> None:
    given = [HELLO, strange]
    before = state(given)
    with pytest.raises(
        MessageFormatError, match=rf"^message 1 \(\w+\) is not understood: .*{told}"
    ):
        memctx.validate(given)
    assert state(given) == before


def test_a_mapping_is_read_like_a_dictionary() -> None:
    frozen = MappingProxyType(HELLO)
    assert memctx.validate([frozen]) == []
    with pytest.raises(MessageFormatError, match="role is missing"):
        memctx.validate([MappingProxyType({"content": "x"})])


def test_a_list_is_refused_again_once_it_was_refused(memory: Memory) -> None:
    """Nothing of it is remembered as read."""
    given = [HELLO, {"role": "narrator", "content": "x"}]
    for _ in range(3):
        with pytest.raises(MessageFormatError, match=r"^message 1 "):
            memory.prepare(given)
    given[1] = {"role": "assistant", "content": "x"}
    assert memory.prepare(given).messages == given
    with pytest.raises(MessageFormatError, match=r"^message 2 "):
        memory.prepare([*given, {"role": "narrator", "content": "x"}])


names = st.sampled_from(["speaker", "body", "kind", "author", "value", "parts", "contents", "text"])
values = st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
strangers = st.builds(
    lambda fields, role, is_object: (
        SimpleNamespace(**fields, **role) if is_object else {**fields, **role}
    ),
    st.dictionaries(names, values, max_size=4),
    st.sampled_from([{}, {"role": "narrator"}, {"role": None}, {"type": "human"}, {"type": "x"}]),
    st.booleans(),
)
plain = st.builds(
    lambda role, text: {"role": role, "content": text},
    st.sampled_from(["user", "assistant"]),
    st.text(max_size=5),
)


@given(
    st.lists(plain, max_size=3),
    strangers,
    st.lists(plain, max_size=3),
    st.sampled_from([None, *get_args(FormatName)]),
)
def test_drawn_strangers_are_refused_and_never_altered(
    before: list[Any], stranger: Any, after: list[Any], format: FormatName | None
) -> None:
    """But for items of new types among others of the Responses API, and for empty contents of Gemini's, which stay."""
    given = [*before, stranger, *after]
    was = state(given)
    refused, repaired = None, None
    try:
        repaired = memctx.repair(given, format)
    except MessageFormatError as error:
        refused = str(error)
    assert state(given) == was
    if repaired is None:
        assert refused is not None
        assert refused.startswith(f"message {len(before)} ")
        return
    fields = stranger if isinstance(stranger, dict) else vars(stranger)
    is_content = format in {None, "gemini"} and fields.get("parts") == []
    assert is_content or (format == "responses" and fields.get("type") == "x")
    assert any(message is stranger for message in repaired.messages)
