"""Types of the compiled extension. The prose here is what editors show; `stubtest` holds it to the binary."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, Literal, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memctx.config import Pruning

_T = TypeVar("_T")

TokenMode: TypeAlias = Literal["memctx", "openclaw"]
Estimator: TypeAlias = Literal["utf16", "script"]
EntityKind: TypeAlias = Literal["url", "email", "stock", "amount", "date", "person", "project"]
Redaction: TypeAlias = Literal["off", "mask", "openclaw"]
FormatName: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "pi"]
FactAction: TypeAlias = Literal["add", "update", "supersede", "none", "delete"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool", "other"]

# A result of the repaired list: its message, its ordinal there, whether it exists, and, where it does not, the id and
# the name of the call that it answers.
PlannedResult: TypeAlias = tuple[int, int, bool, str | None, str | None]

# Action, target unless the fact is new, id and type if it is, then content, context and sources.
FactChange: TypeAlias = (
    tuple[Literal["add"], str, str, str, str | None, Iterable[str]]
    | tuple[Literal["update"], str, str, str | None, Iterable[str]]
    | tuple[Literal["supersede"], str, str, str, str, str | None, Iterable[str]]
    | tuple[Literal["delete"], str]
)
FactOutcome: TypeAlias = Literal["done", "duplicate", "added", "missing"]

__version__: str
MISSING_RESULT: str

@final
class Explanation:
    """Breakdown of a score: a named number and the numbers it was computed from.

    >>> print(index.explain("quick fox", "d2"))  # doctest: +SKIP
    1.525167 bm25
      1.211293 term "quick"
        ...
    """

    @property
    def name(self) -> str:
        """Name of the number."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def parts(self) -> tuple[Explanation, ...]:
        """The numbers it was computed from, in the order they were combined."""

    def to_dict(self) -> dict[str, Any]:
        """Return the same tree as plain dictionaries, ready for JSON."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Hit:
    """One result of a search.

    >>> hit = index.search("quick fox", 1)[0]  # doctest: +SKIP
    >>> hit.id, round(hit.score, 3)  # doctest: +SKIP
    ('d2', 1.525)
    """

    def __new__(cls, id: str, score: float) -> Hit:
        """Create a hit by hand, to pass scores from elsewhere to `memctx.lowlevel.fusion`."""

    @property
    def id(self) -> str:
        """The id given when the item was added."""

    @property
    def score(self) -> float:
        """Higher is better. The scale is that of whatever made the hit."""

    @property
    def explain(self) -> Explanation:
        """Breakdown of the score."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def tokenize(text: str, mode: TokenMode = "memctx") -> list[str]:
    """Return the terms that search sees in a text.

    ``"memctx"`` folds full-width forms (NFKC), gives every Chinese, Japanese and Korean character and each adjacent
    pair, and gives identifiers as their parts and as a whole. ``"openclaw"`` reproduces the tokenizer of OpenClaw's
    ``memory-context`` plugin, token for token. A lone surrogate reads as U+FFFD.

    >>> tokenize("parseHTTPHeader 飞书")
    ['parse', 'http', 'header', 'parsehttpheader', '飞', '书', '飞书']
    """

def estimate_tokens(text: str, estimator: Estimator = "utf16") -> int:
    """Estimate how many model tokens a text costs, never less than 1.

    ``"utf16"`` is a third of the UTF-16 length, rounded up: the figure stored with every segment. ``"script"`` counts
    each Chinese, Japanese or Korean character as one token and the rest as before: an upper estimate for budgets.

    >>> estimate_tokens("hello world"), estimate_tokens("支付回调", "script")
    (4, 4)
    """

@final
class Bm25Index:
    """A text index in memory that is exact at every moment.

    An added document is found by the very next search; counts and average length are always current. Searching and
    adding from several threads is safe.

    >>> index = Bm25Index()
    >>> index.add_many([("d1", "the quick brown fox"), ("d2", "quick quick red fox jumps")])
    >>> [hit.id for hit in index.search("quick fox", 2)]
    ['d2', 'd1']
    """

    def __new__(cls, mode: TokenMode = "memctx") -> Bm25Index: ...
    @property
    def mode(self) -> TokenMode:
        """The tokenizer the index was made with."""

    def add(self, id: str, text: str, *, group: str = "") -> None:
        """Add a document; one with the same id is replaced. ``group`` is what a search can be limited to."""

    def add_many(self, items: Iterable[tuple[str, str]], *, group: str = "") -> None:
        """Add ``(id, text)`` pairs in order."""

    def remove(self, id: str) -> bool:
        """Remove a document. False when there was none."""

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        group: str | None = None,
        within: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return the best ``k`` documents that share a term with the query, best first, older first among equals.

        ``group`` limits the search to documents added under it, ``within`` to the ids given. Both leave the scores
        as they are: counts are those of the whole index.
        """

    def explain(self, query: str, id: str) -> Explanation | None:
        """Return the score of one document, term by term; None when the id is unknown."""

    def __len__(self) -> int: ...
    def __contains__(self, id: str, /) -> bool: ...

@final
class FlatIndex:
    """Exact cosine search over vectors in memory.

    The answer is that of a brute-force scan in double precision; an 8-bit copy of the vectors rules out rows that
    cannot be among the best before the full ones are read.

    >>> index = FlatIndex(2)
    >>> index.add_many(["east", "north"], [[1, 0], [0, 1]])
    >>> index.search([0.9, 0.1], 1)[0].id
    'east'
    """

    def __new__(cls, dim: int) -> FlatIndex: ...
    @property
    def dim(self) -> int:
        """The length every vector must have."""

    def add(self, id: str, vector: ArrayLike, *, group: str = "") -> None:
        """Add a vector; one with the same id is replaced."""

    def add_many(self, ids: Sequence[str], matrix: ArrayLike, *, group: str = "") -> None:
        """Add one row of ``matrix`` for each id. Either all are added or, on an error, none."""

    def remove(self, id: str) -> bool:
        """Remove a vector. False when there was none."""

    def get(self, id: str) -> NDArray[np.float32] | None:
        """Return a copy of the vector as it was added, or None."""

    def search(
        self,
        vector: ArrayLike,
        k: int = 10,
        *,
        group: str | None = None,
        within: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return the ``k`` nearest by cosine, best first, older first among equals; a zero vector has cosine 0."""

    def search_many(
        self,
        matrix: ArrayLike,
        k: int = 10,
        *,
        group: str | None = None,
        within: Collection[str] | None = None,
    ) -> list[list[Hit]]:
        """Run `search` for every row of ``matrix``, reading the index once for several of them."""

    def explain(self, vector: ArrayLike, id: str) -> Explanation | None:
        """Return the cosine to one stored vector, with the product and the norms; None when the id is unknown."""

    def __len__(self) -> int: ...
    def __contains__(self, id: str, /) -> bool: ...

