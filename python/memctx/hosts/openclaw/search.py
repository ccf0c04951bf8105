r"""Search in the files of a workspace and in session files, with citations.

>>> import pathlib, tempfile
>>> from memctx.hosts.openclaw import Workspace
>>> root = pathlib.Path(tempfile.mkdtemp())
>>> _ = (root / "memory.md").write_text("# Payments\n\nThe webhook listens on port 8443.\n")
>>> search = WorkspaceSearch(Workspace(root))
>>> [hit.citation for hit in search.search("which port has the webhook?")]
['memory.md#L1-L3']
"""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from memctx import _core
from memctx.config import WorkspaceSearchSettings
from memctx.config.embedder_names import is_built_in
from memctx.errors import ConfigError, MemctxError
from memctx.hosts.openclaw.files import find_notes, parse_day
from memctx.hosts.openclaw.passages import (
    Document,
    Passage,
    PassageVectors,
    Source,
)
from memctx.lowlevel import fusion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx._core import Hit, Redactor
    from memctx.config import Config
    from memctx.embeddings import Embedder
    from memctx.hosts.openclaw.workspace import Workspace

# Weights of vectors; low for hashed ones, which compare spelling and not meaning.
VECTOR_WEIGHT, HASH_WEIGHT = 0.7, 0.2
MAX_CANDIDATES = 200

logger = logging.getLogger("memctx.hosts.openclaw")


