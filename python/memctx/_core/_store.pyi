"""The store of segments: options, search, status."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memctx._core._embedders import Encoder, HashEmbedder, StaticEmbedder
from memctx._core._messages import Conversation
from memctx._core._redact import Redaction
from memctx._core._search import Explanation, Hit

@final
class Segment:
    """One archived message, as `segments.jsonl` holds it.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
    ...     [segment] = memory.store.segments()
    >>> segment.session_id, segment.role, segment.content
    ('s1', 'user', 'The webhook listens on port 8443')
    """

    @property
    def id(self) -> str:
        """A UUID made of its session, role and content, so that two stores give one message the same id.

        Segments of other programs and of earlier versions have ids of any form.
        """

    @property
    def session_id(self) -> str:
        """The session it was said in."""

    @property
    def session_key(self) -> str | None:
        """The host's own name for the session, where the file has one."""

    @property
    def timestamp(self) -> float:
        """Time it was said, in milliseconds since the epoch."""

    @property
    def role(self) -> str:
        """Its speaker: ``"user"``, ``"assistant"``, ``"tool"``, or any other value in the file."""

    @property
    def content(self) -> str:
        """Text of the message, with secrets masked."""

    @property
    def tokens(self) -> int:
        """Estimated cost for a model."""

    @property
    def topics(self) -> list[str]:
        """Topics of the content."""

    @property
    def metadata(self) -> dict[str, Any]:
        """Topics, entities, and whatever was given when it was archived."""

@final
class Added:
    """Outcome of one record given to `Store.add`.

    >>> import tempfile
    >>> from memctx.lowlevel import Store, StoreOptions
    >>> store = Store(tempfile.mkdtemp(), StoreOptions(session_id="s1"))
    >>> [store.add([("user", "Deploy on Friday, not before", None, None)])[0].outcome for _ in "ab"]
    ['added', 'duplicate']
    """

    @property
    def id(self) -> str | None:
        """The id of the segment, or None when it was not stored."""

    @property
    def outcome(self) -> Literal["added", "duplicate", "noise"]:
        """New, already stored, or not worth keeping."""

    @property
    def digest(self) -> int | None:
        """Hash of the segment's content, or None when it was not stored."""

@final
class Captured:
    """The messages of a session that are stored, by their keys.

    >>> talk = MessageReader().read([{"role": "user", "content": text} for text in ("one", "two")])
    >>> captured = Captured()
    >>> captured.note(talk, [0], [[1]])
    >>> captured.missing(talk), len(captured)
    ([1], 1)
    """

    def __new__(cls) -> Captured: ...
    def missing(self, conversation: Conversation) -> list[int]:
        """Return the indices of the messages that are not stored yet."""

    def visible(self, conversation: Conversation, hidden: Sequence[int]) -> VisibleSegments:
        """Return the segments of the messages that are not hidden; the indices of ``hidden`` ascend."""

    def note(
        self, conversation: Conversation, indices: Sequence[int], digests: Sequence[Sequence[int]]
    ) -> None:
        """Note that some messages are stored as segments with these digests.

        Raises:
            ConfigError: an index is wrong, or there is not a list of digests for each message.
        """

    def __len__(self) -> int:
        """Return the number of messages."""

@final
class VisibleSegments:
    """Segments that the model sees in messages, which a search leaves out."""

@final
class SearchHit:
    """A segment found by a search, with its score.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
    ...     hit = memory.search("which port has the webhook?")[0]
    >>> hit.segment.role, hit.distance, 0.5 < hit.score <= 1
    ('user', 0, True)
    """

    @property
    def segment(self) -> Segment:
        """The segment."""

    @property
    def score(self) -> float:
        """Probability that the segment answers the query, which ``min_score`` is compared with.

        Results are ordered by it. With ``ranking="openclaw"`` it is OpenClaw's weighted sum instead.
        """

    @property
    def vector(self) -> float:
        """Cosine of the query's and the segment's vectors."""

    @property
    def bm25(self) -> float:
        """Text score, divided by the best one."""

    @property
    def distance(self) -> int:
        """0 for a match, else the number of messages between it and the nearest match."""

    @property
    def passage(self) -> tuple[int, int]:
        """Start and end of the best passage in the content, in characters."""

    @property
    def explanation(self) -> Explanation | None:
        """Breakdown of the score, if the search was asked for it."""

    def moved_to(self, segment: Segment, score: float) -> SearchHit:
        """Return a hit of another segment, all of it, found as this one was but with another score."""

