"""Find training texts that repeat a text of an evaluation set.

Two texts overlap when they share a run of words: eight, or thirteen characters where a script has no spaces. A text
too short for a run overlaps when it equals a whole evaluation text of at least three words.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from prepare.normalize import HAN, HANGUL, HIRAGANA, KATAKANA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from prepare.normalize import Normalizer

RUN, RUN_UNSPACED = 8, 13
SHORTEST = 3
LONGEST = 100_000
"""Characters of an evaluation text that are read."""
TOKEN = re.compile(f"[{HIRAGANA}{KATAKANA}{HAN}{HANGUL}]|[^{HIRAGANA}{KATAKANA}{HAN}{HANGUL}\\s]+")
UNSPACED = re.compile(f"[{HIRAGANA}{KATAKANA}{HAN}{HANGUL}]")


def runs(normalized: str) -> Iterator[int]:
    """Return the fingerprints of the runs of a text, or of the whole text if it is short."""
    tokens = TOKEN.findall(normalized)
    unspaced = sum(1 for token in tokens if UNSPACED.match(token))
    length = RUN_UNSPACED if 2 * unspaced > len(tokens) else RUN
    if len(tokens) >= length:
        for start in range(len(tokens) - length + 1):
            yield hash(tuple(tokens[start : start + length]))
    elif len(tokens) >= SHORTEST:
        yield hash(("whole", *tokens))


class Evaluation:
    """The runs of every evaluation set."""

    def __init__(self, folders: Iterable[Path], normalize: Normalizer) -> None:
        """Read the evaluation sets: each folder's or file's texts are a set."""
        self._normalize = normalize
        self._sets: dict[int, set[str]] = {}
        self.texts: Counter[str] = Counter()
        self.found: dict[str, set[int]] = {}
        """Runs of each set that a training text has."""
        for folder in folders:
            for text in read(folder):
                self.texts[folder.name] += 1
                for run in runs(normalize(text, LONGEST)):
                    self._sets.setdefault(run, set()).add(folder.name)

    def __len__(self) -> int:
        """Return the number of different runs."""
        return len(self._sets)

    def overlaps(self, text: str) -> set[str]:
        """Return the names of the sets that a training text repeats a part of."""
        names: set[str] = set()
        for run in runs(self._normalize(text, LONGEST)):
            if run in self._sets:
                for name in self._sets[run]:
                    self.found.setdefault(name, set()).add(run)
                names |= self._sets[run]
        return names


def read(path: Path) -> Iterator[str]:
    """Return every text in the JSON, JSON Lines and TSV files of a folder, or of one file."""
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        opened = gzip.open if file.suffix == ".gz" else open
        kind = file.name.removesuffix(".gz").rsplit(".", 1)[-1]
        with opened(file, "rt", encoding="utf-8") as lines:
            if kind == "jsonl":
                for line in lines:
                    yield from _strings(json.loads(line))
            elif kind == "json":
                yield from _strings(json.load(lines))
            elif kind == "tsv":
                for line in lines:
                    yield from line.rstrip("\n").split("\t")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
