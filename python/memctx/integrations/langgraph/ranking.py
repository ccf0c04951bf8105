"""`Ranking`: texts of stored items, ranked for a query by words and by vectors."""

from __future__ import annotations

import logging
import threading
import time
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, cast

import numpy as np

from memctx import files
from memctx.embeddings import resolve_awaitable
from memctx.errors import EmbeddingError, MemctxError, StoreError
from memctx.lowlevel import Bm25Index, FlatIndex, fusion, vmem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from memctx.lowlevel import Hit
    from memctx.protocols import Embedder

logger = logging.getLogger("memctx.integrations")

LIFT = 0.4
"""Share of the way to 1 by which the best text score lifts a cosine."""
POOL = 64
"""Texts that are compared at first, by each of the two."""
BATCH = 128
"""Texts that are embedded at once."""
COOL_DOWN = 30.0
"""Seconds without vectors after the embedder has failed."""
SPARE = 1_000
"""Vectors of texts that are gone, beside as many as there are texts, before their file is written again."""


class Ranking:
    """Texts by the numbers of their items. An item counts as its best text does.

    Vectors are made by `embed`, and kept in a file by the text they belong to: the file may be deleted at any time. If
    the embedder fails, words alone are searched until it answers again.
    """

    def __init__(self, embedder: Embedder, folder: Path, *, lock: Path) -> None:
        """Begin without texts. ``lock`` is the file that processes lock to write vectors."""
        self._embedder = embedder
        self._lock = threading.Lock()
        self._embedding = threading.Lock()
        """Held to use the vectors' file; taken before the other one."""
        self._vectors = _VectorFile(embedder, folder, lock)
        self._failed_at = -COOL_DOWN
        self.clear()

    def clear(self) -> None:
        """Remove every text."""
        with self._lock:
            self._words = Bm25Index()
            self._near: FlatIndex | None = None
            self._texts: dict[int, list[str]] = {}
            self._pending: dict[str, str] = {}

    def put(self, number: int, texts: Sequence[str]) -> None:
        """Set the texts of an item."""
        with self._lock:
            self._remove(number)
            if not texts:
                return
            clean = [text.encode("utf-8", "replace").decode() for text in texts]
            self._texts[number] = clean
            for name, text in _with_ids(number, clean):
                self._words.add(name, text)
                self._pending[name] = text

    def remove(self, number: int) -> None:
        """Remove the texts of an item."""
        with self._lock:
            self._remove(number)

    def embed(self) -> None:
        """Make the vectors that are missing, unless the embedder has just failed."""
        with self._embedding:
            while (pending := self._first_pending()) and not self._is_cooling_down:
                texts = [
                    text for text in dict.fromkeys(pending.values()) if text not in self._vectors
                ]
                try:
                    made = resolve_awaitable(self._embedder.embed_many(texts)) if texts else ()
                    self._vectors.add(texts, np.asarray(made, np.float32))
                except Exception as error:  # noqa: BLE001 - words are searched without
                    self._fail(error)
                    return
                self._add(pending)
                if self._vectors.is_due:
                    self._save()

    def rank(
        self, query: str, numbers: Iterable[int] | None, count: int
    ) -> list[tuple[int, float]]:
        """Return the best ``count`` items of those given, or of all, with their scores; older first among equals.

        Texts are compared in growing pools until no text outside of them can be among the best.
        """
        self.embed()
        vector = self._embed_query(query)
        query = query.encode("utf-8", "replace").decode()
        with self._lock:
            texts = self._texts
            within = None
            if numbers is not None:
                within = [
                    name for each in numbers for name, _ in _with_ids(each, texts.get(each, ()))
                ]
            total = len(self._words) if within is None else len(within)
            pool = max(POOL, 2 * count)
            while True:
                near = self._search_near(vector, pool, within)
                words = self._words.search(query, pool, within=within)
                bound = _bound(near, words, pool)
                near += self._search_near(vector, pool, _missing(words, near))
                if missing := _missing(near, words):
                    words += self._words.search(query, pool, within=missing)
                found = _best_texts(near, words)
                if pool >= total or (len(found) >= count and found[count - 1][1] >= bound):
                    return found[:count]
                pool *= 4

    def close(self) -> None:
        """Keep the vectors that are not in their file yet."""
        with self._embedding:
            self._save()

    def _remove(self, number: int) -> None:
        for name, _ in _with_ids(number, self._texts.pop(number, ())):
            self._words.remove(name)
            self._pending.pop(name, None)
            if self._near is not None:
                self._near.remove(name)

    def _first_pending(self) -> dict[str, str]:
        with self._lock:
            return dict(islice(self._pending.items(), BATCH))

    def _add(self, pending: dict[str, str]) -> None:
        """Index the vectors of texts that have not changed since."""
        with self._lock:
            for name, text in pending.items():
                if self._pending.get(name) != text:
                    continue
                del self._pending[name]
                vector = self._vectors[text]
                if vector is not None:
                    if self._near is None:
                        self._near = FlatIndex(len(vector))
                    self._near.add(name, vector)

    def _save(self) -> None:
        """Write vectors to their file; a writer of the log may wait for `_lock` meanwhile, so it is free."""
        with self._lock:
            live = {text for texts in self._texts.values() for text in texts}
        self._vectors.save(live)

    def _embed_query(self, query: str) -> NDArray[np.float32] | None:
        if self._near is None or self._is_cooling_down:
            return None
        try:
            made = np.asarray(resolve_awaitable(self._embedder.embed(query)), np.float32)
            if made.shape != (self._near.dim,) or not np.isfinite(made).all():
                raise EmbeddingError(f"expected a vector of {self._near.dim} numbers")  # noqa: TRY301
        except Exception as error:  # noqa: BLE001 - words are searched without
            self._fail(error)
            return None
        return made if made.any() else None

    def _search_near(
        self, vector: NDArray[np.float32] | None, count: int, within: list[str] | None
    ) -> list[Hit]:
        if vector is None or self._near is None or within == []:
            return []
        return self._near.search(vector, count, within=within)

    @property
    def _is_cooling_down(self) -> bool:
        return time.monotonic() - self._failed_at < COOL_DOWN

    def _fail(self, error: Exception) -> None:
        self._failed_at = time.monotonic()
        logger.warning("words are searched without vectors for %d s: %s", COOL_DOWN, error)


