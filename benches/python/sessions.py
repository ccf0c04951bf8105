"""Sessions of agents for programs that run outside of pytest, and the size of a message."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memctx

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from context import transcripts
from context.rendering import Message, Rendering
from context.script import FORMATS, Assistant, FormatName, Results, Script, Step, System, User

if TYPE_CHECKING:
    import argparse

__all__ = [
    "FORMATS",
    "Assistant",
    "FormatName",
    "Message",
    "Rendering",
    "Results",
    "Script",
    "Step",
    "System",
    "User",
    "Weights",
    "add_folder",
    "chained",
    "load",
    "recalled_texts",
    "transcripts",
]

TAG = '<recalled-context source="memory-context">'
CHAIN = "swe:three runs"


def load(folder: Path, name: str) -> Script:
    """Return a session by name; ``swe:three runs`` is the three runs of one agent, one after the other."""
    return chained(folder) if name == CHAIN else transcripts.load(folder, name)


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of sessions to a program."""
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="sessions to play, in pi_sessions, swe_agent and needles_dev;"
        " `cd tests && python -m generated FOLDER` writes generated ones",
    )


def chained(folder: Path) -> Script:
    """Return the runs of SWE-agent as one session: one system prompt, and no two calls that share an id."""
    steps: list[Step] = []
    for number, name in enumerate(transcripts.SWE):
        for step in transcripts.load(folder, f"swe:{name}"):
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
    """Bytes and tokens of messages, cached by object."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes, int]] = {}

    def bytes(self, message: Any) -> bytes:
        """Return the message as compact JSON bytes."""
        return self._of(message)[1]

    def tokens(self, message: Any) -> int:
        """Return the estimated tokens of its JSON."""
        return self._of(message)[2]

    def total(self, messages: list[Any]) -> int:
        """Return the tokens of a list of messages."""
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
    """Return the recalled blocks in a message: texts that begin and end as ours do."""
    if isinstance(message, str):
        text = message.strip()
        is_ours = text.startswith(TAG) and text.endswith("</recalled-context>")
        return [message] if is_ours else []
    if isinstance(message, dict):
        return [text for value in message.values() for text in recalled_texts(value)]
    if isinstance(message, list):
        return [text for value in message for text in recalled_texts(value)]
    return []
