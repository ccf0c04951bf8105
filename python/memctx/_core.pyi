"""Types of the compiled extension. The prose here is what editors show; `stubtest` holds it to the binary."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

_T = TypeVar("_T")

TokenMode: TypeAlias = Literal["memctx", "openclaw"]
Estimator: TypeAlias = Literal["utf16", "script"]
EntityKind: TypeAlias = Literal["url", "email", "stock", "amount", "date", "person", "project"]
Redaction: TypeAlias = Literal["off", "mask", "openclaw"]
Shape: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "pi"]
FactAction: TypeAlias = Literal["add", "update", "supersede", "none", "delete"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool", "other"]

# A result of the mended list: its message, how many of its kind stand before it there, whether it is there, and, where
# it is not, the id and the name of the call that it stands for.
PlannedResult: TypeAlias = tuple[int, int, bool, str | None, str | None]

# What is done, to which fact unless it is new, under which id and as what type if it is, and what it says: content,
# context, sources.
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
    """Why a score is what it is: a named number and the numbers it was made of.

    >>> print(index.explain("quick fox", "d2"))  # doctest: +SKIP
    1.525167 bm25
      1.211293 term "quick"
        ...
    """

    @property
    def name(self) -> str:
        """What the number is called."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def parts(self) -> tuple[Explanation, ...]:
        """The numbers it was made of, in the order they were combined."""

    def to_dict(self) -> dict[str, Any]:
        """The same tree as plain dictionaries, ready for JSON."""

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
        """A hit made by hand, for feeding `memctx.lowlevel.fusion` with scores from elsewhere."""

    @property
    def id(self) -> str:
        """The id given when the item was added."""

    @property
    def score(self) -> float:
        """Higher is better. The scale is that of whatever made the hit."""

    @property
    def explain(self) -> Explanation:
        """How the score came about."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def tokenize(text: str, mode: TokenMode = "memctx") -> list[str]:
    """The terms that search sees in a text.

    ``"memctx"`` folds full-width forms (NFKC), gives every Chinese, Japanese and Korean character and each adjacent
    pair, and gives identifiers as their parts and as a whole. ``"openclaw"`` reproduces the tokenizer of
    OpenClaw's plugin, token for token. A lone surrogate reads as U+FFFD.

    >>> tokenize("parseHTTPHeader 飞书")
    ['parse', 'http', 'header', 'parsehttpheader', '飞', '书', '飞书']
    """

def estimate_tokens(text: str, estimator: Estimator = "utf16") -> int:
    """About how many model tokens a text costs, never less than 1.

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
        """Take a document out. False when there was none."""

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        group: str | None = None,
        within: Collection[str] | None = None,
    ) -> list[Hit]:
        """The best ``k`` documents that share a term with the query, best first, older first among equals.

        ``group`` limits the search to documents added under it, ``within`` to the ids given. Both leave the scores
        as they are: counts are those of the whole index.
        """

    def explain(self, query: str, id: str) -> Explanation | None:
        """The score of one document, term by term; None when the id is unknown."""

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
        """Take a vector out. False when there was none."""

    def get(self, id: str) -> NDArray[np.float32] | None:
        """A copy of the vector as it was added, or None."""

    def search(
        self,
        vector: ArrayLike,
        k: int = 10,
        *,
        group: str | None = None,
        within: Collection[str] | None = None,
    ) -> list[Hit]:
        """The ``k`` nearest by cosine, best first, older first among equals. A zero vector has cosine 0 to all."""

    def search_many(
        self,
        matrix: ArrayLike,
        k: int = 10,
        *,
        group: str | None = None,
        within: Collection[str] | None = None,
    ) -> list[list[Hit]]:
        """`search` for every row of ``matrix``, reading the index once for several of them."""

    def explain(self, vector: ArrayLike, id: str) -> Explanation | None:
        """The cosine to one stored vector, with the product and the lengths behind it; None when the id is unknown."""

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
        """The vector of a text: length 1, or all zeros when nothing in the text counts.

        What counts are letters, digits and ``@ . + -``.
        """

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row for each text."""

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
        """A model from its folder, or from the ``.safetensors`` file of its table.

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
        """The vector of a text: length 1, or all zeros when no known piece is in the text."""

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row for each text."""

def strip_channel_prefix(text: str) -> str:
    r"""The text without the lines that a chat host added, and without white space around it.

    Two kinds of line go: those that open with a date in brackets, with or without ``System:`` before it, and headings
    such as ``Sender (untrusted metadata):`` with the JSON below them.

    >>> strip_channel_prefix("System: [2026-02-15 18:49:02 GMT+8] Feishu[main] message\nhello there")
    'hello there'
    """

def is_noise(text: str) -> bool:
    """Whether a text is not worth keeping.

    It has six UTF-16 units or fewer, or is one of the messages that agents and their hosts exchange to keep in step:
    ``NO_REPLY``, heartbeats, notices of audio and of queued messages.

    >>> is_noise("HEARTBEAT_OK"), is_noise("use port 8443")
    (True, False)
    """

@final
class Entity:
    """Something that a text names.

    >>> entities("edit src/pay.rs")[0]
    Entity(kind="project", value="src/pay.rs", offset=5)
    """

    @property
    def kind(self) -> EntityKind:
        """What it is."""

    @property
    def value(self) -> str:
        """How the text spells it."""

    @property
    def offset(self) -> int:
        """Where it begins, in UTF-16 units.

        For all but URLs and mail addresses this is the place in the text in which each of those has become one space;
        for a person it is that of the word before the name.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def entities(text: str) -> list[Entity]:
    """What a text names, each value once, 256 at most.

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
        """The names of all topics, in the order they were defined."""

    def of(self, text: str) -> list[str]:
        """The topics of a text, in the order they were defined."""

@final
class VmemReport:
    """What `memctx.lowlevel.vmem.verify` found in a file."""

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
        """Whether the file carries a checksum and whether it holds."""

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
        """When it was said, in milliseconds since the epoch."""

    @property
    def role(self) -> str:
        """Who said it: ``"user"``, ``"assistant"``, ``"tool"``, or whatever the file has."""

    @property
    def content(self) -> str:
        """What was said, with secrets masked."""

    @property
    def tokens(self) -> int:
        """About what it costs a model."""

    @property
    def topics(self) -> list[str]:
        """What it is about."""

    @property
    def metadata(self) -> dict[str, Any]:
        """Topics, entities, and whatever was given when it was archived."""

@final
class Added:
    """What became of one record given to `WarmStore.add`."""

    @property
    def id(self) -> str | None:
        """The id of the segment, or None when it was not stored."""

    @property
    def outcome(self) -> Literal["added", "duplicate", "noise"]:
        """Whether it is new, was there already, or was not worth keeping."""

@final
class StoreHit:
    """A segment that a search found, and the numbers that put it there."""

    @property
    def segment(self) -> Segment:
        """What was found."""

    @property
    def score(self) -> float:
        """What the results are ordered by."""

    @property
    def vector(self) -> float:
        """The cosine of the query's and the segment's vectors."""

    @property
    def bm25(self) -> float:
        """The text score, divided by the best one."""

    @property
    def match(self) -> float:
        """How well it matches, from 0 to 1: what ``min_score`` is tested on."""

    @property
    def distance(self) -> int:
        """0 when it was found itself, else how many messages away from one that was."""

    @property
    def passage(self) -> tuple[int, int]:
        """Where in the content the best passage begins and ends, in characters."""

    @property
    def explanation(self) -> Explanation | None:
        """How the score came about, if the search was asked to say."""

@final
class WarmStore:
    """The segments of a directory: all on disk, the newest in memory, found by words and by vectors.

    `memctx.open` makes one with checked settings; it loads in the background.
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        session_id: str,
        cross_session: bool = False,
        max_segments: int = 20_000,
        eviction_days: float = 90.0,
        durability: Literal["fsync", "os"] = "fsync",
        redaction: Literal["mask", "openclaw", "off"] = "mask",
        pii: bool = False,
        patterns: Mapping[str, str] | None = None,
        lock_timeout: float = 5.0,
        cold: bool = True,
        cold_deadline_ms: float = 50.0,
        model: HashEmbedder | StaticEmbedder | tuple[str, str, int, bool] | None = None,
        replaces_vectors: bool = False,
    ) -> WarmStore: ...
    @property
    def path(self) -> str:
        """The directory."""

    @property
    def session_id(self) -> str:
        """The session that is written to and, without ``cross_session``, the only one that is read."""

    def add(self, records: Sequence[tuple[str, str, float | None, str | None]]) -> list[Added]:
        """Store ``(role, content, timestamp in ms or None for now, metadata as JSON or None)``; wait for the disk."""

    def put(self, records: Sequence[tuple[str, str, float | None, str | None]]) -> list[Added]:
        """`add`, without waiting for the disk: the records are found by the next search, and the sync follows."""

    def put_messages(
        self, conversation: Conversation, indices: Sequence[int], *, tools: bool = True
    ) -> list[Added]:
        """`put` what there is to archive of some messages of a conversation, with or without what tools did."""

    def search(
        self,
        query: str,
        *,
        vector: ArrayLike | None = None,
        limit: int = 10,
        session_id: str | None = None,
        roles: Sequence[str] | None = None,
        since: float | None = None,
        until: float | None = None,
        topics: Sequence[str] | None = None,
        min_score: float = 0.0,
        ranking: Literal["best", "openclaw"] = "best",
        window: int = 0,
        explain: bool = False,
        everything: bool = False,
        deadline_ms: float | None = None,
    ) -> list[StoreHit]:
        """The segments that answer a query best, best first.

        ``vector`` is the query's, of the store's model; the store makes it itself where the core runs the model, and
        goes by words alone where it has none. Those in memory answer at once; older ones join in when they are found
        within ``deadline_ms``, by default ``cold_deadline_ms``. With 0 nobody waits: they are looked for afterwards,
        and join in when the same is asked again within a minute. With ``everything`` the search waits for them, and
        indexes what is not indexed yet.
        """

    def catch_up(
        self, progress: Callable[[int, int], object] | None = None, *, anew: bool = False
    ) -> ColdStatus | None:
        """Index everything for search on disk now, with ``anew`` from the beginning; None when that is switched off.

        ``progress`` hears after every commit how many bytes of the log, of how many, are indexed.
        """

    def cold(self) -> ColdStatus | None:
        """How far the search on disk is; None when it is switched off."""

    def nearest(self, vector: ArrayLike, k: int = 10) -> list[Hit]:
        """The ids of the segments nearest to a vector by cosine, of everything stored, best first."""

    def unembedded(self, limit: int = 64) -> list[tuple[str, str]]:
        """Texts whose vectors are still to come, at least ``limit`` if there are so many, and ids to supply them under.

        Empty when everything has its vectors, and while another process sees to it.
        """

    def supply(self, ids: Sequence[str], vectors: ArrayLike) -> None:
        """Keep the vectors of texts that `unembedded` gave, a row for each id; they are on disk when this returns.

        Zeros and values that are not finite are refused: what failed is to be tried again.
        """

    def set_aside(self, ids: Sequence[str]) -> None:
        """Do without the vectors of texts that cannot be embedded, until the store is opened again."""

    def embedding(self) -> EmbeddingStatus:
        """How far everything stored has vectors."""

    def get(self, id: str) -> Segment | None:
        """One segment, or None."""

    def neighbours(self, id: str, distance: int = 2) -> list[Segment]:
        """The segments of the same session up to ``distance`` before and after one, in order, without itself."""

    def segments(self) -> Iterator[Segment]:
        """Everything stored that this store may read, in the order of the file, straight from disk."""

    def sessions(self) -> list[str]:
        """The sessions that this store may read."""

    def add_topic(self, name: str, keywords: Iterable[str]) -> None:
        """Look for a topic, or for more keywords of one, in what is added from now on."""

    def topics(self) -> list[str]:
        """The topics that are looked for."""

    def stats(self) -> dict[str, Any]:
        """Counts of what the store holds."""

    def health(self) -> dict[str, Any]:
        """Tell what was skipped, repaired or degraded; ``reasons`` say why, as long as ``degraded`` is True."""

    def refresh(self) -> int:
        """Take in what other processes wrote; how many segments came."""

    def snapshot(self) -> bool:
        """Write the index to disk so that the next opening is quick. False when nothing could be written."""

    def reopen(self) -> None:
        """After a fork: open every file anew, sharing nothing with the parent."""

    def close(self) -> None:
        """Write what is pending and let go of every file."""

    def __len__(self) -> int: ...

