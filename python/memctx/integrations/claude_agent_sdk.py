"""Claude Agent SDK: hooks that archive and recall, and a store of session transcripts.

from memctx.integrations.claude_agent_sdk import MemctxMemory

memory = MemctxMemory("./memory")
client = ClaudeSDKClient(memory.options(ClaudeAgentOptions(cwd=project)))
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx import checks
from memctx.bridge import require
from memctx.config import Config
from memctx.hosts import answer, open_reader

require("claude-agent-sdk", "0.2.183", extra="claude-agent-sdk")

import anyio.to_thread  # noqa: E402 - after the check
from claude_agent_sdk import (  # noqa: E402
    ClaudeAgentOptions,
    HookMatcher,
    SessionStore,
    fold_session_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from claude_agent_sdk import (
        HookContext,
        HookInput,
        SessionKey,
        SessionListSubkeysKey,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )
    from claude_agent_sdk.types import HookEvent, HookJSONOutput

    from memctx.memory import Memory

__all__ = ["MemctxMemory", "MemctxSessionStore"]

EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SubagentStop")
"""Events of Claude Code that memory answers. Of starts, callbacks are told only those after a compaction."""
FILE = "claude_agent_sdk.sqlite3"
"""File of the store in which `MemctxSessionStore` keeps transcripts."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY, project TEXT NOT NULL, session TEXT NOT NULL, subpath TEXT NOT NULL,
    uuid TEXT, entry TEXT NOT NULL, UNIQUE (project, session, subpath, uuid)
);
CREATE TABLE IF NOT EXISTS sessions (
    project TEXT NOT NULL, session TEXT NOT NULL, mtime INTEGER NOT NULL, summary TEXT NOT NULL,
    PRIMARY KEY (project, session)
);
"""


class MemctxMemory:
    """Hooks that do for the agents of an application what `memctx install claude-code` does for a person.

    A prompt is told what earlier conversations of the project say about it, and what a compaction has dropped; the
    transcript is archived before a compaction and after every answer. The settings are those of the environment.

    >>> options = MemctxMemory("./memory").options(ClaudeAgentOptions(cwd=project))  # doctest: +SKIP
    """

    def __init__(self, memory: str | PathLike[str] | None = None) -> None:
        """Name the directory of the store, by default that of the settings; it is opened by the first prompt."""
        self._root = None if memory is None else Path.cwd() / checks.path(memory)
        self._reader: Memory | None = None
        self._lock = threading.Lock()

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """Callbacks for ``ClaudeAgentOptions(hooks=memory.hooks)``."""
        events = cast("tuple[HookEvent, ...]", EVENTS)
        return {event: [HookMatcher(hooks=[self._answer])] for event in events}

    def options(self, options: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """Return a copy of options with the hooks of memory after those that they have."""
        options = options or ClaudeAgentOptions()
        hooks = dict(options.hooks or {})
        for event, matchers in self.hooks.items():
            hooks[event] = [*hooks.get(event, []), *matchers]
        return replace(options, hooks=hooks)

    def close(self) -> None:
        """Close what the hooks keep open."""
        with self._lock:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    async def _answer(
        self, payload: HookInput, tool_use_id: str | None, context: HookContext
    ) -> HookJSONOutput:
        """Answer a call of a hook."""
        del tool_use_id, context
        told = await anyio.to_thread.run_sync(self._run, cast("dict[str, Any]", payload))
        return cast("HookJSONOutput", json.loads(told) if told else {})

    def _run(self, payload: dict[str, Any]) -> str:
        event = str(payload.get("hook_event_name"))
        with self._lock:
            if self._reader is None:
                with suppress(Exception):  # `answer` meets the same fault, and logs it
                    self._reader = open_reader(self._root)
        return answer("claude-code", event, payload, root=self._root).stdout


class MemctxSessionStore(SessionStore):
    """Session transcripts in a file beside the memory, from which any process can resume a session.

    They are kept as they are; what is recalled comes from the hooks of `MemctxMemory`.

    >>> options = ClaudeAgentOptions(session_store=MemctxSessionStore("./memory"))  # doctest: +SKIP
    """

    def __init__(self, memory: str | PathLike[str] | None = None) -> None:
        """Open the file in the directory of a store, by default that of the settings.

        Raises:
            OSError: the file cannot be created.
        """
        chosen = Config.load().storage_path if memory is None else checks.path(memory)
        folder = Path.cwd() / chosen.expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / FILE
        """The file, readable by its owner alone."""
        self.path.touch(mode=0o600)
        with self._transaction() as database:
            database.executescript(SCHEMA)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Add entries; those whose ``uuid`` is known are not added again."""
        await anyio.to_thread.run_sync(partial(self._append, key, entries))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return the entries in the order in which they were added; None if there are none."""
        found = await self._select(
            "SELECT entry FROM entries WHERE project = ? AND session = ? AND subpath = ? ORDER BY number",
            _place(key),
        )
        return [json.loads(entry) for (entry,) in found] or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project and when they were written last."""
        found = await self._select(
            "SELECT session, mtime FROM sessions WHERE project = ?", (project_key,)
        )
        return [{"session_id": session, "mtime": mtime} for session, mtime in found]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the SDK's summaries of the sessions of a project."""
        found = await self._select(
            "SELECT session, mtime, summary FROM sessions WHERE project = ?", (project_key,)
        )
        return [
            {"session_id": session, "mtime": mtime, "data": json.loads(data)}
            for session, mtime, data in found
        ]

    async def delete(self, key: SessionKey) -> None:
        """Remove a session and its subagents, or one subagent; what was archived stays in the memory."""
        await anyio.to_thread.run_sync(self._delete, key)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the subpaths of a session."""
        found = await self._select(
            "SELECT DISTINCT subpath FROM entries WHERE project = ? AND session = ? AND subpath != ''",
            (key["project_key"], key["session_id"]),
        )
        return [subpath for (subpath,) in found]

    def _append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        place = _place(key)
        with self._transaction() as database:
            new = [entry for entry in entries if _insert(database, place, entry)]
            if new and not key.get("subpath"):
                _summarize(database, key, new)

    def _delete(self, key: SessionKey) -> None:
        project, session, subpath = _place(key)
        with self._transaction() as database:
            if subpath:
                database.execute(
                    "DELETE FROM entries WHERE project = ? AND session = ? AND subpath = ?",
                    (project, session, subpath),
                )
                return
            for table in ("entries", "sessions"):
                database.execute(
                    f"DELETE FROM {table} WHERE project = ? AND session = ?",  # noqa: S608 - two names
                    (project, session),
                )

    async def _select(self, query: str, values: tuple[str, ...]) -> list[tuple[Any, ...]]:
        def select() -> list[tuple[Any, ...]]:
            with self._transaction() as database:
                return database.execute(query, values).fetchall()

        return await anyio.to_thread.run_sync(select)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Give a connection; what is done with it is committed whole, or not at all."""
        with closing(sqlite3.connect(self.path, timeout=30)) as database, database:
            yield database


