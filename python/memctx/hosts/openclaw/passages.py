"""Passages of searchable files: documents, their passages of a few hundred tokens, and the vectors of these."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx import _core, messages
from memctx.embeddings import check_matrix, check_vector, resolve_awaitable
from memctx.hosts.openclaw.files import decode_text, open_file, read_file, resolve_inside
from memctx.hosts.pi import read_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from memctx._core import FlatIndex
    from memctx.embeddings import Embedder

TOKENS = 400
OVERLAP = 80

Source: TypeAlias = Literal["memory", "sessions"]
"""Source of a passage: files of a workspace, or session files."""
# A file changed this recently may change again without a new modification time.
UNSETTLED_NS = 2_000_000_000
# Passages embedded at a time.
BATCH = 32
# Scripts that an embedder for Latin text cannot represent.
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")

logger = logging.getLogger("memctx.hosts.openclaw")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a text.

    >>> [(passage.start, passage.end) for passage in split_passages(enumerate(["one", "two"], start=1))]
    [(1, 2)]
    """

    start: int
    """Its first line, counted from 1."""
    end: int
    """Its last line."""
    text: str
    """Text of the passage."""


def split_passages(
    lines: Iterable[tuple[int, str]], tokens: int = TOKENS, overlap: int = OVERLAP
) -> Iterator[Passage]:
    """Yield passages of about ``tokens`` tokens of numbered lines; each overlaps the last by ``overlap`` tokens."""
    held: list[tuple[int, str, int]] = []
    size = fresh = 0
    for number, line in _split_long_lines(lines, tokens):
        cost = _core.estimate_tokens(line, "script")
        if fresh and size + cost > tokens:
            yield _make_passage(held)
            held = _tail(held, min(overlap, tokens - cost))
            size, fresh = sum(each for _, _, each in held), 0
        held.append((number, line, cost))
        size += cost
        fresh += bool(line.strip())
    if fresh:
        yield _make_passage(held)


def _make_passage(held: Sequence[tuple[int, str, int]]) -> Passage:
    """Make a passage without the empty lines around it."""
    full = [index for index, (_, line, _) in enumerate(held) if line.strip()]
    held = held[full[0] : full[-1] + 1]
    return Passage(held[0][0], held[-1][0], "\n".join(line for _, line, _ in held))


def _tail(held: Sequence[tuple[int, str, int]], room: int) -> list[tuple[int, str, int]]:
    """Return the last lines that fit."""
    first, size = len(held), 0
    while first > 0 and size + held[first - 1][2] <= room:
        first -= 1
        size += held[first][2]
    return list(held[first:])


def _split_long_lines(lines: Iterable[tuple[int, str]], tokens: int) -> Iterator[tuple[int, str]]:
    """Yield the lines, those that are too long in pieces."""
    for number, line in lines:
        if len(line) <= tokens or _core.estimate_tokens(line, "script") <= tokens:
            yield number, line
            continue
        # A character costs at most about one token; of Latin text, a third.
        step = max(1, len(line) * tokens // _core.estimate_tokens(line, "script"))
        for start in range(0, len(line), step):
            yield number, line[start : start + step]


@dataclass(frozen=True, slots=True)
class Document:
    """A file that can be searched."""

    name: str
    """Name in citations."""
    path: Path
    """Path of the file."""
    root: Path
    """Folder that the file must be inside of."""
    source: Source
    """Kind of source."""

    def change_key(self) -> tuple[int, int] | None:
        """Return a key that changes when the file does; None if there is no such file."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        is_settled = time.time_ns() - found.st_mtime_ns > UNSETTLED_NS
        return (found.st_mtime_ns if is_settled else -1, found.st_size)

    def digest(self) -> bytes:
        """Return a hash of its bytes.

        Raises:
            FileNotFoundError: it is not there any more.
            StoreError: it cannot be read, is no plain file, or leads out of its folder.
        """
        with open_file(self.root, self.path) as file:
            return hashlib.file_digest(file, "sha256").digest()

    def passages(self, tokens: int, overlap: int, mask: Callable[[str], str]) -> Iterator[Passage]:
        """Return the passages with secrets masked; line numbers are those of the file."""
        lines = self._session_lines(mask) if self.source == "sessions" else self._file_lines(mask)
        return split_passages(lines, tokens, overlap)

    def _file_lines(self, mask: Callable[[str], str]) -> Iterator[tuple[int, str]]:
        text = decode_text(read_file(self.root, self.path))
        # Only a newline ends a line, as in editors.
        return enumerate(mask(text).split("\n"), start=1)

    def _session_lines(self, mask: Callable[[str], str]) -> Iterator[tuple[int, str]]:
        """Yield the lines of messages and summaries, without tool calls and results."""
        found = [
            (entry.line, message)
            for entry in read_entries(resolve_inside(self.root, self.path))
            if (message := entry.message) is not None and isinstance(message.get("role"), str)
        ]
        pieces = messages.read_each([message for _, message in found], "pi")
        for (number, _), records in zip(found, pieces, strict=True):
            for record in records:
                if record.tool is None:
                    for line in f"{record.role}: {mask(record.text)}".split("\n"):
                        yield number, line


class PassageVectors:
    """Vectors of passages, by an embedder or hashed.

    A passage that fails to be embedded is tried again at the next search, and found by its words until then.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder: Any = _core.HashEmbedder() if embedder is None else embedder
        self._is_latin_only = bool(getattr(embedder, "is_latin_only", False))
        self._waiting: dict[str, tuple[str, Source]] = {}
        self.index: FlatIndex | None = None

    def add(self, texts: Mapping[str, str], source: Source) -> None:
        """Add passages by their ids, to be embedded by `catch_up`."""
        self._waiting |= {key: (text, source) for key, text in texts.items()}

    def remove(self, id: str) -> None:
        """Remove a passage."""
        if self._waiting.pop(id, None) is None and self.index is not None:
            self.index.remove(id)

    def catch_up(self) -> None:
        """Embed the passages that have no vector yet, until the embedder fails."""
        while self._waiting:
            ids = list(self._waiting)[:BATCH]
            texts = [self._waiting[key][0] for key in ids]
            try:
                rows = self._embed(texts)
            except Exception as error:  # noqa: BLE001 - a custom embedder may raise anything
                self._log_failure(error)
                return
            if self.index is None:
                self.index = _core.FlatIndex(rows.shape[1])
            for key, row in zip(ids, rows, strict=True):
                self.index.add(key, row, group=self._waiting.pop(key)[1])

    def embed_query(self, query: str) -> NDArray[np.float32] | None:
        """Return the vector of a query; None if the embedder fails or cannot read its script."""
        if self._is_latin_only and CJK.search(query):
            return None
        try:
            if isinstance(self._embedder, _core.HashEmbedder):
                return self._embedder.embed(query)
            dim = None if self.index is None else self.index.dim
            return check_vector(
                resolve_awaitable(self._embedder.embed(query)), dim, self._embedder.name
            )
        except Exception as error:  # noqa: BLE001 - as above
            self._log_failure(error)
            return None

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        if isinstance(self._embedder, _core.HashEmbedder):
            return self._embedder.embed_many(texts)
        dim = None if self.index is None else self.index.dim
        made = resolve_awaitable(self._embedder.embed_many(texts))
        return check_matrix(made, len(texts), dim, self._embedder.name)

    def _log_failure(self, error: Exception) -> None:
        logger.warning("embedder failed; searching the workspace by words alone: %s", error)
