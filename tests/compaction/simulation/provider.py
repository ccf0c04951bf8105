"""Provider of the simulation: a model behind the Messages API with a window, which refuses malformed requests.

A summary is made as a poor model would make it: the headings, the newest identifiers, and a little of the rest. What
was stated long ago is not in it, so that a later question has to find it elsewhere.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from compaction.summary.server import Raw, Refused, Streamed
from memctx.compaction.summary import REQUIRED_SECTIONS, extract_identifiers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compaction.summary.server import Reply

    from .story import Plan, Story

SUMMARIZER = "summarizer"
MODEL = "model"
SEARCH = "memory_search"
SEARCHED = "searched for"
BYTES_PER_TOKEN = 4
BLOCK = re.compile(r"<recalled-context.*?</recalled-context>", re.DOTALL)
FENCED = re.compile(
    r"<(?:conversation|summaries)-\w+>\n(.*?)\n</(?:conversation|summaries)-", re.DOTALL
)
NOTE = "- The team works through the services one after another.\n- Nothing is released without a review."


@dataclass
class Provider:
    """Answers requests, keeps a ledger of what it said, and counts what it refused."""

    story: Story
    said: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Every answer that it gave, as the agent should have got it."""
    found: dict[str, str] = field(default_factory=dict[str, str])
    """For each fact that was asked for where in the messages it stood, if it did.

    A question is answered from the messages that come with it and from nothing else. If they do not have the answer,
    the model searches memory once.
    """
    counts: Counter[str] = field(default_factory=Counter[str])
    refused: list[str] = field(default_factory=list[str])
    """Requests that no provider takes."""
    struck: threading.Event = field(default_factory=threading.Event)
    """Set when the agent is to be killed; nothing is answered before it is."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when it was."""
    _turn: int = 0
    _kills: list[tuple[str, int]] = field(init=False)
    _outage: str = "ahead"

    def __post_init__(self) -> None:
        self._kills = list(self.plan.kills)

    @property
    def plan(self) -> Plan:
        return self.story.plan

    def reply(self, request: dict[str, Any]) -> Reply:
        """Return the answer to a request, or an error."""
        is_summary = request["model"] == SUMMARIZER
        kind, turn, step = "summary", self._turn, 0
        if not is_summary:
            kind, *sources = request["metadata"]["user_id"].split(":")
            turn, step = map(int, sources)
            self._turn = turn
        self._strike(kind, turn)
        self.counts[kind] += 1
        if problem := _problem(request):
            self.refused.append(f"{kind} in turn {turn}: {problem}")
            return Refused(400, "invalid_request_error", problem)
        if overflow := self._overflow(request, turn):
            self.counts[f"overflow of {kind}"] += 1
            return Refused(400, "invalid_request_error", overflow)
        if is_summary:
            return self._summary(request, turn)
        if self._outage == "on":
            self._outage = "over"
        if kind == "notes":
            return _answer(request, NOTE if self.counts["notes"] % 3 else "NO_REPLY")
        return self._told(request, turn, step)

    def _strike(self, kind: str, turn: int) -> None:
        """Wait until the agent is dead, if its time has come."""
        if self._kills and self._kills[0][0] == kind and turn >= self._kills[0][1]:
            self._kills.pop(0)
            self.struck.set()
            self.gone.wait(30)
            self.gone.clear()

    def _overflow(self, request: dict[str, Any], turn: int) -> str | None:
        """Return the API's error for a prompt that does not fit."""
        window = self.plan.window
        for first, last, share in self.plan.dips:
            if first <= turn < last:
                window = int(window * share)
        tokens, answer = tokens_of(request), request["max_tokens"]
        if tokens > window:
            return f"prompt is too long: {tokens} tokens > {window} maximum"
        if tokens + answer > window:
            sizes = f"{tokens} + {answer} > {window}"
            return (
                f"input length and `max_tokens` exceed context limit: {sizes}, "
                "decrease input length or `max_tokens` and try again"
            )
        return None

    def _summary(self, request: dict[str, Any], turn: int) -> Reply:
        if self._outage != "over" and turn >= self.plan.outage_at:
            self._outage = "on"
            self.counts["outage"] += 1
            return Refused(529, "overloaded_error", "Overloaded")
        prompt = request["messages"][0]["content"]
        record = FENCED.search(prompt)
        lines = [] if record is None else record[1].splitlines()
        exact = extract_identifiers(lines)
        gist = " ".join(line[:60] for line in lines if line.startswith("[User]:"))[-400:]
        bodies = [gist or "None.", "None.", "None.", lines[-1][:100] if lines else "None."]
        bodies.append("\n".join(f"- {each}" for each in exact) or "None.")
        rows = zip(REQUIRED_SECTIONS, bodies, strict=True)
        return Streamed("\n".join(f"## {heading}\n{body}" for heading, body in rows))

    def _told(self, request: dict[str, Any], turn: int, step: int) -> Reply:
        found = self.story.round(turn)
        if found.fact is None:
            planned = found.steps[step]
            calls = [
                {"id": call.id, "name": call.name, "input": call.input} for call in planned.calls
            ]
            return self._said(request, planned.text, calls)
        sources = [source for source, text in _sources(request) if found.fact.value in text]
        if sources:
            unasked = (source for source in sources if source != SEARCHED)
            self.found[found.fact.question] = next(unasked, SEARCHED)
            return self._said(request, f"It is {found.fact.value}.", [])
        if step:
            return self._said(request, "I do not know.", [])
        call = {"id": f"toolu_{turn:04d}", "name": SEARCH, "input": {"query": found.fact.question}}
        return self._said(request, "I have to look that up.", [call])

    def _said(self, request: dict[str, Any], text: str, calls: list[dict[str, Any]]) -> Reply:
        self.said.append({"text": text, "calls": calls})
        return _answer(request, text, calls)


