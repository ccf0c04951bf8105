"""The real sessions of `tests/turn`, for programs that run outside of pytest, and what a message weighs."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import memctx

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from turn import transcripts
from turn.rendering import Message, Rendering
from turn.script import SHAPES, Assistant, Results, Script, Shape, Step, System, User

__all__ = [
    "SHAPES",
    "Assistant",
    "Message",
    "Rendering",
    "Results",
    "Script",
    "Shape",
    "Step",
    "System",
    "User",
    "Weights",
    "chained",
    "is_here",
    "load",
    "recalled_texts",
    "transcripts",
]

TAG = '<recalled-context source="memory-context">'
CHAIN = "swe:three runs"


def load(name: str) -> Script:
    """A session by name; ``swe:three runs`` is the three runs of one agent, one after the other."""
    return chained() if name == CHAIN else transcripts.load(name)


def is_here(name: str) -> bool:
    """Whether a session can be loaded on this machine."""
    parts = [f"swe:{run}" for run in transcripts.SWE] if name == CHAIN else [name]
    return not any(map(transcripts.missing, parts))


def chained() -> Script:
    """The runs of SWE-agent as one session: only the first keeps its system prompt, and no two calls share an id."""
    steps: list[Step] = []
    for number, name in enumerate(transcripts.SWE):
        for step in transcripts.load(f"swe:{name}"):
            if isinstance(step, System) and steps:
                continue
            steps.append(_renumbered(step, number))
    return tuple(steps)


def _renumbered(step: Step, number: int) -> Step:
    match step:
        case Assistant():
            calls = [replace(call, id=f"{call.id}_{number}") for call in step.calls]
            return replace(step, calls=tuple(calls))
        case Results():
            results = [replace(result, id=f"{result.id}_{number}") for result in step.results]
            return replace(step, results=tuple(results))
    return step


class Weights:
    """The bytes of a message and the tokens it costs, found out once for each object."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes, int]] = {}

    def bytes(self, message: Any) -> bytes:
        """The message as it goes over the wire, without the blanks."""
        return self._of(message)[1]

    def tokens(self, message: Any) -> int:
        """What it costs, roughly: the estimate of its JSON."""
        return self._of(message)[2]

    def total(self, messages: list[Any]) -> int:
        """What a list of messages costs."""
        return sum(map(self.tokens, messages))

    def _of(self, message: Any) -> tuple[Any, bytes, int]:
        known = self._known.get(id(message))
        if known is None:
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            tokens = memctx.estimate_tokens(text, "script")
            known = (message, text.encode("utf-8", "surrogatepass"), tokens)
            self._known[id(message)] = known
        return known


def recalled_texts(message: Any) -> list[str]:
    """The recalled blocks in a message: texts that begin and end as ours do."""
    if isinstance(message, str):
        text = message.strip()
        is_ours = text.startswith(TAG) and text.endswith("</recalled-context>")
        return [message] if is_ours else []
    if isinstance(message, dict):
        return [text for value in message.values() for text in recalled_texts(value)]
    if isinstance(message, list):
        return [text for value in message for text in recalled_texts(value)]
    return []
