"""memctx beside the memory that a framework brings along, in the same conversation with the same provider.

Run in the environment of a framework, as `make framework-memory-langchain` does. Thirty turns with tool calls in a
window of 16,000 tokens, in which three facts are stated early and asked for in the end. A scripted model answers, so
that time is that of the framework and its memory. Where a memory asks the model for a summary, the model writes a
perfect one: every fact in the text that it is given. A real model loses some, and takes seconds.

    FRAMEWORK=langchain python benches/python/framework_memory.py
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from integrations.case import Talk, find_modules
from providers import conversation
from providers.api import Reply
from providers.server import Provider

if TYPE_CHECKING:
    from integrations.case import Case
    from providers.api import Asked

MILLISECONDS = 1000


@dataclass
class Summarizer:
    """The scripted model, which also writes perfect summaries."""

    model: conversation.Model = field(default_factory=conversation.Model)
    summaries: int = 0

    def reply(self, asked: Asked, sent: str) -> Reply:
        """Return the model's part; a request without the tool asks for a summary."""
        if "read_log" in asked.tools or conversation.QUESTION in asked.text:
            return self.model.reply(asked, sent)
        self.summaries += 1
        kept = [needle.text for needle in conversation.NEEDLES if needle.text in sent]
        return Reply(f"The user reads logs, one after another; all were fine. {' '.join(kept)}")


def measure(case: Case, *, has_memory: bool) -> str:
    """Return a row of the table."""
    options: dict[str, Any] = {"context_window": conversation.WINDOW, "disk": {"durability": "os"}}
    model, failure = Summarizer(), ""
    with Provider(model=model) as provider, tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        try:
            case.run(Talk(provider.url, Path(folder) / "memory", options, has_memory=has_memory))
        except Exception as error:  # noqa: BLE001 - the provider's refusal, as the framework raises it
            failure = f" ({type(error).__name__} at call {len(provider.requests)})"
        seconds = time.perf_counter() - began
    sent = [request for request in provider.requests if not request.refused]
    found = sum(str(answer).startswith("FOUND") for answer in provider.answers)
    kept = [request.kept / request.before for request in sent if request.before]
    cells = (
        f"{found} of {len(conversation.NEEDLES)}",
        f"{len(sent)}",
        f"{model.summaries}",
        f"{sum(request.tokens for request in sent):,}",
        f"{provider.breaks}",
        f"{sum(kept) / max(len(kept), 1):.0%}",
        f"{seconds / max(len(sent), 1) * MILLISECONDS:.1f}",
    )
    return f"{' | '.join(cells)}{failure}"


def main() -> None:
    """Print the table of a framework."""
    framework = os.environ.get("FRAMEWORK", "")
    print(
        "| memory | facts found | calls | of them summaries | tokens sent | breaks | prefix kept | ms per call |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for module in find_modules(framework):
        for case in getattr(module, "COMPARED", ()):
            print(f"| {case.name}, none | {measure(case, has_memory=False)} |", flush=True)
            print(f"| {case.name}, memctx | {measure(case, has_memory=True)} |", flush=True)
        for case in getattr(module, "OWN", ()):
            print(f"| {case.name} | {measure(case, has_memory=False)} |", flush=True)


if __name__ == "__main__":
    main()
