"""Choose the training text: enough of every kind, nothing of an evaluation set.

    python -m prepare.select --gathered DIR [--gathered DIR] --fold TSCharacters.txt --evaluation PATH [PATH] --out DIR

Writes `texts.tsv.xz` (language, text), `pairs.tsv.xz` (group, number of text a, number of text b) and `overlap.json`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import random
from collections import Counter, defaultdict
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from gather.sources import WORDS, Source, load
from prepare.normalize import Normalizer, read_fold
from prepare.overlap import Evaluation

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(__file__).parent.parent / "sources.toml"
EVERYDAY = frozenset(("dialogue", "sentences", "paraphrases"))
"""Kinds of sources whose translations are everyday sentences rather than documentation."""
MOST_WORDS = 60_000
PAIRS = {"translation": 25_000, "title-body": 12_000, "question-answer": 20_000}
PAIRS |= {"code-doc": 5_000, "reply": 60_000, "paraphrase": 30_000}
"""Pairs of each kind from one source in one pair of languages."""
TEXTS = 25_000
"""Texts without a pair from one source in one language."""
MORE_TEXTS = {
    "smile": 200_000,
    "nsmc": 150_000,
    "real-persona-chat": 150_000,
    "schema-guided": 60_000,
}
MORE_TEXTS |= dict.fromkeys(
    ("common-voice", "3i4k", "accommodation-search", "topical-chat"), 70_000
)
MORE_TEXTS |= dict.fromkeys(("support-articles", "medquad", "synthetic-persona-chat"), 50_000)
LONGEST = {"en": 320, "code": 240, "zh": 160, "ja": 160, "ko": 160}
"""Characters of a text."""


def cut(text: str, language: str) -> str:
    """Shorten a text at a space, if there is one near the end."""
    longest = LONGEST[language]
    if len(text) <= longest:
        return text
    space = text.rfind(" ", longest - 40, longest)
    return text[: space if space > 0 else longest]


def group(source: Source, kind: str, a: str, b: str) -> str:
    """Return the name of the group that a pair is drawn from."""
    if kind != "translation":
        return f"{kind}:{a if b == 'code' else b}"
    if source.kind == WORDS:
        return f"words:{b}"
    return f"everyday:{b}" if source.kind in EVERYDAY else f"documents:{b}"


class Chosen:
    """Texts by number, each once, and pairs of them."""

    def __init__(self) -> None:
        self.texts: dict[str, tuple[int, str]] = {}
        self.pairs: dict[tuple[str, int, int], None] = {}

    def add(self, language: str, text: str) -> int:
        """Return the number of a text."""
        return self.texts.setdefault(text, (len(self.texts), language))[0]


def rows(folders: list[Path], name: str) -> Iterator[list[str]]:
    """Return the rows of a gathered file in all folders."""
    for folder in folders:
        with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield line.rstrip("\n").split("\t")


def choose(folders: list[Path], seed: int = 2) -> Chosen:
    """Draw pairs and texts up to the number that each source may give."""
    choice = random.Random(seed)
    sources = {source.name: source for source in load(SOURCES)}
    by_source: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for source, kind, a, b, left, right in rows(folders, "pairs.tsv.gz"):
        by_source[source, kind, a, b].append((cut(left, a), cut(right, b)))
    chosen = Chosen()
    for (source, kind, a, b), found in sorted(by_source.items()):
        name = group(sources[source], kind, a, b)
        special = {"words": MOST_WORDS, "everyday": len(found)}
        most = special.get(name.partition(":")[0], PAIRS[kind])
        for left, right in choice.sample(found, min(most, len(found))):
            if left != right:
                chosen.pairs[name, chosen.add(a, left), chosen.add(b, right)] = None
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for source, language, text in rows(folders, "texts.tsv.gz"):
        texts[source, language].append(cut(text, language))
    for (source, language), alone in sorted(texts.items()):
        for text in choice.sample(alone, min(MORE_TEXTS.get(source, TEXTS), len(alone))):
            chosen.add(language, text)
    return chosen


_evaluation: Evaluation


def _overlaps(texts: list[str]) -> tuple[list[set[str]], dict[str, set[int]]]:
    _evaluation.found.clear()
    return [_evaluation.overlaps(text) for text in texts], dict(_evaluation.found)


def clean(chosen: Chosen, evaluation: Evaluation) -> tuple[set[int], dict[str, dict[str, float]]]:
    """Return the numbers of the texts that repeat an evaluation set, and a report of them."""
    global _evaluation  # noqa: PLW0603 - inherited by the workers
    _evaluation = evaluation
    texts = list(chosen.texts)
    repeated: set[int] = set()
    counts: Counter[str] = Counter()
    found: dict[str, set[int]] = defaultdict(set)
    step = 20_000
    with get_context("fork").Pool(os.cpu_count()) as pool:
        parts = pool.imap(_overlaps, (texts[at : at + step] for at in range(0, len(texts), step)))
        for first, (names, runs) in zip(range(0, len(texts), step), parts, strict=True):
            for name, which in runs.items():
                found[name] |= which
            for number, sets in enumerate(names, first):
                counts.update(sets)
                if sets:
                    repeated.add(number)
    report = {
        name: {
            "texts": evaluation.texts[name],
            "training texts removed": counts[name],
            "runs shared": len(found[name]),
        }
        for name in sorted(evaluation.texts)
    }
    return repeated, report


def main() -> None:
    """Choose, clean and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gathered", type=Path, action="append", required=True)
    parser.add_argument("--fold", type=Path, required=True)
    parser.add_argument("--evaluation", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    normalize = Normalizer(read_fold(given.fold.read_text("utf-8")))
    chosen = choose(given.gathered)
    evaluation = Evaluation(given.evaluation, normalize)
    repeated, report = clean(chosen, evaluation)
    given.out.mkdir(parents=True, exist_ok=True)
    numbers: dict[int, int] = {}
    languages: Counter[str] = Counter()
    with lzma.open(given.out / "texts.tsv.xz", "wt", preset=2, encoding="utf-8") as out:
        for text, (number, language) in chosen.texts.items():
            if number not in repeated:
                numbers[number] = len(numbers)
                languages[language] += 1
                out.write(f"{language}\t{text}\n")
    groups: Counter[str] = Counter()
    with lzma.open(given.out / "pairs.tsv.xz", "wt", preset=2, encoding="utf-8") as out:
        for name, a, b in chosen.pairs:
            if a in numbers and b in numbers:
                groups[name] += 1
                out.write(f"{name}\t{numbers[a]}\t{numbers[b]}\n")
    summary = {
        "texts": dict(languages.most_common()),
        "pairs": dict(groups.most_common()),
        "removed": len(repeated),
        "evaluation sets": report,
    }
    (given.out / "overlap.json").write_text(json.dumps(summary, indent=2), "utf-8")
    print(json.dumps(summary, indent=2))


if __name__ == "__main__":
    main()
