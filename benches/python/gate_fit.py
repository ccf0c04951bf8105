"""Fit the gate: how sure it is that a question is answered, and the probability of each result.

`python benches/python/gate_fit.py FOLDER` prints how well it does on each set when that set is left out of the fit;
`--write` also fits on all of them and writes the weights, which the core is compiled with. The sets are no part of the
project. What the search saw is kept in `target/gate_fit`, so that a fit takes seconds; `--fresh` searches again.

Each set is asked its own questions, those of other sets, and small talk; and so are memories of a few messages. Every
set counts the same, and a third of all questions has no answer.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import recall_sets
from numpy.typing import NDArray
from recall_sets import SETS, RecallSet, read

from memctx import embeddings
from memctx._core import Encoder, StoreOptions
from memctx.lowlevel import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memctx._core import SearchHit

Array = NDArray[np.float64]
Powers = tuple[float, float, float]
ROOT = Path(__file__).parents[2]
WEIGHTS = ROOT / "rust/memctx-core/src/store/warm/gate.json"
ENCODER = ROOT / "packages/memctx-model/src/memctx_model/encoder.safetensors"
KEPT = ROOT / "target/gate_fit"
TALK = tomllib.loads((Path(__file__).parent / "small_talk.toml").read_text(encoding="utf-8"))
FOREIGN = {
    "locomo": ("beam_100k", "madial_en", "needles_dev"),
    "beam_100k": ("locomo", "madial_en", "needles_dev"),
    "madial_en": ("locomo", "beam_100k", "needles_dev"),
    "madial_zh": ("cmrc", "jsquad", "needles_dev"),
    "cmrc": ("madial_zh", "jsquad", "needles_dev"),
    "jsquad": ("madial_zh", "cmrc", "needles_dev"),
    "needles_dev": ("locomo", "beam_100k", "cmrc", "jsquad"),
}
QUESTIONS, OTHERS, SMALL, POOL, FIRST = 400, 130, 60, 32, 10
CROWD, LEAST_RANK, MOST_LEAD = 8, 1e-3, 1.0
# Shares of what is asked that has an answer, is about something else, or small talk: of the messages of a conversation,
TURNS = {"own": 0.3, "foreign": 0.5, "talk": 0.2}
# and of the questions that scores are calibrated on.
SHARES = {"own": 2 / 3, "foreign": 4 / 15, "talk": 1 / 15}
# How many times as high the odds of an answer are there; as in `gate.rs`.
MORE_ANSWERED = (2 / 1) / (3 / 7)
# False recall at which sets are compared, and that of a certainty of 0.7, the default of `recall.min_score`.
FALSE_RECALL, FALSE_BY_DEFAULT, DEFAULT = 0.04, 0.075, 0.7
# What is added before a logarithm, and what the pieces of a usual question tell; as in `gate.rs`.
LEAST = {"words": 0.3, "meaning": 0.05, "told": 0.5}
USUALLY_TOLD, LEAST_ODDS = 12.0, 1e-12
# Where the odds of a side are even, and the power with which they rise: as they were before pieces counted.
EVEN = {"words": (3.5, 3.0), "meaning": (0.44, 6.0)}
# Words of a memory, from and to, by which the odds fall; as in `gate.rs`.
FEWEST_HELD, MOST_HELD = 6_000.0, 400_000.0
# Powers that are tried: with which the odds of words and of meaning rise with what the pieces tell, and with which both
# fall with the words of the memory. Few pieces of a paraphrase are told, so that for meaning they count little.
TRIED = list(product((0.0, 0.9, 1.8, 2.7, 3.6), (0.0, 0.3), (0.0, 0.2, 0.3, 0.4, 0.5)))
NAMES = {
    "best evidence of words": "words",
    "best cosine above the mean": "meaning",
    "what its three best pieces tell": "told",
    "words in the memory": "held",
}
BANDS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001)


@dataclass
class Asked:
    """A question that was put to a memory, and what the search saw."""

    kind: str
    evidence: dict[str, float]
    ranks: list[float]
    """Of the candidates, relative to the best."""
    gold: list[bool]
    """For each candidate, whether it is evidence."""

    @property
    def is_findable(self) -> bool:
        return any(self.gold[:FIRST])


@dataclass
class Regression:
    """A logistic regression."""

    weights: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def fit(cls, x: Array, y: Array, sample: Array, penalty: float = 1.0) -> Regression:
        """Fit by Newton's method, with a small penalty on all weights but the bias."""
        x = np.c_[x, np.ones(len(x))]
        spread = np.append(x[:, :-1].std(0) + 1e-9, 1.0)
        x = x / spread
        sample = sample * len(sample) / sample.sum()
        w = np.zeros(x.shape[1])
        ridge = np.append(np.full(len(w) - 1, penalty), 1e-6)
        for _ in range(50):
            p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
            slope = x.T @ (sample * (y - p)) - ridge * w
            curve = (x.T * (sample * p * (1 - p))) @ x + np.diag(ridge)
            step = np.linalg.solve(curve, slope)
            w += step
            if np.abs(step).max() < 1e-8:
                break
        return cls(w / spread)

    def logit(self, x: Array) -> Array:
        return x @ self.weights[:-1] + self.weights[-1]