@final
class HashEmbedder:
    """Vectors from character trigrams: no model, no network, the same on every machine.

    >>> HashEmbedder().embed("abc")[186]
    np.float32(-1.0)
    """

    def __new__(cls, dim: int = 384) -> HashEmbedder: ...
    @property
    def name(self) -> str:
        """The name stored beside vectors made with it."""

    @property
    def dim(self) -> int:
        """The length of its vectors."""

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text: length 1, or all zeros when nothing in the text counts.

        What counts are letters, digits and ``@ . + -``.
        """

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Embed texts, one row for each."""

@final
class StaticEmbedder:
    """Vectors from a table of word pieces, such as those of model2vec and WordLlama: meaning without a runtime.

    A text is cut into pieces, each piece has a row in the table, and the vector is the mean of the rows at length 1.
    The table stays in memory as it is stored, and threads share it.

    >>> embedder = StaticEmbedder.load("models/potion-base-8M")  # doctest: +SKIP
    >>> embedder.embed("where is the parcel?").shape  # doctest: +SKIP
    (256,)
    """

    @staticmethod
    def load(
        path: str | PathLike[str],
        *,
        tokenizer: str | PathLike[str] | None = None,
        name: str | None = None,
        dim: int | None = None,
        max_tokens: int = 512,
    ) -> StaticEmbedder:
        """Load a model from its folder, or from the ``.safetensors`` file of its table.

        The tokenizer is the ``tokenizer.json`` beside the table unless another file is named. ``dim`` keeps the first
        columns of the table only, which suits tables made for that. Of a longer text the first ``max_tokens`` pieces
        count. Tokenizers of BERT (WordPiece) and Llama (BPE) are read; another kind raises `ConfigError`, as does a
        file that is not what it should be.
        """

    @property
    def name(self) -> str:
        """The name stored beside vectors made with it: the one given, or that of the folder or file."""

    @property
    def revision(self) -> str:
        """Changes with all else that changes its vectors: table, tokenizer, ``max_tokens``, and how they are used."""

    @property
    def dim(self) -> int:
        """The length of its vectors."""

    @property
    def is_instant(self) -> bool:
        """Always true: a vector takes microseconds, so it can be made wherever one is needed."""

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text: length 1, or all zeros when no known piece is in the text."""

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Embed texts, one row for each."""

def strip_channel_prefix(text: str) -> str:
    r"""Remove the lines that a chat host added, and white space around the text.

    Two kinds of line go: those that open with a date in brackets, with or without ``System:`` before it, and headings
    such as ``Sender (untrusted metadata):`` with the JSON below them.

    >>> strip_channel_prefix("System: [2026-02-15 18:49:02 GMT+8] Feishu[main] message\nhello there")
    'hello there'
    """

def is_noise(text: str) -> bool:
    """Return True if a text is not worth keeping.

    It has six UTF-16 units or fewer, or is one of the messages that agents and their hosts exchange to keep in step:
    ``NO_REPLY``, heartbeats, notices of audio and of queued messages.

    >>> is_noise("HEARTBEAT_OK"), is_noise("use port 8443")
    (True, False)
    """