@final
class ColdStatus:
    """How far the search of what left memory is.

    >>> memory.store.cold().state  # doctest: +SKIP
    'ready'
    """

    @property
    def state(self) -> Literal["absent", "ready", "indexing", "unavailable"]:
        """Whether there is an index on disk, whether this process is filling it, or whether its files are damaged."""

    @property
    def segments(self) -> int:
        """Segments that are indexed on disk."""

    @property
    def passages(self) -> int:
        """Pieces they are indexed in."""

    @property
    def graph_passages(self) -> int:
        """Those of them that a graph finds; the others are compared one by one."""

    @property
    def indexed_bytes(self) -> int:
        """Bytes of the log that are indexed."""

    @property
    def log_bytes(self) -> int:
        """Bytes that the log has."""

    @property
    def disk_bytes(self) -> int:
        """Bytes that the index takes on disk."""

    @property
    def fault(self) -> str | None:
        """What went wrong last, or None."""

@final
class EmbeddingStatus:
    """How far everything stored has vectors.

    >>> memory.store.embedding().model  # doctest: +SKIP
    'hash'
    """

    @property
    def model(self) -> str:
        """Which model makes the vectors."""

    @property
    def revision(self) -> str:
        """What else they depend on."""

    @property
    def dim(self) -> int:
        """Their length."""

    @property
    def is_instant(self) -> bool:
        """Whether a vector is there as soon as a text is."""

    @property
    def is_replacing(self) -> bool:
        """Whether these vectors are to take the place of another model's, and have not yet."""

    @property
    def done_bytes(self) -> int:
        """Bytes of the log before the first text that lacks its vector."""

    @property
    def log_bytes(self) -> int:
        """Bytes that the log has."""

    @property
    def lacking(self) -> int:
        """Pieces in memory whose vectors are still to come."""

    @property
    def aside(self) -> int:
        """Texts that were given up until the store is opened again."""