def opened(path: Path, session: str, *, model: Encoder) -> Store:
    """Open a store that keeps everything in memory."""
    return Store(
        path,
        StoreOptions(
            session_id=session,
            cross_session=True,
            max_segments=10**6,
            eviction_days=0.0,
            durability="os",
            redaction="off",
            model=model,
        ),
    )


def leaves(explanation: Any) -> Iterator[tuple[str, float]]:
    """Yield every number of an explanation with its name."""
    yield explanation.name, explanation.value
    for part in explanation.parts:
        yield from leaves(part)


def ask(store: Store, query: str, kind: str, is_gold: Callable[[SearchHit], bool]) -> Asked | None:
    """Put a question; return None if nothing is like it, which the gate never sees."""
    hits = store.search(query, limit=POOL, explain=True)
    if not hits:
        return None
    numbers = [dict(leaves(hit.explanation)) for hit in hits]
    evidence = {name: numbers[0][key] for key, name in NAMES.items() if key in numbers[0]}
    ranks = [each["share of the best rank"] for each in numbers]
    return Asked(kind, evidence, ranks, [is_gold(hit) for hit in hits])


def collect(folder: Path, name: str, model: Encoder) -> list[Asked]:
    """Ask a set everything."""
    recall_sets.opened = partial(opened, model=model)  # type: ignore[assignment]
    choice = random.Random(5)
    others = {
        each: [one["query"] for one in read(folder / each / "queries.jsonl.gz")] for each in SETS
    }
    foreign = [
        text
        for each in FOREIGN[name]
        for text in choice.sample(others[each], min(OTHERS, len(others[each])))
    ]
    with tempfile.TemporaryDirectory() as scratch:
        recall = RecallSet(folder / name, Path(scratch) / "all", 10**6)
        choice.shuffle(recall.questions)
        del recall.questions[QUESTIONS:]
        stores = list(recall.stores)
        for store in recall.stores.values():
            embeddings.wait_for_vectors(store, None, None)

        def own(question: dict[str, Any]) -> Asked | None:
            names = recall.names[question["store"]]
            is_gold = lambda hit: names[hit.segment.id] in question["gold"]  # noqa: E731
            return ask(recall.stores[question["store"]], question["query"], "own", is_gold)

        def other(text: str, kind: str) -> Asked | None:
            return ask(recall.stores[choice.choice(stores)], text, kind, lambda _: False)

        asked = [
            *map(own, recall.questions),
            *(other(text, "foreign") for text in foreign),
            *(other(text, "talk") for _ in range(3) for lines in TALK.values() for text in lines),
            *_small(folder / name, recall.questions, foreign, choice, Path(scratch), model),
        ]
    return [one for one in asked if one is not None]


