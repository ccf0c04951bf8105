"""Word pieces: train a unigram model, then keep pieces that are worth a row.

    python -m prepare.vocabulary --texts texts.tsv.gz --fold TSCharacters.txt --out DIR [--size 64000] [--lines 700000]

Long pieces of Chinese, Japanese and Korean take rows from shorter ones that say as much, so many more pieces are
trained than are kept.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
from collections import defaultdict
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from prepare.normalize import HAN, HANGUL, HIRAGANA, KATAKANA, Normalizer, read_fold

TRAINED = 1.7
"""Pieces that are trained for each that is kept."""
START = "\u2581"
LONGEST = (
    (re.compile(f"[{HAN}]+"), 4),
    (re.compile(f"[{HANGUL}]+"), 3),
    (re.compile(f"[{HIRAGANA}]+"), 4),
    (re.compile(f"[{KATAKANA}]+"), 9),
)
SHARES = {"en": 0.36, "zh": 0.2, "ja": 0.2, "ko": 0.18, "code": 0.06}
"""Shares of the lines that pieces are trained on."""


def choose(texts: Path, count: int, seed: int = 1) -> list[str]:
    """Return lines in all languages by their shares, no source with more than a quarter of a language."""
    by_source: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(texts, "rt", encoding="utf-8") as lines:
        for line in lines:
            source, language, text = line.rstrip("\n").split("\t")
            by_source[language][source].append(text)
    choice = random.Random(seed)
    chosen: list[str] = []
    for language, sources in sorted(by_source.items()):
        wanted = round(count * SHARES.get(language, 0))
        pool = [
            text
            for _, found in sorted(sources.items())
            for text in choice.sample(found, min(len(found), wanted // 4))
        ]
        chosen += choice.sample(pool, min(len(pool), wanted))
    return chosen


def train(lines: list[str], folder: Path, size: int) -> list[tuple[str, float]]:
    """Train pieces; return those that are kept, best first, with their scores."""
    folder.mkdir(parents=True, exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_prefix=str(folder / "trained"),
        vocab_size=round(size * TRAINED),
        model_type="unigram",
        normalization_rule_name="identity",
        character_coverage=0.9995,
        max_sentence_length=4_000,
        num_threads=2,
        unk_id=0,
        bos_id=-1,
        eos_id=-1,
        hard_vocab_limit=False,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "trained.model"))
    every = [(pieces.id_to_piece(at), pieces.get_score(at)) for at in range(1, len(pieces))]
    return keep(every, size - 1)


def keep(pieces: list[tuple[str, float]], count: int) -> list[tuple[str, float]]:
    """Drop pieces that are too long for their script, and the second of two that differ by the beginning only."""
    kept: list[tuple[str, float]] = []
    seen: set[str] = set()
    for piece, score in sorted(pieces, key=lambda it: -it[1]):
        bare = piece.removeprefix(START)
        is_long = any(script.fullmatch(bare) and len(bare) > longest for script, longest in LONGEST)
        is_spaced = piece != bare and any(script.fullmatch(bare) for script, _ in LONGEST)
        # Where words are not spaced, a beginning tells nothing.
        name = bare if is_spaced else piece
        if is_long or name in seen or (not bare and piece != START):
            continue
        seen.add(name)
        kept.append((name, score))
    return kept[:count]


def write(kept: list[tuple[str, float]], folder: Path) -> None:
    """Write the pieces as a table, and as a model that cuts training text."""
    with (folder / "pieces.tsv").open("w", encoding="utf-8") as out:
        out.writelines(f"{piece}\t{score:.6f}\n" for piece, score in [("", 0.0), *kept])
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString((folder / "trained.model").read_bytes())
    del model.pieces[1:]
    for piece, score in kept:
        model.pieces.add(piece=piece, score=round(score, 6))
    model.trainer_spec.vocab_size = len(model.pieces)
    (folder / "pieces.model").write_bytes(model.SerializeToString())


def main() -> None:
    """Train and write the pieces."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--fold", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=64_000)
    parser.add_argument("--lines", type=int, default=700_000)
    given = parser.parse_args()
    normalize = Normalizer(read_fold(given.fold.read_text("utf-8")))
    lines = [normalize(text, 300) for text in choose(given.texts, given.lines)]
    kept = train([line for line in lines if line], given.out, given.size)
    write(kept, given.out)
    print(len(lines), "lines,", len(kept), "pieces")


if __name__ == "__main__":
    main()