@final
class Entity:
    """A named entity in a text.

    >>> entities("edit src/pay.rs")[0]
    Entity(kind="project", value="src/pay.rs", offset=5)
    """

    @property
    def kind(self) -> EntityKind:
        """Kind of the entity."""

    @property
    def value(self) -> str:
        """The entity as spelled in the text."""

    @property
    def offset(self) -> int:
        """Start offset, in UTF-16 units.

        For all but URLs and mail addresses this is the place in the text in which each of those has become one space;
        for a person it is that of the word before the name.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def entities(text: str) -> list[Entity]:
    """Return the entities that a text names, each value once, 256 at most.

    By kind, in this order: ``url``; ``email``; ``stock`` (six digits, ``$AAPL``); ``amount`` (``300元``, ``$12.5K``);
    ``date`` (``2026-02-15``, ``昨天``); ``person`` (Chinese characters behind a word such as ``找``); ``project``
    (``owner/name``, ``CamelCase``). A lone surrogate reads as U+FFFD.

    >>> [(entity.kind, entity.offset) for entity in entities("see https://example.com on 2026-02-15")]
    [('url', 4), ('date', 9)]
    """

@final
class Topics:
    """The topics that are looked for, each with its keywords; twelve are there from the start.

    A keyword with a Chinese character counts wherever it stands. Any other must stand apart: between white space,
    punctuation or an end of the text. Case does not matter.

    >>> topics = Topics()
    >>> topics.add("deploy", ["kubernetes", "上线"])
    >>> topics.of("Fix the API, then 上线")
    ['api', 'deploy']
    """

    def __new__(cls) -> Topics: ...
    def add(self, name: str, keywords: Iterable[str]) -> None:
        """Add a topic, or keywords to the one that has this name already. On an error nothing is added."""

    def names(self) -> list[str]:
        """Return the names of all topics, in the order they were defined."""

    def of(self, text: str) -> list[str]:
        """Return the topics of a text, in the order they were defined."""

@final
class VmemReport:
    """Findings of `memctx.lowlevel.vmem.verify` in a file."""

    @property
    def dim(self) -> int:
        """Length of the vectors."""

    @property
    def declared(self) -> int:
        """Entries that the checksum or, without one, the header promises."""

    @property
    def complete(self) -> int:
        """Entries that are there in full."""

    @property
    def unreadable(self) -> int:
        """Complete entries that a reader must skip: an id that is not UTF-8, a value that is not finite."""

    @property
    def trailing_bytes(self) -> int:
        """Bytes after the last complete entry that belong to no entry and no checksum."""

    @property
    def checksum(self) -> Literal["valid", "absent", "wrong"]:
        """State of the file's checksum."""

    @property
    def ok(self) -> bool:
        """True when every promised entry is there, readable, and no checksum contradicts it."""

# the store

@final
class Segment:
    """One archived message, as `segments.jsonl` holds it."""

    @property
    def id(self) -> str:
        """A random UUID."""

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
    """Outcome of one record given to `Store.add`."""

    @property
    def id(self) -> str | None:
        """The id of the segment, or None when it was not stored."""

    @property
    def outcome(self) -> Literal["added", "duplicate", "noise"]:
        """New, already stored, or not worth keeping."""

@final
class SearchHit:
    """A segment found by a search, with its scores."""

    @property
    def segment(self) -> Segment:
        """The segment."""

    @property
    def score(self) -> float:
        """Score that the results are ordered by."""

    @property
    def vector(self) -> float:
        """Cosine of the query's and the segment's vectors."""

    @property
    def bm25(self) -> float:
        """Text score, divided by the best one."""

    @property
    def match(self) -> float:
        """Match quality from 0 to 1, which ``min_score`` is compared with."""

    @property
    def distance(self) -> int:
        """0 for a match, else the number of messages between it and the nearest match."""

    @property
    def passage(self) -> tuple[int, int]:
        """Start and end of the best passage in the content, in characters."""

    @property
    def explanation(self) -> Explanation | None:
        """Breakdown of the score, if the search was asked for it."""

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
        model: HashEmbedder | StaticEmbedder | tuple[str, str, int, bool] | None = None,
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
        self, conversation: Conversation, indices: Sequence[int], *, tools: bool = True
    ) -> list[Added]:
        """Run `put` for the archivable parts of some messages of a conversation, with or without tool use."""

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
        deadline_ms: float | None = None,
    ) -> list[SearchHit]:
        """Return the segments that answer a query best, best first.

        ``vector`` is the query's, of the store's model; the store makes it itself where the core runs the model, and
        goes by words alone where it has none. Those in memory answer at once; older ones join in when they are found
        within ``deadline_ms``, by default ``disk_deadline_ms``. With 0 the search does not wait: they are searched
        afterwards, and join in when the same query is repeated within a minute. With ``everything`` the search waits
        for them, and indexes what is not indexed yet.
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

    def unembedded(self, limit: int = 64) -> list[tuple[str, str]]:
        """Return at least ``limit`` texts that lack vectors, if there are so many, and ids to supply the vectors under.

        Empty when everything has its vectors, and while another process sees to it.
        """

    def supply(self, ids: Sequence[str], vectors: ArrayLike) -> None:
        """Keep the vectors of texts that `unembedded` gave, a row for each id; they are on disk when this returns.

        Zeros and values that are not finite are refused: a failed text must be tried again.
        """

    def set_aside(self, ids: Sequence[str]) -> None:
        """Give up on texts that cannot be embedded, until the store is opened again."""

    def embedding(self) -> EmbeddingStatus:
        """Return how much of the log has vectors."""

    def get(self, id: str) -> Segment | None:
        """Return one segment, or None."""

    def neighbors(self, id: str, distance: int = 2) -> list[Segment]:
        """Return the segments of the same session up to ``distance`` before and after one, in order, without itself."""

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
    def graph_passages(self) -> int:
        """Passages found by the vector graph; the others are compared one by one."""

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

@final
class LogReader:
    """Everything ever archived in a directory, read from disk one segment at a time."""

    def __new__(cls, path: str | PathLike[str]) -> LogReader: ...
    def scan(
        self, filter: SearchFilter | None = None, *, contains: str | None = None
    ) -> Iterator[Segment]:
        """Return the segments that pass the filter, in the order of the file; ``contains`` must be in their content."""

    def read_from(
        self, offset: int, filter: SearchFilter | None = None, *, limit: int = 256
    ) -> tuple[list[Segment], int]:
        """Return at most ``limit`` segments whose lines begin at or after an offset, and the offset to go on from.

        An incomplete line, and everything after it, is left for later.

        >>> log = LogReader(path)  # doctest: +SKIP
        >>> segments, offset = log.read_from(0, SearchFilter(roles=["user"]))  # doctest: +SKIP
        """

    def end(self) -> int:
        """Return the offset at which the last whole line ends."""

    def mark(self, offset: int) -> int | None:
        """Return a checksum of the bytes before an offset; None if the log is shorter.

        It tells whether the log has been replaced since.
        """

    def offset_after(self, id: str, filter: SearchFilter | None = None) -> int | None:
        """Return the offset behind the first segment of an id; None if there is none."""

    def last_before(self, offset: int, filter: SearchFilter | None = None) -> str | None:
        """Return the id of the last segment that lies before an offset; None if there is none."""

    def health(self) -> dict[str, Any]:
        """Report what could not be read."""

@final
class Importer:
    """Appends messages of many sessions to the log of a store, each once.

    >>> importer = Importer(path)  # doctest: +SKIP
    >>> importer.add([("s1", "user", "Port 8443", None, None)])  # doctest: +SKIP
    ['added']
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        redaction: Literal["mask", "openclaw", "off"] = "mask",
        pii: bool = False,
        patterns: Mapping[str, str] | None = None,
        lock_timeout: float = 5.0,
    ) -> Importer: ...
    @property
    def end(self) -> int:
        """The offset up to which the log is known."""

    def add(
        self, records: Iterable[tuple[str, str, str, float | None, str | None]]
    ) -> list[Literal["added", "duplicate", "noise"]]:
        """Append the ``(session_id, role, content, timestamp, metadata)`` records that are new, and wait for the disk.

        A record is a duplicate if its session has the same content from the same role, anywhere in the log.
        """

