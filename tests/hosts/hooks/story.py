"""Conversations with hosts as their hooks see them: recorded payloads and transcripts in a folder of the test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memctx.hosts import Answer, answer

RECORDED = Path(__file__).parent / "recorded"
TRANSCRIPTS = {
    "claude-code": "claude-code.transcript.jsonl",
    "codex": "codex.rollout.jsonl",
    "gemini": "gemini.session.jsonl",
}
IDS = {
    "claude-code": "1dc9c3e2-234c-4bd1-a7c5-6fe362a078be",
    "codex": "01a1ed26-4d51-7fd2-95de-71187c95d0f0",
    "gemini": "c063d136-98f7-488b-b33e-cb8ce517e054",
}


def recorded_payloads(host: str) -> list[dict[str, Any]]:
    lines = (RECORDED / f"{host}.events.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def context_of(answer: Answer) -> str:
    """Return the text for the model in an answer of Claude Code, Codex or Gemini CLI; check its form."""
    assert answer.exit_code == 0
    if not answer.stdout:
        return ""
    document = json.loads(answer.stdout)
    assert list(document) == ["hookSpecificOutput"]
    assert set(document["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    return str(document["hookSpecificOutput"]["additionalContext"])


@dataclass
class Conversation:
    """One conversation with a host: calls its hooks, with recorded payloads, and writes its transcript."""

    host: str
    root: Path
    """The folder of the memory."""
    project: Path
    id: str = ""

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)
        self.id = self.id or IDS.get(self.host, "conversation-1")

    @property
    def transcript(self) -> Path:
        return self.project.parent / f"{self.host}-{self.id}.jsonl"

    def write_transcript(self, name: str | None = None) -> None:
        """Write the recorded transcript, as of this conversation."""
        text = (RECORDED / (name or TRANSCRIPTS[self.host])).read_text("utf-8")
        text = text.replace(IDS[self.host], self.id).replace("@PROJECT@", str(self.project))
        self.transcript.write_text(text, "utf-8")

    def call(self, event: str, **fields: Any) -> Answer:
        """Call a hook with the recorded payload of an event; ``fields`` change it."""
        payloads = [
            each for each in recorded_payloads(self.host) if each["hook_event_name"] == event
        ]
        base = next(
            (each for each in payloads if each.get("source") == fields.get("source")),
            payloads[0] if payloads else {"hook_event_name": event},
        )
        payload = {
            **base,
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            **fields,
        }
        return answer(self.host, event, payload, root=self.root)

    def context(self, event: str, **fields: Any) -> str:
        """Call a hook and return its text for the model."""
        return context_of(self.call(event, **fields))