def _small(  # noqa: PLR0913, PLR0917 - what `collect` has at hand
    folder: Path,
    questions: Sequence[dict[str, Any]],
    foreign: Sequence[str],
    choice: random.Random,
    scratch: Path,
    model: Encoder,
) -> Iterator[Asked | None]:
    """Ask memories of a few messages."""
    stores: dict[str, list[dict[str, Any]]] = {}
    for message in read(folder / "messages.jsonl.gz"):
        stores.setdefault(message["store"], []).append(message)
    for number, question in enumerate(questions[:SMALL]):
        messages = stores[question["store"]]
        found = [at for at, message in enumerate(messages) if message["id"] in question["gold"]]
        size = choice.choice((8, 16, 30))
        start = max(0, min(found[0] - choice.randrange(size), len(messages) - size))
        store = opened(scratch / str(number), "small", model=model)
        golds: set[str | None] = set()
        for message in messages[start : start + size]:
            added = store.add([(message["role"], message["content"], None, None)])[0]
            if message["id"] in question["gold"]:
                golds.add(added.id)
        embeddings.wait_for_vectors(store, None, None)
        yield ask(store, question["query"], "own", lambda hit: hit.segment.id in golds)  # noqa: B023 - called at once
        for text in choice.sample(list(foreign), 3):
            yield ask(store, text, "foreign", lambda _: False)
        for text in choice.sample([line for lines in TALK.values() for line in lines], 3):
            yield ask(store, text, "talk", lambda _: False)
        store.close()


def collected(folder: Path, model: Encoder, *, is_fresh: bool) -> dict[str, list[Asked]]:
    """Return what each set was asked, from an earlier run if there was one."""
    sets: dict[str, list[Asked]] = {}
    for name in SETS:
        kept = KEPT / f"{name}.pickle"
        if is_fresh or not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(collect(folder, name, model)))
            print(f"{kept.stem} asked", file=sys.stderr)
        sets[name] = pickle.loads(kept.read_bytes())  # noqa: S301 - written above
    return sets


def log_odds(asked: Sequence[Asked], powers: Powers) -> Array:
    """Return the log odds of both sides together."""
    *told, held = powers
    odds = np.zeros(len(asked))
    pieces = np.array([one.evidence.get("told", np.nan) for one in asked])
    pieces = np.nan_to_num(np.log((pieces + LEAST["told"]) / USUALLY_TOLD))
    for (side, (even, power)), with_pieces in zip(EVEN.items(), told, strict=True):
        values = np.array([one.evidence.get(side, -np.inf) for one in asked])
        logs = power * np.log((np.maximum(values, 0) + LEAST[side]) / even) + with_pieces * pieces
        odds += np.where(values > 0, np.exp(logs), 0)
    words = np.array([one.evidence["held"] for one in asked])
    size = np.log(np.minimum(words, MOST_HELD) + FEWEST_HELD)
    return np.log(np.maximum(odds, LEAST_ODDS)) - held * size


def weighed(
    sets: Iterable[list[Asked]], share_of: dict[str, float], *, findable: bool
) -> tuple[list[Asked], Array]:
    """Return the questions of some sets with their weights; with ``findable`` only those whose evidence is found."""
    chosen: list[Asked] = []
    weights: list[float] = []
    for asked in sets:
        for kind, share in share_of.items():
            own = [
                one
                for one in asked
                if one.kind == kind and (kind != "own" or one.is_findable or not findable)
            ]
            chosen += own
            weights += [share / len(own)] * len(own)
    return chosen, np.array(weights)


