"""Find out which groups of sentences say the same in two languages.

Both languages have the same groups, in blocks whose order is known, but within a block in any order. Words that stand
in groups that belong together tell what they mean, and what words mean tells which groups belong together: so begin
with the words of known translations, keep the surest groups, learn their words, and go on.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Features = frozenset[str]
Meanings = dict[str, list[tuple[float, str]]]

_WORD = re.compile(r"[a-z0-9]+")
_MEANINGS = 8
_LEAST_LIFT = 3
_LEAST_COUNT = 2
_LEARNED_WEIGHT = 3
_SURENESS = (2.0, 1.6, 1.6, 1.6)
_LAST_SURENESS = 1.3
_CONFIRMED = 1.1
_ROUNDS_WITH_SEEDS = 2
_MOST_ROUNDS = 14
_FEWEST_NEW = 5


def words(sentences: Iterable[str]) -> Features:
    """Take the words of English sentences."""
    return frozenset(word for sentence in sentences for word in _WORD.findall(sentence.lower()))


def pieces(sentences: Iterable[str]) -> Features:
    """Take the pairs of letters of Korean words."""
    found: set[str] = set()
    for sentence in sentences:
        for word in sentence.split():
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Block:
    """The features of the groups of a block in both languages."""

    english: Sequence[Features]
    other: Sequence[Features]


def match(
    blocks: Sequence[Block], seeds: Sequence[tuple[Features, Features]]
) -> dict[tuple[int, int], int]:
    """Match the groups of each block.

    Args:
        blocks: The blocks.
        seeds: The features of known translations.

    Returns:
        For a block and an English group the other group, where that is sure.
    """
    found: dict[tuple[int, int], int] = {}
    known = _meanings([(seed, 1) for seed in seeds], blocks)
    for turn in range(_MOST_ROUNDS):
        least = _SURENESS[turn] if turn < len(_SURENESS) else _LAST_SURENESS
        new: dict[tuple[int, int], int] = {}
        for number, block in enumerate(blocks):
            taken = {e: k for (where, e), k in found.items() if where == number}
            scores = _scores(block, known, taken)
            new |= {(number, e): k for e, k in _sure(scores, least).items()}
        found |= new
        if turn > len(_SURENESS) and len(new) < _FEWEST_NEW:
            break
        learned = [
            ((blocks[number].english[e], blocks[number].other[k]), _LEARNED_WEIGHT)
            for (number, e), k in found.items()
        ]
        first = [(seed, 1) for seed in seeds] if turn < _ROUNDS_WITH_SEEDS else []
        known = _meanings([*first, *learned], blocks)
    return _confirmed(found, blocks)


def _confirmed(
    found: dict[tuple[int, int], int], blocks: Sequence[Block]
) -> dict[tuple[int, int], int]:
    """Keep the matches that words confirm which go together in other groups too."""
    learned = [((blocks[b].english[e], blocks[b].other[k]), 1) for (b, e), k in found.items()]
    known = _meanings(learned, blocks)
    kept: dict[tuple[int, int], int] = {}
    for number, block in enumerate(blocks):
        sure = _sure(_scores(block, known, {}), _CONFIRMED)
        kept |= {(number, e): k for e, k in sure.items() if found.get((number, e)) == k}
    return kept


def _meanings(
    pairs: Sequence[tuple[tuple[Features, Features], int]], blocks: Sequence[Block]
) -> Meanings:
    """Find the features that each word goes with, and how well, among those that occur at all."""
    here = frozenset().union(*(group for block in blocks for group in block.english))
    there = frozenset().union(*(group for block in blocks for group in block.other))
    ones: Counter[str] = Counter()
    others: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    total = 0
    for (english, other), weight in pairs:
        total += weight
        a, b = english & here, other & there
        for word in a:
            ones[word] += weight
            for piece in b:
                both[word, piece] += weight
        for piece in b:
            others[piece] += weight
    found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for (word, piece), count in both.items():
        if count >= _LEAST_COUNT and count * total > _LEAST_LIFT * ones[word] * others[piece]:
            found[word].append((2 * count / (ones[word] + others[piece]), piece))
    return {word: sorted(row, reverse=True)[:_MEANINGS] for word, row in found.items()}


def _scores(block: Block, known: Meanings, taken: dict[int, int]) -> dict[int, dict[int, float]]:
    """Score the groups that are left: how well the rare words of one go with the other."""
    votes = _votes(block, known, set(taken.values()))
    found: dict[int, dict[int, float]] = {}
    for number, group in enumerate(block.english):
        if number not in taken:
            row: defaultdict[int, float] = defaultdict(float)
            for word in sorted(group):
                for place, vote in votes[word].items():
                    row[place] += vote
            found[number] = row
    return found


def _votes(block: Block, known: Meanings, used: set[int]) -> dict[str, dict[int, float]]:
    """Let each English word vote for the groups that are not used yet."""
    where: defaultdict[str, list[int]] = defaultdict(list)
    for number, group in enumerate(block.other):
        for piece in group if number not in used else ():
            where[piece].append(number)
    size = len(block.other)
    spread = Counter(word for group in block.english for word in group)
    found: dict[str, dict[int, float]] = {}
    for word, count in spread.items():
        best: dict[int, float] = {}
        for strength, piece in known.get(word, ()):
            places = where.get(piece, [])
            for number in places:
                vote = strength * math.log(size / len(places) + 0.01)
                best[number] = max(best.get(number, 0.0), vote)
        rarity = math.log(size / count + 0.01)
        found[word] = {number: rarity * vote for number, vote in best.items()}
    return found


def _sure(scores: dict[int, dict[int, float]], least: float) -> dict[int, int]:
    """Keep the matches that are the best of both groups, by a factor over the second best."""
    columns: defaultdict[int, list[float]] = defaultdict(list)
    for row in scores.values():
        for place, score in row.items():
            columns[place].append(score)
    found: dict[int, int] = {}
    for number, row in scores.items():
        if not row:
            continue
        place = max(row, key=lambda key: (row[key], -key))
        score = row[place]
        rivals = sorted(row.values())[-2:-1] + sorted(columns[place])[-2:-1]
        if score > 0 and score >= max(columns[place]) and score > least * max([*rivals, 1e-9]):
            found[number] = place
    return found
