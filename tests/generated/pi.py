"""Sessions of Pi, version 1: calls, results, shells, compactions, aborted turns and signed thoughts, entry by entry."""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from . import words

Entry: TypeAlias = dict[str, Any]

START = 1_765_000_000_000
MINUTE = 60_000


@dataclass(frozen=True)
class Plan:
    """Sizes of a session."""

    seed: str
    rounds: int
    """Number of messages by the person."""
    steps: int
    """Mean number of model calls in a round."""
    long: int
    """Characters of the longest results."""
    thoughts: float
    """The share of answers with signed thinking."""
    compactions: tuple[float, ...] = ()
    """Positions of the host's compactions, as shares of the rounds."""
    shells: int = 0
    """Number of commands the person ran."""
    levels: int = 3
    """Number of changes of the thinking level."""


PLANS = {
    "before-compaction": Plan(
        "anchor", rounds=56, steps=8, long=45_000, thoughts=0.11, compactions=(0.35, 0.62), shells=3
    ),
    "large-session": Plan("ballast", rounds=80, steps=4, long=20_000, thoughts=0.01, levels=60),
}


def session(name: str) -> list[Entry]:
    """Return the entries of a session."""
    return _Writer(PLANS[name]).write(name)


class _Writer:
    """Writes a session entry by entry with its own clock."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._chance = random.Random(plan.seed)
        self._now = START
        self._entries: list[Entry] = []
        self._calls = 0

    def write(self, name: str) -> list[Entry]:
        plan, chance = self._plan, self._chance
        head = {"provider": "anthropic", "modelId": "model-large", "thinkingLevel": "off"}
        self._add("session", id=f"generated-{name}", cwd="/home/dev/editor", **head)
        self._add("model_change", provider="anthropic", modelId="model-large")
        compacted = {int(share * plan.rounds) for share in plan.compactions}
        shells = set(chance.sample(range(2, plan.rounds), plan.shells))
        levels = set(chance.sample(range(1, plan.rounds), min(plan.levels, plan.rounds - 1)))
        for number in range(plan.rounds):
            if number in compacted:
                self._compact()
            if number in levels:
                self._add("thinking_level_change", thinkingLevel=chance.choice(("off", "minimal")))
            if number in shells:
                self._shell()
            self._round(number)
        return self._entries

    def _add(self, kind: str, **rest: Any) -> None:
        self._now += self._chance.randrange(2_000, 2 * MINUTE)
        moment = datetime.fromtimestamp(self._now / 1000, UTC)
        stamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._entries.append({"type": kind, "timestamp": stamp, **rest})

    def _say(self, **message: Any) -> None:
        self._add("message", message=message)
        message["timestamp"] = self._now

    def _round(self, number: int) -> None:
        """Write a user message and all that follows until the model is done or interrupted."""
        chance, plan = self._chance, self._plan
        subject = chance.choice(words.SUBJECTS)
        text = f"Please look at the {subject}. {words.talk(chance, chance.choice((0, 1, 1, 2, 8, 24)), subject)}"
        if chance.random() < 0.12:
            text = chance.choice(("go on", "ok", "yes, do that", "好的", "hm, why?"))
        self._say(role="user", content=[{"type": "text", "text": text}])
        # Most rounds are short and a few very long.
        steps = min(1 + int(chance.expovariate(1 / plan.steps)), 6 * plan.steps)
        for step in range(max(steps, 2) if number < 3 else steps):
            # Now and then several calls at once, and once a great many.
            many = {(0, 0): 3, (1, 1): 4, (2, 0): 16}.get((number, step))
            self._step(subject, many or (3 if chance.random() < 0.02 else 1))
        if chance.random() < 0.35:
            self._abort(subject, error=number == plan.rounds // 2)
            self._say(role="user", content=[{"type": "text", "text": "stop, not like that"}])
        said = words.talk(chance, chance.choice((1, 2, 3, 6, 30)), subject)
        self._answer([*self._thought(), {"type": "text", "text": said}], "stop")

    def _step(self, subject: str, count: int) -> None:
        chance = self._chance
        calls = [self._call(subject) for _ in range(count)]
        said = [{"type": "text", "text": words.sentence(chance, subject)}] * (chance.random() < 0.5)
        self._answer([*self._thought(), *said, *calls], "toolUse")
        for call in calls:
            self._result(call, subject)

    def _call(self, subject: str) -> Entry:
        chance = self._chance
        name = chance.choices(("bash", "edit", "read", "write"), (45, 30, 22, 3))[0]
        file = words.path(chance, subject)
        arguments: dict[str, Any] = {"path": file}
        if name == "bash":
            arguments = {
                "command": f"cd /home/dev/editor && rg -n {chance.choice(words.NOUNS)} {file}"
            }
        elif name == "edit":
            arguments |= {"oldText": words.code(chance, 3), "newText": words.code(chance, 4)}
        elif name == "write":
            arguments |= {"content": words.code(chance, chance.randrange(5, 120))}
        self._calls += 1
        return {
            "type": "toolCall",
            "id": f"toolu_{self._calls:06}",
            "name": name,
            "arguments": arguments,
        }

    def _result(self, call: Entry, subject: str) -> None:
        chance = self._chance
        length = chance.choices((0, 180, 900, 5_000, self._plan.long), (18, 40, 24, 15, 3))[0]
        is_error = chance.random() < 0.04
        head = f"Error: {call['name']} failed with exit code {chance.choice((1, 2, 127))}\n"
        text = words.output(chance, length, subject) if length else f"Done: {call['name']}."
        if length and chance.random() < 0.04:
            text += f"\n// {chance.choice(words.CHINESE)}"
        details: dict[str, Any] = {}
        if call["name"] == "edit" and not is_error:
            details = {"details": {"diff": words.diff(chance, 8)}}
        elif length == self._plan.long:
            details = {"details": {"truncation": {"truncated": True, "totalLines": 2_000}}}
        self._say(
            role="toolResult",
            toolCallId=call["id"],
            toolName=call["name"],
            content=[{"type": "text", "text": head + text if is_error else text}],
            **details,
            isError=is_error,
        )

    def _thought(self) -> list[Entry]:
        chance = self._chance
        if chance.random() >= self._plan.thoughts:
            return []
        signature = base64.b64encode(chance.randbytes(chance.choice((300, 500, 2_700)))).decode()
        thinking = words.talk(chance, chance.randrange(1, 20))
        block = {"type": "thinking", "thinking": thinking, "thinkingSignature": signature}
        return [block if chance.random() > 0.1 else block | {"thinkingSignature": ""}]

    def _abort(self, subject: str, *, error: bool) -> None:
        """Write an answer that was cut short: empty, a thought alone, or calls that were never carried out."""
        content: list[Entry] = []
        way = self._chance.randrange(3)
        if way == 1:
            content = [{"type": "text", "text": words.sentence(self._chance, subject)}]
        elif way == 2:
            calls = [self._call(subject) for _ in range(self._chance.choice((1, 3)))]
            content = [calls[0] | {"partialJson": '{"path": "pack'}, *calls[1:]]
        message = "529 overloaded_error" if error else "Request was aborted."
        self._answer(content, "error" if error else "aborted", errorMessage=message)

    def _answer(self, content: list[Entry], stop: str, **rest: Any) -> None:
        tokens = 2_000 + 90 * len(self._entries)
        usage = {"input": 20, "output": 150, "cacheRead": tokens, "cacheWrite": 900}
        cost = {"input": 0.0001, "output": 0.002, "cacheRead": 0.001, "cacheWrite": 0.003}
        self._say(
            role="assistant",
            content=content,
            api="anthropic-messages",
            provider="anthropic",
            model="model-large",
            usage={**usage, "cost": {**cost, "total": sum(cost.values())}},
            stopReason=stop,
            **rest,
        )

    def _shell(self) -> None:
        self._say(
            role="bashExecution",
            command="npm run check",
            output=words.log(self._chance, self._chance.randrange(1, 60), "check"),
            exitCode=self._chance.choice((0, 1)),
            cancelled=False,
            truncated=False,
        )

    def _compact(self) -> None:
        """Write a summary of everything but the last entries, which begin with a user message."""
        asked = [
            place
            for place, entry in enumerate(self._entries)
            if entry.get("message", {}).get("role") == "user"
        ]
        self._add(
            "compaction",
            summary=f"## Progress\n\n{words.talk(self._chance, 40)}",
            firstKeptEntryIndex=asked[-3],
            tokensBefore=175_000,
        )