@dataclass(frozen=True)
class Gate:
    """The powers that make the odds, and from odds to the certainty."""

    powers: Powers
    slope: float
    bias: float

    @classmethod
    def fit(cls, sets: Sequence[list[Asked]]) -> Gate:
        """Take the powers with which most questions pass, then make a probability of the odds.

        Likelihood would do for both, but it cares for questions that no line would ever part.
        """
        powers = max(TRIED, key=lambda each: _passing(sets, each))
        asked, weights = weighed(sets, TURNS, findable=True)
        odds = log_odds(asked, powers)
        answered = np.array([float(one.kind == "own") for one in asked])
        slope = float(Regression.fit(odds[:, None], answered, weights).weights[0])
        line = line_of([_groups(each, powers) for each in sets], FALSE_BY_DEFAULT)
        return cls(powers, slope, float(np.log(DEFAULT / (1 - DEFAULT)) - slope * line))

    def logit(self, asked: Sequence[Asked]) -> Array:
        return self.slope * log_odds(asked, self.powers) + self.bias


def _groups(asked: Sequence[Asked], powers: Powers) -> dict[str, Array]:
    """Return the log odds of each kind of question of a set; of its own those that a search answers."""
    return {
        kind: log_odds(
            [one for one in asked if one.kind == kind and (kind != "own" or one.is_findable)],
            powers,
        )
        for kind in SHARES
    }


def _passing(sets: Sequence[list[Asked]], powers: Powers) -> float:
    """Return the share of questions that pass at a line for all sets, and at one for each, in the middle."""
    groups = [_groups(each, powers) for each in sets]
    line = line_of(groups, FALSE_RECALL)
    lines = [line_of([each], FALSE_RECALL) for each in groups]
    return float(
        np.mean(
            [
                [(each["own"] > at).mean() for at in (line, own)]
                for each, own in zip(groups, lines, strict=True)
            ]
        )
    )


def shares(asked: Sequence[Asked], weights: Array, gate: Gate) -> tuple[Array, Array, Array, Array]:
    """Return the features of the first results, whether each is evidence, its weight, and whether it is the best."""
    certainty = -np.logaddexp(0, -gate.logit(asked))
    x, y, w, best = [], [], [], []
    for one, sure, weight in zip(asked, certainty, weights, strict=True):
        crowd = np.log(max(1.0, sum(rank**CROWD for rank in one.ranks)))
        second = max((rank for rank in one.ranks if rank < 1), default=0.0)
        is_led = sum(rank >= 1 for rank in one.ranks) <= 2
        lead = min(-np.log(max(second, LEAST_RANK)), MOST_LEAD) if is_led else 0.0
        for rank, gold in list(zip(one.ranks, one.gold, strict=True))[:FIRST]:
            is_best = rank >= 1
            x.append((sure, np.log(max(rank, LEAST_RANK)), crowd, float(is_best), lead * is_best))
            y.append(float(gold))
            w.append(weight)
            best.append(is_best)
    return np.array(x), np.array(y), np.array(w), np.array(best)


def line_of(sets: Sequence[dict[str, Array]], most: float) -> float:
    """Return the log odds that few questions of others and lines of small talk reach, every set counting the same."""
    lines = []
    for kind in ("foreign", "talk"):
        values = np.concatenate([each[kind] for each in sets])
        weights = np.concatenate([np.full(len(each[kind]), 1 / len(each[kind])) for each in sets])
        order = np.argsort(-values)
        reached = np.cumsum(weights[order]) / len(sets)
        lines.append(float(values[order][np.searchsorted(reached, most)]))
    return max(lines)