class _VectorFile:
    """Vectors by their texts, in memory and in a file for each model."""

    def __init__(self, embedder: Embedder, folder: Path, lock: Path) -> None:
        model = f"{embedder.name}\n{embedder.revision}\n{embedder.dim}"
        self._path = folder / f"vectors-{_digest(model)[:12]}.bin"
        self._lock = lock
        self._rows: dict[str, NDArray[np.float32] | None] = {}
        self._unsaved: set[str] = set()
        self._stamp: tuple[int, int] | None = None

    def __contains__(self, text: str) -> bool:
        self._load()
        return _digest(text) in self._rows

    def __getitem__(self, text: str) -> NDArray[np.float32] | None:
        """Return the vector of a text; None if it is all zeros."""
        return self._rows[_digest(text)]

    def add(self, texts: Sequence[str], matrix: NDArray[np.float32]) -> None:
        """Keep the vectors of texts, a row for each."""
        if len(matrix) != len(texts) or not np.isfinite(matrix).all():
            raise EmbeddingError(f"expected {len(texts)} vectors of finite numbers")
        for text, row in zip(texts, matrix, strict=True):
            digest = _digest(text)
            self._rows[digest] = row if row.any() else None
            if row.any():
                self._unsaved.add(digest)

    @property
    def is_due(self) -> bool:
        """True if enough vectors are not in the file yet."""
        return len(self._unsaved) >= 2 * BATCH

    def save(self, live: set[str]) -> None:
        """Write what is not in the file yet; only vectors of live texts if there are far more. A failure is logged."""
        if not self._unsaved:
            return
        try:
            with files.held(self._lock):
                ids = sorted(self._unsaved)
                if not self._path.exists() or len(self._rows) > 2 * len(live) + SPARE:
                    known = {_digest(text) for text in live}
                    self._rows = {name: row for name, row in self._rows.items() if name in known}
                    ids = [name for name, row in self._rows.items() if row is not None]
                    if ids:
                        vmem.write(self._path, ids, self._matrix(ids))
                else:
                    vmem.append(self._path, ids, self._matrix(ids))
        except (MemctxError, OSError) as error:
            logger.warning("vectors are not kept, and will be made again: %s", error)
        self._unsaved.clear()

    def _matrix(self, ids: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([cast("NDArray[np.float32]", self._rows[name]) for name in ids])

    def _load(self) -> None:
        """Read the file if a process has written to it."""
        try:
            found = self._path.stat()
        except OSError:
            return
        stamp = (found.st_size, found.st_mtime_ns)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            ids, matrix = vmem.read(self._path)
        except (StoreError, OSError) as error:
            logger.warning("vectors will be made again: %s", error)
            self._path.unlink(missing_ok=True)
            return
        for name, row in zip(ids, matrix, strict=True):
            self._rows.setdefault(name, row)


def _with_ids(number: int, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the texts of an item with their ids."""
    return [(f"{number}.{index}", text) for index, text in enumerate(texts)]


def _missing(hits: Sequence[Hit], others: Sequence[Hit]) -> list[str]:
    known = {hit.id for hit in others}
    return [hit.id for hit in hits if hit.id not in known]


def _bound(near: Sequence[Hit], words: Sequence[Hit], pool: int) -> float:
    """Return the highest score that a text outside of both pools can have."""
    cosine = max(near[-1].score, 0.0) if len(near) == pool else 0.0
    share = words[-1].score / words[0].score if len(words) == pool else 0.0
    return _score(cosine, share)


def _score(cosine: float, share: float) -> float:
    """Return the score of a text: the cosine, and more of it for the query's words."""
    return cosine + (1 - cosine) * LIFT * share


def _best_texts(near: Sequence[Hit], words: Sequence[Hit]) -> list[tuple[int, float]]:
    """Return each item with the score of its best text, best first, older first among equals."""
    cosines = {hit.id: min(hit.score, 1.0) for hit in near}
    shares = {hit.id: hit.score for hit in fusion.normalize(words)}
    scores: dict[int, float] = {}
    for name in cosines | shares:
        number = int(name.partition(".")[0])
        score = _score(cosines.get(name, 0.0), shares.get(name, 0.0))
        scores[number] = max(score, scores.get(number, score))
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
