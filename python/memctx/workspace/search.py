r"""`WorkspaceSearch`: finds passages in the files of a workspace and in session files, and cites them.

>>> import pathlib, tempfile
>>> from memctx.workspace import Workspace
>>> root = pathlib.Path(tempfile.mkdtemp())
>>> _ = (root / "memory.md").write_text("# Payments\n\nThe webhook listens on port 8443.\n")
>>> search = WorkspaceSearch(Workspace(root))
>>> [hit.citation for hit in search.search("which port has the webhook?")]
['memory.md#L1-L3']
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from memctx import _core, fusion
from memctx.errors import ConfigError, MemctxError
from memctx.workspace import daily
from memctx.workspace.chunk import OVERLAP, TOKENS, Chunk
from memctx.workspace.document import Document, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from memctx._core import Redactor
    from memctx.workspace.files import Workspace

# Words first, spelling second: the hash embedding knows no meanings.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.2, 0.8
CANDIDATES_EACH = 4
MOST_CANDIDATES = 200

logger = logging.getLogger("memctx.workspace")


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage that was found."""

    path: str
    """The file: seen from the workspace, or ``sessions/`` and the name of a session file."""
    start: int
    """Its first line, counted from 1."""
    end: int
    """Its last line."""
    text: str
    """What it says, with secrets masked."""
    score: float
    """What the results are ordered by, at most 1."""
    source: Source
    """Where it was found."""

    @property
    def citation(self) -> str:
        """Where to look it up.

        >>> Cited("memory.md", 3, 9, "", 1.0, "memory").citation
        'memory.md#L3-L9'
        """
        return f"{self.path}#L{self.start}-L{self.end}"


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A file as it was when it was read."""

    document: Document
    stamp: tuple[int, int]
    digest: bytes
    chunks: dict[str, Chunk]


class WorkspaceSearch:
    """An index of the files of a workspace, kept in memory and brought up to date by every search.

    ``sources`` says what is searched: ``"memory"`` are the files of the workspace, ``"sessions"`` the session files
    given as ``sessions``, each a file or a folder of ``*.jsonl``. Notes of a day count less as they age if a
    ``half_life_days`` is given. May be shared by threads.
    """

    def __init__(  # noqa: PLR0913 - each has a default
        self,
        workspace: Workspace,
        *,
        sources: Sequence[Source] = ("memory",),
        sessions: Sequence[str | PathLike[str]] = (),
        redactor: Redactor | None = None,
        chunk_tokens: int = TOKENS,
        overlap_tokens: int = OVERLAP,
        half_life_days: float | None = None,
    ) -> None:
        """An index that has read nothing yet.

        Raises:
            ConfigError: a source is unknown, or a number out of range.
        """
        _check_sources(sources)
        if not 0 <= overlap_tokens < chunk_tokens:
            raise ConfigError(
                f"overlap_tokens is {overlap_tokens}; expected at least 0 and less than "
                f"chunk_tokens, which is {chunk_tokens}"
            )
        if half_life_days is not None and not half_life_days > 0:
            raise ConfigError(f"half_life_days is {half_life_days}; expected more than 0, or None")
        self._workspace = workspace
        self._sources = tuple(sources)
        self._sessions = [Path(each).expanduser().absolute() for each in sessions]
        self._redactor = _core.Redactor() if redactor is None else redactor
        self._sizes = (chunk_tokens, overlap_tokens)
        self._half_life_days = half_life_days
        self._lock = threading.Lock()
        self._embedder = _core.HashEmbedder()
        self._texts = _core.Bm25Index()
        self._vectors = _core.FlatIndex(self._embedder.dim)
        self._files: dict[str, _Indexed] = {}
        self._owners: dict[str, str] = {}

    def __len__(self) -> int:
        """How many passages are indexed."""
        return len(self._owners)

    def search(
        self,
        query: str,
        limit: int = 6,
        *,
        sources: Sequence[Source] | None = None,
        min_score: float = 0.0,
    ) -> list[Cited]:
        """The passages that answer a query best, best first; files that changed are read again before.

        ``sources`` narrows those of the index.

        Raises:
            ConfigError: a source is unknown, or not one of the index.
        """
        if sources is not None:
            _check_sources(sources)
            if missing := set(sources) - set(self._sources):
                raise ConfigError(
                    f"sources has {sorted(missing)}; expected some of {list(self._sources)}"
                )
        with self._lock:
            self._refresh()
            wanted = set(self._sources if sources is None else sources)
            found = [self._cited(*pair) for pair in self._ranked(query, limit, wanted)]
        return [hit for hit in found if hit.score >= min_score][: max(limit, 0)]

    def refresh(self) -> int:
        """Read the files that changed; how many. Every search does it too."""
        with self._lock:
            return self._refresh()

    def _refresh(self) -> int:
        documents = {document.name: document for document in self._documents()}
        gone = [name for name in self._files if name not in documents]
        for name in gone:
            self._replace(name, None)
        return len(gone) + sum(self._update(document) for document in documents.values())

    def _update(self, document: Document) -> bool:
        """Read a file again if it changed; whether it did."""
        known = self._files.get(document.name)
        stamp = document.stamp()
        if stamp is None:
            return self._replace(document.name, None)
        if known is not None and known.stamp == stamp and stamp[0] >= 0:
            return False
        try:
            digest = document.digest()
            if known is not None and known.digest == digest:
                self._files[document.name] = _Indexed(document, stamp, digest, known.chunks)
                return False
            chunks = self._read(document)
        except (MemctxError, FileNotFoundError) as error:
            logger.warning("%s", error)
            return self._replace(document.name, None)
        return self._replace(document.name, _Indexed(document, stamp, digest, chunks))

    def _read(self, document: Document) -> dict[str, Chunk]:
        """The passages of a file, under ids that stay as long as the passage does."""
        found: dict[str, Chunk] = {}
        for chunk in document.chunks(*self._sizes, self._mask):
            key = f"{document.name}\0{chunk.start}\0{chunk.end}\0{chunk.text}"
            found[sha256(key.encode("utf-8", "surrogatepass")).hexdigest()] = chunk
        return found

    def _mask(self, text: str) -> str:
        return self._redactor.mask(text).text

    def _replace(self, name: str, new: _Indexed | None) -> bool:
        """Put the passages of a file in the place of those it had; whether there was or is any."""
        old = self._files.pop(name, None)
        before = {} if old is None else old.chunks
        after = {} if new is None else new.chunks
        for gone in before.keys() - after.keys():
            self._texts.remove(gone)
            self._vectors.remove(gone)
            del self._owners[gone]
        if new is not None:
            self._files[name] = new
            fresh = {key: chunk.text for key, chunk in after.items() if key not in before}
            if fresh:
                source = new.document.source
                self._texts.add_many(fresh.items(), group=source)
                rows = self._embedder.embed_many(fresh.values())
                self._vectors.add_many(list(fresh), rows, group=source)
                self._owners |= dict.fromkeys(fresh, name)
        return old is not None or new is not None

    def _ranked(self, query: str, limit: int, wanted: set[Source]) -> list[tuple[str, float]]:
        count = min(max(limit, 1) * CANDIDATES_EACH, MOST_CANDIDATES)
        group = next(iter(wanted)) if len(wanted) == 1 else None
        vector = self._embedder.embed(query)
        texts = self._texts.search(query, count, group=group)
        near = self._vectors.search(vector, count, group=group)
        found = {hit.id for hit in texts} | {hit.id for hit in near if hit.score > 0}
        if not found:
            return []
        hits = fusion.blend(
            self._vectors.search(vector, len(found), within=found),
            fusion.normalize(self._texts.search(query, len(found), within=found)),
            vector_weight=VECTOR_WEIGHT,
            bm25_weight=TEXT_WEIGHT,
        )
        scored = [(hit.id, hit.score * self._freshness(hit.id)) for hit in hits]
        return sorted(scored, key=lambda pair: -pair[1])

    def _freshness(self, id: str) -> float:
        """What is left of a score: notes of a day fade, everything else does not."""
        day = daily.day_of(Path(self._owners[id]).name)
        if self._half_life_days is None or day is None:
            return 1.0
        age = max(0, (self._workspace.today() - day).days)
        return float(0.5 ** (age / self._half_life_days))

    def _cited(self, id: str, score: float) -> Cited:
        file = self._files[self._owners[id]]
        chunk = file.chunks[id]
        document = file.document
        return Cited(document.name, chunk.start, chunk.end, chunk.text, score, document.source)

    def _documents(self) -> Iterator[Document]:
        if "memory" in self._sources:
            root = self._workspace.path
            for name in self._workspace.names():
                yield Document(name, root / name, root, "memory")
        if "sessions" in self._sources:
            for given in self._sessions:
                folder = given if given.is_dir() else given.parent
                for path in sorted(folder.glob("*.jsonl")) if given.is_dir() else [given]:
                    yield Document(self._session_name(path), path, folder, "sessions")

    def _session_name(self, path: Path) -> str:
        same = [each for each in self._sessions if each.is_dir() and (each / path.name).exists()]
        return f"sessions/{path.name}" if len(same) < 2 else path.as_posix()  # noqa: PLR2004


def _check_sources(sources: Sequence[Source]) -> None:
    known = get_args(Source)
    for source in sources:
        if source not in known:
            raise ConfigError(f"sources has {source!r}; expected some of {list(known)}")
    if not sources:
        raise ConfigError(f"sources is empty; expected some of {list(known)}")