@final
class ColdStore:
    """Everything ever archived in a directory, read from disk one segment at a time."""

    def __new__(cls, path: str | PathLike[str]) -> ColdStore: ...
    def scan(
        self,
        *,
        session_id: str | None = None,
        roles: Sequence[str] | None = None,
        since: float | None = None,
        until: float | None = None,
        topics: Sequence[str] | None = None,
        contains: str | None = None,
    ) -> Iterator[Segment]:
        """The segments that pass every filter given, in the order of the file."""

    def read_from(
        self,
        offset: int,
        *,
        session_id: str | None = None,
        roles: Sequence[str] | None = None,
        limit: int = 256,
    ) -> tuple[list[Segment], int]:
        """At most ``limit`` segments whose lines begin at or after an offset, and the offset to go on from.

        A line that lacks its end is left for later, and so is what comes after it.

        >>> cold = ColdStore(path)  # doctest: +SKIP
        >>> segments, offset = cold.read_from(0, session_id="s1", roles=["user"])  # doctest: +SKIP
        """

    def end(self) -> int:
        """Return the offset at which the last whole line ends."""

    def mark(self, offset: int) -> int | None:
        """Return a checksum of the bytes before an offset; None if the log is shorter.

        It tells whether the log has been replaced since.
        """

    def offset_after(
        self, id: str, *, session_id: str | None = None, roles: Sequence[str] | None = None
    ) -> int | None:
        """Return the offset behind the first segment of an id; None if there is none."""

    def last_before(
        self, offset: int, *, session_id: str | None = None, roles: Sequence[str] | None = None
    ) -> str | None:
        """Return the id of the last segment that lies before an offset; None if there is none."""

    def health(self) -> dict[str, Any]:
        """What could not be read."""

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
    """What a verification found."""

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
    """What a removal takes."""

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
        """Bytes of all of these."""

