"""`MemctxMemoryService`: the memory of users over all of their sessions."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from memctx.bridge import Sessions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from memctx import SearchHit
    from memctx.bridge import Options
    from memctx.memory import Memory

AUTHORS = {"assistant": "model"}
"""Authors of memories by the role under which they are stored, where it is another."""


class MemctxMemoryService(BaseMemoryService):
    """Keeps what users said in all of their sessions, for ADK's tools ``load_memory`` and ``preload_memory``.

    Each user of an app has a memory of their own. Single memories cannot be deleted.

    >>> runner = Runner(app=app, memory_service=MemctxMemoryService("./memory"))  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        limit: int = 10,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``limit`` is the number of memories that a search returns at most.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        self.sessions = Sessions(memory, session_id=session_id, **options)
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Archive the events of a session; those that are stored are not stored again."""
        await self._archive(session.app_name, session.user_id, _timed(session.events))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Archive some events of a session."""
        del session_id, custom_metadata
        await self._archive(app_name, user_id, _timed(events))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Archive memories as they are."""
        del custom_metadata
        contents = [{**_plain(entry.content), "timestamp": entry.timestamp} for entry in memories]
        await self._archive(app_name, user_id, contents)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what the user's sessions hold for a query, best first."""
        hits = await asyncio.to_thread(
            self.sessions.search, self._session(app_name, user_id), query, limit=self._limit
        )
        return SearchMemoryResponse(memories=list(map(_entry, hits)))

    def close(self) -> None:
        """Close the memories that the service opened."""
        self.sessions.close()

    def _session(self, app_name: str, user_id: str) -> str:
        return self.sessions.name((app_name, user_id))

    async def _archive(self, app_name: str, user_id: str, contents: list[dict[str, Any]]) -> None:
        if contents:
            session = self._session(app_name, user_id)
            await asyncio.to_thread(self.sessions.archive, session, contents, format="gemini")


def _plain(content: types.Content) -> dict[str, Any]:
    return content.model_dump(exclude_none=True)


def _timed(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the contents of events, with their times."""
    return [
        {**_plain(event.content), "timestamp": event.timestamp}
        for event in events
        if event.content is not None and event.content.parts and not event.partial
    ]


def _entry(hit: SearchHit) -> MemoryEntry:
    segment = hit.segment
    author = AUTHORS.get(segment.role, segment.role)
    said = datetime.fromtimestamp(segment.timestamp / 1000, UTC)
    return MemoryEntry(
        id=segment.id,
        author=author,
        timestamp=said.isoformat(timespec="seconds"),
        content=types.Content(
            role="model" if author == "model" else "user",
            parts=[types.Part(text=segment.content)],
        ),
    )
