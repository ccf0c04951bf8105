"""Process that opens a store with another embedding model, and archives and searches until all vectors are replaced.

    switcher.py STORE [MODEL]

Without a model the default is used. It prints `ready`, `stored <words>` for what was acknowledged, `failed <why>` for a
search that failed, missed an expected hit or has wrong scores, and `done <searches>` at the end.
"""

from __future__ import annotations

import itertools
import math
import os
import sys
import threading
import time
import zlib
from typing import TYPE_CHECKING

import memctx

if TYPE_CHECKING:
    from collections.abc import Sequence

# The session that has everything; searched for, it must always be found.
NEEDLE = "The lighthouse keeper collects 4711 blue umbrellas"


class Sums:
    """A cheap embedding model: sums of word vectors."""

    name, revision, dim = "sums", "1", 96

    def __init__(self, rate: float = 8_000.0) -> None:
        self._rate = rate

    def embed(self, text: str) -> list[float]:
        vector = [1e-3] * self.dim
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % self.dim] += 1.0
        return vector

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        time.sleep(len(texts) / self._rate)
        return [self.embed(text) for text in texts]


def say(words: str) -> None:
    os.write(1, f"{words}\n".encode())


def search(memory: memctx.Memory, stop: threading.Event, counts: list[int]) -> None:
    while not stop.is_set():
        try:
            hits = memory.search("which umbrellas has the lighthouse keeper?", limit=5)
            if all(hit.segment.content != NEEDLE for hit in hits):
                say(f"failed {len(hits)} hits without the needle")
            scores = [hit.score for hit in hits]
            if not all(map(math.isfinite, scores)) or scores != sorted(scores, reverse=True):
                say(f"failed scores {scores}")
        except Exception as error:  # noqa: BLE001 - to be counted, whatever it is
            say(f"failed {error!r}")
        counts[0] += 1
        time.sleep(0.01)


def main(store: str, model: str = "auto") -> None:
    chosen = Sums() if model == "sums" else model
    config = memctx.Config(disk={"durability": "os"})
    if chosen != "auto":
        config = config.replace(embedding_model=chosen)
    stop, counts = threading.Event(), [0]
    with memctx.open(store, session_id="s", config=config) as memory:
        say("ready")
        searching = threading.Thread(target=search, args=(memory, stop, counts))
        searching.start()
        for number in itertools.count():
            # What was just said lacks its vector for a moment.
            status = memory.store.embedding()
            if number > 3 and not status.is_replacing and status.lacking <= 1:
                break
            text = f"remark {os.getpid()}x{number} while the model changes"
            memory.archive([{"role": "user", "content": text}])
            say(f"stored {os.getpid()}x{number}")
            time.sleep(0.1)
        stop.set()
        searching.join()
        memory.reembed()
    say(f"done {counts[0]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
