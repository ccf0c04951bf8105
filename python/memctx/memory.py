"""`Memory`: the memory of one session, opened by `memctx.open`.

>>> import memctx, tempfile
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     archived = memory.archive([{"role": "user", "content": "The payment webhook listens on port 8443"}])
...     hits = memory.search("which port has the webhook?")
>>> archived.added, hits[0].segment.content
(1, 'The payment webhook listens on port 8443')
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypedDict, TypeVar, Unpack

from memctx import checks, context, embeddings
from memctx._session import Session
from memctx._telemetry import describe, span
from memctx.errors import ConfigError, EmbeddingError, MemctxError, StoreError
from memctx.hits import Hits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from types import TracebackType

    from memctx._core import EmbeddingStatus, SearchFilter, Store
    from memctx._shared_session import SharedSession
    from memctx.compaction import (
        Compacted,
        CompactOptions,
        Compactor,
        HookName,
        NotesWritten,
        RunTurn,
    )
    from memctx.config import Config, Ranking
    from memctx.context import Archived, Observed, Recall, Turn, Turns
    from memctx.facts import Facts
    from memctx.facts.worker import BackgroundExtraction, FactsFuture
    from memctx.hosts.openclaw import Cited, Source
    from memctx.hosts.pi import Counters
    from memctx.messages import FormatName

__all__ = ["Memory"]

logger = logging.getLogger("memctx.memory")

DISABLED = "memory is disabled: the setting enabled is false, and the messages are sent unchanged"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class SearchOptions(TypedDict, total=False):
    """Keyword arguments of `Memory.search`."""

    limit: int
    filter: SearchFilter | None
    min_score: float
    ranking: Ranking | None
    window: int
    explain: bool
    everything: bool


@checks.public_class
class Memory:
    """The memory of one session in one directory, made by `memctx.open`. All methods are thread-safe."""

    def __init__(
        self,
        config: Config,
        *,
        session_id: str,
        release: Callable[[Memory], bool] | None = None,
        shared: SharedSession | None = None,
    ) -> None:
        """Open the stores that ``config`` names; ``release`` returns whether a `close` is the last one due.

        With ``shared``, the directory is the cache of a PostgreSQL server. It is closed with the memory.
        """
        self._config = config
        self._release = release
        self._closed = False
        self._session = session = Session(config, session_id, shared)
        self._store = session.store
        self._facts: Facts | None = None

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return self._store.session_id

    @property
    def config(self) -> Config:
        """Settings of the memory."""
        return self._config

    @property
    def store(self) -> Store:
        """The store of segments; ``store.segments()`` yields all of them, in order."""
        return self._store

    @property
    def facts(self) -> Facts:
        """Facts of the session: `Facts.add`, `Facts.search`, `Facts.update`, `Facts.supersede`, `Facts.forget`."""
        if self._facts is None:  # it has no state, so that threads may each make one
            from memctx.facts import Facts  # noqa: PLC0415 - not every process needs them

            commit = None if self._session.shared is None else self._session.commit
            self._facts = Facts(self._session.fact_store, commit=commit)
        return self._facts

    @property
    def extraction(self) -> BackgroundExtraction | None:
        """Background extraction of facts and its progress; None if the settings name no extractor."""
        return self._session.extraction

    @property
    def closed(self) -> bool:
        """True if every caller that opened the memory has closed it."""
        return self._closed

    def archive(self, messages: Sequence[Any], *, format: FormatName | None = None) -> Archived:
        """Store messages of any format, and return once they are durable.

        Text is stored under its role; tool calls and results, if `privacy.archive_tools` asks for them, as ``tool``.
        System prompts and thinking are not stored, pictures become a placeholder. ``format`` names the format of the
        messages where it cannot be detected. Nothing is stored while the setting ``enabled`` is off.

        Raises:
            MessageFormatError: ``messages`` is no list of messages.
            StoreError: a message could not be stored; or the `OSError` of the system.
        """
        self._check_open()
        if not self._config.enabled:
            skipped = len(messages)
            return context.Archived(
                (), added=0, duplicates=0, skipped=skipped, reasons={"disabled": skipped}
            )
        with span("memctx.archive") as current:
            archived = self._session.intake.add(self._turns.read(messages, format))
            self._session.commit()
            describe(
                current,
                lambda: {
                    "memctx.added": archived.added,
                    "memctx.duplicates": archived.duplicates,
                },
            )
        logger.debug("archived: %s", archived)
        return archived

    def prepare(
        self,
        messages: Sequence[Any],
        *,
        format: FormatName | None = None,
        pinned: Collection[int] = (),
        model: str | None = None,
    ) -> Turn:
        """Prepare the messages to send to the model: prune and trim them to fit the window, and recall relevant text.

        Call it before every model call, with all messages of the conversation so far, and send ``turn.messages``. The
        given messages are not changed. ``pinned`` are indices of messages that must not be trimmed; ``model`` names the
        model, since a change of model empties the cache. If memory fails, the messages are sent unchanged and
        ``turn.report.errors`` has the reason. While the setting ``enabled`` is off they are sent unchanged too, and
        ``turn.report.degraded`` says so.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=200_000) as memory:
        ...     turn = memory.prepare([{"role": "user", "content": "Which port has the webhook?"}])
        >>> turn.messages
        [{'role': 'user', 'content': 'Which port has the webhook?'}]

        Raises:
            MessageFormatError: ``messages`` is no list of messages.
        """
        if not isinstance(model, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"model must be the name of a model or None, not {type(model).__name__}"
            )
        if not self._config.enabled:
            same = messages if isinstance(messages, list) else list(messages)
            report = context.Report(format or "unknown", degraded=(DISABLED,))
            return context.Turn(same, report, origins=range(len(same)))
        with span("memctx.prepare") as current:
            turn = self._turns.prepare(messages, format=format, pinned=pinned, model=model)
            describe(current, turn.report.span_attributes)
        made: Compactor | None = self.__dict__.get("_made_compactor")
        if made is None or (changed := made.apply_context_hooks(turn)).messages is turn.messages:
            return turn
        return self._turns.replace(turn, changed.messages)

    def observe(
        self,
        usage: object,
        *,
        turn: Turn | None = None,
        answer: Sequence[Any] = (),
        format: FormatName | None = None,
    ) -> Observed:
        """Learn the real cost of a turn from the usage that the provider's SDK reports, or from its input tokens.

        System prompt and tools, which `prepare` does not see, and the error of the estimate count from then on in the
        turns of the conversation; `counters` add up the tokens. Cached tokens are part of a prompt, as each provider
        reports them. ``usage`` is None if the provider reports none. ``turn`` is what `prepare` returned for the call;
        it may be left out as long as only one turn waits for its usage. Usage that arrives late, twice or out of order
        does not override that of a later turn.

        ``answer`` are the messages of the model's answer, as `archive` takes them. They are archived in the background:
        the last answer of a conversation is part of no later turn.

        A count that cannot be right, such as 0 or that of uncached tokens alone, is ignored: the result has a ``note``,
        which is also logged, once, and added to the ``warnings`` of the next report.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=200_000) as memory:
        ...     turn = memory.prepare([{"role": "user", "content": "Which port has the webhook?"}])
        ...     observed = memory.observe({"prompt_tokens": 2_010, "completion_tokens": 40}, turn=turn)
        ...     counters = memory.counters
        >>> observed.is_used, counters.input_tokens, counters.output_tokens
        (True, 2010, 40)
        """
        self._check_open()
        if not isinstance(turn, context.Turn | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"turn is {type(turn).__name__}; expected a Turn of Memory.prepare")
        try:
            return self._observe(usage, turn)
        finally:  # neither is lost by a fault of the other
            if answer and self._config.enabled:
                self._turns.keep_answer(answer, format)

    def _observe(self, usage: object, turn: Turn | None) -> Observed:
        if usage is None:
            return context.Observed(0, 0, is_used=False, note="no usage is reported")
        tokens_in, tokens_out = context.prompt_tokens(usage), context.answer_tokens(usage)
        if not self._config.enabled:
            return context.Observed(tokens_in, tokens_out, is_used=False, note=DISABLED)
        return self._turns.observe(tokens_in, tokens_out, turn, self._count_usage)

    def _count_usage(self, observed: Observed) -> None:
        """Add the tokens of a call to the counters of the session; log a failure."""
        from memctx.hosts.pi import CounterFile  # noqa: PLC0415 - most processes start without

        state = context.state_writer.path_of(self._store.path, self.session_id)
        path = state.with_suffix(".counters.json")
        tokens_in, tokens_out = observed.input_tokens, max(observed.output_tokens, 0)
        try:
            CounterFile(path, session_id=self.session_id).update(
                lambda counters: counters.after_call(
                    tokens_in,
                    tokens_out,
                    # The newest call tells the size of the context.
                    None if observed.is_used else counters.total_tokens,
                )
            )
        except MemctxError as error:
            logger.warning("the counters of the session are not saved: %s", error)

    def search(  # noqa: PLR0913 - all have a default
        self,
        query: str,
        *,
        limit: int = 10,
        filter: SearchFilter | None = None,
        min_score: float = 0.0,
        ranking: Ranking | None = None,
        window: int = 0,
        explain: bool = False,
        everything: bool = False,
    ) -> Hits:
        """Return the segments that answer a query best, best first.

        ``filter`` limits the search to a session, roles, a period or topics; ``min_score`` from 0 to 1 is the least
        score, which is the probability that a segment answers; ``window`` adds that many neighbors on either side of a
        hit; ``explain`` adds the terms of each score. Segments of other sessions are searched only with
        ``cross_session``; those on a server are searched there, without ``window``.

        Segments that are no longer in memory are searched on disk, as far as they are indexed there and found within
        ``disk.deadline_ms``. With ``everything`` the index is brought up to date first, which may take long; while the
        setting ``disk.index`` is off, that raises `ConfigError`.

        >>> import memctx, tempfile
        >>> said = [{"role": "user", "content": f"Parcel {number} went to gate {number + 100}"} for number in range(60)]
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", disk={"max_segments": 10}) as memory:
        ...     archived = memory.archive(said)
        ...     hits = memory.search("which parcel went to gate 103?", limit=1, everything=True)
        >>> hits[0].segment.content
        'Parcel 3 went to gate 103'
        """
        self._check_open()
        if everything and not self._config.disk.index:
            raise ConfigError("everything is True; expected the setting disk.index to be on")
        with span("memctx.search") as current:
            hits = self._search(
                query,
                limit=limit,
                filter=filter,
                min_score=min_score,
                ranking=ranking,
                window=window,
                explain=explain,
                everything=everything,
            )
            describe(current, lambda: {"memctx.hits": len(hits), "memctx.limit": limit})
        if logger.isEnabledFor(logging.DEBUG):
            asked = context.Masking(self._config).mask(query)
            logger.debug("search for %r: %d found, best first: %s", asked, len(hits), hits[:3])
        return hits

    def _search(self, query: str, **options: Any) -> Hits:  # noqa: ANN401 - those of `search`
        self._session.settle()
        options["ranking"] = options["ranking"] or self._config.recall.ranking
        shared = self._session.shared
        conditions: SearchFilter | None = options["filter"]
        only = None if conditions is None else conditions.session_id
        if shared is not None and self._config.cross_session and only != self.session_id:
            del options["window"], options["everything"]
            vector = self._session.any_query_vector(query)
            return Hits(shared.search(query, vector=vector, **options), query)
        vector = self._session.query_vector(query)
        return Hits(self._store.search(query, vector=vector, **options), query)

    def search_workspace(
        self,
        query: str,
        limit: int | None = None,
        *,
        sources: Sequence[Source] | None = None,
        min_score: float | None = None,
    ) -> list[Cited]:
        """Search the files of the workspace and the paths in `workspace_search`; return none if there are none.

        Passages have their file and lines. ``limit``, ``sources`` and ``min_score`` default to the settings.

        >>> import memctx, pathlib, tempfile
        >>> root = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (root / "memory.md").write_text("The webhook listens on port 8443.")
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", workspace=root) as memory:
        ...     [hit.citation for hit in memory.search_workspace("which port has the webhook?")]
        ['memory.md#L1-L1']
        """
        self._check_open()
        search = self._session.workspace_search
        return (
            []
            if search is None
            else search.search(query, limit, sources=sources, min_score=min_score)
        )

    def reembed(self, progress: Callable[[int, int], object] | None = None) -> EmbeddingStatus:
        """Make the vectors of everything stored that has none of the configured model, and return when all are made.

        Without this call they are made in the background. Vectors of another model are replaced when all are there.
        ``progress`` is called with the bytes of the log that are embedded, and with all bytes. Raises `EmbeddingError`
        if the model fails or is unavailable.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", embedding_model="hash") as memory:
        ...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
        ...     status = memory.reembed()
        >>> status.model, status.done_bytes == status.log_bytes
        ('hash', True)
        """
        self._check_open()
        session = self._session
        if session.resolution.note is not None:
            raise EmbeddingError(session.resolution.note)
        self._session.settle()
        worker = None if session.embedding is None else session.embedding.worker
        embeddings.wait_for_vectors(self._store, worker, progress)
        return self._store.embedding()

    def wait_for_facts(self, timeout: float | None = None) -> FactsFuture:
        """Extract facts from everything archived so far: await the returned object, or call its ``result``.

        It does not raise if the model fails or takes more than ``timeout`` seconds: the result says what is left, which
        is extracted later.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", knowledge_extraction="rules") as memory:
        ...     said = "We decided: the payment webhook of the shop listens on port 8443."
        ...     archived = memory.archive([{"role": "user", "content": said}])
        ...     ready = memory.wait_for_facts().result(timeout=30)
        >>> ready.is_complete
        True
        """
        self._check_open()
        checks.seconds("timeout", timeout)
        self._session.settle()
        if self._session.extraction is not None:
            return self._session.extraction.wait_for_facts(timeout)
        from memctx.facts.worker import FactsFuture, FactsReady, Progress  # noqa: PLC0415 - slow to import

        future = FactsFuture(0)
        future.settle(FactsReady(is_complete=True, progress=Progress()))
        return future

    async def aarchive(
        self, messages: Sequence[Any], *, format: FormatName | None = None
    ) -> Archived:
        """Run `archive` in a thread, for callers that must not block."""
        return await _run_in_thread(self.archive, messages, format=format)

    async def aprepare(
        self,
        messages: Sequence[Any],
        *,
        format: FormatName | None = None,
        pinned: Collection[int] = (),
        model: str | None = None,
    ) -> Turn:
        """Run `prepare` in a thread, for callers that must not block."""
        return await _run_in_thread(
            self.prepare, messages, format=format, pinned=pinned, model=model
        )

    async def asearch(self, query: str, **options: Unpack[SearchOptions]) -> Hits:
        """Run `search` in a thread, for callers that must not block."""
        return await _run_in_thread(self.search, query, **options)

    def stats(self) -> dict[str, Any]:
        """Return counts of the stored data, the state of the index (``disk_index``), and the bytes on disk (``disk``).

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
        ...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
        ...     stats = memory.stats()
        >>> stats["segments"], stats["disk"]["log"] == stats["log_bytes"], stats["disk_index"]["fault"]
        (1, True, None)
        """
        self._check_open()
        self._session.settle()
        return self._session.stats()

    def health(self) -> dict[str, Any]:
        """Return everything skipped, repaired or degraded, the model that makes vectors, and its progress.

        ``degraded`` is True while memctx does less than it should, and ``reasons`` has the causes: the last write of
        segments or facts failed, or the disk index is damaged and being rebuilt.
        """
        self._check_open()
        return self._session.health()

    def reopen(self) -> None:
        """Share neither files nor locks with the parent process after a fork; `memctx.open` takes care of this call."""
        self._session.reopen()
        made: Compactor | None = self.__dict__.get("_made_compactor")
        if made is not None:
            made.reopen()

    def close(self) -> None:
        """Close the memory. The stores close when every caller that opened it has closed it."""
        if self._closed:
            return
        if self._release is None or self._release(self):
            self._closed = True
            self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await _run_in_thread(self.close)

    def __repr__(self) -> str:
        state = ", closed" if self._closed else ""
        return f"<memctx.Memory of session {self.session_id!r} in {self._store.path!r}{state}>"

    @property
    def _turns(self) -> Turns:
        return self._session.turns

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self!r} takes no calls; open it again with memctx.open()")

    # Compaction, implemented in `memctx.compaction`.

    def on(self, event: HookName, handler: Callable[[Any], object]) -> Callable[[], None]:
        """Register a hook; return a function that unregisters it.

        ``before_compaction`` and ``after_compaction`` are notified; ``session_before_compact`` may cancel or replace a
        compaction; ``context`` may change the result of `prepare`. Hooks run concurrently, all but the last may be
        coroutine functions, and their exceptions are logged. `memctx.compaction` has the events they receive.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
        ...     off = memory.on("after_compaction", lambda event: print(event.compacted_count))
        """
        return self._compactor.hooks.on(event, handler)

    def should_compact(
        self, messages: Sequence[Any], *, usage: object = None, format: FormatName | None = None
    ) -> bool:
        """Return whether a compaction is due: the messages, or the ``usage`` of the last call, reach the reserve."""
        self._check_open()
        return self._compactor.should_compact(messages, usage=usage, format=format)

    async def compact(
        self, messages: Sequence[Any], **options: Unpack[CompactOptions]
    ) -> Compacted:
        """Replace all but the newest messages by a summary, for hosts without a compaction of their own.

        The replaced messages are archived first, and found again by `search` and by the next `prepare`. The summary is
        made by ``config.summarizer``, with fallbacks if that fails. The given messages are not changed, and those kept
        are the same objects; only signed thinking, which is no longer valid, is removed from copies. If there is
        nothing to compact, as right after a compaction, ``compacted.skipped`` has the reason.

        ``instructions`` guide the summary; ``format`` names the format of the messages where it cannot be detected;
        ``reason`` is ``"manual"`` unless given; ``pinned`` are indices of messages that stay; the compaction is written
        to ``transcript``; ``on_text`` is called with the summary as it is generated.

        If it is canceled, or raises `StoreError` because the archive cannot be written, nothing has changed.

        >>> import asyncio, memctx, tempfile
        >>> said = [{"role": "user", "content": f"Remark {number}. " * 200} for number in range(9)]
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=8_000,
        ...                  compaction={"keep_recent_tokens": 500}) as memory:
        ...     compacted = asyncio.run(memory.compact(said, instructions="Keep the numbers"))
        >>> compacted.first_kept, len(compacted.messages), compacted.messages[-1] is said[-1]
        (8, 2, True)
        """
        self._check_open()
        with span("memctx.compact") as current:
            compacted = await self._compactor.compact(messages, **options)
            describe(
                current,
                lambda: {
                    "memctx.compacted": compacted.compacted,
                    "memctx.archived": compacted.archived,
                },
            )
        logger.debug("compaction: %r", compacted)
        return compacted

    def compact_sync(self, messages: Sequence[Any], **options: Unpack[CompactOptions]) -> Compacted:
        """Run `compact` for callers without an event loop; if one is running, in another thread."""
        from memctx.providers.background import run_coroutine  # noqa: PLC0415 - asyncio is slow to import

        return run_coroutine(lambda: self.compact(messages, **options))

    def should_write_notes(
        self, messages: Sequence[Any], *, usage: object = None, format: FormatName | None = None
    ) -> bool:
        """Return True if `write_notes` would do anything now: once before each compaction, a little earlier than it."""
        self._check_open()
        return self._compactor.should_write_notes(messages, usage=usage, format=format)

    async def write_notes(
        self,
        run_turn: RunTurn,
        messages: Sequence[Any],
        *,
        usage: object = None,
        format: FormatName | None = None,
    ) -> NotesWritten:
        """Have the model write notes in the workspace, if due, that must outlast the next compaction.

        ``run_turn(system, prompt)`` runs a turn that the user does not see, and gives the answer, or a stream of it. It
        may fail; the agent goes on.
        """
        self._check_open()
        return await self._compactor.write_notes(run_turn, messages, usage=usage, format=format)

    @property
    def counters(self) -> Counters:
        """Numbers of compactions and memory flushes of the session, and the tokens used, across processes."""
        self._turns.wait_for_counts()
        return self._compactor.counters

    @property
    def _compactor(self) -> Compactor:
        """The compactor, made on first use; threads share one."""
        made: Compactor | None = self.__dict__.get("_made_compactor")
        return made or self.__dict__.setdefault("_made_compactor", self._new_compactor())

    def _new_compactor(self) -> Compactor:
        from memctx.compaction import Compactor  # noqa: PLC0415 - most hosts never compact

        return Compactor(
            self._config,
            session_id=self.session_id,
            store=self._store.path,
            archive=self.archive,
            read=self._turns.read,
        )


def make_recall(memory: Memory, config: Config) -> Recall:
    """Return what the turns of a memory recall with, with other settings."""
    # Not a method: `memctx.ui` needs it, users do not. So this module reads a private field of its own class.
    session = memory._session  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return context.Recall(session.store, session.fact_store, config, session.embedding)


async def _run_in_thread(
    call: Callable[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
) -> Result:
    import asyncio  # noqa: PLC0415 - a caller that awaits has it already

    return await asyncio.to_thread(call, *arguments, **options)