def judge(sets: dict[str, list[Asked]]) -> None:
    """Print what passes on each set, and how true the scores are, with that set left out of the fit."""
    scored: list[tuple[Array, Array, Array, Array]] = []
    logits: dict[str, dict[str, Array]] = {}
    for name, asked in sets.items():
        rest = [each for other, each in sets.items() if other != name]
        gate = Gate.fit(rest)
        odds = _groups(asked, gate.powers)
        logits[name] = {kind: gate.slope * values + gate.bias for kind, values in odds.items()}
        x, y, w, _ = shares(*weighed(rest, SHARES, findable=False), gate)
        share = Regression.fit(x, y, w)
        x, y, w, best = shares(*weighed([asked], SHARES, findable=False), gate)
        surest = 1 / (1 + np.exp(-_logit(x[:, 0]) - np.log(MORE_ANSWERED)))
        scored.append((np.minimum(1 / (1 + np.exp(-share.logit(x))), surest), y, w, best))
    _print_passing(logits)
    p, y, w, best = (np.concatenate(part) for part in zip(*scored, strict=True))
    for words, chosen in (("all results", np.ones(len(p), bool)), ("best result", best)):
        error, bands = calibration(p[chosen], y[chosen], w[chosen])
        print(
            f"\n{words}: ECE {error:.3f}\n| score | results | mean | observed |\n| --- |"
            + " --- |" * 3
        )
        print(
            "\n".join(
                f"| {low:g} | {count} | {mean:.3f} | {seen:.3f} |"
                for low, count, mean, seen in bands
            )
        )


def _logit(log_probability: Array) -> Array:
    return log_probability - np.log(-np.expm1(np.minimum(log_probability, -1e-9)))


def _print_passing(logits: dict[str, dict[str, Array]]) -> None:
    default = float(np.log(DEFAULT / (1 - DEFAULT)))
    common = line_of(list(logits.values()), FALSE_RECALL)
    print(
        "| set | questions | pass by default | others | small talk | pass at 4 % of all sets | of this set |"
    )
    print("| --- |" + " --- |" * 6)
    rows = []
    for name, own in logits.items():
        at_default = [100 * float((values > default).mean()) for values in own.values()]
        lines = (common, line_of([own], FALSE_RECALL))
        rows.append([*at_default, *(100 * float((own["own"] > line).mean()) for line in lines)])
        print(
            f"| {name} | {len(own['own'])} | "
            + " | ".join(f"{value:.1f}" for value in rows[-1])
            + " |"
        )
    print("| mean | | " + " | ".join(f"{value:.1f}" for value in np.mean(rows, 0)) + " |")


def calibration(
    p: Array, y: Array, w: Array
) -> tuple[float, list[tuple[float, int, float, float]]]:
    """Return the expected calibration error, and for each band its mean score and what was observed."""
    bands = []
    error = 0.0
    for low, high in pairwise(BANDS):
        band = (p >= low) & (p < high)
        if w[band].sum() > 0:
            mean, seen = np.average(p[band], weights=w[band]), np.average(y[band], weights=w[band])
            error += float(w[band].sum() / w.sum() * abs(mean - seen))
            bands.append((low, int(band.sum()), float(mean), float(seen)))
    return error, bands


def write(sets: dict[str, list[Asked]]) -> None:
    """Fit on all sets and write the weights."""
    gate = Gate.fit(list(sets.values()))
    x, y, w, _ = shares(*weighed(sets.values(), SHARES, findable=False), gate)
    share = np.round(Regression.fit(x, y, w).weights, 3).tolist()
    weights: dict[str, Any] = {
        side: {"even": even, "power": power, "told": told}
        for (side, (even, power)), told in zip(EVEN.items(), gate.powers[:2], strict=True)
    }
    weights["held"] = gate.powers[2]
    weights["certainty"] = {"slope": round(gate.slope, 3), "bias": round(gate.bias, 3)}
    weights["share"] = dict(
        zip(("certainty", "rank", "crowd", "best", "lead", "bias"), share, strict=True)
    )
    lines = (f'  "{kind}": {json.dumps(each)}' for kind, each in weights.items())
    WEIGHTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--fresh", action="store_true", help="search again")
    parser.add_argument(
        "--write", action="store_true", help="write the weights of a fit on all sets"
    )
    given = parser.parse_args(arguments)
    sets = collected(given.data, Encoder.load(ENCODER), is_fresh=given.fresh)
    judge(sets)
    if given.write:
        write(sets)


if __name__ == "__main__":
    main()