@final
class Lease:
    """A lease on a lock file: of many processes one at a time holds it. The kernel releases it when its holder dies."""

    def __new__(cls, path: str | PathLike[str]) -> Lease: ...
    @property
    def is_held(self) -> bool:
        """Whether this object holds the lease."""

    def acquire(self) -> bool:
        """Acquire the lease unless another holder has it, and return whether it is held."""

    def release(self) -> None:
        """Release the lease; in a forked child, leave it to the parent."""

@final
class Fact:
    """A statement that holds, or held until another took its place.

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
        """Where it came up."""

    @property
    def timestamp(self) -> float | None:
        """When it was stated or last changed, in milliseconds since 1970; None where another program did not say."""

    @property
    def superseded_by(self) -> str | None:
        """The fact that took its place."""

    @property
    def session_id(self) -> str | None:
        """The session it came up in; None where another program did not say."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The segments it was taken from."""

    @property
    def is_active(self) -> bool:
        """Whether it holds: neither superseded nor forgotten."""

    @property
    def revision(self) -> int:
        """How many earlier states of it there are."""

    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class FactHit:
    """A fact that answers a question."""

    @property
    def fact(self) -> Fact:
        """What was found."""

    @property
    def score(self) -> float:
        """The share of what the question's words tell that the fact has, from 0 to 1."""

    @property
    def matched(self) -> int:
        """How many of the question's words it has."""

    @property
    def explanation(self) -> str | None:
        """How the score came about, word by word, where that was asked for."""

