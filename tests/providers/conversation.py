"""The conversation that every client holds: thirty turns, in which facts are stated early and asked for in the end.

Each fact is stated once, in a text that does not stay in a window of `WINDOW` tokens: one by the person amid a long
paste, one by the model, one by a tool. The model answers a question with the needles that it was sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .api import Reply

if TYPE_CHECKING:
    from .api import Asked

WINDOW = 16_000
STEPS = 29
LINE = "2026-11-{day:02} worker {n} handled request {request} in {ms} ms without incident and went on; "
MINUTES = "Minutes: coffee was late, Ottoline praised the new chairs, and the parking lot stays closed until May. "
QUESTION = "ASK: "


@dataclass(frozen=True)
class Needle:
    """A fact that is stated once, in a step of the conversation, and the value that a question asks for."""

    step: int
    text: str
    question: str
    value: str


BY_PERSON = Needle(
    3,
    "We decided that the payment webhook listens on port 8443.",
    "On which port does the payment webhook listen?",
    "8443",
)
BY_TOOL = Needle(
    5,
    "NOTE: the cluster of the search service runs in region eu-west-9.",
    "In which region does the cluster of the search service run?",
    "eu-west-9",
)
BY_MODEL = Needle(
    6,
    "I settled on the codename quokka-77 for the release of the invoice exporter.",
    "Which codename has the release of the invoice exporter?",
    "quokka-77",
)
NEEDLES = (BY_PERSON, BY_MODEL, BY_TOOL)


def read_log(n: int) -> str:
    """Read log number n."""
    rows = (
        LINE.format(day=1 + (n + row) % 28, n=n, request=row * 7 + n, ms=(row * 37 + n * 11) % 900)
        for row in range(40)
    )
    body = "".join(rows)
    note = f" {BY_TOOL.text} " if n == BY_TOOL.step else ""
    return f"[log {n}] {body[:1500]}{note}{body[1500:3200]}"


def turns() -> list[str]:
    """Return what the person says, turn by turn."""
    said = []
    for step in range(1, STEPS + 1):
        said.append(f"Step {step}: read log {step} and say whether it is fine.")
        if step == BY_PERSON.step:
            said.append(f"{MINUTES * 9}{BY_PERSON.text} {MINUTES * 9}")
    return [*said, *(f"{QUESTION}{needle.question}" for needle in NEEDLES)]


class Model:
    """A scripted model: reads the logs, two at a time now and then, and repeats what it was sent."""

    def __init__(self) -> None:
        self._calls = 0

    def reply(self, asked: Asked, sent: str) -> Reply:
        """Return the model's part, given everything that was sent to it."""
        if QUESTION in asked.text:
            question = asked.text.rpartition(QUESTION)[2]
            values = [it.value for it in NEEDLES if it.question in question and it.value in sent]
            return Reply(f"FOUND {values[0]}" if values else "I do not know.")
        if asked.is_result or "read_log" not in asked.tools:
            text = f"Done. {len(sent)} characters were read; the log looked fine."
            steps = re.findall(r"Step (\d+):", sent)
            if steps and int(steps[-1]) == BY_MODEL.step:
                text = f"{text} {BY_MODEL.text} {'All others sound too much alike. ' * 40}"
            return Reply(text)
        found = re.findall(r"Step (\d+)", asked.text)
        if not found:
            return Reply("Noted.")
        step = int(found[-1])
        numbers = (step, step + 100) if step % 5 == 0 else (step,)
        return Reply(None, tuple(self._call(number) for number in numbers))

    def _call(self, number: int) -> tuple[str, dict[str, Any]]:
        self._calls += 1
        return f"call_{self._calls:04}x", {"n": number}
