"""Recall of the evidence in the recall sets, silence on unrelated questions, and the reliability of scores.

`python benches/python/recall_sets.py FOLDER` for all sets; `--sets locomo,needles_dev`, `--questions 300`,
`--excerpts 60,150` and `--seed` narrow or widen it. The sets are no part of the project.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import sys
import tempfile
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import memctx
from memctx._core import SearchHit, StoreOptions, build_block
from memctx.lowlevel import Store

SETS = ("locomo", "beam_100k", "madial_en", "madial_zh", "cmrc", "jsquad", "needles_dev")
FOREIGN = (
    ("locomo", "beam_100k"),
    ("beam_100k", "locomo"),
    ("locomo", "needles_dev"),
    ("beam_100k", "needles_dev"),
    ("needles_dev", "locomo"),
    ("needles_dev", "beam_100k"),
    ("madial_en", "locomo"),
    ("cmrc", "beam_100k"),
    ("cmrc", "jsquad"),
    ("jsquad", "cmrc"),
    ("cmrc", "madial_zh"),
    ("madial_zh", "cmrc"),
)
SMALL_TALK = (
    "thanks, looks good",
    "ok great",
    "hello, how are you today?",
    "yes please go ahead",
    "can you continue?",
    "nice work!",
    "what do you think?",
    "sounds good to me",
    "let's do that",
    "hm, I am not sure about this",
    "good morning",
    "please try again",
    "tell me a joke",
    "what's the weather like tomorrow?",
    "what is the capital of Mongolia?",
    "write a poem about autumn leaves",
    "谢谢，看起来不错",  # noqa: RUF001 - Chinese punctuation
    "好的，继续吧",  # noqa: RUF001 - as above
    "ありがとうございます",
    "はい、お願いします",
    "감사합니다 좋아요",
)
LIMIT = 40
THRESHOLDS = {"min_certainty": 0.7, "min_score": 0.01}
"""Those of a turn."""
BANDS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Bounds of the scores that are compared with what was observed."""
Message = dict[str, Any]


def missing(folder: Path, names: list[str]) -> list[str]:
    """Return the files of the sets that a folder does not hold."""
    files = [f"{name}/{kind}.jsonl.gz" for name in names for kind in ("messages", "queries")]
    return [file for file in files if not (folder / file).exists()]


class RecallSet:
    """One set: its memories, filled, and its questions."""

    def __init__(self, folder: Path, scratch: Path, questions: int) -> None:
        messages: dict[str, list[Message]] = defaultdict(list)
        for message in read(folder / "messages.jsonl.gz"):
            messages[message["store"]].append(message)
        self.names: dict[str, dict[str, str]] = {}
        self._scratch = scratch
        self.stores = {name: self.filled(name, each) for name, each in messages.items()}
        self.questions = list(read(folder / "queries.jsonl.gz"))[:questions]

    def path_of(self, name: str) -> Path:
        """Return the path of the store of a memory."""
        return self._scratch / name.replace("/", "_")

    def filled(self, name: str, messages: list[Message]) -> Store:
        """Return a store with the messages of one memory, each in its session and at its time."""
        names = self.names.setdefault(name, {})
        path = self.path_of(name)
        sessions: dict[str, Store] = {}
        for message in messages:
            session = message["session"]
            if session not in sessions:
                for other in sessions.values():
                    other.close()
                sessions = {session: opened(path, session)}
            record = (message["role"], message["content"], milliseconds(message["timestamp"]), None)
            added = sessions[session].add([record])[0]
            if added.id is not None:
                names[added.id] = message["id"]
        for other in sessions.values():
            other.close()
        return opened(path, "asking")

    def search(self, question: Message, **options: Any) -> list[tuple[str, SearchHit]]:
        """Return the results for a question, with the ids their messages have in the set."""
        return self._named(
            question, self.stores[question["store"]].search(question["query"], **options)
        )

    def recall(self, question: Message) -> list[tuple[str, SearchHit]]:
        """Return the results that a turn recalls."""
        return self._named(question, recalled(self.stores[question["store"]], question["query"]))

    def _named(self, question: Message, hits: list[SearchHit]) -> list[tuple[str, SearchHit]]:
        names = self.names[question["store"]]
        return [(names[hit.segment.id], hit) for hit in hits]


def recalled(store: Store, query: str) -> list[SearchHit]:
    return store.search_within(query, 0.0, limit=LIMIT, **THRESHOLDS)[0]


def opened(path: Path, session: str, **settings: Any) -> Store:
    return Store(
        path,
        StoreOptions(
            session_id=session,
            cross_session=True,
            max_segments=10**6,
            eviction_days=0.0,
            durability="os",
            redaction="off",
            **settings,
        ),
    )


