"""Score the redactor on both sets of the corpus; `make redaction` prints the report by kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from random import Random
from typing import TYPE_CHECKING

import memctx

from .draw import Draw
from .fresh import FRESH
from .tuned import TUNED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .corpus import Corpus

SEED = 20261115
DRAWS = 12
TELLTALE = 8
EXAMPLES = 4


@dataclass
class Score:
    """Shares by group, misses by kind."""

    recall: dict[str, float] = field(default_factory=dict[str, float])
    kinds: dict[str, float] = field(default_factory=dict[str, float])
    untouched: float = 0.0
    kept: float = 0.0
    missed: list[str] = field(default_factory=list[str])
    damaged: list[str] = field(default_factory=list[str])


def survives(part: str, masked: str) -> bool:
    """Return whether eight characters in a row of the part are still there."""
    length = min(TELLTALE, len(part))
    return any(part[at : at + length] in masked for at in range(len(part) - length + 1))


def kept(text: str, parts: Iterable[str], masked: str) -> tuple[int, int]:
    """Return how many of the characters around the parts survived and how many there were."""
    around = text
    for part in parts:
        around = around.replace(part, "\0")
    around = around.replace("\0", "")
    blocks = SequenceMatcher(None, around, masked, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks), len(around)


def score(corpus: Corpus, seed: int, *, held_out: bool = False, draws: int = DRAWS) -> Score:
    """Draw the corpus and redact it."""
    redactor = memctx.Redactor()
    result = Score()
    found: dict[str, list[bool]] = defaultdict(list)
    survived = around = 0
    for kind in corpus.secrets:
        draw = Draw(Random(f"{seed}/{kind.name}/{held_out}"))
        for _ in range(draws):
            secret = kind.draw(draw, held_out)
            masked = redactor.mask(secret.text).text
            gone = not any(survives(part, masked) for part in secret.parts)
            found[kind.group].append(gone)
            found[f"{kind.group}.{kind.name}"].append(gone)
            if not gone:
                result.missed.append(f"{kind.group}.{kind.name}: {secret.text!r} -> {masked!r}")
            here, there = kept(secret.text, (*secret.heads, *secret.parts), masked)
            survived, around = survived + here, around + there
    for look_alike in corpus.look_alikes:
        draw = Draw(Random(f"{seed}/{look_alike.name}"))
        for _ in range(draws):
            text = look_alike.draw(draw)
            masked = redactor.mask(text).text
            found["look_alikes"].append(masked == text)
            found[f"look_alikes.{look_alike.name}"].append(masked == text)
            if masked != text:
                result.damaged.append(f"{look_alike.name}: {text!r} -> {masked!r}")
    shares = {name: sum(outcomes) / len(outcomes) for name, outcomes in found.items()}
    result.untouched = shares.pop("look_alikes")
    result.recall = {name: share for name, share in shares.items() if "." not in name}
    result.kinds = {name: share for name, share in shares.items() if "." in name}
    result.kept = survived / around
    return result


def show(title: str, result: Score) -> None:
    """Print recall and harm, in total and by kind, and the misses."""
    print(title)
    for name, share in result.recall.items():
        print(f"  {name:<12} {share:.3f}")
    print(f"  {'untouched':<12} {result.untouched:.3f}\n  {'kept':<12} {result.kept:.4f}")
    for name, share in sorted(result.kinds.items()):
        print(f"    {name:<36} {share:.3f}")
    shown: Counter[str] = Counter()
    for line in dict.fromkeys([*result.missed, *result.damaged]):
        kind = line.partition(":")[0]
        shown[kind] += 1
        if shown[kind] <= EXAMPLES:
            print("  !", line[:300])


def main() -> None:
    """Print the report of the tuned set in both contexts, then that of the fresh set."""
    show("tuned set, usual surroundings", score(TUNED, SEED, draws=40))
    show("tuned set, held-out surroundings", score(TUNED, SEED, held_out=True, draws=40))
    show("fresh set", score(FRESH, SEED, draws=40))


if __name__ == "__main__":
    main()
