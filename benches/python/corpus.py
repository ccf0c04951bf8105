"""Corpus of the Rust generator, and its forms for the peers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import memctx

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[2]
FULL_SIZE = 20_000
SIZE = int(os.environ.get("MEMCTX_BENCH_SEGMENTS", FULL_SIZE))
QUERIES = 200
LATER = 400
SEED = 7


@dataclass(frozen=True)
class Corpus:
    """Segments by number, some more to be added later, and queries in two lengths."""

    ids: list[str]
    texts: list[str]
    later: list[tuple[str, str]]
    short: list[str]
    long: list[str]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the segments as an index takes them."""
        return list(zip(self.ids, self.texts, strict=True))

    def sample(self, count: int) -> list[str]:
        """Return ``count`` texts, evenly spread."""
        return self.texts[:: max(1, len(self.texts) // count)][:count]


def generate(path: Path, segments: int = SIZE + LATER) -> None:
    """Generate the corpus; build the generator first where necessary."""
    cargo = shutil.which("cargo") or "cargo"
    build = ["run", "--release", "--quiet", "--package", "memctx-benches", "--bin", "corpus"]
    options = {"segments": segments, "queries": QUERIES, "seed": SEED, "out": path}
    arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    subprocess.run([cargo, *build, "--", *arguments], cwd=ROOT, check=True)


def load(path: Path) -> Corpus:
    """Read a generated corpus."""
    with path.open(encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    segments = [(entry["id"], entry["text"]) for entry in entries if entry["kind"] == "segment"]
    queries = [entry for entry in entries if entry["kind"] == "query"]
    return Corpus(
        ids=[segment_id for segment_id, _ in segments[:SIZE]],
        texts=[text for _, text in segments[:SIZE]],
        later=segments[SIZE : SIZE + LATER],
        short=[query["short"] for query in queries],
        long=[query["long"] for query in queries],
    )


def tokenize_all(texts: Iterable[str]) -> list[list[str]]:
    """Return our tokens for the peers, each distinct one interned."""
    known: dict[str, str] = {}
    return [[known.setdefault(token, token) for token in memctx.tokenize(text)] for text in texts]
