"""`Memory`: the memory of one session, which `memctx.open` opens.

>>> import memctx, tempfile
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     archived = memory.archive([{"role": "user", "content": "The payment webhook listens on port 8443"}])
...     hits = memory.search("which port has the webhook?")
>>> archived.added, hits[0].segment.content
(1, 'The payment webhook listens on port 8443')
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from memctx import _core, disk
from memctx.embeddings.embedding import Embedding, complete
from memctx.embeddings.opening import Opening
from memctx.errors import ConfigError, EmbeddingError, StoreError
from memctx.extraction import Extraction, Flush, Flushed, Progress
from memctx.extractors import extractor_of
from memctx.intake import Archived, Intake
from memctx.knowledge import Facts
from memctx.loop import blocking
from memctx.turn import Turns, prompt_tokens
from memctx.turn.recollection import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

    from memctx._core import ColdStatus, EmbeddingStatus, StoreHit, WarmStore
    from memctx.compact import MemoryFlushed
    from memctx.compact.flush import RunTurn
    from memctx.compactor import Compacted, Compactor, HookName, Trigger
    from memctx.config import Config, Ranking
    from memctx.messages import Shape
    from memctx.session import Counters, Transcript
    from memctx.turn import Turn

__all__ = ["Memory"]

# Who searches by hand waits longer for a vector than a turn does: the first one may have a model to load.
PATIENCE_MS = 5_000.0


class SearchOptions(TypedDict, total=False):
    """What `Memory.search` takes beside the query."""

    limit: int
    session_id: str | None
    roles: Sequence[str] | None
    since: float | datetime | None
    until: float | datetime | None
    topics: Sequence[str] | None
    min_score: float
    ranking: Ranking | None
    window: int
    explain: bool
    everything: bool


class CompactOptions(TypedDict, total=False):
    """What `Memory.compact` takes beside the messages."""

    instructions: str | None
    shape: Shape | None
    reason: Trigger
    pinned: Collection[int]
    transcript: Transcript | None
    on_text: Callable[[str], None] | None


class Memory:
    """The memory of one session in one directory. `memctx.open` makes them; all methods may be called from threads."""

    def __init__(
        self, config: Config, *, session_id: str, release: Callable[[Memory], bool] | None = None
    ) -> None:
        """Open the store that ``config`` names; ``release`` says whether a `close` is the last one due."""
        self._config = config
        self._release = release
        self._closed = False
        self._scanner = _core.Scanner(config.estimator)
        self._opening = opening = Opening.of(config)
        self._store = _core.WarmStore(
            config.storage_path,
            session_id=session_id,
            cross_session=config.cross_session,
            max_segments=config.max_segments,
            eviction_days=config.eviction_days,
            cold=config.cold,
            cold_deadline_ms=config.cold_deadline_ms,
            durability=config.durability,
            redaction=config.redaction,
            pii=config.pii,
            patterns=config.redaction_patterns or None,
            lock_timeout=config.lock_timeout,
            model=opening.model,
            replaces_vectors=opening.replaces,
        )
        self._fact_store = _core.FactStore(
            config.storage_path,
            session_id=session_id,
            cross_session=config.cross_session,
            durability=config.durability,
            redaction=config.redaction,
            pii=config.pii,
            patterns=config.redaction_patterns or None,
            lock_timeout=config.lock_timeout,
        )
        self._facts = Facts(self._fact_store)
        self._extraction = self._opened_extraction()
        self._embedding = self._opened_embedding()
        recall = Recall(self._store, self._fact_store, config, self._embedding)
        self._intake = Intake(
            self._store,
            tools=config.archive_tools,
            embedding=self._embedding,
            extraction=self._extraction,
        )
        # Not a method of this one: a closed memory goes when the last who holds it lets go, with all it has read.
        self._turns = Turns(recall, self._scanner, self._intake.put)
        if opening.note is not None:
            logging.getLogger("memctx.memory").warning(opening.note)

    @property
    def session_id(self) -> str:
        """The session whose memory this is."""
        return self._store.session_id

    @property
    def config(self) -> Config:
        """The settings it was opened with."""
        return self._config

    @property
    def store(self) -> WarmStore:
        """The store itself; ``store.segments()`` yields everything in it, in order."""
        return self._store

    @property
    def facts(self) -> Facts:
        """What is known: `Facts.add`, `Facts.search`, `Facts.update`, `Facts.supersede`, `Facts.forget` and more."""
        return self._facts

    @property
    def extraction(self) -> Extraction | None:
        """What finds facts in the background, and how far it is; None if the settings name nothing that would."""
        return self._extraction

    @property
    def closed(self) -> bool:
        """Whether it was closed by everybody who had opened it."""
        return self._closed

    def archive(self, messages: Sequence[Any], *, shape: Shape | None = None) -> Archived:
        """Store messages, in whatever shape their host has them, and return once they are durable.

        Text is stored under its role; tool calls and results, if `archive_tools` says so, as ``tool``. System
        prompts and thinking are not stored, pictures become a placeholder. ``shape`` says what the messages are
        where that is not to be guessed. What is no list of messages raises `MessageShapeError`; if anything could
        not be stored, `StoreError` or the `OSError` of the system.
        """
        self._check_open()
        return self._intake.add(self._scanner.scan(messages, shape))

    def prepare(
        self,
        messages: Sequence[Any],
        *,
        shape: Shape | None = None,
        pinned: Collection[int] = (),
        model: str | None = None,
    ) -> Turn:
        """The messages to send to the model: pruned and trimmed where the window is full, with what matters recalled.

        Call it before every model call, with all messages of the conversation so far, and send ``turn.messages``. The
        messages given stay as they are. ``pinned`` are the places of messages that must not be trimmed; ``model`` tells
        when the model changes, after which nothing is cached. If memory fails, the messages are sent as they came and
        ``turn.report.errors`` says why; only what is no list of messages raises, `MessageShapeError`.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=200_000) as memory:
        ...     turn = memory.prepare([{"role": "user", "content": "Which port has the webhook?"}])
        >>> turn.messages
        [{'role': 'user', 'content': 'Which port has the webhook?'}]
        """
        turn = self._turns.prepare(messages, shape=shape, pinned=pinned, model=model)
        made: Compactor | None = self.__dict__.get("_made_compactor")
        return turn if made is None else made.hooked(turn)

    def observe(self, usage: object) -> None:
        """Learn what the last turn really cost, from the usage that the provider's SDK gives, or just its tokens.

        System prompt and tools, which `prepare` does not see, count from then on, and so does our error.
        """
        self._check_open()
        self._turns.observe(prompt_tokens(usage))

    def search(  # noqa: PLR0913 - each is one way to narrow a search, and all have a default
        self,
        query: str,
        *,
        limit: int = 10,
        session_id: str | None = None,
        roles: Sequence[str] | None = None,
        since: float | datetime | None = None,
        until: float | datetime | None = None,
        topics: Sequence[str] | None = None,
        min_score: float = 0.0,
        ranking: Ranking | None = None,
        window: int = 0,
        explain: bool = False,
        everything: bool = False,
    ) -> list[StoreHit]:
        """The segments that answer a query best, best first.

        ``since`` and ``until`` are moments, or milliseconds since the epoch; ``min_score`` from 0 to 1 is how well a
        segment must match; ``window`` adds that many neighbours on either side of a hit; ``explain`` says how each
        score came about. Another session's segments are seen only with ``cross_session``.

        What is no longer in memory is searched on disk, as far as it is indexed there and answers within
        ``cold_deadline_ms``. With ``everything`` the index is brought up to date first and waited for, which may take
        its time; where the setting ``cold`` is off, that is a `ConfigError`.

        >>> import memctx, tempfile
        >>> said = [{"role": "user", "content": f"Parcel {number} went to gate {number + 100}"} for number in range(60)]
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", max_segments=10) as memory:
        ...     archived = memory.archive(said)
        ...     hits = memory.search("which parcel went to gate 103?", limit=1, everything=True)
        >>> hits[0].segment.content
        'Parcel 3 went to gate 103'
        """
        self._check_open()
        if everything and not self._config.cold:
            raise ConfigError("everything is True; expected the setting cold to be on for that")
        self._turns.settle()
        return self._store.search(
            query,
            vector=self._vector(query),
            limit=limit,
            session_id=session_id,
            roles=roles,
            since=_milliseconds(since),
            until=_milliseconds(until),
            topics=topics,
            min_score=min_score,
            ranking=ranking or self._config.ranking,
            window=window,
            explain=explain,
            everything=everything,
        )

    def reembed(self, progress: Callable[[int, int], object] | None = None) -> EmbeddingStatus:
        """Give everything stored the vectors of the model that the settings name, now; what has them keeps them.

        Without it that goes on in the background. Vectors of another model give way when all are there. ``progress``
        hears how many bytes of the log, of how many, are embedded. Raises `EmbeddingError` if the model fails or is not
        there.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
        ...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
        ...     status = memory.reembed()
        >>> status.model, status.done_bytes == status.log_bytes
        ('hash', True)
        """
        self._check_open()
        if self._opening.note is not None:
            raise EmbeddingError(self._opening.note)
        self._turns.settle()
        worker = None if self._embedding is None else self._embedding.worker
        complete(self._store, worker, progress)
        return self._store.embedding()

    def flush(self, timeout: float | None = None) -> Flush:
        """Extract facts from all that was archived so far, however little it is: await it, or its `Flush.result`.

        It never raises for a model that fails or takes more than ``timeout`` seconds: what it gives says what is left,
        and that is kept for later.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", knowledge_extraction="rules") as memory:
        ...     said = "We decided: the payment webhook of the shop listens on port 8443."
        ...     archived = memory.archive([{"role": "user", "content": said}])
        ...     flushed = memory.flush().result(timeout=30)
        >>> flushed.is_complete
        True
        """
        self._check_open()
        self._turns.settle()
        if self._extraction is not None:
            return self._extraction.flush(timeout)
        flush = Flush(0)
        flush.settle(Flushed(is_complete=True, progress=Progress()))
        return flush

    async def aarchive(self, messages: Sequence[Any], *, shape: Shape | None = None) -> Archived:
        """`archive`, in a thread, for callers that must not block."""
        return await asyncio.to_thread(self.archive, messages, shape=shape)

    async def aprepare(
        self,
        messages: Sequence[Any],
        *,
        shape: Shape | None = None,
        pinned: Collection[int] = (),
        model: str | None = None,
    ) -> Turn:
        """`prepare`, in a thread, for callers that must not block."""
        return await asyncio.to_thread(
            self.prepare, messages, shape=shape, pinned=pinned, model=model
        )

    async def asearch(self, query: str, **options: Unpack[SearchOptions]) -> list[StoreHit]:
        """`search`, in a thread, for callers that must not block."""
        return await asyncio.to_thread(self.search, query, **options)

    def stats(self) -> dict[str, Any]:
        """Counts of what the store holds, ``cold`` how far that is indexed on disk, ``disk`` the bytes it takes there.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
        ...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
        ...     stats = memory.stats()
        >>> stats["segments"], stats["disk"]["log"] == stats["log_bytes"], stats["cold"]["fault"]
        (1, True, None)
        """
        self._check_open()
        self._turns.settle()
        cold = self._store.cold()
        return {
            **self._store.stats(),
            "facts": self._fact_store.stats(),
            "cold": None if cold is None else cold_data(cold),
            "disk": disk.use(self._store.path),
        }

    def health(self) -> dict[str, Any]:
        """What was skipped, healed or degraded, which model makes the vectors, and how far it is."""
        self._check_open()
        opening, status = self._opening, self._store.embedding()
        embedding = {
            "asked": opening.asked,
            "used": opening.name,
            "note": opening.note,
            "tried": list(opening.tried),
            "lacking": status.lacking,
            "replacing": status.is_replacing,
            **({} if self._embedding is None else self._embedding.health()),
        }
        extraction = None if self._extraction is None else asdict(self._extraction.progress())
        return {
            **self._store.health(),
            "facts": self._fact_store.health(),
            "extraction": extraction,
            "embedding": embedding,
        }

    def reopen(self) -> None:
        """After a fork, share neither files nor locks with the parent; `memctx.open` sees to it by itself."""
        self._scanner = _core.Scanner(self._config.estimator)
        self._store.reopen()
        self._fact_store.reopen()
        if self._extraction is not None:
            self._extraction.reopen()
        if self._embedding is not None:
            self._embedding.reopen()
        self._turns.reopen(self._scanner)
        made: Compactor | None = self.__dict__.get("_made_compactor")
        if made is not None:
            made.reopen()

    def close(self) -> None:
        """Give the memory back. The store closes when everybody who opened it has; then this does nothing more."""
        if self._closed:
            return
        if self._release is None or self._release(self):
            self._closed = True
            self._turns.close()
            if self._extraction is not None:
                self._extraction.close()
            if self._embedding is not None:
                self._embedding.close()
            self._fact_store.close()
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = ", closed" if self._closed else ""
        return f"<memctx.Memory of session {self.session_id!r} in {self._store.path!r}{state}>"

    def _opened_extraction(self) -> Extraction | None:
        wanted = self._config.knowledge_extraction
        choice = "rules" if wanted == "rules" else self._config.extractor
        if not wanted or choice is None:
            return None
        return Extraction(
            self._config.storage_path,
            self._store.session_id,
            self._fact_store,
            extractor_of(choice),
        )

    def _opened_embedding(self) -> Embedding | None:
        embedder = self._opening.embedder
        if embedder is None:
            return None
        return Embedding(self._store, embedder, timeout_ms=self._config.embedding_timeout_ms)

    def _vector(self, query: str) -> NDArray[np.float32] | None:
        """The vector of a query that somebody waits for; None where the store makes it, or there is none."""
        if self._embedding is None:
            return None
        return self._embedding.queries.vector(query, PATIENCE_MS)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self!r} takes no more calls")

    # What follows is compaction, which `memctx.compactor` carries out.

    def on(self, event: HookName, handler: Callable[[Any], object]) -> Callable[[], None]:
        """Have a function called around compactions; returns what takes it off again.

        ``before_compaction`` and ``after_compaction`` are told; ``session_before_compact`` may cancel or replace one;
        ``context`` may change what `prepare` gives. They run side by side, may be coroutine functions but for the last,
        and what they raise is logged. `memctx.compactor` has what they are told.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
        ...     off = memory.on("after_compaction", lambda event: print(event.compacted_count))
        """
        return self._compactor.hooks.on(event, handler)

    def should_compact(
        self, messages: Sequence[Any], *, usage: object = None, shape: Shape | None = None
    ) -> bool:
        """Whether a compaction is due: the messages, or the ``usage`` of the last call, reach into the reserve."""
        self._check_open()
        return self._compactor.should_compact(messages, usage=usage, shape=shape)

    async def compact(  # noqa: PLR0913 - each has a default
        self,
        messages: Sequence[Any],
        *,
        instructions: str | None = None,
        shape: Shape | None = None,
        reason: Trigger = "manual",
        pinned: Collection[int] = (),
        transcript: Transcript | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Compacted:
        """The messages with all but the newest replaced by a summary, for hosts without a compaction of their own.

        What leaves is archived first, and found again by `search` and by the next `prepare`. The summary is that of
        ``config.summarizer``; whatever that does, there is one. The messages given stay as they are, and those kept are
        the very same objects; only signed thinking, which holds no longer, is taken out of copies. Where there is
        nothing to compact, as right after a compaction, nothing is, and ``compacted.skipped`` says why.

        ``instructions`` say what the summary is to heed; ``pinned`` are places of messages that stay; into a
        ``transcript`` the compaction is written; ``on_text`` sees the summary as it comes.

        Cancelled, or raising `StoreError` because the archive cannot be written, it leaves all as it was.

        >>> import asyncio, memctx, tempfile
        >>> said = [{"role": "user", "content": f"Remark {number}. " * 200} for number in range(9)]
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=8_000,
        ...                  compaction={"keep_recent_tokens": 500}) as memory:
        ...     compacted = asyncio.run(memory.compact(said, instructions="Keep the numbers"))
        >>> compacted.first_kept, len(compacted.messages), compacted.messages[-1] is said[-1]
        (8, 2, True)
        """
        self._check_open()
        return await self._compactor.compact(
            messages,
            instructions=instructions,
            shape=shape,
            reason=reason,
            pinned=pinned,
            transcript=transcript,
            on_text=on_text,
        )

    def compact_sync(self, messages: Sequence[Any], **options: Unpack[CompactOptions]) -> Compacted:
        """`compact`, for callers without an event loop; where one is running, in a thread beside it."""
        return blocking(lambda: self.compact(messages, **options))

    def should_flush_memory(
        self, messages: Sequence[Any], *, usage: object = None, shape: Shape | None = None
    ) -> bool:
        """Whether `flush_memory` would do anything now: once before each compaction, a little earlier than that."""
        self._check_open()
        return self._compactor.should_flush(messages, usage=usage, shape=shape)

    async def flush_memory(
        self,
        run_turn: RunTurn,
        messages: Sequence[Any],
        *,
        usage: object = None,
        shape: Shape | None = None,
    ) -> MemoryFlushed:
        """If it is due, have the model write down in the workspace what must outlast the compaction that is near.

        ``run_turn(system, prompt)`` runs a turn that the user does not see, and gives the answer, or a stream of it. It
        may fail; the agent goes on.
        """
        self._check_open()
        return await self._compactor.flush(run_turn, messages, usage=usage, shape=shape)

    @property
    def counters(self) -> Counters:
        """How often the session was compacted and its memory flushed, in this process or another."""
        return self._compactor.counters

    @property
    def _compactor(self) -> Compactor:
        """Made when it is first asked for; one, whichever threads ask."""
        made: Compactor | None = self.__dict__.get("_made_compactor")
        return made or self.__dict__.setdefault("_made_compactor", self._new_compactor())

    def _new_compactor(self) -> Compactor:
        from memctx.compactor import Compactor  # noqa: PLC0415 - most hosts never compact

        return Compactor(
            self._config,
            session_id=self.session_id,
            store=self._store.path,
            archive=self.archive,
        )


def cold_data(status: ColdStatus) -> dict[str, Any]:
    """How far the index on disk is, ready for JSON."""
    return {
        "state": status.state,
        "segments": status.segments,
        "passages": status.passages,
        "graph_passages": status.graph_passages,
        "indexed_bytes": status.indexed_bytes,
        "log_bytes": status.log_bytes,
        "disk_bytes": status.disk_bytes,
        "fault": status.fault,
    }


def _milliseconds(moment: float | datetime | None) -> float | None:
    return moment.timestamp() * 1000 if isinstance(moment, datetime) else moment
