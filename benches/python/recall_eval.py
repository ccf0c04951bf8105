"""Recall of the evidence by embedder and ranking; prints tables, the choice of `ranking = "best"`.

    python recall_eval.py FOLDER --cache FOLDER --embedders hash,static,transformer
    python recall_eval.py FOLDER --cache FOLDER --sets locomo,cmrc --ways best,seed --out figures.json

`make recall DATA=FOLDER CACHE=FOLDER` is the first of these. The sets are no part of the project. Embedders:
`hash` and `static` are the core's, `transformer` is that of a folder with `model.onnx` and `tokenizer.json`
(`--transformer`); `use` is the multilingual Universal Sentence Encoder (`memctx[use]`).
Vectors and text scores are made once and kept in the cache folder; delete it when the tokenizer or the sets change.
A transformer takes most of the time, nearly all of it for beam_100k: `--memories 5` takes five memories of each set.

The text side is the core's: every piece of every message is put into a store of its own, and all questions are asked
of it. Blending, smoothing over neighbors and MMR are done here over arrays, in the steps of the core, so that a
hundred ways take minutes. The lines `the store itself` are no copies: they ask a
filled store through its own `search`; that of BM25 only, a store without vectors.

R@5 is the share of the evidence in a search for five results. All other figures are of one search for a hundred: R@10,
R@20, NDCG@10 and MRR of its order; R@B is the share inside a block of 4,000 tokens of whole messages; R@P the same
where a message is told by the passage that matched alone. Choices are made on the even questions; the odd ones show
whether they hold.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from recall import encoders, lane, material, metrics, ranking
from recall.language import NAMES, language
from recall.metrics import Figures
from recall.sides import Sides
from recall.table import table
from recall.ways import CONSTANTS, ways
from recall_sets import SETS, RecallSet, missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recall.encoders import Encoder
    from recall.material import Material, Vectors
    from recall.table import Found
    from recall.ways import Way

FIVE = 5
FULL = 100
"""Results that fill a block even where messages are short."""
LIMITS = (FIVE, FULL)
STORE = "the store itself"
OWN = ("hash", "static")
"""Encoders that the core runs itself."""


def measured(sides: Sequence[Sides], way: Way) -> Figures:
    """Return the figures of one way over all memories of a set."""
    parts = []
    for each in sides:
        asked = replace(each, is_cut=True) if way.is_cut else each
        blended = way.blend(asked)
        parts.append(
            _joined(
                Figures.of(
                    each.memory, ranking.run(asked, blended, replace(way.rules, limit=limit))
                )
                for limit in LIMITS
            )
        )
    return Figures.joined(parts)


def asked(
    given: Material, data: Path, encoder: Encoder, vectors: Sequence[Vectors]
) -> Iterator[tuple[str, Figures]]:
    """Yield the figures of the store's own search, with its own vectors, another encoder's, and none."""
    with tempfile.TemporaryDirectory() as scratch:
        filled = RecallSet(data / given.name, Path(scratch), 0)
        stores = dict(filled.stores)

        def figures(ranking: str) -> Figures:
            parts = []
            for memory, each in zip(given.memories, vectors, strict=True):
                known = None if encoder.name in OWN else each
                lists = (
                    lane.ask(memory, stores[memory.name], limit, known, ranking=ranking)
                    for limit in LIMITS
                )
                parts.append(_joined(Figures.of(memory, listed) for listed in lists))
            return Figures.joined(parts)

        if not isinstance(encoder, encoders.Hash):
            for memory, each in zip(given.memories, vectors, strict=True):
                stores[memory.name].close()
                path = filled.path_of(memory.name)
                stores[memory.name] = (
                    lane.own(path, encoder.model)
                    if isinstance(encoder, encoders.Static)
                    else lane.supplied(memory, path, encoder, each)
                )
        yield f"{STORE}, best", figures("best")
        yield f"{STORE}, openclaw", figures("openclaw")
        if isinstance(encoder, encoders.Hash):
            for name, store in stores.items():
                store.close()
                stores[name] = lane.worded(filled.path_of(name))
            yield f"{STORE}, BM25 only", figures("best")


def _joined(pair: Iterator[Figures]) -> Figures:
    """Join the first figure of a search for five with the others of one for many."""
    few, many = pair
    return Figures(np.concatenate([few.values[:, :1], many.values[:, 1:]], axis=1))


def by_language(found: Found, given: Sequence[Material]) -> Found:
    """Return the figures of the questions in each language, every set counting the same."""
    parts: Found = {}
    languages = {
        each.name: np.array([language(text) for memory in each.memories for text in memory.queries])
        for each in given
    }
    for (embedder, way, name), figures in found.items():
        for spoken in NAMES:
            if (is_it := languages[name] == spoken).any():
                mean = figures.values[is_it].mean(0, keepdims=True)
                key = (embedder, way, spoken)
                known = parts.get(key)
                parts[key] = Figures(
                    mean if known is None else np.concatenate([known.values, mean])
                )
    return parts


def report(found: Found, given: Sequence[Material]) -> Iterator[str]:
    """Print all tables."""
    sets = [each.name for each in given]
    odd: Found = {key: figures.half(is_odd=True) for key, figures in found.items()}
    for title, shown, columns, names in (
        ("R@5 / R@B", found, sets, ("R@5", "R@B")),
        ("R@5 / R@B, odd questions", odd, sets, ("R@5", "R@B")),
        ("R@10 / R@20 / R@P", found, sets, ("R@10", "R@20", "R@P")),
        ("NDCG@10 / MRR", found, sets, ("NDCG@10", "MRR")),
        ("R@5 / R@B by language", by_language(found, given), NAMES, ("R@5", "R@B")),
    ):
        yield f"\n{title}\n"
        yield from table(shown, columns, names)


def as_json(found: Found) -> list[dict[str, Any]]:
    """Return every figure with its standard error."""
    rows = []
    for (embedder, way, name), figures in found.items():
        for half, part in (
            ("all", figures),
            ("even", figures.half(is_odd=False)),
            ("odd", figures.half(is_odd=True)),
        ):
            means = {key: round(part.mean(key), 2) for key in metrics.NAMES}
            errors = {key: round(part.error(key), 2) for key in metrics.NAMES}
            about = {"embedder": embedder, "way": way, "set": name, "questions": half}
            rows.append({**about, "mean": means, "error": errors})
    return rows


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--cache", type=Path, required=True, help="where vectors are kept")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--embedders", default="hash")
    parser.add_argument("--memories", type=int, default=material.EVERY, help="of each set, at most")
    parser.add_argument("--ways", default="", help="only those whose names begin so")
    parser.add_argument("--transformer", type=Path, help="the folder of a sentence transformer")
    parser.add_argument("--out", type=Path, help="where to write all figures as JSON")
    given = parser.parse_args(arguments)
    if lacking := missing(given.data, given.sets.split(",")):
        parser.error(f"{given.data} lacks {', '.join(lacking)}; --sets names those to take")
    given.cache.mkdir(parents=True, exist_ok=True)
    sets = [
        material.load(name, given.data, given.cache, given.memories)
        for name in given.sets.split(",")
    ]
    wanted = tuple(given.ways.split(","))
    found: Found = {}
    for name in given.embedders.split(","):
        encoder = encoders.encoder(name, given.transformer)
        for each in sets:
            vectors = material.vectors(each, encoder, given.cache)
            is_centered = not CONSTANTS[name].is_plain
            sides = [
                Sides(*parts, is_centered=is_centered)
                for parts in zip(each.memories, each.words, vectors, strict=True)
            ]
            for way in ways(name):
                if way.name.startswith(wanted):
                    found[name, way.name, each.name] = measured(sides, way)
            if STORE.startswith(wanted):
                for way_name, figures in asked(each, given.data, encoder, vectors):
                    found[name, way_name, each.name] = figures
            print(f"{name}: {each.name}", file=sys.stderr, flush=True)
    print("\n".join(report(found, sets)))
    if given.out:
        given.out.write_text(json.dumps(as_json(found), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
