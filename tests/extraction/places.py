"""A session with its archive and its facts, and extractors that do as they are told."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx import WarmStore
from memctx._core import FactStore
from memctx.extraction import Extraction, Patience
from memctx.extractors import Extraction as Found
from memctx.extractors import Usage
from memctx.knowledge import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memctx.extraction import Flushed
    from memctx.extractors import Extractor, Request

SESSION = "s1"
# Quick enough for a test, and still in the right order.
QUICK = Patience(pause=0.02, failures=3, rest=0.15, longest=0.6)
LONG = 20.0


def name(number: int) -> str:
    """A word of its own for each number, as a service may be called."""
    syllables = [f"{consonant}{vowel}" for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    word = ""
    for _ in range(3):
        number, place = divmod(number * 37 + 11, len(syllables))
        word += syllables[place]
    return word.capitalize()


def text(number: int) -> str:
    return f"Remember: the {name(number)} service of the shop listens on port {8000 + number}."


def drafts_of(request: Request) -> tuple[Draft, ...]:
    """One fact for each message, in its own words."""
    return tuple(
        Draft("config", message.text, sources=(message.segment,)) for message in request.messages
    )


class Model:
    """Says of every message that it is a fact, unless told otherwise."""

    def __init__(self, *failures: BaseException | object, seconds: float = 0.0) -> None:
        self.requests: list[Request] = []
        self.failures = list(failures)
        """What happens to the next calls, one each; None for those that go well."""
        self.seconds = seconds
        self.cancelled = 0

    @property
    def texts(self) -> list[str]:
        return [message.text for request in self.requests for message in request.messages]

    async def extract(self, request: Request) -> Found:
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
        return Found(drafts_of(request), Usage(1, 100, 10, 0.5))


class Place:
    """A session on disk."""

    def __init__(self, folder: Path, session_id: str = SESSION) -> None:
        self.folder = folder
        self.session_id = session_id
        self.archive = WarmStore(folder, session_id=session_id, durability="os")
        self.facts = FactStore(folder, session_id=session_id, durability="os")
        self.extractions: list[Extraction] = []

    def open(self, extractor: Extractor, **settings: Any) -> Extraction:
        settings = {"patience": QUICK, **settings}
        extraction = Extraction(self.folder, self.session_id, self.facts, extractor, **settings)
        self.extractions.append(extraction)
        return extraction

    def say(self, *numbers: int, role: str = "user") -> None:
        self.tell(*map(text, numbers), role=role)

    def tell(self, *texts: str, role: str = "user", metadata: str | None = None) -> None:
        self.archive.add([(role, each, None, metadata) for each in texts])

    def contents(self) -> list[str]:
        """The facts, oldest first."""
        return [fact.content for fact in reversed(self.facts.facts())]

    def cursor_file(self) -> Path:
        (found,) = (self.folder / "extraction").glob("*.json")
        return found

    def close(self) -> None:
        for extraction in self.extractions:
            extraction.close()
        self.facts.close()
        self.archive.close()


def flushed(extraction: Extraction) -> Flushed:
    return extraction.flush().result(LONG)


def until(condition: Callable[[], object], seconds: float = LONG) -> None:
    """Wait for something to become true; the test fails if it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.005)


def together(works: Iterable[Callable[[], object]]) -> None:
    """Do several things at once, each in a thread, and wait for all."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process that runs ``code`` with ``sys.argv[1:]`` as given, and may import from here."""
    front = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
    command = [sys.executable, "-c", front + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
