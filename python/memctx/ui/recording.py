"""`StoredSession`: a stored session as messages that can be replayed, and the stored messages behind each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Segment


class ToolPart(NamedTuple):
    """A call of a tool, or its result."""

    call_id: str
    kind: str
    name: str


@dataclass(slots=True)
class StoredSession:
    """Messages in OpenAI's format, made of the segments of a session.

    A segment is one message, but tool calls, which are parts of the answer before them. A store keeps what repeats
    itself only once, so that a result may have lost its call: it gets one again. A call without a result becomes text.
    """

    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    numbers: list[int] = field(default_factory=list[int])
    """For each message, the number of its first segment."""
    segments: int = 0

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> StoredSession:
        """Rebuild the messages of a session."""
        found = cls(segments=len(segments))
        parts = [_tool_part(each) for each in segments]
        number = 0
        while number < len(segments):
            end = _run_end(parts, number)
            if end == number:
                role = "assistant" if segments[number].role == "assistant" else "user"
                found._add(number, {"role": role, "content": segments[number].content})
                end += 1
            else:
                found._add_run(segments, parts, range(number, end))
            number = end
        return found

    def count_before(self, messages: int) -> int:
        """Return the number of segments behind the first so-many messages."""
        return self.numbers[messages] if messages < len(self.numbers) else self.segments

    def _add(self, number: int, message: dict[str, Any]) -> None:
        self.messages.append(message)
        self.numbers.append(number)

    def _add_run(
        self, segments: Sequence[Segment], parts: Sequence[ToolPart | None], run: range
    ) -> None:
        """Append tool calls and the results that follow them."""
        tools = {number: part for number in run if (part := parts[number]) is not None}
        results = {part.call_id for part in tools.values() if part.kind == "result"}
        calls: dict[str, dict[str, Any]] = {}
        texts: list[str] = []
        for number, (call_id, kind, name) in tools.items():
            text = segments[number].content
            if kind == "call" and call_id not in results:
                texts.append(text)
            elif call_id not in calls:
                arguments = text.removeprefix(name).strip() if kind == "call" else ""
                calls[call_id] = _call(call_id, name, arguments or "{}")
        answer: dict[str, Any] = self.messages[-1] if self.messages else {}
        if answer.get("role") != "assistant":
            answer = {"role": "assistant", "content": None}
            self._add(run.start, answer)
        if texts:
            answer["content"] = "\n".join(filter(None, [answer["content"], *texts]))
        if calls:
            answer["tool_calls"] = list(calls.values())
        given: dict[str, dict[str, Any]] = {}
        for number, part in tools.items():
            if part.kind == "result":
                self._add_result(number, part.call_id, segments[number].content, given)

    def _add_result(
        self, number: int, call_id: str, text: str, given: dict[str, dict[str, Any]]
    ) -> None:
        """Append a result; a second one of the same call joins the first."""
        if call_id in given:
            given[call_id]["content"] += f"\n{text}"
            return
        given[call_id] = {"role": "tool", "tool_call_id": call_id, "content": text}
        self._add(number, given[call_id])


def _run_end(parts: Sequence[ToolPart | None], start: int) -> int:
    """Return the end of a run of tool calls with the results that follow; its start if there is none."""
    end, has_results = start, False
    while end < len(parts) and (part := parts[end]) is not None:
        if has_results and part.kind == "call":
            break
        has_results |= part.kind == "result"
        end += 1
    return end


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _tool_part(segment: Segment) -> ToolPart | None:
    """Return the tool part of a segment; None for what people and models say."""
    tool: object = segment.metadata.get("tool") if segment.role == "tool" else None
    if not isinstance(tool, dict):
        return None
    fields = cast("dict[str, object]", tool)
    call_id, kind, name = (fields.get(each) for each in ("callId", "kind", "name"))
    if not (isinstance(call_id, str) and isinstance(name, str) and call_id and name):
        return None
    return ToolPart(call_id, str(kind), name) if kind in {"call", "result"} else None
