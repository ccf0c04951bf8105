"""Player of the simulation: the provider here, the agent in a process that is killed and started again."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compaction.summary.server import serving
from memctx import _core
from memctx.hosts.pi import Transcript

from .agent import memory_of
from .provider import SEARCHED, Provider
from .story import Story

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .story import Plan

TESTS = Path(__file__).parents[2]
LIFE = (0.6, 1.4)
"""Seconds after which a stray kill comes; half of one is what Python takes to start."""


@dataclass(frozen=True)
class Figures:
    """The figures of a simulation."""

    plan: Plan
    seconds: float
    events: list[dict[str, Any]]
    counts: Counter[str]
    """Requests to the provider, and those that it could not answer."""
    refused: list[str]
    """Malformed requests."""
    failures: list[str]
    """Exit reasons of the agent, apart from kills."""
    restarts: int
    said: int
    """Texts, calls and results in the ledgers."""
    left: int
    """Those of them that are no longer in the context."""
    missing: list[str]
    """Those that left and are not in the archive."""
    found: dict[str, str]
    """Sources of the facts that were asked for."""
    notes: int
    """Files of notes in the workspace."""

    def of(self, event: str) -> list[dict[str, Any]]:
        return [each for each in self.events if each["event"] == event]

    @property
    def compactions(self) -> list[dict[str, Any]]:
        return self.of("compacted")

    @property
    def notes_turns(self) -> list[int]:
        """Number of turns for notes before each compaction, and after the last."""
        counts = [0]
        for each in self.events:
            if each["event"] == "compacted":
                counts.append(0)
            counts[-1] += each["event"] == "notes" and each["outcome"] in {"written", "nothing"}
        return counts

    @property
    def by_teller(self) -> str:
        """Number of found facts by who stated them: the person, the model or a tool."""
        stated = Counter(fact.by for fact in Story(self.plan).facts)
        found = Counter(fact.by for fact in Story(self.plan).facts if fact.question in self.found)
        return ", ".join(f"{found[by]} of {count} by the {by}" for by, count in stated.items())

    @property
    def at_once(self) -> float:
        """Facts that were in the request when the model was asked for them."""
        return sum(where != SEARCHED for where in self.found.values()) / self.plan.facts

    @property
    def in_the_end(self) -> float:
        """And with those that one search of memory gave it."""
        return len(self.found) / self.plan.facts

    def __str__(self) -> str:
        compactions = self.compactions
        levels = Counter(each["fallback_level"] for each in compactions)
        reasons = Counter(each["reason"] for each in compactions)
        outcomes = Counter(each["outcome"] for each in self.of("notes"))
        before = statistics.median(each["before"] for each in compactions)
        after = statistics.median(each["after"] for each in compactions)
        rows = [
            ("turns", f"{self.plan.turns} and {self.plan.facts} questions, window {self.plan.window:,}"),
            ("calls of the model", f"{self.counts['answer']:,} in {self.seconds:.1f} s"),
            ("compactions", f"{len(compactions)}: {_listed(reasons)}"),
            ("tokens by a compaction", f"{before:,.0f} to {after:,.0f}, median"),
            ("summaries", f"{_listed(levels)}; {self.counts['summary']} calls"),
            ("split turns", str(sum(each["is_split"] for each in compactions))),
            ("turns for notes", f"{_listed(outcomes)}"),
            ("summarizer outage", f"{self.counts['outage']} requests failed"),
            ("kill -9", f"{self.restarts}, and a restart each"),
            ("overflows", f"{self.counts['overflow of answer']} answered with 400 and recovered from"),
            ("errors the caller saw", str(len(self.failures))),
            ("malformed requests", str(len(self.refused))),
            ("said", f"{self.said:,} messages, calls and results; {self.left:,} left the context"),
            ("missing from the archive", str(len(self.missing))),
            ("facts asked for", f"{self.plan.facts}: {_listed(Counter(self.found.values()))}"),
            ("in what was sent at once", f"{self.at_once:.0%}"),
            ("or after one search", f"{self.in_the_end:.0%}: {self.by_teller}"),
        ]  # fmt: skip
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{width}}  {value}" for name, value in rows)


def play(folder: Path, plan: Plan, limit: float) -> Figures:
    """Play a plan to its end, at most for so many seconds."""
    (folder / "plan.json").write_text(json.dumps(plan.to_json()))
    (folder / "workspace").mkdir()
    provider = Provider(Story(plan))
    failures: list[str] = []
    restarts, started = 0, time.monotonic()
    with serving() as server:

        def rule(request: dict[str, Any]) -> Any:
            server.requests.clear()  # they are long, and many
            return provider.reply(request)

        server.rule = rule
        chance = random.Random(plan.seed)
        while True:
            life = limit - (time.monotonic() - started)
            doom = chance.uniform(*LIFE) if restarts < plan.stray_kills else life
            error = _run(folder, server.url, provider, life, doom)
            if error is None:
                break
            if error:
                failures.append(error)
                break
            restarts += 1
    events = [json.loads(line) for line in _lines(folder / "events.jsonl")]
    said = dict.fromkeys(_said(folder, provider))
    kept = set(_pieces(Transcript.open(folder / "session.jsonl").context().for_model()))
    with memory_of(folder, plan) as memory:
        archived = {segment.content for segment in memory.store.segments()}
    left = [piece for piece in said if piece not in kept]
    redactor = _core.Redactor()  # some code looks like a secret, and is archived without it
    return Figures(
        plan=plan,
        seconds=time.monotonic() - started,
        events=events,
        counts=provider.counts,
        refused=provider.refused,
        failures=failures,
        restarts=restarts,
        said=len(said),
        left=len(left),
        missing=[piece for piece in left if redactor.mask(piece).text not in archived],
        found=provider.found,
        notes=len(list((folder / "workspace" / "memory").glob("*.md"))),
    )


def _run(folder: Path, url: str, provider: Provider, limit: float, doom: float) -> str | None:
    """Run the agent once; return None if the story ended, "" if it was killed, else its error."""
    command = [sys.executable, "-m", "compaction.simulation.agent", str(folder), url]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    began = time.monotonic()
    with (folder / "stderr").open("ab") as errors:
        agent = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stderr=errors)
        try:
            while agent.poll() is None:
                lived = time.monotonic() - began
                if lived >= limit:
                    return f"not done after {limit:.0f} s"
                if provider.struck.wait(0.02) or lived >= doom:
                    return ""
        finally:
            agent.kill()
            agent.wait(30)
            if provider.struck.is_set():
                provider.struck.clear()
                provider.gone.set()
    return None if agent.returncode == 0 else (folder / "stderr").read_text()[-3_000:]


def _said(folder: Path, provider: Provider) -> Iterator[str]:
    """Return all messages by the ledgers of both sides: of the model's answers, those that arrived."""
    for line in _lines(folder / "ledger.jsonl"):
        yield from _pieces([json.loads(line)["message"]])
    for answer in provider.said:
        yield answer["text"]
        for call in answer["calls"]:
            yield _call(call)


def _pieces(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Return the texts of messages, piece by piece, as the archive should have them."""
    for message in messages:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            match block["type"]:
                case "text":
                    yield block["text"]
                case "tool_use":
                    yield _call(block)
                case "tool_result":
                    yield block["content"]


def _call(call: dict[str, Any]) -> str:
    given = json.dumps(call["input"], ensure_ascii=False, separators=(",", ":"))
    return f"{call['name']} {given}"


def _lines(path: Path) -> list[str]:
    """Yield the lines of a file, without one cut short by a kill."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _listed(counts: Counter[Any]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
