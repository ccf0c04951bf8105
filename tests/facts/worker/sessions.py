"""A session with its archive and its facts, and scripted extractors."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import process
from memctx._core import FactStore, StoreOptions
from memctx.facts import CandidateFact
from memctx.facts.extractors import ExtractionResult, Usage
from memctx.facts.worker import BackgroundExtraction, ExtractionOptions
from memctx.lowlevel import Store
from memctx.providers.breaker import BreakerPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memctx.facts.extractors import Extractor, Request
    from memctx.facts.worker import FactsReady

SESSION = "s1"
# Quick enough for a test, and still in the right order.
QUICK = BreakerPolicy(failures=3, cool_down=0.15, max_cool_down=0.6, delay=0.02, jitter=0.25)
LONG = 20.0


def name(number: int) -> str:
    """Return a different word for each number, for the name of a service."""
    syllables = [f"{consonant}{vowel}" for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    word = ""
    for _ in range(3):
        number, index = divmod(number * 37 + 11, len(syllables))
        word += syllables[index]
    return word.capitalize()


def text(number: int) -> str:
    return f"Remember: the {name(number)} service of the shop listens on port {8000 + number}."


def candidates_of(request: Request) -> tuple[CandidateFact, ...]:
    """Return one candidate for each message, with its text."""
    return tuple(
        CandidateFact("config", message.text, sources=(message.segment,))
        for message in request.messages
    )


class Model:
    """Extractor that returns every message as a fact, except for scripted failures."""

    def __init__(self, *failures: BaseException | object, seconds: float = 0.0) -> None:
        self.requests: list[Request] = []
        self.failures = list(failures)
        """Outcomes of the next calls, one each; None for success."""
        self.seconds = seconds
        self.cancelled = 0

    @property
    def texts(self) -> list[str]:
        return [message.text for request in self.requests for message in request.messages]

    async def extract(self, request: Request) -> ExtractionResult:
        self.requests.append(request)
        failure = self.failures.pop(0) if self.failures else None
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(failure, BaseException):
            raise failure
        if failure is not None:
            return failure  # type: ignore[return-value]
        return ExtractionResult(candidates_of(request), Usage(1, 100, 10, 0.5))


class Session:
    """A session on disk, with its extractions."""

    def __init__(self, folder: Path, session_id: str = SESSION) -> None:
        self.folder = folder
        self.session_id = session_id
        self.archive = Store(folder, StoreOptions(session_id=session_id, durability="os"))
        self.facts = FactStore(folder, StoreOptions(session_id=session_id, durability="os"))
        self.extractions: list[BackgroundExtraction] = []

    def open(self, extractor: Extractor, **settings: Any) -> BackgroundExtraction:
        settings = {"breaker": QUICK, **settings}
        extraction = BackgroundExtraction(
            self.folder, self.session_id, self.facts, extractor, ExtractionOptions(**settings)
        )
        self.extractions.append(extraction)
        return extraction

    def say(self, *numbers: int, role: str = "user") -> None:
        self.add(*map(text, numbers), role=role)

    def add(self, *texts: str, role: str = "user", metadata: str | None = None) -> None:
        self.archive.add([(role, each, None, metadata) for each in texts])

    def contents(self) -> list[str]:
        """Return the contents of the facts, oldest first."""
        return [fact.content for fact in reversed(self.facts.facts())]

    def cursor_file(self) -> Path:
        (found,) = (self.folder / "extraction").glob("*.json")
        return found

    def close(self) -> None:
        for extraction in self.extractions:
            extraction.close()
        self.facts.close()
        self.archive.close()


def wait(extraction: BackgroundExtraction) -> FactsReady:
    return extraction.wait_for_facts().result(LONG)


def until(condition: Callable[[], object], seconds: float = LONG) -> None:
    """Wait for a condition; fail the test if it does not come true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        time.sleep(0.005)


def together(works: Iterable[Callable[[], object]]) -> None:
    """Run functions concurrently, each in a thread, and wait for all."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python process that runs ``code`` with arguments, and can import this module."""
    front = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
    command = [sys.executable, "-c", front + textwrap.dedent(code), *map(str, arguments)]
    return process.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
