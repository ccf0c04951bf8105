"""Replays of stored sessions in a scratch store: jobs in the background, with what every call sent."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from memctx.cli.replay import Recording, passage_excerpt, replay
from memctx.errors import ConfigError, MemctxError
from memctx.ui.backend import RequestError
from memctx.ui.recording import StoredSession

if TYPE_CHECKING:
    from memctx.cli.replay import Replay, ReplayedTurn
    from memctx.config import Config
    from memctx.context import Turn
    from memctx.ui.backend import Backend
    from memctx.ui.parameters import Parameters

MAX_JOBS = 6
"""Replays that are kept; of more, the oldest is dropped."""
MAX_WAITING = 4
DEFAULT_MESSAGES, MAX_MESSAGES = 2_000, 50_000
"""Messages of a session that are played: from its first one on."""
DEFAULT_WINDOW = 32_000
MODELS = ("memctx", "hash")
"""Embedders of a replay: those that send nothing to another machine."""
SETTINGS = {
    "context_window": int,
    "working_budget": int,
    "placement": str,
    "embedding_model": str,
    "recall.min_score": float,
    "recall.hard_cap_tokens": int,
    "recall.window": int,
    "trim.protected_recent": int,
    "pruning.mode": str,
}
"""Settings that a replay may change."""


Run: TypeAlias = tuple[int, int | str]
"""A run of what was sent: first and last of unchanged messages, or the index of a changed one and its text."""
ADDED = -1
"""Index of what memory added."""


class CanceledError(Exception):
    """The replay is no longer wanted."""


@dataclass(slots=True)
class Job:
    """One replay of a session with some settings."""

    id: str
    session: str
    settings: dict[str, Any]
    config: Config
    stored: StoredSession
    total_messages: int
    state: str = "waiting"
    done: int = 0
    total: int = 0
    error: str = ""
    result: Replay | None = None
    calls: list[list[Run]] = field(default_factory=list[list["Run"]])
    """Runs of each call."""
    texts: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Texts in these runs, each once, with the number of the first call that sent it."""
    sources: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """By the number of a call, the stored messages that the block quotes which it added."""
    is_canceled: bool = False
    _searchable: tuple[dict[str, int], list[str]] | None = None

    def searchable(self) -> tuple[dict[str, int], list[str]]:
        """Return the indexes of messages by their excerpt, as recalled items show it, and all texts on one line."""
        if self._searchable is None:
            texts = [text_of(each) for each in self.stored.messages]
            lines = [passage_excerpt(each, None) for each in texts]
            first = {line: at for at, line in reversed([*enumerate(lines)])}
            self._searchable = first, [" ".join(each.split()) for each in texts]
        return self._searchable

    def status(self) -> dict[str, Any]:
        """Return the progress, ready for JSON."""
        return {
            "id": self.id,
            "session": self.session,
            "settings": self.settings,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "error": self.error,
            "played": self.stored.segments,
            "messages": self.total_messages,
        }


