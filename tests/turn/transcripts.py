"""Real sessions of real agents as scripts. They are not part of the repository: `missing` says what is not here."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .script import Assistant, Call, Result, Results, Shell, Summary, System, Thought, User

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .script import Script, Step

DATA = Path(__file__).parents[3] / "shared" / "data"
PI = ("before-compaction", "large-session")
SWE = (
    "function_calling__install-1",
    "function_calling_replace__install-1",
    "function_calling_replace_from_source",
)
NAMES = tuple(
    [f"pi:{name}" for name in PI]
    + [f"swe:{name}" for name in SWE]
    + [f"needles:{name}" for name in PI]
)
_FOLDERS = {"pi": "pi_sessions", "swe": "swe_agent", "needles": "needles_dev"}
_CALL = re.compile(r"^\[tool_call (\S+)\] ?(.*)$", re.MULTILINE)


class MissingTranscriptError(Exception):
    """The session is not on this machine."""


@dataclass(frozen=True)
class Needle:
    """A fact that was hidden in a session, the way a question asks for it, and the languages of both."""

    id: str
    fact: str
    question: str
    kind: str


def load(name: str) -> Script:
    """A session by its name, such as ``pi:large-session``."""
    family, _, session = name.partition(":")
    match family:
        case "pi":
            return _pi(session)
        case "swe":
            return _swe(session)
        case "needles":
            return _needles(session)
    raise MissingTranscriptError(f"there is no session {name!r}; known are {', '.join(NAMES)}")


def missing(name: str) -> str | None:
    """Why a session cannot be loaded here, or None."""
    family, _, session = name.partition(":")
    try:
        _read(family, {"needles": "messages"}.get(family, session))
    except MissingTranscriptError as error:
        return str(error)
    return None


def compacted(name: str) -> tuple[Script, ...]:
    """A Pi session as its host compacted it: what was in the context until each compaction and until the end."""
    lines = _lines("pi", name)
    contexts: list[Script] = []
    start = 0
    head: tuple[Step, ...] = ()
    for place, line in enumerate(lines):
        if line["type"] == "compaction":
            contexts.append(_script([*head, *_pi_steps(lines[start:place])]))
            start, head = line["firstKeptEntryIndex"], (Summary(line["summary"]),)
    contexts.append(_script([*head, *_pi_steps(lines[start:])]))
    return tuple(contexts)


def needles(session: str) -> list[Needle]:
    """What was hidden in a session, one for each way of asking."""
    facts = {
        line["id"]: line["content"]
        for line in _lines("needles", "messages")
        if line["store"] == session and line["id"].startswith("dev")
    }
    return [
        Needle(line["gold"][0], facts[line["gold"][0]], line["query"], line["type"])
        for line in _lines("needles", "queries")
        if line["store"] == session
    ]


@cache
def _read(family: str, name: str) -> str:
    ending = "traj.json.gz" if family == "swe" else "jsonl.gz"
    path = DATA / _FOLDERS[family] / f"{name}.{ending}"
    if not path.exists():
        raise MissingTranscriptError(f"no transcripts here: {path.name} is missing")
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def _lines(family: str, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read(family, name).splitlines()]


@cache
def _pi(name: str) -> Script:
    """All messages of a Pi session, as if nobody had ever compacted it."""
    return _script(_pi_steps(_lines("pi", name)))


def _pi_steps(lines: Iterable[dict[str, Any]]) -> Iterator[Step]:
    for line in lines:
        if line["type"] == "message":
            yield _pi_step(line["message"])


def _pi_step(message: dict[str, Any]) -> Step:
    if message["role"] == "bashExecution":
        return Shell(message["command"], message["output"], origin=message)
    texts = tuple(block["text"] for block in message["content"] if block["type"] == "text")
    if message["role"] == "user":
        return User(texts, origin=message)
    if message["role"] == "toolResult":
        head = (message["toolCallId"], message["toolName"], "\n".join(texts))
        return Results((Result(*head, is_error=message.get("isError", False), origin=message),))
    blocks = message["content"]
    return Assistant(
        texts=texts,
        calls=tuple(
            Call(block["id"], block["name"], block["arguments"])
            for block in blocks
            if block["type"] == "toolCall"
        ),
        thoughts=tuple(
            Thought(block["thinking"], block.get("thinkingSignature"))
            for block in blocks
            if block["type"] == "thinking"
        ),
        is_aborted=message.get("stopReason") in {"aborted", "error"},
        origin=message,
    )


@cache
def _swe(name: str) -> Script:
    """A run of SWE-agent."""
    return _script(map(_swe_step, json.loads(_read("swe", name))["history"]))


def _swe_step(message: dict[str, Any]) -> Step:
    text = message["content"]
    match message["role"]:
        case "system":
            return System(text)
        case "user":
            return User((text,), is_plain=True)
        case "tool":
            return Results((Result(message["tool_call_ids"][0], "", text),))
    calls = [
        Call(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    ]
    return Assistant((text,), tuple(calls))


@cache
def _needles(session: str) -> Script:
    """A session with facts hidden in it, whose calls were written out as text."""
    lines = [line for line in _lines("needles", "messages") if line["store"] == session]
    return _script(_needle_steps(lines))


def _needle_steps(lines: Iterable[dict[str, Any]]) -> Iterator[Step]:
    """Results take their calls' ids in order; one that no call asked for is told by the person."""
    waiting: list[Call] = []
    for line in lines:
        text = line["content"]
        if line["role"] == "user":
            yield User((text,))
        elif line["role"] == "toolResult" and waiting:
            call = waiting.pop(0)
            yield Results((Result(call.id, call.name, text),))
        elif line["role"] == "toolResult":
            yield User((f"The tool says: {text}",))
        else:
            found = list(_CALL.finditer(text))
            calls = [
                Call(f"call_{line['id']}_{place}", match[1], _arguments(match[2]))
                for place, match in enumerate(found)
            ]
            said = (text[: found[0].start()] if found else text).strip()
            # A fact may have been put between a call and its result: those of the call still come.
            waiting = calls or waiting
            yield Assistant((said,) if said else (), tuple(calls))