def read(path: Path) -> list[Message]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def milliseconds(timestamp: str | float | None) -> float | None:
    """Return a time of a set, which is a number or text."""
    if isinstance(timestamp, str):
        moment = datetime.fromisoformat(timestamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
    return timestamp


def share(found: set[str], gold: list[str]) -> float:
    return len(found & set(gold)) / max(1, len(gold))


def block_ids(
    results: list[tuple[str, SearchHit]], query: str, cap: int
) -> tuple[set[str], set[str]]:
    """Return the messages in a block of a size, and those of them that were cut."""
    details = [
        (
            name,
            hit.segment.timestamp,
            hit.segment.role,
            hit.segment.content,
            *hit.passage,
            hit.score,
        )
        for name, hit in results
    ]
    block = build_block([], details, cap=cap, query=query, estimator="utf16")
    return {results[at][0] for at in block.details}, {results[at][0] for at in block.cut}


def percent(values: list[float]) -> str:
    return f"{100 * sum(values) / max(1, len(values)):.1f}"


def evidence(sets: dict[str, RecallSet]) -> None:
    """Print the share of evidence found and shown, by both rankings and with the thresholds of a turn."""
    print(
        "| set | questions | openclaw R@5 | R@5 | R@4000 whole | block 4000 | block 2000 | block 4000 of a turn |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, recall in sets.items():
        rows: dict[str, list[float]] = defaultdict(list)
        for question in recall.questions:
            gold, query = question["gold"], question["query"]
            openclaw = recall.search(question, limit=5, ranking="openclaw")
            rows["openclaw"].append(share({found for found, _ in openclaw}, gold))
            first = recall.search(question, limit=5)
            rows["five"].append(share({found for found, _ in first}, gold))
            results = recall.search(question, limit=LIMIT)
            rows["whole"].append(share(whole(results, 4000), gold))
            rows["4000"].append(share(block_ids(results, query, 4000)[0], gold))
            rows["2000"].append(share(block_ids(results, query, 2000)[0], gold))
            kept = recall.recall(question)
            rows["kept"].append(share(block_ids(kept, query, 4000)[0], gold))
        figures = (
            percent(rows[key]) for key in ("openclaw", "five", "whole", "4000", "2000", "kept")
        )
        print(f"| {name} | {len(recall.questions)} | {' | '.join(figures)} |", flush=True)


def whole(results: list[tuple[str, SearchHit]], left: int) -> set[str]:
    """Return the messages that fit uncut, the best first."""
    found: set[str] = set()
    for name, hit in results:
        tokens = memctx.estimate_tokens(hit.segment.content)
        if tokens <= left:
            left -= tokens
            found.add(name)
    return found


def silence(sets: dict[str, RecallSet], questions: int, seed: int) -> None:
    """Print the share of questions to another memory that recall nothing."""
    choice = random.Random(seed)
    print("\n| questions of | put to | recall nothing |")
    print("| --- | --- | --- |")
    groups: list[tuple[str, str, list[str], list[Store]]] = []
    for asked, answering in FOREIGN:
        if asked in sets and answering in sets:
            texts = [question["query"] for question in sets[asked].questions]
            groups.append((asked, answering, texts, list(sets[answering].stores.values())))
    everywhere = [store for recall in sets.values() for store in recall.stores.values()]
    groups.append(("small talk", "all", list(SMALL_TALK), everywhere))
    shares: list[float] = []
    for asked, answering, texts, stores in groups:
        silent = [
            not recalled(choice.choice(stores), choice.choice(texts)) for _ in range(questions)
        ]
        shares.append(sum(silent) / len(silent))
        print(f"| {asked} | {answering} | {100 * shares[-1]:.0f} |", flush=True)
    print(f"| mean | | {100 * sum(shares) / len(shares):.1f} |")


def reliability(sets: dict[str, RecallSet]) -> None:
    """Print the scores of results beside the share of them that is evidence; every set counts the same.

    Three questions in ten are put to a memory of another set, which has no evidence.
    """
    rows: list[tuple[float, bool, float]] = []
    for name, recall in sets.items():
        own = [
            (hit.score, found in question["gold"])
            for question in recall.questions
            for found, hit in recall.search(question, limit=LIMIT)
        ]
        foreign = [
            (hit.score, False)
            for asked, answering in FOREIGN
            if answering == name and asked in sets
            for store in recall.stores.values()
            for question in sets[asked].questions[:: max(1, 10 * len(recall.stores))]
            for hit in store.search(question["query"], limit=LIMIT)
        ]
        for part, share_of_all in ((own, 0.7), (foreign, 0.3)):
            rows += [(score, is_evidence, share_of_all / len(part)) for score, is_evidence in part]
    print("\n| score | results | mean score | evidence |")
    print("| --- | --- | --- | --- |")
    for low, high in itertools.pairwise(BANDS):
        band = [row for row in rows if low <= row[0] < high or row[0] == high == 1]
        weight = sum(row[2] for row in band)
        if weight:
            score = sum(row[0] * row[2] for row in band) / weight
            observed = sum(row[1] * row[2] for row in band) / weight
            print(f"| {low:g} to {high:g} | {len(band)} | {score:.3f} | {observed:.3f} |")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    if lacking := missing(given.data, given.sets.split(",")):
        parser.error(f"{given.data} lacks {', '.join(lacking)}; --sets names those to take")
    with tempfile.TemporaryDirectory() as scratch:
        sets = {
            name: RecallSet(given.data / name, Path(scratch) / name, given.questions)
            for name in given.sets.split(",")
        }
        evidence(sets)
        silence(sets, min(given.questions, 200), given.seed)
        reliability(sets)


if __name__ == "__main__":
    main(sys.argv[1:])