@final
class StoreOptions:
    """Options of a `Store`; a `FactStore` reads those that concern it.

    >>> options = StoreOptions(session_id="s1", max_segments=1_000)
    >>> options.session_id
    's1'
    """

    def __new__(
        cls,
        *,
        session_id: str,
        cross_session: bool = False,
        max_segments: int = 20_000,
        eviction_days: float = 90.0,
        durability: Literal["fsync", "os"] = "fsync",
        redaction: Redaction = "mask",
        pii: bool = False,
        patterns: Mapping[str, str] | None = None,
        lock_timeout: float = 5.0,
        disk_index: bool = True,
        disk_deadline_ms: float = 50.0,
        model: Encoder | HashEmbedder | StaticEmbedder | tuple[str, str, int, bool] | None = None,
        replaces_vectors: bool = False,
    ) -> StoreOptions:
        """Check and keep the options.

        Args:
            session_id: The session that is written to and, without ``cross_session``, the only one that is read.
            cross_session: Whether all sessions of the directory are read.
            max_segments: Segments kept in memory.
            eviction_days: Age at which segments leave memory; 0 for never.
            durability: ``"fsync"`` acknowledges a write when it is on disk, ``"os"`` when the system has it.
            redaction: Masking of secrets, as `Redactor` has it.
            pii: Whether personal data are masked too.
            patterns: Further kinds of secrets, each with a regular expression.
            lock_timeout: Seconds to wait for other writers.
            disk_index: Whether segments that left memory are indexed and searched on disk.
            disk_deadline_ms: Milliseconds that a search waits for them.
            model: The embedder, or the name, revision and length of vectors that the caller supplies, and whether their
                model knows Latin letters only.
            replaces_vectors: Whether vectors of another model are replaced.

        Raises:
            ConfigError: a name is unknown, or a number out of range.
        """

    @property
    def session_id(self) -> str:
        """Id of the session that is written to."""

@final
class SearchFilter:
    """Conditions that every segment found must meet; those left out admit all.

    >>> SearchFilter(roles=["user"], since=1_700_000_000_000)
    SearchFilter(roles=["user"], since=1700000000000)
    """

    def __new__(
        cls,
        *,
        session_id: str | None = None,
        roles: Iterable[str] | None = None,
        since: float | datetime | None = None,
        until: float | datetime | None = None,
        topics: Iterable[str] | None = None,
    ) -> SearchFilter:
        """Keep the conditions.

        Args:
            session_id: Only segments of this session.
            roles: Only segments of one of these roles.
            since: Only segments not older than this: a datetime, or milliseconds since the epoch.
            until: Only segments not newer than this.
            topics: Only segments about one of these topics, in any case.
        """

    @property
    def session_id(self) -> str | None:
        """Session of the segments."""

    @property
    def roles(self) -> list[str] | None:
        """Roles of the segments."""

    @property
    def since(self) -> float | None:
        """Earliest timestamp, in milliseconds since the epoch."""

    @property
    def until(self) -> float | None:
        """Latest timestamp, in milliseconds since the epoch."""

    @property
    def topics(self) -> list[str] | None:
        """Topics of the segments."""