@final
class FactStore:
    """The facts of a directory: every change durable, the log shared with other processes, all of it searched.

    `memctx.open` makes one with checked settings, as ``memory.facts``. Without ``cross_session`` only the facts of its
    own session are seen, whatever the method.

    >>> facts = FactStore(folder, session_id="s1")  # doctest: +SKIP
    >>> facts.add("config", "The webhook listens on port 8443").id  # doctest: +SKIP
    '8f4b…'
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        *,
        session_id: str,
        cross_session: bool = False,
        durability: Literal["fsync", "os"] = "fsync",
        redaction: Literal["mask", "openclaw", "off"] = "mask",
        pii: bool = False,
        patterns: Mapping[str, str] | None = None,
        lock_timeout: float = 5.0,
    ) -> FactStore: ...
    @property
    def path(self) -> str:
        """The directory."""

    @property
    def session_id(self) -> str:
        """The session that is written to and, without ``cross_session``, the only one that is read."""

    @property
    def cross_session(self) -> bool:
        """Whether the facts of all sessions are seen."""

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
        """State something and wait for the disk; an active fact that says the same is given back instead."""

    def update(
        self,
        id: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
    ) -> Fact:
        """Say an active fact anew under the same id; sources are merged, no context keeps the one there is."""

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
        """State something that takes the place of an active fact, in its session and in one append; the new fact."""

    def forget(self, id: str) -> Fact:
        """Take an active fact back. It stays in the log and in its history."""

    def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
        """Make planned changes in one append, each seeing those before it; what became of each.

        Each is ``("add", id, type, content, context, sources)``, ``("update", target, content, context, sources)``,
        ``("supersede", target, id, type, content, context, sources)`` or ``("delete", target)``.

        ``done``; ``duplicate``: that is known, nothing was written; ``added``: the target holds no more, so what was
        said of it became a fact of its own; ``missing``: there is no such target, nothing was written.
        """

    def get(self, id: str) -> Fact | None:
        """A fact as it is now, superseded or not; None if it is not known or was forgotten."""

    def facts(
        self,
        *,
        types: Iterable[str] | None = None,
        limit: int | None = None,
        include_superseded: bool = False,
    ) -> list[Fact]:
        """The facts that hold, and on request those that others took the place of, newest first."""

    def history(self, id: str) -> list[Fact]:
        """All states of a fact and of every fact it took the place of, oldest first; the same from each id of them."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Iterable[str] | None = None,
        explain: bool = False,
    ) -> list[FactHit]:
        """The facts that answer a question, best first, newer first among equals; none if no fact is about it."""

    def nearest(
        self, text: str, *, limit: int = 20, types: Iterable[str] | None = None
    ) -> list[Fact]:
        """The facts that hold and share most with a text, however little and however long it is; closest first."""

    def stats(self) -> dict[str, Any]:
        """Counts of what the store sees: active, superseded, forgotten, states, log_bytes, log_lines."""

    def health(self) -> dict[str, Any]:
        """Tell what was skipped, repaired or degraded; ``reasons`` say why, as long as ``degraded`` is True."""

    def reopen(self) -> None:
        """After a fork: open every file anew, sharing nothing with the parent."""

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
    """A block of recalled context and what went into it.

    >>> block = build_block([("config", "port 3000", 1.0)], [], cap=200)  # doctest: +SKIP
    >>> block.facts, block.tokens  # doctest: +SKIP
    ([0], 36)
    """

    @property
    def text(self) -> str:
        """The text; empty when nothing fits."""

    @property
    def tokens(self) -> int:
        """What it costs; 0 when nothing fits."""

    @property
    def facts(self) -> list[int]:
        """Indices of the facts it tells, in order."""

    @property
    def details(self) -> list[int]:
        """Indices of the details it tells, oldest first."""

    @property
    def cut(self) -> list[int]:
        """Indices of the details that were cut to an excerpt."""

def build_block(
    facts: Sequence[tuple[str, str, float]],
    details: Sequence[tuple[str, float, str, str, int, int, float] | StoreHit],
    *,
    cap: int,
    query: str | None = None,
    excerpt: int | None = None,
    estimator: Estimator = "script",
) -> Block:
    """The best block of at most ``cap`` tokens.

    ``facts`` are ``(type, content, score)``, ``details`` are ``(id, timestamp, role, content, start, end, score)``,
    where start and end are those of the passage that matched, or what a search found. Details longer than ``excerpt``
    tokens (150) are cut to where the words of ``query`` stand, and get what is left in the end.

    >>> build_block([], [("a", 0.0, "user", "port 3000", 0, 9, 1.0)], cap=100).details  # doctest: +SKIP
    [0]
    """

def parse_block(text: str) -> tuple[list[tuple[str, str]], list[tuple[float, str, str]]] | None:
    """The facts ``(type, content)`` and details ``(timestamp, role, content)`` of a block, exactly as they were put in.

    None when the text, white space around it aside, is not just one block.

    >>> parse_block("<detail>not ours</detail>") is None  # doctest: +SKIP
    True
    """

