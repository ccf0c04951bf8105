"""Facts in plain Python as OpenClaw's plugin keeps them: a list that every addition and every question goes through.

It is spared what can be kept between calls: the words of every fact and the weights of all words are made once.
"""

from __future__ import annotations

import json
import re
import uuid
from math import log
from operator import add
from time import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAME = "scan, plain Python"
SIMILAR = 0.8
_RUN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[^\s\u3400-\u9fff\uf900-\ufaff]+")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def tokenize(text: str) -> set[str]:
    """Lower-case runs without blanks, and pairs of Han characters."""
    tokens: set[str] = set()
    for run in _RUN.findall(text.lower()):
        if len(run) > 1 and _HAN.match(run):
            tokens.update(map(add, run, run[1:]))
        else:
            tokens.add(run)
    return tokens


class Facts:
    """A log, and all of it in memory."""

    def __init__(self, path: Path, contents: Iterable[str]) -> None:
        self.log = path.open("a", encoding="utf-8")
        self.ids: list[str] = []
        self.words: list[set[str]] = []
        self.texts: list[str] = []
        self.counts: dict[str, int] = {}
        for content in contents:
            self._keep(content, tokenize(content))
        self.log.flush()

    def add(self, content: str) -> str:
        """State something, unless a fact says nearly the same."""
        words = tokenize(content)
        for id_, known in zip(self.ids, self.words, strict=True):
            shared = len(words & known)
            if shared and shared / (len(words) + len(known) - shared) >= SIMILAR:
                return id_
        id_ = self._keep(content, words)
        self.log.flush()
        return id_

    def search(self, query: str, limit: int = 10) -> list[tuple[float, str]]:
        """Return the facts that have at least half of the query's term weight."""
        size = len(self.ids)
        known = {word: self.counts[word] for word in tokenize(query) if word in self.counts}
        weights = {word: log((size + 1) / (count + 1)) for word, count in known.items()}
        total = sum(weights.values())
        if total <= 0:
            return []
        found = []
        for id_, text in zip(self.ids, self.texts, strict=True):
            score = sum(weight for word, weight in weights.items() if word in text) / total
            if score >= 0.5:
                found.append((score, id_))
        return sorted(found, reverse=True)[:limit]

    def _keep(self, content: str, words: set[str]) -> str:
        id_ = str(uuid.uuid4())
        fact = {"id": id_, "type": "config", "content": content, "timestamp": int(time() * 1000)}
        self.log.write(json.dumps(fact, ensure_ascii=False) + "\n")
        self.ids.append(id_)
        self.words.append(words)
        self.texts.append(content.lower())
        for word in words:
            self.counts[word] = self.counts.get(word, 0) + 1
        return id_