def _arguments(text: str) -> dict[str, Any]:
    """The arguments of a call; texts were cut at 4,000 characters."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"input": value}


def _script(steps: Iterable[Step]) -> Script:
    """Steps in the order that every provider takes: all results of an answer right behind it, and no call without one.

    Results of one answer become one step. What stood between a call and its result comes after it. Calls that nobody
    answered leave, but for those of an aborted answer, which is how hosts keep them.
    """
    arranged: list[Step] = []
    asked: int | None = None  # the place of the answer whose calls are open
    for step in steps:
        if isinstance(step, Results) and asked is not None:
            _answer(arranged, asked, step)
            continue
        if isinstance(step, Assistant) and step.calls and not step.is_aborted:
            asked = len(arranged)
            arranged += [step, Results(())]
            continue
        if not isinstance(step, Results):
            arranged.append(step)
    return tuple(_settled(arranged))


def _answer(arranged: list[Step], asked: int, step: Results) -> None:
    caller, given = arranged[asked], arranged[asked + 1]
    if not isinstance(caller, Assistant) or not isinstance(given, Results):
        return
    names = {call.id: call.name for call in caller.calls}
    fresh = names.keys() - {result.id for result in given.results}
    known = [
        replace(result, name=names[result.id]) for result in step.results if result.id in fresh
    ]
    arranged[asked + 1] = replace(given, results=(*given.results, *known))


def _settled(arranged: list[Step]) -> Iterator[Step]:
    for place, step in enumerate(arranged):
        if isinstance(step, Results) and not step.results:
            continue
        following = arranged[place + 1] if place + 1 < len(arranged) else None
        if isinstance(step, Assistant) and isinstance(following, Results):
            answered = {result.id for result in following.results}
            calls = tuple(call for call in step.calls if call.id in answered)
            if calls != step.calls:
                step = replace(step, calls=calls, origin=_without(step.origin, answered))  # noqa: PLW2901
        yield step


def _without(origin: dict[str, Any] | None, answered: set[str]) -> dict[str, Any] | None:
    """Pi's message with the answered calls only."""
    if origin is None:
        return None
    content = [
        block
        for block in origin["content"]
        if block["type"] != "toolCall" or block["id"] in answered
    ]
    return {**origin, "content": content}