def visible(
    conversation: Conversation, hidden: Sequence[int], contents: Sequence[str | StoreHit]
) -> list[bool]:
    """Which stored contents the model still sees in a conversation, of which the ``hidden`` messages are not sent."""

def is_block(text: str) -> bool:
    """Whether a text, white space around it aside, is just one block.

    >>> is_block(build_block([("config", "port 3000", 1.0)], [], cap=200).text)  # doctest: +SKIP
    True
    """

@final
class Redactor:
    """Finds secrets in a text and masks them.

    ``"mask"`` writes ``[REDACTED:kind]`` in place of tokens that name themselves, of secrets in URLs, headers, key
    blocks and command lines, and of values that are named as secrets. Hashes, ids and placeholders stay. ``"openclaw"``
    applies the six rules of OpenClaw's plugin, ``"off"`` none. A lone surrogate reads as U+FFFD. May be shared by
    threads.

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
        """A redactor.

        ``pii`` also masks e-mail addresses, phone numbers, and card and bank account numbers with valid check digits.
        ``patterns`` gives further kinds, each with a regular expression in the syntax of Rust's ``regex``, which knows
        no look-around and no back-references and takes time in proportion to the text.

        Raises:
            ConfigError: the mode is unknown, or a pattern is no regular expression, is too big, or matches nothing.
        """

    def mask(self, text: str) -> Masked:
        """The text with every secret masked. Masking what is masked already changes nothing."""

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
        """How many secrets of each kind were masked, ordered by the name of the kind."""

# the turn

def chain(keys: Sequence[int], *, start: int = 0) -> array[int]:
    """A link for each key, made of it and of all keys before it."""

def bind(
    keys: Sequence[int], signed: Sequence[tuple[int, int]], *, strip: bool
) -> tuple[array[int], list[int]]:
    """The chain of some keys, and the places of the signed ones that do not stand behind the link given with them."""

def items_at(items: Sequence[_T], indices: Sequence[int]) -> list[_T]:
    """The items of a sequence at some places."""

def text_key(text: str) -> int:
    """A hash of a text, the same on every machine."""

@final
class Scanner:
    """Reads messages of every shape and remembers their texts, so that reading them again costs next to nothing.

    ``estimator`` says what a text costs: ``"script"``, ``"utf16"``, or a callable that counts tokens. ``capacity`` is
    about how many bytes of texts are remembered; those that were not read for longest are forgotten first. May be
    shared by threads.

    >>> scanner = Scanner()
    >>> conversation = scanner.scan([{"role": "user", "content": "Which port?"}])
    >>> conversation.tokens, conversation.query()
    (8, 'Which port?')
    """

    def __new__(
        cls,
        estimator: Literal["script", "utf16"] | Callable[[str], int] = "script",
        *,
        capacity: int = 67_108_864,
        own_blocks: Sequence[int] | None = None,
    ) -> Scanner:
        """A scanner that has read nothing yet.

        ``own_blocks`` are the `text_key` of the recalled blocks that were sent: other text that reads like a block is a
        person's then. Without them, whatever reads like a block is one.

        Raises:
            ConfigError: the estimator is unknown, or the capacity below 0.
        """

    def scan(self, messages: Sequence[Any], shape: Shape | None = None) -> Conversation:
        """Read a list of messages; ``shape`` says what they are where that is not to be guessed.

        The messages are not changed and not kept. A block or an item of a type that is not known is opaque: it has a
        price, is kept whole, and nothing is repaired that may belong to it.

        Raises:
            MessageShapeError: it is no list, or the role, the content or the id of a tool in one of the messages is not
                understood.
            ConfigError: the shape is unknown, or the estimator returned something that is no number of tokens.
        """

    def add_own_blocks(self, keys: Sequence[int]) -> bool:
        """Add the keys of blocks that were sent.

        Return False if one of them was read as a person's text before: then this scanner goes on reading it so.
        """

    def is_own_block(self, text: str) -> bool:
        """Whether a text, white space around it aside, is just one block, and one that was sent."""

    def __len__(self) -> int:
        """How many texts are remembered."""

def detect(messages: Sequence[Any]) -> Shape: ...

@final
class Conversation:
    """What was read off a list of messages. The messages themselves are not kept.

    >>> conversation = Scanner().scan([
    ...     {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]},
    ...     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]},
    ... ])
    >>> conversation.roles, conversation.units
    (['assistant', 'tool'], [(0, 1)])
    """

    @property
    def shape(self) -> Shape:
        """What the messages are."""

    @property
    def tokens(self) -> int:
        """What all messages cost the model, about: texts, calls, results, thinking and pictures."""

    @property
    def message_tokens(self) -> list[int]:
        """What each message costs."""

    @property
    def keys(self) -> array[int]:
        """A hash of what each message says, the same on every machine; marks for the prompt cache count for nothing."""

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The smallest things that may be removed, each as the places of its messages."""

    @property
    def unit_keys(self) -> list[int]:
        """A hash of each unit; of equal units, each has its own."""

    @property
    def roles(self) -> list[Role]:
        """Who speaks in each message. A user's message that only carries results is a tool's."""

    @property
    def recalled(self) -> list[int]:
        """The messages that are blocks memctx recalled, and nothing else."""

    @property
    def summaries(self) -> list[int]:
        """The messages that a compaction left, be it the host's or the provider's."""

    @property
    def newest_user(self) -> int | None:
        """The newest message that a person wrote."""

    @property
    def ordinals(self) -> list[int]:
        """For each message how many of the same key stand before it."""

    @property
    def signed(self) -> list[int]:
        """The messages with thinking that its provider refuses behind anything but what it was written behind."""

    @property
    def carriers(self) -> list[int]:
        """The user's messages that hold a block memctx recalled beside other things."""

    @property
    def is_running(self) -> bool:
        """Whether the model waits for tools, or tools have answered and the model has not."""

    def place(self, index: int) -> tuple[int, int]:
        """The key of a message, and how many of the same stand before it."""

    def find(self, places: Sequence[tuple[int, int]]) -> list[int | None]:
        """For each key and ordinal the message of that key of which so many of the same come before, or None."""

    def is_preamble(self, index: int) -> bool:
        """Whether a message is the host's own, or the summary of a compaction."""

    def in_group(self, index: int) -> bool:
        """Whether a message belongs to a tool group."""

    def with_results(self, edits: Sequence[tuple[int, int, str, int]]) -> Conversation:
        """The same with some results shortened, each given as message, ordinal, text and tokens; keys stay."""

    def without(self, indices: Sequence[int]) -> Conversation:
        """The same without some messages."""

    def query(self, count: int = 3, *, head: int | None = None) -> str:
        """The last ``count`` texts that a person wrote, oldest first, joined by a space.

        Of a long text it is the beginning and the end; with ``head``, of each text its first ``head`` characters.
        """

    def records(
        self, indices: Sequence[int] | None = None
    ) -> list[list[tuple[str, str, float | None, str | None]]]:
        """For each message, or those named, what `WarmStore.add` takes of it."""

    def silences(self) -> list[str]:
        """For each message of which nothing is archived why that is."""

    def __len__(self) -> int: ...