@final
class LogEditor:
    """Verifies and rewrites the files of a store, under its lock."""

    def __new__(cls, path: str | PathLike[str], *, lock_timeout: float = 5.0) -> LogEditor: ...
    def wait_for_writers(self) -> None:
        """Wait until no other process writes to the store."""

    def verify(self) -> Verified:
        """Read everything, and report what cannot be read. It takes no lock and writes nothing."""

    def repair(self) -> None:
        """Move damaged lines to a file beside their log, keep the vectors that can be read, remove derived files."""

    def find(
        self, *, sessions: Iterable[str] | None = None, before: float | None = None
    ) -> Removal:
        """Report what `remove` would take."""

    def remove(
        self, *, sessions: Iterable[str] | None = None, before: float | None = None
    ) -> Removal:
        """Delete segments, their vectors and what was derived from them.

        Segments go that are of one of the sessions, if any is named, and older than ``before``, in milliseconds since
        1970, if that is given. Facts go with whole sessions only. Without either, only snapshots go.
        """

@final
class Verified:
    """Findings of a verification."""

    @property
    def segments(self) -> int:
        """Segments that can be read."""

    @property
    def facts(self) -> int:
        """States of facts that can be read."""

    @property
    def vectors(self) -> int:
        """Vectors that can be read."""

    @property
    def problems(self) -> list[tuple[str, int | None, int | None, str]]:
        """File, line, offset and fault of what cannot be read; of many lines the first, and a count of the others."""

@final
class Removal:
    """Contents of a removal."""

    @property
    def segments(self) -> int:
        """Lines of segments."""

    @property
    def facts(self) -> int:
        """Lines of facts."""

    @property
    def files(self) -> list[str]:
        """Derived files and folders, by their paths in the store."""

    @property
    def bytes(self) -> int:
        """Size of all of these."""

@final
class Lease:
    """A lease on a lock file: of many processes one at a time holds it. The kernel releases it when its holder dies."""

    def __new__(cls, path: str | PathLike[str]) -> Lease: ...
    @property
    def is_held(self) -> bool:
        """True if this object holds the lease."""

    def acquire(self) -> bool:
        """Acquire the lease unless another holder has it, and return whether it is held."""

    def release(self) -> None:
        """Release the lease; in a forked child, leave it to the parent."""

@final
class Fact:
    """A statement that holds, or held until another superseded it.

    >>> fact.content, fact.is_active, fact.revision  # doctest: +SKIP
    ('The webhook listens on port 8443', True, 0)
    """

    @property
    def id(self) -> str:
        """Unique; the same in every state of the fact."""

    @property
    def type(self) -> str:
        """One of the six types, or what another program wrote."""

    @property
    def content(self) -> str:
        """The statement, secrets masked."""

    @property
    def context(self) -> str | None:
        """Where the fact came up."""

    @property
    def timestamp(self) -> float | None:
        """Time it was stated or last changed, in milliseconds since 1970; None where another program gave none."""

    @property
    def superseded_by(self) -> str | None:
        """The fact that superseded it."""

    @property
    def session_id(self) -> str | None:
        """The session it came up in; None where another program gave none."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the segments it was taken from."""

    @property
    def is_active(self) -> bool:
        """True if the fact holds: neither superseded nor forgotten."""

    @property
    def revision(self) -> int:
        """Number of earlier states."""

    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class FactHit:
    """A fact that answers a question."""

    @property
    def fact(self) -> Fact:
        """The fact."""

    @property
    def score(self) -> float:
        """Weighted share of the question's words that the fact has, from 0 to 1."""

    @property
    def matched(self) -> int:
        """Number of the question's words that it has."""

    @property
    def explanation(self) -> str | None:
        """Breakdown of the score by word, if the search was asked for it."""

