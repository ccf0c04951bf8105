"""Make the set of facts that are asked in other words and in another language.

    python -m evaluation.cross_language --sets DIR --gathered DIR --out DIR

Four memories, one for each language, hold the facts among 2,000 messages in all four languages; each fact is asked in
each language. The messages come from the development sets, the Korean ones from sentences of KLUE and KorSTS.
The type of a question is its language and that of the fact, as `en>zh`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path

LANGUAGES = ("en", "zh", "ja", "ko")
OTHERS = {"locomo": "en", "beam_100k": "en", "madial_zh": "zh", "cmrc": "zh", "jsquad": "ja"}
KOREAN = ("klue", "korsts")
NOISE = 500
"""Other messages in each language."""


def facts(path: Path) -> list[dict[str, str]]:
    """Return the facts, each with its text and its question in every language."""
    head, *lines = path.read_text("utf-8").splitlines()
    names = head.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


def noise(sets: Path, gathered: Path, choice: random.Random) -> list[str]:
    """Return messages that have nothing to do with the facts."""
    found: dict[str, list[str]] = {language: [] for language in LANGUAGES}
    for name, language in OTHERS.items():
        with gzip.open(sets / name / "messages.jsonl.gz", "rt", encoding="utf-8") as lines:
            found[language] += [json.loads(line)["content"] for line in lines]
    with gzip.open(gathered / "texts.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            source, language, text = line.rstrip("\n").split("\t")
            if source in KOREAN and language == "ko":
                found["ko"].append(text)
    return [
        text
        for language in LANGUAGES
        for text in choice.sample(sorted(set(found[language])), NOISE)
    ]


def main() -> None:
    """Write the messages and the questions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=Path, required=True)
    parser.add_argument("--gathered", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    choice = random.Random(3)
    every = facts(Path(__file__).parent / "facts.tsv")
    given.out.mkdir(parents=True, exist_ok=True)
    messages, questions = [], []
    others = noise(given.sets, given.gathered, choice)
    for told in LANGUAGES:
        store = f"facts-{told}"
        texts = [(f"fact{at}", fact[told]) for at, fact in enumerate(every)]
        texts += [(f"other{at}", text) for at, text in enumerate(others)]
        choice.shuffle(texts)
        messages += [
            {"store": store, "id": name, "session": "all", "role": "user", "content": text}
            | {"timestamp": "2025-01-01T00:00:00"}
            for name, text in texts
        ]
        questions += [
            {"store": store, "qid": f"{told}-{at}-{asked}", "query": fact[f"{asked}?"]}
            | {"gold": [f"fact{at}"], "type": f"{asked}>{told}"}
            for at, fact in enumerate(every)
            for asked in LANGUAGES
        ]
    for name, rows in (("messages", messages), ("queries", questions)):
        with gzip.open(given.out / f"{name}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
