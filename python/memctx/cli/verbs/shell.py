"""`ShellRequest`: a verb called from the command line, with the store and settings that its options name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from memctx import _core, store_files
from memctx.cli import output
from memctx.cli.verbs.request import ModelContext, Request
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from memctx.cli.verbs.request import LimitOptions, Progress
    from memctx.config import Config
    from memctx.memory import Memory

READER_SESSION = "memctx-cli"
"""Session id of a memory that only reads other sessions. Nothing is written under it."""

MIN_SEGMENTS = 200_000
"""Least number of segments held in memory: a command is short-lived and may use more memory than an agent."""

MIN_DISK_DEADLINE_MS = 1_000.0
"""Least time to wait for the disk index: a person waits longer than an agent."""


@dataclass(frozen=True, slots=True)
class ShellRequest(Request):
    """A verb called from the command line."""

    store: Path | None = None
    session: str | None = None
    config_file: Path | None = None
    messages: Sequence[Any] | None = None

    def config(self, window: int | None = None) -> Config:
        """Return the settings: enabled, without fact extraction, and with old segments visible."""
        from memctx.config import Config, DiskSettings  # noqa: PLC0415 - an MCP server is ready before

        found = Config.load(file=self.config_file)
        config = found.replace(
            enabled=True,
            knowledge_extraction=False,
            disk=DiskSettings(
                eviction_days=0.0,
                max_segments=max(found.disk.max_segments, MIN_SEGMENTS),
                deadline_ms=max(found.disk.deadline_ms, MIN_DISK_DEADLINE_MS),
            ),
        )
        return config if window is None else config.replace(context_window=window)

    def new_store_path(self) -> Path:
        """Return the directory of the store, which need not exist."""
        return Path(self.store or self.config().storage_path).expanduser()

    def store_path(self) -> Path:
        """Return the directory of the store, which must exist."""
        path = self.new_store_path()
        if not store_files.is_store(path):
            found = "the folder holds no store" if path.is_dir() else "there is no such folder"
            raise ConfigError(f"{path}: there is no store ({found}); name one with --store")
        return path

    def open_memory(self, *, model: str | None = None, may_reembed: bool = False) -> Memory:
        """Open the memory of ``--session``, or one that reads all sessions."""
        from memctx import registry  # noqa: PLC0415 - as above

        path = self.store_path()
        if self.session is not None:
            self._check_session(path, self.session)
            return self._open(path, self.session)
        config = self.config() if may_reembed else keep_hashed(self.config(), path)
        config = config.replace(cross_session=True)
        if model is not None:
            config = config.replace(embedding_model=model)
        return registry.open(path, session_id=READER_SESSION, config=config)

    def open_writable_memory(
        self, session_id: str | None = None, window: int | None = None
    ) -> Memory:
        """Open the memory of ``--session``, of ``session_id``, or of the store's only session; create the store."""
        path = self.new_store_path()
        return self._open(path, self.session or session_id or self._only_session(path), window)

    def model_context(
        self, path: Path | None, *, session: str | None = None, **limits: Unpack[LimitOptions]
    ) -> ModelContext:
        """Read a transcript file; ``session`` names one of several sessions in it."""
        from memctx.cli.verbs.model_context import read_model_context  # noqa: PLC0415 - loads all readers

        if path is None:
            raise ConfigError("transcript is None; expected a file")
        return read_model_context(path, session=session, default_session=self.session, **limits)

    def is_confirmed(self, *, is_sure: bool) -> bool:
        """Return whether ``--yes`` was given."""
        return is_sure

    def status(self, words: str) -> AbstractContextManager[object]:
        """Show a spinner on a terminal."""
        return output.show_status(words)

    def progress(self, words: str, total: int = 1, *, is_logged: bool = False) -> Progress:
        """Show a progress bar on a terminal."""
        return output.log_progress(words) if is_logged else output.show_progress(words, total)

    def _check_session(self, path: Path, session: str) -> None:
        """Refuse an unknown session: a misspelled id would look like an empty memory."""
        log = path / store_files.SEGMENTS
        segments = (
            _core.LogReader(path).scan(_core.SearchFilter(session_id=session))
            if log.exists()
            else iter(())
        )
        if next(segments, None) is not None:
            return
        with self._open(path, session) as memory:
            if memory.facts.list(limit=1, include_superseded=True):
                return
        raise ConfigError(f"session is {session!r}; {path} has no such session")

    def _open(self, path: Path, session: str, window: int | None = None) -> Memory:
        from memctx import registry  # noqa: PLC0415 - as above

        config = keep_hashed(self.config(), path).replace(cross_session=False)
        return registry.open(path, session_id=session, context_window=window, config=config)

    def _only_session(self, path: Path) -> str:
        known: list[str] = []
        if store_files.is_store(path):
            with self.open_memory() as memory:
                known = memory.store.sessions()
        if len(known) == 1:
            return known[0]
        some = ", ".join(sorted(known)[:10])
        found = f"the store has {len(known)} sessions: {some}" if known else "the store has none"
        raise ConfigError(f"name a session with --session; {found}")


def keep_hashed(config: Config, path: Path) -> Config:
    """Return the settings, with hashing if nothing else is set and the store hashes.

    Its agent may have chosen that; looking at a store must not change its model.
    """
    from memctx.embeddings import read_metadata  # noqa: PLC0415 - as above

    metadata = None if "embedding_model" in config.given() else read_metadata(path)
    is_hashed = metadata is not None and metadata["model"] == "hash"
    return config.replace(embedding_model="hash") if is_hashed else config
