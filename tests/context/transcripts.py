"""Sessions of agents as scripts, read from a folder: a generated one, or one of recorded sessions."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from .script import Assistant, Call, Result, Results, Shell, Summary, System, Thought, User

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from .script import Script, Step

PI = ("before-compaction", "large-session")
SWE = ("run-1", "run-2", "run-3")
"""Runs of SWE-agent, by the order of their files."""
NAMES = tuple(
    [f"pi:{name}" for name in PI]
    + [f"swe:{name}" for name in SWE]
    + [f"needles:{name}" for name in PI]
)
_CALL = re.compile(r"^\[tool_call (\S+)\] ?(.*)$", re.MULTILINE)


class MissingTranscriptError(Exception):
    """The folder does not hold the session."""


@dataclass(frozen=True)
class Needle:
    """A fact that was hidden in a session, the way a question asks for it, and the languages of both."""

    id: str
    fact: str
    question: str
    kind: str


def load(folder: Path, name: str) -> Script:
    """Return a session by its name, such as ``pi:large-session``."""
    family, _, session = name.partition(":")
    match family:
        case "pi":
            return _pi(pi_file(folder, session))
        case "swe":
            return _swe(_run_file(folder, session))
        case "needles":
            return _needles(folder / "needles_dev" / "messages.jsonl.gz", session)
    raise MissingTranscriptError(f"there is no session {name!r}; known are {', '.join(NAMES)}")


def pi_file(folder: Path, name: str) -> Path:
    """Return the file of a Pi session."""
    return folder / "pi_sessions" / f"{name}.jsonl.gz"


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects in a file that has one a line."""
    return [json.loads(line) for line in read(path).splitlines()]


@cache
def read(path: Path) -> str:
    """Return the text of a compressed file."""
    if not path.exists():
        raise MissingTranscriptError(f"{path} is missing; `python -m generated FOLDER` writes one")
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def compacted(folder: Path, name: str) -> tuple[Script, ...]:
    """Return what a Pi session had in its context until each compaction of its host and until the end."""
    entries = lines(pi_file(folder, name))
    contexts: list[Script] = []
    start = 0
    head: tuple[Step, ...] = ()
    for place, line in enumerate(entries):
        if line["type"] == "compaction":
            contexts.append(_script([*head, *_pi_steps(entries[start:place])]))
            start, head = line["firstKeptEntryIndex"], (Summary(line["summary"]),)
    contexts.append(_script([*head, *_pi_steps(entries[start:])]))
    return tuple(contexts)


def needles(folder: Path, session: str) -> list[Needle]:
    """Return what was hidden in a session, one for each way of asking."""
    files = folder / "needles_dev"
    said = {
        line["id"]: line["content"]
        for line in lines(files / "messages.jsonl.gz")
        if line["store"] == session
    }
    return [
        Needle(line["gold"][0], said[line["gold"][0]], line["query"], line["type"])
        for line in lines(files / "queries.jsonl.gz")
        if line["store"] == session
    ]


def _run_file(folder: Path, name: str) -> Path:
    files = sorted((folder / "swe_agent").glob("*.traj.json.gz"))
    place = SWE.index(name)
    return files[place] if place < len(files) else folder / "swe_agent" / f"{name}.traj.json.gz"


@cache
def _pi(path: Path) -> Script:
    """Return all messages of a Pi session, as if no host had ever compacted it."""
    return _script(_pi_steps(lines(path)))


def _pi_steps(entries: Iterable[dict[str, Any]]) -> Iterator[Step]:
    for line in entries:
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
def _swe(path: Path) -> Script:
    """Return a run of SWE-agent."""
    return _script(map(_swe_step, json.loads(read(path))["history"]))


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
def _needles(path: Path, session: str) -> Script:
    """Return a session with facts hidden in it, whose calls were written out as text."""
    return _script(_needle_steps(line for line in lines(path) if line["store"] == session))


def _needle_steps(said: Iterable[dict[str, Any]]) -> Iterator[Step]:
    """Results take their calls' ids in order; one that no call asked for is told by the person."""
    waiting: list[Call] = []
    for line in said:
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
            spoken = (text[: found[0].start()] if found else text).strip()
            # A fact may have been put between a call and its result: those of the call still come.
            waiting = calls or waiting
            yield Assistant((spoken,) if spoken else (), tuple(calls))


def _arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a call; texts were cut at 4,000 characters."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"input": value}


def _script(steps: Iterable[Step]) -> Script:
    """Return the steps in the order that every provider accepts: results right after their calls, and no call without.

    Results of one answer become one step. What stood between a call and its result comes after it. Unanswered calls
    leave, but for those of an aborted answer, which is how hosts keep them.
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