@final
class Store:
    """The segments of a directory: all on disk, the newest in memory, found by words and by vectors.

    `memctx.open` makes one with checked settings; it loads in the background.
    """

    def __new__(cls, path: str | PathLike[str], options: StoreOptions) -> Store: ...
    @property
    def path(self) -> str:
        """The directory."""

    @property
    def session_id(self) -> str:
        """The session that is written to and, without ``cross_session``, the only one that is read."""

    def add(self, records: Sequence[tuple[str, str, float | None, str | None]]) -> list[Added]:
        """Store ``(role, content, timestamp in ms or None for now, metadata as JSON or None)``; wait for the disk."""

    def put(self, records: Sequence[tuple[str, str, float | None, str | None]]) -> list[Added]:
        """Run `add` without waiting for the disk: the records are found by the next search, and the sync follows."""

    def put_messages(
        self,
        conversation: Conversation,
        indices: Sequence[int],
        *,
        tools: bool = True,
        captured: Captured | None = None,
    ) -> list[Added]:
        """Run `put` for the archivable parts of some messages of a conversation, with or without tool use.

        The messages are noted in ``captured``.
        """

    def recognize(
        self, conversation: Conversation, captured: Captured, *, tools: bool = True
    ) -> None:
        """Note in ``captured`` the messages that are stored, as far as they are in memory; store none."""

    def search(
        self,
        query: str,
        *,
        filter: SearchFilter | None = None,
        vector: ArrayLike | None = None,
        limit: int = 10,
        min_score: float = 0.0,
        ranking: Literal["best", "openclaw"] = "best",
        window: int = 0,
        explain: bool = False,
        everything: bool = False,
    ) -> list[SearchHit]:
        """Return the segments that answer a query best, best first.

        ``min_score`` is the least score of each. ``vector`` is the query's, of the store's model; the store makes it
        itself where the core runs the model, and goes by words alone where it has none. Those in memory answer at
        once; older ones join in when they are found within ``disk_deadline_ms``. With ``everything`` the search waits
        for them, and indexes what is not indexed yet.
        """

    def search_within(
        self,
        query: str,
        deadline_ms: float,
        *,
        vector: ArrayLike | None = None,
        limit: int = 10,
        min_score: float = 0.0,
        min_certainty: float = 0.0,
        ranking: Literal["best", "openclaw"] = "best",
        window: int = 0,
        pool: int = 0,
        without: VisibleSegments | None = None,
        embedding_ms: float = 0.0,
    ) -> tuple[list[SearchHit], Literal["late", "unindexed", "unavailable"] | None, int]:
        """Search as `search` does, but for ``without`` and for what only says the query again.

        Return also the part on disk that was not searched, and how many passages were compared by their words alone
        because their vectors could not be made within ``embedding_ms``.

        With ``min_certainty`` from 0 to 1 nothing is returned if it is less sure that the query is answered at all;
        ``ranking="openclaw"`` does not know that. ``pool`` is the number of candidates to look at, if that is more than
        usual. The search waits for ``deadline_ms``; with 0 it does not wait, and
        the disk is searched afterwards. A search that is ``late`` goes on, and serves the same query within a minute:
        at once when it is done.
        """

    def rank(
        self,
        query: str,
        candidates: Sequence[tuple[str, ArrayLike | None]],
        *,
        vector: ArrayLike | None = None,
        limit: int = 10,
        min_score: float = 0.0,
        ranking: Literal["best", "openclaw"] = "best",
        explain: bool = False,
    ) -> list[SearchHit]:
        """Rank segments from elsewhere, of any session, as `search` ranks those of the store; best first.

        A candidate is a line of a log of segments, as `LogReader.read_lines` returns it, and the vectors of its
        passages by the store's model, a row for each. Where they are None, or not as many as the passages, the vectors
        in memory count, or the model makes them if it is in the core; else the candidate is ranked by words. Lines that
        cannot be read are skipped. Words are weighed by how many of the candidates have them, and neighbors do not
        count.

        >>> lines, _ = LogReader(other).read_lines(0)  # doctest: +SKIP
        >>> hits = store.rank("which port?", [(text, None) for _, text in lines])  # doctest: +SKIP

        Raises:
            ConfigError: ``ranking`` is unknown, or ``limit`` is negative.
            DimensionMismatchError: vectors have another length than those of the store's model.
            VectorError: an array has the wrong shape, or a value that is not finite.
        """

    def catch_up(
        self, progress: Callable[[int, int], object] | None = None, *, rebuild: bool = False
    ) -> DiskIndexStatus | None:
        """Bring the disk index up to date, with ``rebuild`` from the beginning; None when it is switched off.

        ``progress`` is called after every commit with the indexed bytes and the size of the log.
        """

    def disk_index(self) -> DiskIndexStatus | None:
        """Return the state of the disk index; None when it is switched off."""

    def nearest(self, vector: ArrayLike, k: int = 10) -> list[Hit]:
        """Return the ids of the segments nearest to a vector by cosine, of everything stored, best first."""

    def passage_vectors(self, ids: Sequence[str]) -> list[tuple[str, int, NDArray[np.float32]]]:
        """Return the vectors of segments in memory: id, number of passages, and an array with a row for each passage.

        Segments that are not in memory, or lack the vector of a passage, are left out.

        >>> (id, passages, vectors), *_ = store.passage_vectors([hit.segment.id])  # doctest: +SKIP
        >>> vectors.shape  # doctest: +SKIP
        (1, 384)
        """

    def unembedded(self, limit: int = 64) -> list[tuple[str, str]]:
        """Return at least ``limit`` texts that lack vectors, if there are so many, and ids to supply the vectors under.

        Empty when everything has its vectors, and while another process sees to it.
        """

    def supply(self, ids: Sequence[str], vectors: ArrayLike) -> None:
        """Keep the vectors of texts that `unembedded` gave, a row for each id; they are on disk when this returns.

        Zeros and values that are not finite are refused: a failed text must be tried again.
        """

    def embed_some(self) -> int:
        """Embed some stored texts that lack vectors, where the core makes them, and return how many.

        Zero when everything has its vectors, and while another process sees to it. The store has a thread that does
        this; the call is for a caller who waits.
        """

    def hold_vectors(self) -> VectorHold:
        """Keep vectors made in the background out of memory until the hold is released.

        A turn that stores texts and searches then finds them by their words, however long it takes.
        """

    def set_aside(self, ids: Sequence[str]) -> None:
        """Give up on texts that cannot be embedded, until the store is opened again."""

    def embedding(self) -> EmbeddingStatus:
        """Return how much of the log has vectors."""

    def get(self, id: str) -> Segment | None:
        """Return one segment, or None."""

    def neighbors(self, id: str, distance: int = 2) -> list[Segment]:
        """Return the segments of the same session up to ``distance`` before and after one, in order, without itself."""

    def log_order(self, hits: Sequence[SearchHit]) -> list[int]:
        """Return the indices of results in the order of the log; those that are only on disk come first.

        The result of a tool stands right behind its call if both have the call's id.
        """

    def companions(
        self, hits: Sequence[SearchHit], *, limit: int, without: VisibleSegments | None = None
    ) -> list[tuple[int, Segment, bool]]:
        """Return the segments that belong to results: index of the result, segment, and True if it was said before.

        A tool call belongs to its result and a question to its answer, and the other way round. At most ``limit`` are
        returned, none twice, none that is a result itself or one of the segments ``without``.
        """

    def segments(self) -> Iterator[Segment]:
        """Iterate over everything that this store may read, in the order of the file, straight from disk."""

    def sessions(self) -> list[str]:
        """Return the sessions that this store may read."""

    def add_topic(self, name: str, keywords: Iterable[str]) -> None:
        """Add a topic, or more keywords of one, to detect in segments added from now on."""

    def topics(self) -> list[str]:
        """Return the topics that are detected."""

    def stats(self) -> dict[str, Any]:
        """Return counts of the store's contents."""

    def health(self) -> dict[str, Any]:
        """Report skipped, repaired and degraded parts; ``reasons`` say why, as long as ``degraded`` is True."""

    def refresh(self) -> int:
        """Read what other processes wrote; return the number of new segments."""

    def snapshot(self) -> bool:
        """Write the index to disk so that the next opening is quick. False when nothing could be written."""

    def reopen(self) -> None:
        """Open every file again after a fork, sharing nothing with the parent."""

    def close(self) -> None:
        """Write what is pending and close every file."""

    def __len__(self) -> int: ...

