"""Ranking: from scores of pieces to a list of messages, in the steps of the core: pool, neighbors, choice, window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recall.memory import NONE, REACH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recall.sides import Sides

    Scores = NDArray[np.float32]

NEVER = np.float32(-np.inf)
OTHERS = 1 / 1.3
DECAY, MOST_OF_AGE = 0.995, 0.05
SHARE, SHORT, ALIKE = 0.4, 120.0, 0.8
BY_DISTANCE = (1.0, 0.6)
POOL, LEADING = 32, 10
BALANCE = 0.7
STEP = 0.15


@dataclass(frozen=True)
class Rules:
    """Rules of a search besides blending."""

    limit: int = 40
    pool: int = 0
    """Candidates for each result; 0 for a number that does not depend on them."""
    has_roles: bool = True
    smoothing: float = SHARE
    short: float = SHORT
    """Tokens up to which a message takes its whole share of its neighbors' scores; a longer one speaks for itself."""
    balance: float = BALANCE
    """Relevance against difference; 1 takes the best as they are."""
    window: int = 0
    decays: bool = False
    """True if age counts as in OpenClaw's plugin."""


SEED = Rules(pool=2, has_roles=False, smoothing=0.0, decays=True)


@dataclass(frozen=True)
class Listed:
    """The messages found for each question, best first and `NONE` behind the last, with the pieces that matched."""

    messages: NDArray[np.intp]
    pieces: NDArray[np.intp]


def run(sides: Sides, blended: Scores, rules: Rules) -> Listed:
    """Return the messages found for each question."""
    memory = sides.memory
    wanted = rules.limit * rules.pool or max(rules.limit, POOL)
    is_known = _best(sides.text, wanted) & (sides.text > 0)
    is_known |= _best(sides.cosine, wanted) & (sides.cosine > 0)
    pieces = np.where(is_known, blended, NEVER)
    own = np.maximum.reduceat(pieces, memory.first, axis=1) * _factors(sides, rules)
    own = np.where(_best(own, wanted), own, NEVER)
    scores = _smoothed(sides, own, blended, rules) if rules.smoothing else own
    scores = np.where(_best(scores, wanted), scores, NEVER)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :wanted]
    ranked = np.take_along_axis(scores, order, 1)
    order = np.where(ranked > NEVER, order, NONE)
    if rules.balance < 1 and order.shape[1] > rules.limit:
        order, ranked = _diverse(sides, order, ranked, rules)
    order, ranked = order[:, : rules.limit], ranked[:, : rules.limit]
    if rules.window:
        order = _widened(sides, order, ranked, rules.window)
    return Listed(order, _matching(sides, pieces, order))


def _factors(sides: Sides, rules: Rules) -> Scores:
    """Return the factors of a message's score for its role and age."""
    decay = DECAY**sides.memory.days
    age = decay if rules.decays else 1 - MOST_OF_AGE * (1 - decay)
    role = np.where(sides.memory.is_user, 1, OTHERS) if rules.has_roles else 1
    return np.asarray(age * role, dtype=np.float32)


def _best(scores: Scores, count: int) -> NDArray[np.bool_]:
    """Return whether each is among the best of its row."""
    if scores.shape[1] <= count:
        return scores > NEVER
    least = -np.partition(-scores, count - 1, axis=1)[:, count - 1 : count]
    return (scores >= least) & (scores > NEVER)


def _smoothed(sides: Sides, own: Scores, blended: Scores, rules: Rules) -> Scores:
    """Return scores with a share of the best neighbor's; neighbors become candidates beside the best."""
    memory = sides.memory
    padded = np.concatenate([own, np.full((len(own), 1), NEVER)], axis=1)
    is_leading = np.concatenate([_best(own, LEADING), np.zeros((len(own), 1), dtype=bool)], axis=1)
    added = np.zeros_like(own)
    is_beside_leader = np.zeros(own.shape, dtype=bool)
    everybody = np.arange(own.shape[1])
    for step in range(2 * REACH):
        neighbor = memory.beside[:, step]
        is_other = (neighbor != NONE) & (sides.likeness[everybody, neighbor] <= ALIKE)
        theirs = padded[:, neighbor]
        theirs = np.where(is_other & (theirs > NEVER), theirs, 0)
        added = np.maximum(added, theirs * BY_DISTANCE[step % REACH])
        is_beside_leader |= is_leading[:, neighbor] & is_other
    is_newcomer = (own == NEVER) & is_beside_leader & (sides.cosine[:, memory.first] > 0)
    base = np.where(is_newcomer, blended[:, memory.first] * _factors(sides, rules), own)
    share = rules.smoothing * np.minimum(1, rules.short / np.maximum(1, memory.tokens))
    return np.where(base > NEVER, base + share.astype(np.float32) * added, NEVER)


def _diverse(
    sides: Sides, order: NDArray[np.intp], ranked: Scores, rules: Rules
) -> tuple[NDArray[np.intp], Scores]:
    """Return a diverse choice, best first."""
    is_there = order != NONE
    low = np.where(is_there, ranked, np.inf).min(1, keepdims=True)
    high = np.where(is_there, ranked, -np.inf).max(1, keepdims=True)
    relevance = (ranked - low) / np.where(high > low, high - low, 1)
    likeness = np.zeros_like(ranked)
    is_left = is_there.copy()
    rows = np.arange(len(order))
    for _ in range(rules.limit):
        value = rules.balance * relevance - (1 - rules.balance) * likeness
        pick = np.where(is_left, value, NEVER).argmax(1)
        is_left[rows, pick] = False
        likeness = np.maximum(likeness, sides.likeness[order, order[rows, pick][:, None]])
    is_chosen = is_there & ~is_left
    ranked = np.where(is_chosen, ranked, NEVER)
    again = np.argsort(-ranked, axis=1, kind="stable")
    order = np.take_along_axis(np.where(is_chosen, order, NONE), again, 1)
    return order, np.take_along_axis(ranked, again, 1)


def _widened(
    sides: Sides, order: NDArray[np.intp], ranked: Scores, window: int
) -> NDArray[np.intp]:
    """Return the list with the neighbors of each, worth less with every step."""
    scores = np.full((len(order), len(sides.memory.tokens) + 1), NEVER)
    rows = np.repeat(np.arange(len(order)), order.shape[1])
    np.maximum.at(scores, (rows, order.ravel()), ranked.ravel())
    for step in range(2 * REACH):
        distance = step % REACH + 1
        if distance <= window:
            beside = np.where(order == NONE, NONE, sides.memory.beside[order, step])
            np.maximum.at(scores, (rows, beside.ravel()), ranked.ravel() * (1 - STEP * distance))
    scores = scores[:, :-1]
    wide = np.argsort(-scores, axis=1, kind="stable")
    return np.where(np.take_along_axis(scores, wide, 1) > NEVER, wide, NONE)


def _matching(sides: Sides, pieces: Scores, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the piece of each message that matched best; the first where none did."""
    memory = sides.memory
    best = np.zeros(pieces.shape[:1] + memory.first.shape, dtype=np.intp)
    best[:] = memory.first
    most = np.maximum.reduceat(pieces, memory.first, axis=1)
    counts = np.diff(np.append(memory.first, len(memory.texts)))
    for at in np.flatnonzero(counts > 1):
        span = slice(memory.first[at], memory.first[at] + counts[at])
        is_found = most[:, at] > NEVER
        best[is_found, at] += pieces[is_found, span].argmax(1)
    return np.take_along_axis(best, np.maximum(order, 0), 1)
