"""Message classes of agent frameworks, built as theirs are: the same bases, fields, properties and modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from types import SimpleNamespace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class BaseMessage(BaseModel):
    """LangChain's: told by ``type``, without a role; what it does not know it takes."""

    model_config = ConfigDict(extra="allow")

    content: str | list[str | dict[str, Any]]
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    response_metadata: dict[str, Any] = Field(default_factory=dict)
    type: str
    name: str | None = None
    id: str | None = None


class HumanMessage(BaseMessage):
    type: Literal["human"] = "human"


class SystemMessage(BaseMessage):
    type: Literal["system"] = "system"


class AIMessage(BaseMessage):
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    invalid_tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    usage_metadata: dict[str, Any] | None = None
    type: Literal["ai"] = "ai"


class ToolMessage(BaseMessage):
    tool_call_id: str
    type: Literal["tool"] = "tool"
    artifact: Any = None
    status: Literal["success", "error"] = "success"


class RoleMessage(BaseMessage):
    """LangChain's ``ChatMessage``, which has both."""

    role: str
    type: Literal["chat"] = "chat"


class MessageRole(str, Enum):  # noqa: UP042 - as theirs is
    """LlamaIndex's."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class TextBlock(BaseModel):
    block_type: Literal["text"] = "text"
    text: str


class ChatMessage(BaseModel):
    """LlamaIndex's: content is computed from blocks, the ids of tools are among the additional arguments."""

    role: MessageRole = MessageRole.USER
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    blocks: list[TextBlock] = Field(default_factory=list)

    @property
    def content(self) -> str | None:
        return "\n".join(block.text for block in self.blocks) or None

    @content.setter
    def content(self, content: str) -> None:
        self.blocks = [TextBlock(text=content)]


class Content:
    """Microsoft Agent Framework's, one class for all sorts of content."""

    def __init__(self, type: str, **fields: Any) -> None:
        self.type = type
        self.text: str | None = fields.get("text")
        self.call_id: str | None = fields.get("call_id")
        self.name: str | None = fields.get("name")
        self.arguments: str | None = fields.get("arguments")
        self.result: Any = fields.get("result")
        self.additional_properties: dict[str, Any] = {}


class Message:
    """Microsoft Agent Framework's: a role and contents."""

    def __init__(self, role: str, contents: list[Content]) -> None:
        self.role = role
        self.contents = contents
        self.author_name: str | None = None
        self.message_id: str | None = None
        self.additional_properties: dict[str, Any] = {}
        self.raw_representation: Any = None

    @property
    def text(self) -> str:
        return " ".join(content.text for content in self.contents if content.text)


@dataclass(repr=False)
class UserPromptPart:
    """Pydantic AI's."""

    content: str
    timestamp: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    part_kind: Literal["user-prompt"] = "user-prompt"


@dataclass(repr=False)
class ToolCallPart:
    tool_name: str
    args: str | dict[str, Any] | None = None
    tool_call_id: str = "c1"
    part_kind: Literal["tool-call"] = "tool-call"


@dataclass(repr=False)
class ToolReturnPart:
    tool_name: str
    content: Any
    tool_call_id: str = "c1"
    part_kind: Literal["tool-return"] = "tool-return"


@dataclass(repr=False)
class ModelRequest:
    parts: list[Any]
    instructions: str | None = None
    kind: Literal["request"] = "request"


@dataclass(repr=False)
class ModelResponse:
    parts: list[Any]
    model_name: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    kind: Literal["response"] = "response"


MODULES = {
    "langchain_core.messages": (HumanMessage, SystemMessage, AIMessage, ToolMessage, RoleMessage),
    "llama_index.core.base.llms.types": (ChatMessage, TextBlock),
    "agent_framework._types": (Message, Content),
    "pydantic_ai.messages": (ModelRequest, ModelResponse, UserPromptPart),
}


def of(module: str, made: object) -> Any:
    """Return the same object of a class that claims to come from the framework's module."""
    kind = type(made)
    alias = type(kind.__name__, (kind,), {"__module__": module, "__qualname__": kind.__name__})
    made.__class__ = alias
    return made


CALL = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}
LANGCHAIN_CALL = {"name": "read", "args": {"path": "a"}, "id": "t1", "type": "tool_call"}
CONVERSATIONS: dict[str, list[Any]] = {
    "LangChain with Anthropic's blocks": [
        HumanMessage(content="Which port?"),
        AIMessage(content=[CALL], tool_calls=[LANGCHAIN_CALL]),
        ToolMessage(content="8443", tool_call_id="t1"),
    ],
    "LangChain with OpenAI": [
        SystemMessage(content="Be brief"),
        HumanMessage(content="Which port?"),
        AIMessage(content="", tool_calls=[LANGCHAIN_CALL]),
        ToolMessage(content="8443", tool_call_id="t1"),
    ],
    "LangChain with roles": [RoleMessage(role="user", content="Which port?")],
    "LlamaIndex": [
        ChatMessage(blocks=[TextBlock(text="Which port?")]),
        ChatMessage(
            role=MessageRole.ASSISTANT,
            additional_kwargs={
                "tool_calls": [
                    {
                        "id": "t1",
                        "type": "function",
                        "function": {"name": "read", "arguments": "{}"},
                    }
                ]
            },
        ),
        ChatMessage(
            role=MessageRole.TOOL,
            blocks=[TextBlock(text="8443")],
            additional_kwargs={"tool_call_id": "t1"},
        ),
    ],
    "Agent Framework": [
        Message("user", [Content("text", text="Which port?")]),
        Message("assistant", [Content("function_call", call_id="t1", name="read", arguments="{}")]),
        Message("tool", [Content("function_result", call_id="t1", result="8443")]),
    ],
    "Pydantic AI": [
        ModelRequest([UserPromptPart("Which port?")]),
        ModelResponse([ToolCallPart("read", {"path": "a"})]),
        ModelRequest([ToolReturnPart("read", "8443")]),
    ],
    "anything with a role and a value": [SimpleNamespace(role="user", value="Which port?")],
}
FRAMEWORKS = {
    "LangChain": "memctx.integrations.langchain",
    "LlamaIndex": "memctx.integrations.llama_index",
    "Agent Framework": "memctx.integrations.agent_framework",
    "Pydantic AI": "memctx.integrations.pydantic_ai",
}
