"""What extractors yield, and the files that it goes to."""

import gzip
import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from gather.text import LONGEST, SHORTEST, normalize, shorten

TRANSLATION = "translation"
PARAPHRASE = "paraphrase"
ANSWER = "question-answer"
REPLY = "reply"
BODY = "title-body"
CODE = "code-doc"

_WORD = re.compile(r"\w\w|[\u3040-\ud7af]")


@dataclass(frozen=True, slots=True)
class Text:
    """A text in one language; code has the language `code`."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that belong together, and how."""

    kind: str
    language_a: str
    language_b: str
    a: str
    b: str


Item = Text | Pair


class Sink:
    """Write items to `pairs.tsv.gz` and `texts.tsv.gz`, each once.

    Both sides of a pair also count as texts.

    Args:
        folder: The folder of the two files.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._pairs = _create(folder / "pairs.tsv.gz")
        self._texts = _create(folder / "texts.tsv.gz")
        self._seen: set[bytes] = set()
        self.pairs: Counter[tuple[str, str, str]] = Counter()
        self.texts: Counter[tuple[str, str]] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pairs.close()
        self._texts.close()

    def put(self, source: str, item: Item, shortest: int = SHORTEST) -> None:
        """Write an item unless it has fewer characters than the shortest or was there before."""
        if isinstance(item, Text):
            self._put_text(source, item.language, _fit(item.text, shortest))
            return
        a, b = _fit(item.a, shortest), _fit(item.b, shortest)
        if a is None or b is None or a.casefold() == b.casefold():
            return
        self._put_text(source, item.language_a, a)
        self._put_text(source, item.language_b, b)
        if self._is_new(f"{a}\t{b}"):
            row = (source, item.kind, item.language_a, item.language_b, a, b)
            self._pairs.write(("\t".join(row) + "\n").encode())
            self.pairs[source, item.kind, f"{item.language_a}-{item.language_b}"] += 1

    def _put_text(self, source: str, language: str, text: str | None) -> None:
        if text is not None and self._is_new(text.casefold()):
            self._texts.write(f"{source}\t{language}\t{text}\n".encode())
            self.texts[source, language] += 1

    def _is_new(self, key: str) -> bool:
        digest = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=10).digest()
        before = len(self._seen)
        self._seen.add(digest)
        return len(self._seen) > before


def _create(path: Path) -> gzip.GzipFile:
    """Open a compressed file whose bytes do not depend on the time."""
    return gzip.GzipFile(path, "wb", compresslevel=5, mtime=0)


def _fit(text: str, shortest: int) -> str | None:
    """Normalize a text and bring it to length; none if nothing is left of it."""
    text = shorten(normalize(text.encode("utf-8", "replace").decode()))
    if not shortest <= len(text) <= LONGEST or _WORD.search(text) is None:
        return None
    return text