class Replays:
    """Replays of one store: one at a time, the newest kept. Thread-safe."""

    def __init__(self, backend: Backend) -> None:
        """Play sessions of a store; its files are only read."""
        self._backend = backend
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._running = threading.Lock()

    def start(self, given: Parameters) -> dict[str, Any]:
        """Start a replay, or return the one that plays the same."""
        session = given.text("session")
        log = self._backend.session(session)
        count = given.integer("messages", DEFAULT_MESSAGES, at_least=1, at_most=MAX_MESSAGES)
        settings = check_settings(given.mapping("settings"))
        config = _config(self._backend.memories.config, settings)
        same = json.dumps([session, settings, min(count, len(log))], sort_keys=True)
        key = f"{hash(same) & (2**63 - 1):x}"
        with self._lock:
            known = self._jobs.get(key)
            if known is not None and known.state not in {"failed", "canceled"}:
                self._jobs.move_to_end(key)
                return known.status()
            if (
                sum(each.state in {"waiting", "running"} for each in self._jobs.values())
                >= MAX_WAITING
            ):
                raise RequestError(
                    429, f"{MAX_WAITING} replays are waiting; wait for one, or cancel it"
                )
            stored = StoredSession.of(self._backend.index.read(session, 0, count))
            job = Job(key, session, settings, config, stored, len(log))
            self._jobs[key] = job
            self._drop_old()
        threading.Thread(target=self._run, args=(job,), name="memctx-replay", daemon=True).start()
        return job.status()

    def get(self, id: str) -> Job:
        """Return a replay; raise a 404 if it is not kept any more."""
        with self._lock:
            found = self._jobs.get(id)
        if found is None:
            raise RequestError(
                404, f"replay is {id!r}; there is none, or it was dropped for newer ones"
            )
        return found

    def cancel(self, given: Parameters) -> dict[str, Any]:
        """Stop a replay."""
        job = self.get(given.text("id"))
        job.is_canceled = True
        return job.status()

    def close(self) -> None:
        """Stop all replays, and wait for the one that is running to delete its scratch store."""
        with self._lock:
            for job in self._jobs.values():
                job.is_canceled = True
        if self._running.acquire(timeout=5):
            self._running.release()

    def _drop_old(self) -> None:
        done = [key for key, each in self._jobs.items() if each.state not in {"waiting", "running"}]
        for key in done[: max(len(self._jobs) - MAX_JOBS, 0)]:
            del self._jobs[key]

    def _run(self, job: Job) -> None:
        def on_turn(_: ReplayedTurn, turn: Turn) -> None:
            if job.is_canceled:
                raise CanceledError
            job.calls.append(_runs_of(turn, job))

        def on_progress(done: int, total: int) -> None:
            job.done, job.total = done, total
            time.sleep(0)  # requests of the page go first

        with self._running:
            job.state = "running"
            try:
                recording = Recording(job.session, job.stored.messages, format="openai")
                result = replay(
                    recording, config=job.config, on_turn=on_turn, on_progress=on_progress
                )
            except CanceledError:
                job.state = "canceled"
            except (MemctxError, OSError) as error:
                job.state, job.error = "failed", str(error)
            except Exception as error:
                job.state, job.error = "failed", f"{type(error).__name__}: {error}"
                raise
            else:
                job.result, job.state = result, "done"


def check_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that a replay may change, by dotted name; those left blank are left out."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        kind = SETTINGS.get(name)
        if kind is None:
            raise ConfigError(f"settings has {name!r}; expected some of {', '.join(SETTINGS)}")
        if value is None or value == "":
            continue
        try:
            found[name] = kind(value)
        except (TypeError, ValueError):
            raise ConfigError(f"{name} is {value!r}; expected {kind.__name__}") from None
    model = found.get("embedding_model", MODELS[0])
    if model not in MODELS:
        raise ConfigError(f"embedding_model is {model!r}; expected {' or '.join(MODELS)}")
    return dict(sorted(found.items()))


def default_settings(base: Config) -> dict[str, Any]:
    """Return the settings of a replay that changes none, by dotted name.

    >>> from memctx import Config
    >>> default_settings(Config(recall={"min_score": 0.5}))["recall.min_score"]
    0.5
    """
    config = _config(base, {})
    return {name: attrgetter(name)(config) for name in SETTINGS}


def _config(base: Config, settings: dict[str, Any]) -> Config:
    """Return the settings of a replay: nothing of it goes to another machine."""
    window = base.context_window or DEFAULT_WINDOW
    local: dict[str, Any] = {"context_window": window, "embedding_model": MODELS[0]}
    return base.replace(
        enabled=True, extractor=None, summarizer=None, workspace=None, **{**local, **settings}
    )


def _runs_of(turn: Turn, job: Job) -> list[Run]:
    """Return what a turn sends, as runs of unchanged messages and texts of the others."""
    runs: list[Run] = []
    given = job.stored.messages
    for message, origin in zip(turn.messages, turn.origins, strict=True):
        if origin is not None and message is given[origin]:
            is_next = bool(runs) and runs[-1][1] == origin - 1
            first = runs.pop()[0] if is_next else origin
            runs.append((first, origin))
            continue
        text = text_of(message)
        known, _ = job.texts.setdefault(text, (text, len(job.calls) + 1))
        runs.append((ADDED if origin is None else origin, known))
    return runs


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message that is given or sent."""
    content: str | list[dict[str, Any]] | None = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(str(part.get("text", "")) for part in content)
