"""smolagents: a model with memory, around any other.

from memctx.integrations.smolagents import MemctxModel

agent = ToolCallingAgent(tools, model=MemctxModel(model, "./memory", session_id="alice", context_window=200_000))
"""

from __future__ import annotations

import ast
import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast
from uuid import uuid4

from memctx.bridge import require

require("smolagents", "1.26", extra="smolagents")

from smolagents.memory import ActionStep, ToolCall  # noqa: E402 - after the check
from smolagents.models import (  # noqa: E402
    ChatMessage,
    MessageRole,
    Model,
    agglomerate_stream_deltas,
    parse_json_if_needed,
)
from smolagents.monitoring import Timing  # noqa: E402

from memctx.bridge import Sessions, Views, calls_view, content_after, refuse  # noqa: E402
from memctx.memory import Memory  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from os import PathLike

    from smolagents.models import ChatMessageStreamDelta

    from memctx.bridge import Options, Prepared, View
    from memctx.context import Turn

__all__ = ["MemctxModel"]

Message: TypeAlias = "ChatMessage | dict[str, Any]"
ROLES = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool-call": "assistant",
    "tool-response": "user",
}
"""Roles that smolagents sends, by those of its messages."""
CALLS = "Calling tools:\n"


class MemctxModel(Model):
    """Prepares every call of a model, streamed or not; the agent's memory stays as it is.

    The session is that of the `session` block around the call, ``session_id``, or else of this object. An agent that
    shares the session with others needs a model of its own with its name in ``agent``. All else is up to the model.

    >>> agent = ToolCallingAgent(tools, model=MemctxModel(model, "./memory"))  # doctest: +SKIP
    """

    def __init__(
        self,
        model: Model,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        agent: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        self.model = model
        if not isinstance(memory, Memory):
            session_id = session_id or str(uuid4())
        self.sessions = Sessions(memory, session_id=session_id, **options)
        self._agent = agent

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the model's
        """Return an attribute of the model; agents ask whether it has ``generate_stream``."""
        if name == "model":  # a copy in the making has none
            raise AttributeError(name)
        found = getattr(self.model, name)
        return partial(self._stream, found) if name == "generate_stream" else found

    @property
    def supports_stop_parameter(self) -> bool:
        """Return what the model supports."""
        return self.model.supports_stop_parameter

    def generate(self, messages: Sequence[Message], *args: Any, **kwargs: Any) -> ChatMessage:  # noqa: ANN401 - the model's
        """Prepare a call, and call the model."""
        prepared = self._prepare(messages)
        answer = self.model.generate(cast("Any", prepared.messages), *args, **kwargs)
        self._learn(prepared, answer)
        return answer

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Parse calls as the model does."""
        return self.model.parse_tool_calls(message)

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary of the model."""
        return cast("dict[str, Any]", self.model.to_dict())

    def close(self) -> None:
        """Close the memories that were opened."""
        self.sessions.close()

    def _stream(
        self,
        stream: Callable[..., Generator[ChatMessageStreamDelta]],
        messages: Sequence[Message],
        *args: Any,  # noqa: ANN401 - the model's
        **kwargs: Any,  # noqa: ANN401 - the model's
    ) -> Generator[ChatMessageStreamDelta]:
        prepared = self._prepare(messages)
        deltas: list[ChatMessageStreamDelta] = []
        try:
            for delta in stream(prepared.messages, *args, **kwargs):
                deltas.append(delta)
                yield delta
        finally:
            with suppress(Exception):  # the agent reads the same deltas, and raises
                self._learn(prepared, agglomerate_stream_deltas(deltas))

    def _prepare(self, messages: Sequence[Message]) -> Prepared[Message]:
        views, name = SmolViews(messages), getattr(self.model, "model_id", None)
        return self.sessions.prepare(self._session, messages, format=views, model=name)

    def _learn(self, prepared: Prepared[Message], answer: ChatMessage) -> None:
        """Observe the usage, and archive a final answer: the next run may begin without it."""
        usage = answer.token_usage
        if usage is not None and usage.input_tokens:
            counted = {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
            }
            prepared.observe(counted)
        if prepared.memory is not None:
            last: list[Message] = []
            with suppress(Exception):
                last += _last(answer)
            self.sessions.archive(self._session, last, format=SmolViews(last))

    def _session(self) -> str:
        name = self.sessions.current()
        return f"{name}/{self._agent}" if self._agent else name


class SmolViews(Views[Message]):
    """Views of the messages of one call.

    smolagents sends calls and results as text. To memory, a message of calls and the one of all their results are one
    call and its result.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        """Find the messages of calls that have results."""
        self._calls: dict[int, str] = {}
        for one, two in pairwise(messages):
            if _role(one) == "tool-call" and _role(two) == "tool-response":
                self._calls[id(one)] = self._calls[id(two)] = _call(one)[0]

    def prepare(
        self, memory: Memory, messages: Sequence[Message], *, model: str | None = None
    ) -> tuple[list[Message], Turn]:
        """Return the messages to send; smolagents joins neighbors of one role, and fails if their content is text."""
        sent, turn = super().prepare(memory, messages, model=model)
        roles = [ROLES[_role(message)] for message in sent]
        for index, (one, two) in enumerate(pairwise(roles)):
            if one == two:
                sent[index : index + 2] = map(_with_blocks, sent[index : index + 2])
        return sent, turn

    def view(self, message: Message) -> list[View]:
        """Return the view of a message."""
        role, own = _role(message), self._calls.get(id(message))
        if role not in ROLES:
            raise refuse(message, expected="a ChatMessage with a role of smolagents")
        if own is None:
            return [{"role": ROLES[role], "content": _content(message)}]
        if role == "tool-call":
            return [
                {"role": "assistant", "content": None, "tool_calls": calls_view([_call(message)])}
            ]
        return [{"role": "tool", "tool_call_id": own, "content": _content(message)}]

    def rebuild(self, message: Message, changes: Sequence[tuple[View, View]]) -> Message:
        """Return a copy with another text."""
        [(before, after)] = changes
        if before["role"] == "assistant":
            return message
        content = content_after(_raw(message), before["content"], after["content"])
        return _with_content(message, _blocks(content))

    def make(self, view: View) -> ChatMessage:
        """Return recalled text as a message of the user, or the result of a call that had none."""
        role = MessageRole.TOOL_RESPONSE if view["role"] == "tool" else MessageRole.USER
        return ChatMessage(role=role, content=_blocks(view["content"]))


def _role(message: object) -> str:
    found = message.get("role") if isinstance(message, dict) else getattr(message, "role", None)
    return str(getattr(found, "value", found))


def _raw(message: Message) -> Any:  # noqa: ANN401 - text or blocks
    return message.get("content") if isinstance(message, dict) else message.content


def _with_content(message: Message, content: list[dict[str, Any]]) -> Message:
    if isinstance(message, dict):
        return message | {"content": content}
    return replace(message, content=content)


def _with_blocks(message: Message) -> Message:
    content = _raw(message)
    return message if isinstance(content, list) else _with_content(message, _blocks(content or ""))


def _content(message: Message) -> Any:  # noqa: ANN401 - text or blocks
    """Return the content of a view; the pixels of a picture are not part of it."""
    content = _raw(message)
    if not isinstance(content, list):
        return content or ""
    return [_picture(block) if block.get("type") == "image" else block for block in content]


def _picture(block: dict[str, Any]) -> View:
    pixels = getattr(block["image"], "tobytes", partial(bytes, str(block["image"]), "utf-8"))()
    url = hashlib.sha256(pixels).hexdigest()
    return {"type": "image_url", "image_url": {"url": url}}


def _blocks(content: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - text or blocks
    """Return content as the list that smolagents needs to join messages of one role."""
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _call(message: Message) -> tuple[str, str, str]:
    """Return the calls of a message as one: the first id and name, and everything that is called."""
    content = _content(message)
    text = content if isinstance(content, str) else "\n".join(it.get("text", "") for it in content)
    own, name = hashlib.sha256(text.encode()).hexdigest()[:24], "tools"
    with suppress(ValueError, SyntaxError, LookupError, TypeError):
        first = ast.literal_eval(text.removeprefix(CALLS))[0]
        own, name = str(first["id"]), str(first["function"]["name"])
    return own, name, json.dumps({"calls": text.removeprefix(CALLS)}, ensure_ascii=False)


def _last(answer: ChatMessage) -> list[ChatMessage]:
    """Return an answer as the next call would send it: text, or a call of the tool that ends a run."""
    step = ActionStep(0, Timing(0), model_output=cast("str | None", answer.content) or None)
    for call in answer.tool_calls or ():
        if call.function.name != "final_answer":
            return []
        arguments = parse_json_if_needed(call.function.arguments)
        said = arguments.get("answer") if isinstance(arguments, dict) else arguments
        step.tool_calls = [ToolCall(call.function.name, arguments, call.id)]
        step.observations = str(said).strip()
    return cast("list[ChatMessage]", step.to_messages())
