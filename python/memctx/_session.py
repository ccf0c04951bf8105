"""`Session`: the stores and background workers behind a `Memory`, opened from its settings."""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memctx import _core, context, embeddings, store_files
from memctx.embeddings import Resolution

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memctx._core import DiskIndexStatus
    from memctx._shared_session import SharedSession
    from memctx.config import Config
    from memctx.context import Intake, Turns
    from memctx.embeddings import EmbeddingService
    from memctx.facts.worker import BackgroundExtraction
    from memctx.hosts.openclaw import WorkspaceSearch

logger = logging.getLogger("memctx.memory")

NO_EXTRACTOR = (
    "knowledge_extraction is true, but extractor is not set, so no facts are extracted; set extractor to 'anthropic', "
    "'openai:<model>' or a function, knowledge_extraction to 'rules', or to False for none"
)
# A caller of `search` waits longer for a vector than a turn does: the first one may have a model to load.
QUERY_TIMEOUT_MS = 5_000.0

# Levels at which the missing extractor was logged, and notes about a default: once each in a process.
_logged: set[int | str] = set()


class Session:
    """Stores, workers and turns of one session."""

    def __init__(
        self, config: Config, session_id: str, shared: SharedSession | None = None
    ) -> None:
        """Open the stores that ``config`` names, and start the workers it asks for.

        With ``shared``, the directory is a cache, into which the session came from a server.
        """
        self.config = config
        self.shared = shared
        try:
            self._open(config, session_id)
        except BaseException:
            if self.shared is not None:
                self.shared.close()
            raise

    def _open(self, config: Config, session_id: str) -> None:
        self.resolution = resolution = Resolution.of(config)
        options = _core.StoreOptions(
            session_id=session_id,
            cross_session=config.cross_session,
            max_segments=config.disk.max_segments,
            eviction_days=config.disk.eviction_days,
            disk_index=config.disk.index,
            disk_deadline_ms=config.disk.deadline_ms,
            durability=config.disk.durability,
            redaction=config.redaction,
            pii=config.privacy.pii,
            patterns=config.privacy.patterns or None,
            lock_timeout=config.disk.lock_timeout,
            model=resolution.model,
            replaces_vectors=resolution.replaces,
        )
        self.store = _core.Store(config.storage_path, options)
        store_files.check_folders(config.storage_path)
        self.fact_store = _core.FactStore(config.storage_path, options)
        self.extraction = self._open_extraction()
        self.embedding = self._open_embedding()
        self._making = threading.Lock()
        self._turns: Turns | None = None
        self._is_closed = False
        if self.shared is not None:
            self.shared.serve(self.store, self.fact_store)
        self._log_fallback()
        self._extraction_note = self._note_missing_extractor()

    @cached_property
    def intake(self) -> Intake:
        """The way of messages into the store; it has no state, so that threads may each make one."""
        return context.Intake(
            self.store,
            tools=self.config.privacy.archive_tools,
            embedding=self.embedding,
            extraction=self.extraction,
        )

    @property
    def turns(self) -> Turns:
        """Turns of the session, made on first use: a process that only searches does without."""
        with self._making:
            if self._turns is None:
                recall = context.Recall(self.store, self.fact_store, self.config, self.embedding)
                # Nothing here refers to the `Memory`, so that a closed one is freed with its last reference.
                self._turns = context.Turns(recall, self.intake.put)
                if self._is_closed:
                    self._turns.close()
            return self._turns

    def settle(self) -> None:
        """Wait until everything of the last turn is archived."""
        if self._turns is not None:
            self._turns.settle()

    def commit(self) -> None:
        """Wait until the server has everything that is in the directory, if there is one."""
        if self.shared is not None:
            self.shared.commit()

    @cached_property
    def workspace_search(self) -> WorkspaceSearch | None:
        """Search of the workspace, which caches the files it has read; None if there is nothing to search."""
        from memctx.hosts.openclaw import Workspace, WorkspaceSearch  # noqa: PLC0415 - most hosts have none

        settings, workspace = self.config.workspace_search, Workspace.of(self.config)
        if workspace is None and (settings.extra_paths or settings.sessions):
            workspace = Workspace(".", access="none")  # only the paths beside it are searched
        if workspace is None or not settings.enabled:
            return None
        return WorkspaceSearch.of(self.config, workspace, embedder=self.resolution.any_embedder)

    def query_vector(self, query: str) -> NDArray[np.float32] | None:
        """Return the vector of a query that a caller waits for; None where the store makes it, or there is none."""
        if self.embedding is None:
            return None
        return self.embedding.queries.vector(query, QUERY_TIMEOUT_MS)

    def any_query_vector(self, query: str) -> NDArray[np.float32] | None:
        """Return the vector of a query, also where the store makes it; None if there is none."""
        embedder = self.resolution.any_embedder
        if embedder is None or self.embedding is not None:
            return self.query_vector(query)
        return (
            embedder.embed(query)
            if isinstance(embedder, _core.Encoder | _core.StaticEmbedder)
            else None
        )

    def stats(self) -> dict[str, Any]:
        """Return counts of the stored segments and facts, the state of the disk index, and bytes on disk."""
        disk_index = self.store.disk_index()
        return {
            **self.store.stats(),
            "facts": self.fact_store.stats(),
            "disk_index": None if disk_index is None else disk_index_data(disk_index),
            "disk": store_files.disk_use(self.store.path),
            **({} if self.shared is None else {"server": self.shared.status()}),
        }

    def health(self) -> dict[str, Any]:
        """Return everything that was skipped, repaired or degraded, and the progress of the workers."""
        unreadable: list[str] = []
        try:
            status = self.store.embedding()
        except OSError as error:
            status = None
            unreadable.append(f"the log cannot be read: {error}")
        embedding = {
            "asked": self.resolution.asked,
            "used": self.resolution.name,
            "note": self.resolution.note,
            "tried": list(self.resolution.tried),
            "lacking": None if status is None else status.lacking,
            "replacing": None if status is None else status.is_replacing,
            **({} if self.embedding is None else self.embedding.health()),
        }
        extraction = None if self.extraction is None else asdict(self.extraction.progress())
        if self._extraction_note is not None:
            extraction = {"note": self._extraction_note}
        store, facts, index = self.store.health(), self.fact_store.health(), self.store.disk_index()
        reasons = [
            *unreadable,
            *store["reasons"],
            *(f"facts: {reason}" for reason in facts["reasons"]),
            *(() if self.shared is None else self.shared.faults()),
        ]
        return {
            **store,
            "ok": store["ok"] and facts["ok"] and not unreadable,
            "degraded": bool(reasons),
            "reasons": reasons,
            "facts": facts,
            "disk_index": None if index is None else {"state": index.state, "fault": index.fault},
            "extraction": extraction,
            "embedding": embedding,
        }

    def reopen(self) -> None:
        """Share neither files nor locks with the parent process after a fork."""
        self.store.reopen()
        self.fact_store.reopen()
        if self.extraction is not None:
            self.extraction.reopen()
        if self.embedding is not None:
            self.embedding.reopen()
        self._making = threading.Lock()  # as above
        if self._turns is not None:
            self._turns.reopen()
        self.__dict__.pop("workspace_search", None)  # its lock may be held in the parent

    def close(self) -> None:
        """Finish the last turn, stop the workers and close the stores."""
        with self._making:
            self._is_closed = True
        if self._turns is not None:
            self._turns.close()
        made: WorkspaceSearch | None = self.__dict__.get("workspace_search")
        if made is not None:
            made.close()
        if self.extraction is not None:
            self.extraction.close()
        if self.embedding is not None:
            self.embedding.close()
        if self.shared is not None:
            self.shared.close()
        self.fact_store.close()
        self.store.close()

    def _open_extraction(self) -> BackgroundExtraction | None:
        wanted = self.config.knowledge_extraction
        choice = "rules" if wanted == "rules" else self.config.extractor
        if not wanted or choice is None or not self.config.enabled:
            return None
        # Most memories extract nothing, and these modules take long to import.
        from memctx.facts.extractors import extractor_of  # noqa: PLC0415
        from memctx.facts.worker import BackgroundExtraction  # noqa: PLC0415

        return BackgroundExtraction(
            self.config.storage_path,
            self.store.session_id,
            self.fact_store,
            extractor_of(choice),
            hosts=None if self.shared is None else self.shared.extraction_lease(),
        )

    def _log_fallback(self) -> None:
        """Log why another embedder is used; for ``auto``, which is the default, once."""
        note = self.resolution.note
        if note is not None and note not in _logged:
            logger.warning(note)
            if self.resolution.asked == "auto":
                _logged.add(note)

    def _note_missing_extractor(self) -> str | None:
        """Return why no facts are extracted though the settings ask for it, and log that once."""
        config = self.config
        is_missing = config.knowledge_extraction is True and config.extractor is None
        if not is_missing or not config.enabled:
            return None
        # A default that was never chosen is no warning.
        level = logging.WARNING if "knowledge_extraction" in config.given() else logging.INFO
        if level not in _logged:
            _logged.add(level)
            logger.log(level, NO_EXTRACTOR)
        return NO_EXTRACTOR

    def _open_embedding(self) -> EmbeddingService | None:
        embedder = self.resolution.embedder
        if embedder is None:
            return None
        return embeddings.EmbeddingService(
            self.store, embedder, timeout_ms=self.config.embedding.timeout_ms
        )


def disk_index_data(status: DiskIndexStatus) -> dict[str, Any]:
    """Return the state of the disk index, ready for JSON."""
    return {
        "state": status.state,
        "segments": status.segments,
        "passages": status.passages,
        "indexed_bytes": status.indexed_bytes,
        "log_bytes": status.log_bytes,
        "disk_bytes": status.disk_bytes,
        "fault": status.fault,
    }