def tokens_of(request: dict[str, Any]) -> int:
    """Return the cost of a request: a quarter of its bytes, independent of memctx."""
    sent = [request.get("system", ""), request["messages"], request.get("tools", [])]
    return len(json.dumps(sent, ensure_ascii=False).encode()) // BYTES_PER_TOKEN + 1


def _answer(request: dict[str, Any], text: str, calls: Sequence[dict[str, Any]] = ()) -> Reply:
    content = [{"type": "text", "text": text}, *({"type": "tool_use", **call} for call in calls)]
    spent = len(json.dumps(content, ensure_ascii=False).encode()) // BYTES_PER_TOKEN
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": tokens_of(request), "output_tokens": spent},
    }
    return Raw(json.dumps(message).encode(), "application/json")


def _sources(request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a request with their kinds: recalled, search result, summary, or message."""
    searches: set[str] = set()
    for message in request["messages"]:
        for block in _blocks(message):
            if block.get("name") == SEARCH:
                searches.add(block["id"])
            text = _text(block)
            for recalled in BLOCK.findall(text):
                yield "recalled", recalled
            rest = BLOCK.sub("", text)
            if block.get("tool_use_id") in searches:
                yield SEARCHED, rest
            else:
                yield "summary" if rest.startswith("Turn Context") else "kept", rest


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "tool_result":
        content = block.get("content", "")
        return content if isinstance(content, str) else "\n".join(map(_text, content))
    return json.dumps(block.get("input"), ensure_ascii=False)


def _problem(request: dict[str, Any]) -> str | None:
    """Return the reason why the API refuses a request, whatever its length."""
    turns: list[tuple[str, list[dict[str, Any]]]] = []
    for index, message in enumerate(request["messages"]):
        role, blocks = message["role"], _blocks(message)
        if role not in {"user", "assistant"}:
            return f"messages.{index}: unexpected role {role!r}"
        if not blocks:
            return f"messages.{index}: all messages must have non-empty content"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return f"messages.{index}: text content blocks must be non-empty"
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)  # the API reads neighbors as one
        else:
            turns.append((role, list(blocks)))
    if not turns or turns[0][0] != "user":
        return "messages: first message must use the user role"
    if turns[-1][0] != "user":
        return "messages: the conversation must end with a user message"
    return _broken_pair(turns)


def _broken_pair(turns: list[tuple[str, list[dict[str, Any]]]]) -> str | None:
    """Calls without results right behind them, or results without calls right before them."""
    waiting: list[str] = []
    seen: set[str] = set()
    for role, blocks in turns:
        if role == "user":
            answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if sorted(answered) != sorted(waiting):
                return f"tool_use ids {waiting} were answered by tool_result blocks for {answered}"
            kinds = [block["type"] for block in blocks[: len(answered)]]
            if any(kind != "tool_result" for kind in kinds):
                return "tool_result blocks must come first"
            waiting = []
        else:
            waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
            if seen & set(waiting) or len(set(waiting)) < len(waiting):
                return f"tool_use ids must be unique: {waiting}"
            seen |= set(waiting)
    return None