def problems(conversation: Conversation) -> list[tuple[int, str, str, str | None]]:
    """What the provider would refuse: the place of the message, a code, words, and the id of the call or result."""

def repair_plan(
    conversation: Conversation,
) -> (
    tuple[
        list[tuple[Literal["keep", "answer", "hold"], int | None, list[PlannedResult]]],
        list[tuple[int, int, str, str, str | None]],
    ]
    | None
):
    """How to mend a conversation, or None: what the mended list is made of, and what is different in it.

    A message is kept, or gets these results in front instead of its own; without a message, the results are one. Of one
    to hold nothing is left but its place among the roles. A change has the place of its message, how many of its kind
    stand before it there, a code, words, and the id of the call or result.
    """

@final
class Removed:
    """A unit that a trim takes out."""

    @property
    def unit(self) -> int:
        """Its place among the conversation's units."""

    @property
    def key(self) -> int:
        """Its key, by which a later trim takes it out again."""

    @property
    def messages(self) -> tuple[int, ...]:
        """Its messages, by their places."""

    @property
    def tokens(self) -> int:
        """What it cost."""

    @property
    def score(self) -> float:
        """How much it told about the query; 0 where that was not asked."""

    @property
    def layer(self) -> Literal["sticky", "relevance", "age"]:
        """What made it leave."""

    @property
    def reason(self) -> str:
        """The same in words."""

@final
class Trim:
    """What a trim takes out and leaves."""

    @property
    def removed(self) -> list[Removed]:
        """The units that leave, in the order that was decided."""

    @property
    def removed_keys(self) -> list[int]:
        """The keys of the units that leave."""

    @property
    def removed_messages(self) -> list[int]:
        """The messages that leave, in order."""

    @property
    def protected(self) -> list[tuple[int, str]]:
        """The messages that had to stay, and why; none if nothing had to leave."""

    @property
    def tokens_before(self) -> int:
        """What the conversation cost."""

    @property
    def tokens_after(self) -> int:
        """What is left of that."""

    @property
    def is_deferred(self) -> bool:
        """Whether a trim is due but waits until the tools have done their work."""

    @property
    def recognised(self) -> int:
        """How many of the units that were trimmed before there are, be they protected now."""

    def __len__(self) -> int:
        """How many units leave."""