@final
class VectorHold:
    """A hold of `Store.hold_vectors`: until it is released, memory gets no vectors from the background."""

    def release(self) -> None:
        """Let vectors come to memory again."""

    def __enter__(self) -> VectorHold: ...
    def __exit__(self, _kind: object, _error: object, _trace: object, /) -> None: ...

@final
class DiskIndexStatus:
    """State of the disk index, which finds segments evicted from memory.

    >>> memory.store.disk_index().state  # doctest: +SKIP
    'ready'
    """

    @property
    def state(self) -> Literal["absent", "ready", "indexing", "unavailable"]:
        """State of the index: missing, complete, being filled by this process, or damaged."""

    @property
    def segments(self) -> int:
        """Segments in the index."""

    @property
    def passages(self) -> int:
        """Passages that the segments are indexed in."""

    @property
    def indexed_bytes(self) -> int:
        """Bytes of the log that are indexed."""

    @property
    def log_bytes(self) -> int:
        """Size of the log in bytes."""

    @property
    def disk_bytes(self) -> int:
        """Size of the index on disk in bytes."""

    @property
    def fault(self) -> str | None:
        """The last error, or None."""

@final
class EmbeddingStatus:
    """Progress of embedding the stored text.

    >>> memory.store.embedding().model  # doctest: +SKIP
    'hash'
    """

    @property
    def model(self) -> str:
        """Name of the model that makes the vectors."""

    @property
    def revision(self) -> str:
        """Revision of the model and of everything else that changes its vectors."""

    @property
    def dim(self) -> int:
        """Length of the vectors."""

    @property
    def is_instant(self) -> bool:
        """True if a text has its vector as soon as it is stored."""

    @property
    def is_replacing(self) -> bool:
        """True while these vectors are to replace another model's, and have not yet."""

    @property
    def done_bytes(self) -> int:
        """Bytes of the log before the first text that lacks its vector."""

    @property
    def log_bytes(self) -> int:
        """Size of the log in bytes."""

    @property
    def lacking(self) -> int:
        """Passages in memory that lack vectors."""

    @property
    def aside(self) -> int:
        """Texts given up until the store is opened again."""
