"""Contradiction suite and the accuracy of the planning rule on it; `make contradictions` prints it."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from memctx.facts import Action, CandidateFact, plan

SUITE = Path(__file__).with_name("contradictions.toml")
REASONS = Path(__file__).with_name("reasons.toml")
Part = Literal["tuned", "held_out"]
PARTS: tuple[Part, ...] = ("tuned", "held_out")


@dataclass(frozen=True)
class Pair:
    """Two facts, and the action that the second takes on the first."""

    kind: str
    part: Part
    old: str
    new: str
    expected: Action

    def outcome(self) -> Action:
        """Return the action of the rule, without an extractor's proposal."""
        candidate = CandidateFact("config", self.new, id="new")
        return plan([candidate], [CandidateFact("config", self.old, id="old")])[0].action

    @property
    def is_lost(self) -> bool:
        """True if a new value is discarded."""
        return self.expected != "none" and self.outcome() == "none"


def pairs(path: Path = SUITE) -> list[Pair]:
    """Return all pairs of a suite."""
    groups = tomllib.loads(path.read_text("utf-8"))["group"]
    return [
        Pair(f"{group['kind']} {group['lang']}", part, old, new, cast("Action", expected))
        for group in groups
        for part in PARTS
        for old, new, expected in group[part]
    ]


def table(suite: list[Pair]) -> str:
    """Format the share of right actions by kind, tuned and held out apart."""
    right: Counter[tuple[str, Part]] = Counter()
    total: Counter[tuple[str, Part]] = Counter()
    for pair in suite:
        for kind in (pair.kind, "all"):
            total[kind, pair.part] += 1
            right[kind, pair.part] += pair.outcome() == pair.expected
    kinds = list(dict.fromkeys(pair.kind for pair in suite))
    lines = [f"{'kind':22}{'tuned':>12}{'held out':>12}"]
    for kind in (*kinds, "all"):
        cells = [f"{right[kind, part]} of {total[kind, part]}" for part in PARTS]
        lines.append(f"{kind:22}{cells[0]:>12}{cells[1]:>12}")
    lines.append(f"corrections lost: {sum(pair.is_lost for pair in suite)}")
    return "\n".join(lines)


if __name__ == "__main__":
    for suite in (pairs(), pairs(REASONS)):
        print(table(suite))
    for pair in (*pairs(), *pairs(REASONS)):
        if pair.outcome() != pair.expected:
            print(f"  {pair.old!r} -> {pair.new!r}: {pair.outcome()}, not {pair.expected}")