@final
class FactStore:
    """The facts of a directory: every change durable, the log shared with other processes, all of it searched.

    `memctx.open` makes one with checked settings, as ``memory.facts``. Without ``cross_session`` only the facts of its
    own session are seen, whatever the method.

    >>> facts = FactStore(folder, StoreOptions(session_id="s1"))  # doctest: +SKIP
    >>> facts.add("config", "The webhook listens on port 8443").id  # doctest: +SKIP
    '8f4b…'
    """

    def __new__(cls, path: str | PathLike[str], options: StoreOptions) -> FactStore: ...
    @property
    def path(self) -> str:
        """The directory."""

    @property
    def session_id(self) -> str:
        """The session that is written to and, without ``cross_session``, the only one that is read."""

    @property
    def cross_session(self) -> bool:
        """True if the facts of all sessions are read."""

    def add(
        self,
        type: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
        id: str | None = None,
        timestamp: float | None = None,
    ) -> Fact:
        """State a fact and wait for the disk; an active fact with the same content is returned instead."""

    def update(
        self,
        id: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
    ) -> Fact:
        """Replace the content of an active fact under the same id; sources are merged, no context keeps the old one."""

    def supersede(
        self,
        id: str,
        type: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
        new_id: str | None = None,
    ) -> Fact:
        """Replace an active fact by a new one, in its session and in one append; return the new fact."""

    def forget(self, id: str) -> Fact:
        """Retract an active fact. It stays in the log and in its history."""

    def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
        """Apply planned changes in one append, each seeing those before it; return the outcome of each.

        Each is ``("add", id, type, content, context, sources)``, ``("update", target, content, context, sources)``,
        ``("supersede", target, id, type, content, context, sources)`` or ``("delete", target)``.

        ``done``; ``duplicate``: already known, nothing was written; ``added``: the target is no longer active, so the
        new content became a fact of its own; ``missing``: there is no such target, nothing was written.
        """

    def get(self, id: str) -> Fact | None:
        """Return a fact as it is now, superseded or not; None if it is unknown or was forgotten."""

    def facts(
        self,
        *,
        types: Iterable[str] | None = None,
        limit: int | None = None,
        include_superseded: bool = False,
    ) -> list[Fact]:
        """Return the active facts, and on request the superseded ones, newest first."""

    def history(self, id: str) -> list[Fact]:
        """Return all states of a fact and of every fact it superseded, oldest first; equal for each of their ids."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Iterable[str] | None = None,
        explain: bool = False,
    ) -> list[FactHit]:
        """Return the facts that answer a question, best first, newer first among equals; none if none is about it."""

    def nearest(
        self, text: str, *, limit: int = 20, types: Iterable[str] | None = None
    ) -> list[Fact]:
        """Return the active facts that share most with a text, however little and however long it is; closest first."""

    def stats(self) -> dict[str, Any]:
        """Return the counts active, superseded, forgotten, states, log_bytes and log_lines."""

    def health(self) -> dict[str, Any]:
        """Report skipped, repaired and degraded parts; ``reasons`` say why, as long as ``degraded`` is True."""

    def reopen(self) -> None:
        """Open every file again after a fork, sharing nothing with the parent."""

    def close(self) -> None:
        """Refuse every further call; everything acknowledged is on disk already."""

    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...

def vmem_read(
    path: str | PathLike[str],
) -> tuple[list[str], NDArray[np.float32], VmemReport]: ...
def vmem_write(
    path: str | PathLike[str], ids: Sequence[str], matrix: ArrayLike, checksum: bool
) -> None: ...
def vmem_append(path: str | PathLike[str], ids: Sequence[str], matrix: ArrayLike) -> None: ...
def vmem_verify(path: str | PathLike[str]) -> VmemReport: ...
def normalize(hits: Sequence[Hit]) -> list[Hit]: ...
def blend(
    vector: Sequence[Hit], bm25: Sequence[Hit], vector_weight: float, bm25_weight: float
) -> list[Hit]: ...
def decay(hits: Sequence[Hit], ages_days: Sequence[float], rate: float) -> list[Hit]: ...
def threshold(hits: Sequence[Hit], min_score: float) -> list[Hit]: ...
def mmr(
    hits: Sequence[Hit],
    k: int,
    balance: float,
    vectors: ArrayLike | None,
    texts: Sequence[str] | None,
) -> list[Hit]: ...

@final
class Block:
    """A block of recalled context and its contents.

    >>> block = build_block([("config", "port 3000", 1.0)], [], cap=200)  # doctest: +SKIP
    >>> block.facts, block.tokens  # doctest: +SKIP
    ([0], 36)
    """

    @property
    def text(self) -> str:
        """The text; empty when nothing fits."""

    @property
    def tokens(self) -> int:
        """Token cost; 0 when nothing fits."""

    @property
    def facts(self) -> list[int]:
        """Indices of the facts in it, in order."""

    @property
    def details(self) -> list[int]:
        """Indices of the details in it, oldest first."""

    @property
    def cut(self) -> list[int]:
        """Indices of the details that were cut to an excerpt."""

def build_block(
    facts: Sequence[tuple[str, str, float]],
    details: Sequence[tuple[str, float, str, str, int, int, float] | SearchHit],
    *,
    cap: int,
    query: str | None = None,
    excerpt: int | None = None,
    estimator: Estimator = "script",
) -> Block:
    """Build the best block of at most ``cap`` tokens.

    ``facts`` are ``(type, content, score)``, ``details`` are ``(id, timestamp, role, content, start, end, score)``,
    where start and end are those of the passage that matched, or what a search found. Details longer than ``excerpt``
    tokens (150) are cut to where the words of ``query`` stand, and get what is left in the end.

    >>> build_block([], [("a", 0.0, "user", "port 3000", 0, 9, 1.0)], cap=100).details  # doctest: +SKIP
    [0]
    """

def parse_block(text: str) -> tuple[list[tuple[str, str]], list[tuple[float, str, str]]] | None:
    """Return the facts ``(type, content)`` and details ``(timestamp, role, content)`` of a block, as they were given.

    None when the text, white space around it aside, is not just one block.

    >>> parse_block("<detail>not ours</detail>") is None  # doctest: +SKIP
    True
    """

def visible(
    conversation: Conversation, hidden: Sequence[int], contents: Sequence[str | SearchHit]
) -> list[bool]:
    """Return for each stored content whether the model still sees it, messages ``hidden`` aside."""

def is_block(text: str) -> bool:
    """Return True if a text, white space around it aside, is just one block.

    >>> is_block(build_block([("config", "port 3000", 1.0)], [], cap=200).text)  # doctest: +SKIP
    True
    """

@final
class Redactor:
    """Finds secrets in a text and masks them.

    ``"mask"`` writes ``[REDACTED:kind]`` in place of tokens that name themselves, of secrets in URLs, headers, key
    blocks and command lines, and of values that are named as secrets. Hashes, ids and placeholders stay. ``"openclaw"``
    applies the six rules of OpenClaw's ``memory-context`` plugin, ``"off"`` none. A lone surrogate reads as U+FFFD. May
    be shared by threads.

    >>> redactor = Redactor(patterns={"ticket": r"ACME-[0-9]{6}"})
    >>> masked = redactor.mask("ACME-123456: the db password is k3jf9slw-Qp0")
    >>> masked.text
    '[REDACTED:ticket]: the db password is [REDACTED:password]'
    >>> masked.kinds
    {'password': 1, 'ticket': 1}
    """

    def __new__(
        cls,
        mode: Redaction = "mask",
        *,
        pii: bool = False,
        patterns: Mapping[str, str] | None = None,
    ) -> Redactor:
        """Create a redactor.

        ``pii`` also masks e-mail addresses, phone numbers, and card and bank account numbers with valid check digits.
        ``patterns`` gives further kinds, each with a regular expression in the syntax of Rust's ``regex``, which knows
        no look-around and no back-references and takes time in proportion to the text.

        Raises:
            ConfigError: the mode is unknown, or a pattern is no regular expression, is too big, or matches nothing.
        """

    def mask(self, text: str) -> Masked:
        """Mask every secret in a text. Masking a masked text changes nothing."""

@final
class Masked:
    """A text without its secrets.

    >>> Redactor().mask("commit 3f2a9c81d0").kinds
    {}
    """

    @property
    def text(self) -> str:
        """The text, each secret replaced by its mask."""

    @property
    def kinds(self) -> dict[str, int]:
        """Number of masked secrets of each kind, ordered by the name of the kind."""

# the turn

def chain(keys: Sequence[int], *, start: int = 0) -> array[int]:
    """Return a link for each key, made of it and of all keys before it."""

def bind(
    keys: Sequence[int], signed: Sequence[tuple[int, int]], *, strip: bool
) -> tuple[array[int], list[int]]:
    """Return the chain of some keys, and the indices of the signed ones that are not preceded by their link."""

def items_at(items: Sequence[_T], indices: Sequence[int]) -> list[_T]:
    """Return the items of a sequence at some indices."""

def text_key(text: str) -> int:
    """Return a hash of a text, the same on every machine."""

@final
class MessageReader:
    """Reads messages of every format and remembers their texts, so that reading them again costs next to nothing.

    ``estimator`` says what a text costs: ``"script"``, ``"utf16"``, or a callable that counts tokens. ``capacity`` is
    about how many bytes of texts are remembered; those that were not read for longest are forgotten first. May be
    shared by threads.

    >>> reader = MessageReader()
    >>> conversation = reader.read([{"role": "user", "content": "Which port?"}])
    >>> conversation.tokens, conversation.query()
    (8, 'Which port?')
    """

    def __new__(
        cls,
        estimator: Literal["script", "utf16"] | Callable[[str], int] = "script",
        *,
        capacity: int = 67_108_864,
        own_blocks: Sequence[int] | None = None,
    ) -> MessageReader:
        """Create a reader with an empty cache.

        ``own_blocks`` are the `text_key` of the recalled blocks that were sent: other text that reads like a block is a
        person's then. Without them, whatever reads like a block is one.

        Raises:
            ConfigError: the estimator is unknown, or the capacity below 0.
        """

    def read(self, messages: Sequence[Any], format: FormatName | None = None) -> Conversation:
        """Read a list of messages; ``format`` says what they are where that is not to be guessed.

        The messages are not changed and not kept. A block or an item of a type that is not known is opaque: it has a
        price, is kept whole, and nothing is repaired that may belong to it.

        Raises:
            MessageFormatError: it is no list, or the role, the content or the id of a tool in a message is not
                understood.
            ConfigError: the format is unknown, or the estimator returned something that is no number of tokens.
        """

    def add_own_blocks(self, keys: Sequence[int]) -> bool:
        """Add the keys of blocks that were sent.

        Return False if one of them was read as a person's text before: then this reader goes on reading it so.
        """

    def is_own_block(self, text: str) -> bool:
        """Return True if a text, white space around it aside, is just one block, and one that was sent."""

    def __len__(self) -> int:
        """Return the number of texts in the cache."""

def detect(messages: Sequence[Any]) -> FormatName: ...

@final
class Conversation:
    """The parsed form of a list of messages. The messages themselves are not kept.

    >>> conversation = MessageReader().read([
    ...     {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]},
    ...     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]},
    ... ])
    >>> conversation.roles, conversation.units
    (['assistant', 'tool'], [(0, 1)])
    """

    @property
    def format(self) -> FormatName:
        """Format of the messages."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of all messages: texts, calls, results, thinking and pictures."""

    @property
    def message_tokens(self) -> list[int]:
        """Estimated tokens of each message."""

    @property
    def keys(self) -> array[int]:
        """Hash of each message's content, the same on every machine; prompt-cache markers do not count."""

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The smallest groups that may be removed, each as the indices of its messages."""

    @property
    def unit_keys(self) -> list[int]:
        """Hash of each unit; equal units have different hashes."""

    @property
    def roles(self) -> list[Role]:
        """Role of each message. A user's message that only holds results is a tool's."""

    @property
    def recalled(self) -> list[int]:
        """The messages that are blocks memctx recalled, and nothing else."""

    @property
    def summaries(self) -> list[int]:
        """The messages that a compaction left, the host's or the provider's."""

    @property
    def newest_user(self) -> int | None:
        """The newest message that a person wrote."""

    @property
    def ordinals(self) -> list[int]:
        """For each message, the number of earlier messages with the same key."""

    @property
    def signed(self) -> list[int]:
        """The messages with thinking that its provider refuses after a changed prefix."""

    @property
    def carriers(self) -> list[int]:
        """The user's messages that hold a recalled block beside other content."""

    @property
    def is_running(self) -> bool:
        """True if the model waits for tools, or tools have answered and the model has not."""

    def occurrence(self, index: int) -> tuple[int, int]:
        """Return the key of a message, and the number of earlier messages with the same key."""

    def find(self, occurrences: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return the index of the message with each key and ordinal, or None."""

    def is_preamble(self, index: int) -> bool:
        """Return True if a message is the host's own, or the summary of a compaction."""

    def in_group(self, index: int) -> bool:
        """Return True if a message belongs to a tool group."""

    def with_results(self, edits: Sequence[tuple[int, int, str, int]]) -> Conversation:
        """Return a copy with some results shortened, each given as message, ordinal, text and tokens; keys stay."""

    def without(self, indices: Sequence[int]) -> Conversation:
        """Return a copy without some messages."""

    def query(self, count: int = 3, *, head: int | None = None) -> str:
        """Return the last ``count`` texts that a person wrote, oldest first, joined by a space.

        Of a long text it is the beginning and the end; with ``head``, of each text its first ``head`` characters.
        """

    def records(
        self, indices: Sequence[int] | None = None
    ) -> list[list[tuple[str, str, float | None, str | None]]]:
        """Return the records for `Store.add` of each message, or of those named."""

    def silences(self) -> list[str]:
        """Return the reason for each message of which nothing is archived."""

    def __len__(self) -> int: ...

def problems(conversation: Conversation) -> list[tuple[int, str, str, str | None]]:
    """Return what the provider would refuse: index of the message, code, description, and id of the call or result."""

def repair_plan(
    conversation: Conversation,
) -> (
    tuple[
        list[tuple[Literal["keep", "answer", "hold"], int | None, list[PlannedResult]]],
        list[tuple[int, int, str, str, str | None]],
    ]
    | None
):
    """Plan the repair of a conversation: the parts of the repaired list and the changes; None if it needs none.

    A message is kept, or its own results are replaced by these at its front; without a message, the results form one.
    Of a held message only its position among the roles is left. A change has the index of its message, the number of
    equal parts before it there, a code, a description, and the id of the call or result.
    """

@final
class Removed:
    """A unit that a trim removes."""

    @property
    def unit(self) -> int:
        """Its index among the conversation's units."""

    @property
    def key(self) -> int:
        """Its key, by which a later trim removes it again."""

    @property
    def messages(self) -> tuple[int, ...]:
        """Indices of its messages."""

    @property
    def tokens(self) -> int:
        """Its tokens."""

    @property
    def score(self) -> float:
        """Its relevance to the query; 0 where that was not computed."""

    @property
    def layer(self) -> Literal["sticky", "relevance", "age"]:
        """The rule that removed it."""

    @property
    def reason(self) -> str:
        """The rule in words."""

@final
class Trim:
    """A plan of what a trim removes and keeps."""

    @property
    def removed(self) -> list[Removed]:
        """The removed units, in the order that was decided."""

    @property
    def removed_keys(self) -> list[int]:
        """Keys of the removed units."""

    @property
    def removed_messages(self) -> list[int]:
        """Indices of the removed messages, in order."""

    @property
    def protected(self) -> list[tuple[int, str]]:
        """Indices of the messages that had to stay, and why; none if nothing had to be removed."""

    @property
    def tokens_before(self) -> int:
        """Tokens of the whole conversation."""

    @property
    def tokens_after(self) -> int:
        """Tokens that are left."""

    @property
    def is_deferred(self) -> bool:
        """True if a trim is due but waits until the tools have answered."""

    @property
    def recognized(self) -> int:
        """Number of previously trimmed units found again, protected ones included."""

    def __len__(self) -> int:
        """Return the number of removed units."""

@final
class Replay:
    """Removes the same units from a conversation turn after turn, at next to no cost while it only gets longer."""

    def __new__(cls) -> Replay: ...
    def of(
        self,
        conversation: Conversation,
        sticky: Sequence[int],
        *,
        protected_recent: int = 6,
        pinned: Sequence[int] = ...,
    ) -> tuple[Trim, Conversation, array[int]]:
        """Remove the units of these keys; return the trim, the rest, and for each remaining message its previous index.

        The trim does not list the protected messages.
        """

def plan_trim(
    conversation: Conversation,
    query: str,
    *,
    limit: int,
    target: int | None = None,
    ceiling: int | None = None,
    protected_recent: int = 6,
    protect_task: bool = True,
    spare_people: bool = False,
    pinned: Sequence[int] = ...,
    sticky: Sequence[int] = ...,
    costs: Sequence[int] | None = None,
) -> Trim:
    """Plan which units to remove from a conversation of more than ``limit`` tokens to reach ``target`` or the limit.

    Units that ``sticky`` names by key leave in any case, unless they are protected now. While tools are at work
    everything else waits unless there are more than ``ceiling`` tokens; without a ceiling nothing waits. ``pinned``
    names messages that stay; short messages of a person leave last if ``spare_people``; ``costs`` replaces the
    reader's token counts.

    >>> texts = "the task", "small talk", "port 8443"
    >>> talk = MessageReader().read([{"role": "user", "content": text} for text in texts])
    >>> trim = plan_trim(talk, "which port?", limit=20, protected_recent=1)
    >>> [(removed.messages, removed.layer) for removed in trim.removed], trim.protected
    ([((1,), 'relevance')], [(0, 'task'), (2, 'recent')])

    Raises:
        ConfigError: a number is below 0, the target above the limit, an index or the number of costs wrong.
    """

@final
class Pruned:
    """A tool result that is sent in a shorter form."""

    @property
    def message(self) -> int:
        """Index of its message."""

    @property
    def ordinal(self) -> int:
        """Index among the message's results, from 0."""

    @property
    def key(self) -> int:
        """Hash of its call's id, its text, and the number of equal results before it."""

    @property
    def form(self) -> Literal["soft", "clear"]:
        """New form: head and tail stay, or a placeholder replaces it."""

    @property
    def text(self) -> str:
        """The text that is sent."""

    @property
    def tokens_before(self) -> int:
        """Tokens of the whole result."""

    @property
    def tokens_after(self) -> int:
        """Tokens that are sent."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def plan_facts(
    drafts: Sequence[tuple[str, str, str | None, str | None]],
    known: Sequence[tuple[str, str]],
    *,
    allow_delete: bool = False,
) -> list[tuple[FactAction, str | None, str, str | None]]:
    """Plan a step for each draft, in order: action, target, reason, and why the extractor's action was not followed.

    A draft is its id, its content, and the action and the target that its extractor names. A known fact is its id and
    its content. A later draft sees what becomes of the earlier ones.

    >>> plan_facts([("b", "The port is 8080", None, None)], [("a", "The port is 3000")])
    [('supersede', 'a', 'contradicts the stored value', None)]
    """

def plan_prune(
    conversation: Conversation,
    pruning: Pruning,
    *,
    context_window: int,
    sticky: dict[int, str] = ...,
    is_cold: bool = False,
    estimator: Estimator = "script",
) -> list[Pruned]:
    """Plan which results are sent shortened or cleared, in order.

    ``sticky`` maps keys to the forms of earlier turns; those results get the same bytes again, except in mode
    ``"off"``. ``"cache-ttl"`` prunes more only when ``is_cold``.

    Raises:
        ConfigError: a name is unknown, or a number out of range.
    """

def shorten(text: str, max_chars: int, head_chars: int, tail_chars: int) -> str | None:
    """Shorten a text as `memctx.context.truncate_tool_result` does; None if it stays whole."""

def shorten_results(
    conversation: Conversation, max_chars: int, head_chars: int, tail_chars: int
) -> list[tuple[int, int, str, str]]:
    """Return the results that are too long, each as message, ordinal, the whole text and the shortened one."""
