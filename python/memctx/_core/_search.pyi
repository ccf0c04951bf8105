"""Indexes in memory, their hits, and the fusion of scores."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memctx._core._text import TokenMode

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