def _place(key: SessionKey) -> tuple[str, str, str]:
    return key["project_key"], key["session_id"], key.get("subpath") or ""


def _insert(
    database: sqlite3.Connection, place: tuple[str, str, str], entry: SessionStoreEntry
) -> bool:
    """Add an entry; return False if it is known."""
    values = (*place, entry.get("uuid"), json.dumps(entry, ensure_ascii=False))
    added = database.execute(
        "INSERT OR IGNORE INTO entries (project, session, subpath, uuid, entry) VALUES (?, ?, ?, ?, ?)",
        values,
    )
    return added.rowcount > 0


def _summarize(
    database: sqlite3.Connection, key: SessionKey, entries: list[SessionStoreEntry]
) -> None:
    """Bring the SDK's summary of a session up to date."""
    project, session, _ = _place(key)
    known = database.execute(
        "SELECT mtime, summary FROM sessions WHERE project = ? AND session = ?", (project, session)
    ).fetchone()
    before: SessionSummaryEntry | None = None
    if known is not None:
        before = {"session_id": session, "mtime": known[0], "data": json.loads(known[1])}
    after = fold_session_summary(before, key, entries)
    mtime = max(time.time_ns() // 1_000_000, known[0] + 1 if known else 0)
    database.execute(
        "INSERT OR REPLACE INTO sessions (project, session, mtime, summary) VALUES (?, ?, ?, ?)",
        (project, session, mtime, json.dumps(after["data"], ensure_ascii=False)),
    )
