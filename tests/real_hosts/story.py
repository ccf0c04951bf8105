"""The story that each host plays: a conversation over a compaction, a second one in the same project."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from providers.api import Reply
from providers.server import Provider

if TYPE_CHECKING:
    from pathlib import Path

    from providers.api import Asked
    from providers.server import Request

    from .hosts import Host

WINDOW = 400_000
DECISION = "8443"
"""Said by the user in the first conversation."""
CODENAME = "quokka-77"
"""Said by the model before the compaction: some hosts keep what the user said."""
SUMMARY = "<analysis>Nothing.</analysis>\n<summary>The user works on a list of items.</summary>"
FILLER = " ".join(
    f"Row {row} of the table has {row * 37 % 89} entries, {row * 53 % 97} of them checked."
    for row in range(80)
)
"""An answer of some length; hosts stop a model that repeats itself."""


@dataclass
class Told:
    """A scripted model that is told its next answer."""

    text: str = ""
    reported: int | None = None
    """Tokens to report once."""
    is_compacting: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, asked: Asked, sent: str) -> Reply:
        """Return the answer; a request without tools asks for a title or a summary."""
        del sent
        if self.is_compacting or not asked.tools:
            return Reply(SUMMARY)
        with self.lock:
            reported, self.reported = self.reported, None
        return Reply(self.text, reported=reported)


@dataclass(frozen=True)
class Turn:
    """Time that a prompt took, and requests that it made."""

    seconds: float
    requests: list[Request]

    def sent(self) -> str:
        """Return everything that the model was sent."""
        return json.dumps([each.body for each in self.requests], ensure_ascii=False)

    @property
    def tokens(self) -> int:
        """Tokens of the longest request."""
        return max(each.tokens for each in self.requests)


@dataclass
class Story:
    """Both conversations with a host, played once."""

    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    refused: list[str] = field(default_factory=list[str])
    before: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Settings files before memory was installed."""
    installed: dict[str, bytes] = field(default_factory=dict[str, bytes])
    after: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Settings files after it was uninstalled."""
    errors: str = ""
    """Errors that hooks have logged."""


def play(kind: type[Host], program: Path, folder: Path, *, with_memory: bool) -> Story:
    """Play the story with a host in an empty folder."""
    model, story = Told(), Story()
    with Provider(window=WINDOW, model=model) as provider:
        host = kind(program, folder / "home", folder / "project", provider.url)
        story.before = host.settings()
        if not with_memory:
            _converse(host, provider, model, story)
            return story
        host.memctx("install", kind.name, "--yes", *kind.install_options)
        story.installed = host.settings()
        try:
            _converse(host, provider, model, story)
            story.errors = _errors(host)
            host.memctx("uninstall", kind.name, "--yes")
        finally:
            host.memctx("serve", "--stop")
        story.after = host.settings()
    return story


def _converse(host: Host, provider: Provider, model: Told, story: Story) -> None:
    def turn(name: str, prompt: str, answer: str, *, is_compaction: bool = False) -> None:
        start = len(provider.requests)
        model.text, model.is_compacting = answer, is_compaction
        seconds = host.compact() if is_compaction else host.ask(prompt)
        story.turns[name] = Turn(seconds, provider.requests[start:])

    decision = f"We decided that the payment webhook listens on port {DECISION}. Please note it."
    turn("decide", decision, "Noted.")
    codename = f"I settled on the codename {CODENAME} for the release of the invoice exporter."
    turn("name", "Pick a codename for the release of the invoice exporter.", codename)
    turn("work", "Do the first item of the list.", FILLER)
    model.reported = host.reported
    turn("more", "Do the second item of the list.", FILLER)
    turn("compact", "", "Done.", is_compaction=True)
    question = "Which codename has the release of the invoice exporter?"
    turn("ask", question, "Let me see.")
    host.begin()
    turn("begin", "Good morning, let us begin with the tests.", "Good morning.")
    turn("ask again", question, "Let me see.")
    story.refused = provider.refused


def _errors(host: Host) -> str:
    path = host.home / ".memctx" / "hosts" / "hooks.log"
    return path.read_text("utf-8") if path.exists() else ""