@dataclass(frozen=True, slots=True)
class Cited:
    """A passage found by a search."""

    path: str
    """File: relative to the workspace, ``sessions/`` and the name of a session file, or the path of an extra file."""
    start: int
    """Its first line, counted from 1."""
    end: int
    """Its last line."""
    text: str
    """Text of the passage, with secrets masked."""
    score: float
    """Score that the results are ordered by, at most 1."""
    source: Source
    """Source of the passage."""

    @property
    def citation(self) -> str:
        """File and lines of the passage.

        >>> Cited("memory.md", 3, 9, "", 1.0, "memory").citation
        'memory.md#L3-L9'
        """
        return f"{self.path}#L{self.start}-L{self.end}"


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A file as it was when it was indexed."""

    document: Document
    change_key: tuple[int, int]
    digest: bytes
    chunks: dict[str, Passage]


class WorkspaceSearch:
    """An index of the files of a workspace, kept in memory and updated by every search. It is thread-safe.

    The settings name what is searched: the source ``"memory"`` covers the files of the workspace and the
    ``extra_paths``, each a file or a folder of Markdown files; ``"sessions"`` covers the ``sessions``, each a session
    file or a folder of ``*.jsonl``. Passages are ranked by their words and by the vectors of an ``embedder``, hashed
    ones by default; while it fails, words count alone. With ``half_life_days``, daily notes count less as they age.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: WorkspaceSearchSettings | None = None,
        *,
        embedder: Embedder | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        """Make an empty index, which the first search fills."""
        settings = WorkspaceSearchSettings() if settings is None else settings
        self._workspace = workspace
        self._settings = settings
        self._sessions = [path.expanduser().absolute() for path in settings.sessions]
        self._extra_paths = [workspace.path / path.expanduser() for path in settings.extra_paths]
        self._redactor = _core.Redactor() if redactor is None else redactor
        self._vectors = PassageVectors(embedder)
        self._weights = _weights(
            settings.vector_weight, settings.text_weight, is_hashed=embedder is None
        )
        self._own_embedder: Embedder | None = None
        self._lock = threading.Lock()
        self._texts = _core.Bm25Index()
        self._files: dict[str, _Indexed] = {}
        self._owners: dict[str, str] = {}

    @classmethod
    def of(
        cls, config: Config, workspace: Workspace, *, embedder: Embedder | None = None
    ) -> WorkspaceSearch:
        """Make the index that the settings describe; ``embedder`` is that of the memory, None where it hashes.

        >>> import memctx, tempfile
        >>> from memctx.hosts.openclaw import Workspace
        >>> config = memctx.Config(workspace_search={"sources": ["memory", "sessions"]})
        >>> len(WorkspaceSearch.of(config, Workspace(tempfile.mkdtemp())))
        0

        Raises:
            ConfigError: the embedder that `workspace_search.embedding_model` names cannot be made.
        """
        settings = config.workspace_search
        # An embedder from `auto` or an import path may be shared.
        is_own = is_built_in(settings.embedding_model) and settings.embedding_model != "auto"
        if settings.embedding_model is not None:
            embedder = _make_embedder(settings.embedding_model, settings.embedding_url)
        if "sessions" in settings.sources and not settings.sessions:
            logger.warning(
                "workspace_search.sources has 'sessions', and workspace_search.sessions names no file or folder"
            )
        redactor = _core.Redactor(
            config.redaction, pii=config.privacy.pii, patterns=config.privacy.patterns or None
        )
        made = cls(workspace, settings, embedder=embedder, redactor=redactor)
        made._own_embedder = embedder if is_own else None
        return made

    def close(self) -> None:
        """Close the embedder, if it was made for this index alone."""
        close = getattr(self._own_embedder, "close", None)
        if close is not None:
            close()

    def __len__(self) -> int:
        """Count the passages that are indexed."""
        return len(self._owners)

    def search(
        self,
        query: str,
        limit: int | None = None,
        *,
        sources: Sequence[Source] | None = None,
        min_score: float | None = None,
    ) -> list[Cited]:
        """Return the best passages for a query, best first, after reading changed files again.

        ``sources`` narrows those of the index; ``limit`` and ``min_score`` default to those of the index.

        Raises:
            ConfigError: a source is unknown, or not one of the index.
        """
        limit = self._settings.max_results if limit is None else limit
        least = self._settings.min_score if min_score is None else min_score
        if sources is not None:
            _check_sources(sources)
            if missing := set(sources) - set(self._settings.sources):
                raise ConfigError(
                    f"sources has {sorted(missing)}; expected some of {list(self._settings.sources)}"
                )
        with self._lock:
            self._refresh()
            wanted = set(self._settings.sources if sources is None else sources)
            hits = [hit for hit in self._rank(query, limit, wanted) if hit.score >= least]
            return [self._cite(hit.id, hit.score) for hit in self._diversify(hits, max(limit, 0))]

    def refresh(self) -> int:
        """Read the files that changed and return their number. Every search does this too."""
        with self._lock:
            return self._refresh()

    def _refresh(self) -> int:
        documents = {document.name: document for document in self._documents()}
        gone = [name for name in self._files if name not in documents]
        for name in gone:
            self._replace_file(name, None)
        count = len(gone) + sum(self._update(document) for document in documents.values())
        self._vectors.catch_up()
        return count

    def _update(self, document: Document) -> bool:
        """Read a file again if it changed; return whether it did."""
        known = self._files.get(document.name)
        change_key = document.change_key()
        if change_key is None:
            return self._replace_file(document.name, None)
        if known is not None and known.change_key == change_key and change_key[0] >= 0:
            return False
        try:
            digest = document.digest()
            if known is not None and known.digest == digest:
                self._files[document.name] = _Indexed(document, change_key, digest, known.chunks)
                return False
            chunks = self._read(document)
        except (MemctxError, FileNotFoundError) as error:
            logger.warning("%s", error)
            return self._replace_file(document.name, None)
        return self._replace_file(document.name, _Indexed(document, change_key, digest, chunks))

    def _read(self, document: Document) -> dict[str, Passage]:
        """Return the passages of a file, under ids that are stable for the same passage."""
        found: dict[str, Passage] = {}
        for chunk in document.passages(
            self._settings.chunk_tokens, self._settings.overlap_tokens, self._mask
        ):
            key = f"{document.name}\0{chunk.start}\0{chunk.end}\0{chunk.text}"
            found[sha256(key.encode("utf-8", "surrogatepass")).hexdigest()] = chunk
        return found

    def _mask(self, text: str) -> str:
        return self._redactor.mask(text).text

    def _replace_file(self, name: str, new: _Indexed | None) -> bool:
        """Replace the passages of a file; return whether there were or are any."""
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
                self._vectors.add(fresh, source)
                self._owners |= dict.fromkeys(fresh, name)
        return old is not None or new is not None

    def _rank(self, query: str, limit: int, wanted: set[Source]) -> list[Hit]:
        count = min(max(limit, 1) * self._settings.candidate_multiplier, MAX_CANDIDATES)
        group = next(iter(wanted)) if len(wanted) == 1 else None
        vector_weight, text_weight = self._weights
        index, vector = self._vectors.index, self._vectors.embed_query(query)
        if index is None or vector is None:
            vector_weight, text_weight = 0.0, 1.0
        texts = self._texts.search(query, count, group=group) if text_weight else []
        found = {hit.id for hit in texts}
        near: list[Hit] = []
        if index is not None and vector is not None and vector_weight:
            found |= {hit.id for hit in index.search(vector, count, group=group) if hit.score > 0}
            near = index.search(vector, len(found), within=found) if found else []
        if found and text_weight:
            texts = self._texts.search(query, len(found), within=found)
        hits = fusion.blend(
            near, fusion.normalize(texts), vector_weight=vector_weight, bm25_weight=text_weight
        )
        aged = [_core.Hit(hit.id, hit.score * self._decay(hit.id)) for hit in hits]
        return sorted(aged, key=lambda hit: -hit.score)

    def _diversify(self, hits: list[Hit], limit: int) -> list[Hit]:
        """Return the best hits; with `mmr_lambda`, diversified by maximal marginal relevance."""
        if self._settings.mmr_lambda is None:
            return hits[:limit]
        texts = [self._files[self._owners[hit.id]].chunks[hit.id].text for hit in hits]
        return fusion.mmr(hits, limit, balance=self._settings.mmr_lambda, texts=texts)

    def _decay(self, id: str) -> float:
        """Return the factor of a score: daily notes decay with age, everything else does not."""
        day = parse_day(Path(self._owners[id]).name)
        if self._settings.half_life_days is None or day is None:
            return 1.0
        age = max(0, (self._workspace.today() - day).days)
        return float(0.5 ** (age / self._settings.half_life_days))

    def _cite(self, id: str, score: float) -> Cited:
        file = self._files[self._owners[id]]
        chunk = file.chunks[id]
        document = file.document
        return Cited(document.name, chunk.start, chunk.end, chunk.text, score, document.source)

    def _documents(self) -> Iterator[Document]:
        if "memory" in self._settings.sources:
            root = self._workspace.path
            for name in self._workspace.names():
                yield Document(name, root / name, root, "memory")
            yield from self._extra_documents({root / name for name in self._workspace.names()})
        if "sessions" in self._settings.sources:
            for given in self._sessions:
                folder = given if given.is_dir() else given.parent
                for path in sorted(folder.glob("*.jsonl")) if given.is_dir() else [given]:
                    yield Document(self._session_name(path), path, folder, "sessions")

    def _extra_documents(self, known: set[Path]) -> Iterator[Document]:
        """Yield the extra files, named relative to the workspace or, outside of it, by their path."""
        for given in self._extra_paths:
            top = Path(os.path.normpath(given))
            folder = top if top.is_dir() else top.parent
            for path in find_notes(top, ".") if top.is_dir() else [top]:
                if path not in known:
                    is_inside = path.is_relative_to(self._workspace.path)
                    name = path.relative_to(self._workspace.path) if is_inside else path
                    yield Document(name.as_posix(), path, folder, "memory")

    def _session_name(self, path: Path) -> str:
        same = [each for each in self._sessions if each.is_dir() and (each / path.name).exists()]
        return f"sessions/{path.name}" if len(same) < 2 else path.as_posix()  # noqa: PLR2004


def _weights(vector: float | None, text: float | None, *, is_hashed: bool) -> tuple[float, float]:
    """Return the weights of vectors and words, whose sum is 1."""
    if vector is None:
        vector = (HASH_WEIGHT if is_hashed else VECTOR_WEIGHT) if text is None else 1.0 - text
    text = 1.0 - vector if text is None else text
    return vector / (vector + text), text / (vector + text)


def _make_embedder(choice: object, url: str | None) -> Embedder | None:
    """Make the embedder that a setting names; None for hashing, which is built in."""
    from memctx.embeddings import choose  # noqa: PLC0415 - most searches need none

    if choice == "hash":
        return None
    return choose(cast("Any", choice), url=url).embedder


def _check_sources(sources: Sequence[Source]) -> None:
    known = get_args(Source)
    for source in sources:
        if source not in known:
            raise ConfigError(f"sources has {source!r}; expected some of {list(known)}")
    if not sources:
        raise ConfigError(f"sources is empty; expected some of {list(known)}")
