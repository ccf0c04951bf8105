"""memctx beside the memory that a framework brings along, in the same conversation with the same provider.

Run in the environment of a framework, as `make framework-memory-langchain` does. Thirty turns with tool calls in a
window of 16,000 tokens, in which three facts are stated early and asked for in the end. A scripted model answers, so
that time is that of the framework, its memory and the loopback provider, the shortest of `RUNS`. Beside them stands the
conversation without memory where the provider has no limit. Where a memory asks the model for a summary, the model
writes a perfect one: every fact in the text that it is given. A real model loses some, and takes seconds.

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
RUNS = 3
UNLIMITED = 10_000_000
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY")


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


def hold(case: Case, *, has_memory: bool, window: int) -> tuple[Provider, Summarizer, float, str]:
    """Hold the conversation; return the provider, the model, milliseconds per call, and what failed."""
    options: dict[str, Any] = {"context_window": conversation.WINDOW, "disk": {"durability": "os"}}
    model, failure = Summarizer(), ""
    with (
        Provider(model=model, window=window) as provider,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        began = time.perf_counter()
        try:
            case.run(Talk(provider.url, Path(folder) / "memory", options, has_memory=has_memory))
        except Exception as error:  # noqa: BLE001 - the provider's refusal, as the framework raises it
            failure = f" ({type(error).__name__} at call {len(provider.requests)})"
        seconds = time.perf_counter() - began
    return provider, model, seconds / max(len(provider.requests), 1) * MILLISECONDS, failure


def measure(case: Case, *, has_memory: bool = False, window: int = conversation.WINDOW) -> str:
    """Return the cells of a row."""
    runs = [hold(case, has_memory=has_memory, window=window) for _ in range(RUNS)]
    provider, model, _, failure = runs[-1]
    sent = [request for request in provider.requests if not request.refused]
    found = sum(str(answer).startswith("FOUND") for answer in provider.answers)
    kept = [request.kept / request.before for request in sent if request.before]
    cells = (
        f"{found} of {len(conversation.NEEDLES)}",
        f"{len(sent)}{failure}",
        f"{model.summaries}",
        f"{sum(request.tokens for request in sent):,}",
        f"{provider.breaks}",
        f"{sum(kept) / max(len(kept), 1):.0%}",
        f"{min(milliseconds for _, _, milliseconds, _ in runs):.1f}",
    )
    return " | ".join(cells)


def main() -> None:
    """Print the table of a framework."""
    framework = os.environ.get("FRAMEWORK", "")
    for name in KEYS:
        os.environ.setdefault(name, "x")
    print(
        "| memory | facts found | calls | of them summaries | tokens sent | breaks | prefix kept | ms per call |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for module in find_modules(framework):
        for case in getattr(module, "COMPARED", ()):
            print(f"| {case.name}, no limit | {measure(case, window=UNLIMITED)} |", flush=True)
            print(f"| {case.name}, none | {measure(case)} |", flush=True)
            print(f"| {case.name}, memctx | {measure(case, has_memory=True)} |", flush=True)
        for case in getattr(module, "OWN", ()):
            print(f"| {case.name} | {measure(case)} |", flush=True)


if __name__ == "__main__":
    main()
