"""`Place`: the store that a command works on, and the options that name it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from memctx import _core
from memctx.cli import shown
from memctx.cli.later import later
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx import config, registry
    from memctx.commands import Outcome, upkeep
    from memctx.config import Config
    from memctx.memory import Memory
else:
    config, registry, upkeep = later("config", "registry", "commands.upkeep")

Command: TypeAlias = "Callable[..., Outcome]"

VISITOR = "memctx-cli"
"""The session of a memory that only looks at those of others. Nothing is ever written under it."""

MOST_SEGMENTS = 200_000
"""What is searched at least: a command lives shorter than an agent, and may take more memory."""

PATIENCE_MS = 1_000.0
"""How long what is on disk only is waited for at least: a person waits longer than an agent."""

OPTIONS = {
    "store": click.option(
        "--store",
        type=click.Path(path_type=Path),
        help="Directory of the store.  [default: $MEMCTX_STORAGE_PATH, else ~/.memctx]",
    ),
    "session": click.option("--session", metavar="ID", help="Only this session.  [default: all]"),
    "config": click.option(
        "--config",
        "config_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Settings: a .toml or .json file, or an openclaw.json.",
    ),
    "json": click.option("--json", "is_json", is_flag=True, help="Print JSON."),
}


@dataclass(frozen=True, slots=True)
class Place:
    """The store that a command works on."""

    store: Path | None
    session: str | None
    config_file: Path | None

    def config(self) -> Config:
        """The settings, but that no model is asked for facts, and that what is old is seen too."""
        found = config.Config.load(file=self.config_file)
        return found.replace(
            knowledge_extraction=False,
            eviction_days=0.0,
            max_segments=max(found.max_segments, MOST_SEGMENTS),
            cold_deadline_ms=max(found.cold_deadline_ms, PATIENCE_MS),
        )

    def path(self) -> Path:
        """The directory of the store, which must be there."""
        path = Path(self.store or self.config().storage_path).expanduser()
        if not path.is_dir():
            raise ConfigError(f"{path}: there is no store; say where one is with --store")
        return path

    def memory(self, model: str | None = None) -> Memory:
        """The memory of the session, or one that sees all of them; with another model that makes its vectors."""
        if self.session is not None:
            self._check_session(self.path(), self.session)
            return self._opened(self.path(), self.session)
        seen = self.config().replace(cross_session=True)
        if model is not None:
            seen = seen.replace(embedding_model=model)
        return registry.open(self.path(), session_id=VISITOR, config=seen)

    def writing(self, session: str | None = None, window: int | None = None) -> Memory:
        """A memory to write to, made if it is not there: of the session named, or the only one there is."""
        path = Path(self.store or self.config().storage_path).expanduser()
        wanted = self.session or session or self._only_session(path)
        return self._opened(path, wanted, window)

    def _check_session(self, path: Path, session: str) -> None:
        """Refuse a session of which nothing is there: a slip would look like a memory that is empty."""
        log = path / upkeep.SEGMENTS
        said = _core.ColdStore(path).scan(session_id=session) if log.exists() else iter(())
        if next(said, None) is not None:
            return
        with self._opened(path, session) as memory:
            if memory.facts.list(limit=1, include_superseded=True):
                return
        raise ConfigError(f"session is {session!r}; nothing of it is in {path}")

    def _opened(self, path: Path, session: str, window: int | None = None) -> Memory:
        own = self.config().replace(cross_session=False)
        return registry.open(path, session_id=session, context_window=window, config=own)

    def _only_session(self, path: Path) -> str:
        known: list[str] = []
        if path.is_dir():
            with self.memory() as memory:
                known = memory.store.sessions()
        if len(known) == 1:
            return known[0]
        some = ", ".join(sorted(known)[:10])
        told = f"the store has {len(known)} sessions: {some}" if known else "the store has none yet"
        raise ConfigError(f"say which session with --session; {told}")


def placing(*names: str) -> Callable[[Command], Callable[..., None]]:
    """A command with some of the options, whose outcome is shown and whose exit code says how it went."""

    def decorate(command: Command) -> Callable[..., None]:
        @functools.wraps(command)
        def run(
            *,
            store: Path | None = None,
            session: str | None = None,
            config_file: Path | None = None,
            is_json: bool = False,
            **options: Any,  # noqa: ANN401 - whatever the command takes
        ) -> None:
            outcome = command(Place(store, session, config_file), **options)
            shown.show(outcome, is_json=is_json)

        decorated: Callable[..., None] = run
        for name in reversed(names):
            decorated = OPTIONS[name](decorated)
        return decorated

    return decorate


placed = placing("store", "session", "config", "json")
