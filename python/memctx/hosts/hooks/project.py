"""`ProjectMemory`: a memory that reads the sessions of one project, whatever their host, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memctx._core import FactStore, SearchFilter, StoreOptions
from memctx.facts import Facts
from memctx.hits import Hits
from memctx.hosts.hooks.session import newest_sessions
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from memctx._core import (
        Fact,
        FactChange,
        FactHit,
        FactOutcome,
        SearchHit,
        Segment,
        Store,
    )
    from memctx.config import Config
    from memctx.facts import FactType
    from memctx.hosts.hooks.session import HostSession
    from memctx.memory import SearchOptions

OVERSAMPLING, FEWEST = 4, 64
"""A search asks for so many times as many, and at least for so many, since some are of other projects."""
MAX_SESSIONS = 20
"""Newest sessions of a project that are searched one by one where other projects crowd them out."""


class ProjectMemory(Memory):
    """A memory of which searches, lists and lookups see the sessions of one project.

    >>> import memctx, pathlib, tempfile
    >>> from memctx.hosts import HostSession, archive_messages
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> for folder, port in (("/src/shop", 8443), ("/src/blog", 9000)):
    ...     session = HostSession("codex", folder, "c1")
    ...     said = [{"role": "user", "content": f"The webhook listens on port {port}"}]
    ...     archived = archive_messages(session, said, root=root)
    >>> own = HostSession("mcp", "/src/shop", "tools")
    >>> with ProjectMemory(memctx.Config(storage_path=root), own) as memory:
    ...     [hit.segment.content for hit in memory.search("which port has the webhook?")]
    ['The webhook listens on port 8443']
    """

    def __init__(self, config: Config, session: HostSession) -> None:
        """Open the memory; what is written belongs to ``session``."""
        super().__init__(config.replace(cross_session=True), session_id=session.session_id)
        self._project = session
        self._scoped_store = _ProjectStore(self._store, session)
        self._facts = _ProjectFacts(self._session.fact_store, session, self.config)

    @property
    def store(self) -> Store:
        """The segments of the project."""
        return cast("Store", self._scoped_store)

    def search(self, query: str, **options: Unpack[SearchOptions]) -> Hits:
        """Search as `Memory.search` does, in the sessions of the project."""
        limit = options.get("limit", 10)
        conditions = options.get("filter")
        if conditions is not None and conditions.session_id is not None:
            is_own = self._project.is_same_project(conditions.session_id)
            return super().search(query, **options) if is_own else Hits((), query)
        most = max(limit * OVERSAMPLING, FEWEST)
        hits = super().search(query, **cast("SearchOptions", {**options, "limit": most}))
        found = [hit for hit in hits if self._project.is_same_project(hit.segment.session_id)]
        if len(hits) >= most and len(found) < limit:
            found = self._search_each(query, options)
        return Hits(found[:limit], query)

    def _search_each(self, query: str, options: SearchOptions) -> list[SearchHit]:
        given = options.get("filter")
        found: list[SearchHit] = []
        for session in newest_sessions(self, self._project)[:MAX_SESSIONS]:
            conditions = SearchFilter(
                session_id=session,
                roles=None if given is None else given.roles,
                since=None if given is None else given.since,
                until=None if given is None else given.until,
                topics=None if given is None else given.topics,
            )
            each = cast("SearchOptions", {**options, "filter": conditions})
            found += super().search(query, **each)
        return sorted(found, key=lambda hit: hit.score, reverse=True)


class _ProjectStore:
    """The segments of a store that belong to a project."""

    def __init__(self, store: Store, session: HostSession) -> None:
        self._store = store
        self._session = session

    def get(self, id: str) -> Segment | None:
        found = self._store.get(id)
        return found if found is not None and self._is_own(found.session_id) else None

    def neighbors(self, id: str, distance: int = 2) -> list[Segment]:
        return [] if self.get(id) is None else self._store.neighbors(id, distance)

    def segments(self) -> Iterator[Segment]:
        return (each for each in self._store.segments() if self._is_own(each.session_id))

    def sessions(self) -> list[str]:
        return [each for each in self._store.sessions() if self._is_own(each)]

    @property
    def _is_own(self) -> Callable[[str | None], bool]:
        return self._session.is_same_project

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - everything else concerns the whole store
        return getattr(self._store, name)


class _ProjectFacts(Facts):
    """The facts of a store that belong to a project."""

    __slots__ = ("_session",)

    def __init__(self, store: FactStore, session: HostSession, config: Config) -> None:
        super().__init__(cast("FactStore", _ProjectFactStore(store, session, config)))
        self._session = session

    def __len__(self) -> int:
        return len(self.list())


class _ProjectFactStore:
    """Facts of a project: those of others are neither found nor changed."""

    def __init__(self, store: FactStore, session: HostSession, config: Config) -> None:
        self._store = store
        self._session = session
        self._config = config

    def get(self, id: str) -> Fact | None:
        found = self._store.get(id)
        return found if found is not None and self._is_own(found) else None

    def facts(
        self,
        *,
        types: Iterable[FactType] | None = None,
        limit: int | None = None,
        include_superseded: bool = False,
    ) -> list[Fact]:
        found = self._store.facts(types=types, include_superseded=include_superseded)
        return [each for each in found if self._is_own(each)][:limit]

    def history(self, id: str) -> list[Fact]:
        return [each for each in self._store.history(id) if self._is_own(each)]

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Iterable[str] | None = None,
        explain: bool = False,
    ) -> list[FactHit]:
        most = max(limit * OVERSAMPLING, FEWEST)
        found = self._store.search(query, limit=most, types=types, explain=explain)
        return [each for each in found if self._is_own(each.fact)][:limit]

    def nearest(
        self, text: str, *, limit: int = 20, types: Iterable[str] | None = None
    ) -> list[Fact]:
        found = self._store.nearest(text, limit=limit * OVERSAMPLING, types=types)
        return [each for each in found if self._is_own(each)][:limit]

    def add(self, type: str, content: str, **options: Any) -> Fact:  # noqa: ANN401 - as the store takes them
        """Add a fact, unless one of the project says the same; one of another project does not count."""
        options["sources"] = tuple(options.get("sources") or ())  # it may be read twice
        found = self._store.add(type, content, **options)
        if self._is_own(found):
            return found
        same = (each for each in self.facts() if _normalize(each) == _normalize(found))
        return next(same, None) or self._add_own(type, content, **options)

    def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
        """Apply changes one by one, since what another project says is added here too."""
        return [self._apply(change) for change in changes]

    def _apply(self, change: FactChange) -> FactOutcome:
        [outcome] = self._store.apply([change])
        if outcome != "duplicate" or change[0] != "add":
            return outcome
        _, own, kind, content, context, sources = change
        added = self.add(kind, content, context=context, sources=sources, id=own)
        return "done" if added.id == own else outcome

    def _add_own(self, type: str, content: str, **options: Any) -> Fact:  # noqa: ANN401 - as above
        """Add a fact through a store that sees only the session's own facts."""
        config = self._config
        store = FactStore(
            config.storage_path,
            StoreOptions(
                session_id=self._session.session_id,
                durability=config.disk.durability,
                redaction=config.redaction,
                pii=config.privacy.pii,
                patterns=config.privacy.patterns or None,
                lock_timeout=config.disk.lock_timeout,
            ),
        )
        try:
            return store.add(type, content, **options)
        finally:
            store.close()

    def update(self, id: str, content: str, **options: Any) -> Fact:  # noqa: ANN401 - as the store takes them
        return self._store.update(self._checked(id), content, **options)

    def supersede(self, id: str, type: str, content: str, **options: Any) -> Fact:  # noqa: ANN401 - as above
        return self._store.supersede(self._checked(id), type, content, **options)

    def forget(self, id: str) -> Fact:
        return self._store.forget(self._checked(id))

    def _checked(self, id: str) -> str:
        """Return an id that the store does not know if the fact is another project's."""
        return id if self.get(id) is not None else f"{id} of another project"

    def _is_own(self, fact: Fact) -> bool:
        return self._session.is_same_project(fact.session_id)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - everything else concerns the whole store
        return getattr(self._store, name)


def _normalize(fact: Fact) -> str:
    """Return the text by which a store tells duplicates."""
    return fact.content.strip().lower()
