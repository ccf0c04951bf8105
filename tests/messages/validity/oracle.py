"""The providers' rules once more: read off the wire, written down plainly, with no regard for speed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from . import wire


@dataclass
class Said:
    """One message as the rules see it."""

    side: str  # "user", "model", "tool" (a message that is a result), "system"
    blocks: list[tuple[str, str]]  # text, call, result or thinking, and the words or the id
    aborted: bool = False

    def ids(self, kind: str) -> list[str]:
        return [value for name, value in self.blocks if name == kind]


def problems(messages: list[wire.Message], format: str) -> list[tuple[int, str]]:
    """Return the index and the code of everything the provider would refuse."""
    talk = [read(message, format) for message in messages]
    found = [*result_problems(talk, format), *call_problems(talk, format)]
    if format == "anthropic":
        found += repeated_ids(talk)
    if format in {"anthropic", "bedrock"}:
        found += order_problems(talk)
    if format in wire.IN_BLOCKS:
        found += start_problems(talk) + empty_problems(talk, format)
    if format == "bedrock":
        sides = [said.side for said in talk]
        pairs = enumerate(pairwise(sides), 1)
        found += [(place, "roles-alternate") for place, (one, two) in pairs if one == two]
    if format == "gemini":
        found += [
            (place, "call-not-after-user")
            for place, said in enumerate(talk)
            if place and said.ids("call") and talk[place - 1].side == "model"
        ]
    if format == "responses":
        found += reasoning_problems(talk)
    return sorted(found)


def read(message: wire.Message, format: str) -> Said:
    if format == "responses":
        return read_item(message)
    role = message["role"]
    side = "model" if role == "assistant" else role
    if role in {"tool", "toolResult"}:
        return Said(
            "tool", [("result", message["tool_call_id" if role == "tool" else "toolCallId"])]
        )
    content = message["parts" if format == "gemini" else "content"]
    if content is None or isinstance(content, str):
        content = [] if content is None else [{"type": "text", "text": content}]
    blocks = [read_block(block) for block in content]
    blocks += [("call", call["id"]) for call in message.get("tool_calls", [])]
    return Said(side, blocks, message.get("stopReason") in {"aborted", "error"})


# Where a block has the id of a call or a result: by its type, or by its one field.
TYPED = {
    "tool_use": ("call", "id"),
    "toolCall": ("call", "id"),
    "tool_result": ("result", "tool_use_id"),
}
NAMED = {
    "functionCall": ("call", "id"),
    "functionResponse": ("result", "id"),
    "toolUse": ("call", "toolUseId"),
    "toolResult": ("result", "toolUseId"),
}


def read_block(block: dict[str, Any]) -> tuple[str, str]:
    if found := TYPED.get(block.get("type", "")):
        return found[0], block[found[1]]
    for name, (kind, field) in NAMED.items():
        if name in block:
            return kind, block[name][field]
    if "text" in block and not block.get("thought"):
        return "text", block["text"]
    return "thinking", ""


def read_item(item: wire.Message) -> Said:
    kind = item.get("type", "message")
    if kind == "function_call":
        return Said("model", [("call", item["call_id"])])
    if kind == "function_call_output":
        return Said("tool", [("result", item["call_id"])])
    if kind == "reasoning":
        return Said("model", [("thinking", "")])
    return Said("model" if item["role"] == "assistant" else item["role"], [("text", "words")])


def turn_of(talk: list[Said], place: int, format: str) -> int:
    """Return the start of the model's turn: adjacent items in Responses, elsewhere one message."""
    while format == "responses" and place and talk[place - 1].side == "model":
        place -= 1
    return place


def nearest_call(talk: list[Said], place: int, call_id: str) -> int | None:
    """Return the last message before an index that calls with an id."""
    return next((at for at in range(place - 1, -1, -1) if call_id in talk[at].ids("call")), None)


def all_results(talk: list[Said]) -> list[tuple[int, str]]:
    return [(place, call_id) for place, said in enumerate(talk) for call_id in said.ids("result")]


def result_problems(talk: list[Said], format: str) -> list[tuple[int, str]]:
    found = []
    seen: list[tuple[int, str]] = []
    for place, call_id in all_results(talk):
        call = nearest_call(talk, place, call_id)
        if call is None:
            found.append((place, "orphan-result"))
        elif talk[call].aborted:
            pass
        elif (turn_of(talk, call, format), call_id) in seen:
            found.append((place, "duplicate-result"))
        else:
            seen.append((turn_of(talk, call, format), call_id))
            if not is_right_behind(talk, call, place, format):
                found.append((place, "result-not-adjacent"))
    return found


def is_right_behind(talk: list[Said], call: int, result: int, format: str) -> bool:
    if format == "responses":
        return True
    if format in wire.IN_BLOCKS:
        return result == call + 1 and talk[result].side == "user"
    return all(said.side == "tool" for said in talk[call + 1 : result])


def call_problems(talk: list[Said], format: str) -> list[tuple[int, str]]:
    found = []
    calls: dict[tuple[int, str], int] = {}  # the first of each turn by its id
    for place, said in enumerate(talk):
        for call_id in said.ids("call"):
            calls.setdefault((turn_of(talk, place, format), call_id), place)
    for (turn, call_id), place in calls.items():
        answers = [
            at
            for at, other in all_results(talk)
            if other == call_id
            and (near := nearest_call(talk, at, call_id)) is not None
            and turn_of(talk, near, format) == turn
        ]
        if not answers and not talk[place].aborted:
            found.append((place, "unanswered-call"))
    return found


def repeated_ids(talk: list[Said]) -> list[tuple[int, str]]:
    calls = [(place, call_id) for place, said in enumerate(talk) for call_id in said.ids("call")]
    ids = [call_id for _, call_id in calls]
    return [
        (place, "duplicate-call")
        for at, (place, call_id) in enumerate(calls)
        if call_id in ids[:at]
    ]


def order_problems(talk: list[Said]) -> list[tuple[int, str]]:
    """Return whether a result answers the message before and has text in front of it."""
    found = []
    for place, said in enumerate(talk):
        kinds = [kind for kind, _ in said.blocks]
        if said.side != "user" or not place or "text" not in kinds:
            continue
        behind = said.blocks[kinds.index("text") :]
        front = {value for kind, value in said.blocks[: kinds.index("text")] if kind == "result"}
        before = talk[place - 1]
        late = [call_id for kind, call_id in behind if kind == "result" and call_id not in front]
        if not before.aborted and any(call_id in before.ids("call") for call_id in late):
            found.append((place, "text-before-result"))
    return found


def start_problems(talk: list[Said]) -> list[tuple[int, str]]:
    return [(0, "first-not-user")] if talk and talk[0].side == "model" else []


def empty_problems(talk: list[Said], format: str) -> list[tuple[int, str]]:
    found = []
    for place, said in enumerate(talk):
        if format == "anthropic" and said.side == "model" and place == len(talk) - 1:
            continue
        blank = any(kind == "text" and not value.strip() for kind, value in said.blocks)
        if not said.blocks or (blank and format != "gemini"):
            found.append((place, "empty-content"))
    return found


def reasoning_problems(talk: list[Said]) -> list[tuple[int, str]]:
    found = []
    for place, said in enumerate(talk):
        if said.blocks == [("thinking", "")]:
            rest = [other for other in talk[place + 1 :] if other.blocks != [("thinking", "")]]
            if not rest or rest[0].side != "model":
                found.append((place, "reasoning-without-follower"))
    return found