@final
class Replay:
    """Takes the same units out of a conversation turn after turn, at next to no cost while it only gets longer."""

    def __new__(cls) -> Replay: ...
    def of(
        self,
        conversation: Conversation,
        sticky: Sequence[int],
        *,
        protected_recent: int = 6,
        pinned: Sequence[int] = ...,
    ) -> tuple[Trim, Conversation, array[int]]:
        """What leaves of the units of these keys, what is left, and for each message left the place it had.

        The trim does not tell what had to stay.
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
    """What leaves a conversation of more than ``limit`` tokens until ``target`` is reached, the limit without it.

    Units that ``sticky`` names by key leave in any case, unless they are protected now. While tools are at work
    everything else waits unless there are more than ``ceiling`` tokens; without a ceiling nothing waits. ``pinned``
    names messages that stay; what a person said in few words leaves last if ``spare_people``; ``costs`` replaces what
    the scanner says each message costs.

    >>> talk = Scanner().scan([{"role": "user", "content": text} for text in ("the task", "small talk", "port 8443")])
    >>> trim = plan_trim(talk, "which port?", limit=20, protected_recent=1)
    >>> [(removed.messages, removed.layer) for removed in trim.removed], trim.protected
    ([((1,), 'relevance')], [(0, 'task'), (2, 'recent')])

    Raises:
        ConfigError: a number is below 0, the target above the limit, a place or the number of costs wrong.
    """

@final
class Pruned:
    """A tool's result that is sent in another form."""

    @property
    def message(self) -> int:
        """The place of its message."""

    @property
    def ordinal(self) -> int:
        """Which of the message's results it is, counted from 0."""

    @property
    def key(self) -> int:
        """A hash of its call's id, its text, and how many of the same came before."""

    @property
    def form(self) -> Literal["soft", "clear"]:
        """What became of it: head and tail stay, or a placeholder stands for it."""

    @property
    def text(self) -> str:
        """What is sent of it."""

    @property
    def tokens_before(self) -> int:
        """What it cost."""

    @property
    def tokens_after(self) -> int:
        """What it costs now."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def plan_facts(
    drafts: Sequence[tuple[str, str, str | None, str | None]],
    known: Sequence[tuple[str, str]],
    *,
    allow_delete: bool = False,
) -> list[tuple[FactAction, str | None, str, str | None]]:
    """What is to be done for each draft, in order: the action, its target, the reason, why the word was not followed.

    A draft is its id, its content, and the action and the target that its extractor names. A known fact is its id and
    its content. A later draft sees what becomes of the earlier ones.

    >>> plan_facts([("b", "The port is 8080", None, None)], [("a", "The port is 3000")])
    [('supersede', 'a', 'it says another thing of the same', None)]
    """

def plan_prune(
    conversation: Conversation,
    *,
    mode: Literal["off", "cache-ttl", "adaptive", "aggressive"],
    context_window: int,
    keep_last_assistants: int = 3,
    soft_trim_ratio: float = 0.3,
    hard_clear_ratio: float = 0.5,
    min_prunable_tool_chars: int = 50_000,
    soft_trim_max_chars: int = 4000,
    soft_trim_head_chars: int = 1500,
    soft_trim_tail_chars: int = 1500,
    hard_clear: bool = True,
    placeholder: str | None = None,
    allow: Iterable[str] | None = None,
    deny: Iterable[str] | None = None,
    sticky: dict[int, str] = ...,
    is_cold: bool = False,
    estimator: Estimator = "script",
) -> list[Pruned]:
    """Which results are sent shortened or cleared, in order.

    ``sticky`` tells the forms of earlier turns by key; those results get the same bytes again, except in mode
    ``"off"``. ``"cache-ttl"`` prunes more only when ``is_cold``.

    Raises:
        ConfigError: a name is unknown, or a number out of range.
    """

def shorten(text: str, max_chars: int, head_chars: int, tail_chars: int) -> str | None:
    """What `memctx.context.truncate_tool_result` leaves of a text; None if it stays whole."""

def shorten_results(
    conversation: Conversation, max_chars: int, head_chars: int, tail_chars: int
) -> list[tuple[int, int, str, str]]:
    """The results that are too long, each as message, ordinal, the whole text and what is sent of it."""
