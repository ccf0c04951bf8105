"""Long session: what a question late in 1,000 turns without a pause gets, beside what an early one gets.

A person and an agent work on; the host compacts five times, each time replacing its old messages by a summary that
says nothing of what was in them. Every fourth turn asks for a fact that is not in the host's messages any more: said
in an earlier session, or in this one before a compaction. The same turns are sent with each placement and with memory
that only archives, whose misses are all silent by its settings.

Printed for each quarter of the session: the share of questions whose answer is in what is sent, misses that no line of
the report tells of, tokens in blocks, breaks of the prompt cache, and the cost of the input beside that without memory.

    python benches/python/long_session.py
    python benches/python/long_session.py --ways stable --turns 400 --min-score 0.01
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from cache_sim import Run, Simulator, aligned, load_prices
from needles import holds

import memctx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessions import Message

WAYS = ("stable", "tail", "off")
WINDOW, FIXED = 200_000, 20_000
QUARTERS = 4
SEED = 17
# Of so many turns one asks, and one states a fact.
ASKED, STATED = 4, 6
# Facts said in an earlier session, and messages that a compaction keeps.
EARLIER, KEPT = 130, 20
# Words of a reply, from and to.
WORDS = (100, 500)
SUBJECTS = (
    "billing invoice webhook ledger refund quota audit export import search catalog pricing shipping "
    "returns coupon session login mailer scheduler backup metrics tracing gateway proxy cache queue "
    "worker parser renderer uploader notifier translator ranking inventory checkout payment address "
    "profile review wishlist"
).split()
PROPERTIES = ("port", "timeout", "owner", "region", "bucket", "branch", "table", "retry limit")
VERBS = (
    "refactor inspect rename document simplify split measure cover mock extract inline index"
).split()
PARTS = (
    "adapter buffer channel digest encoder factory handler iterator journal kernel layout"
).split()
SUMMARY = (
    "## Summary of the conversation so far\nWork on the services goes on; see the last messages."
)


@dataclass(frozen=True)
class Fact:
    """A fact, and the question that asks for it."""

    statement: str
    question: str
    value: str


@dataclass(frozen=True)
class Turn:
    """The host's messages before a call of the model, and the fact that the newest asks for."""

    messages: list[Message]
    asked: Fact | None


@dataclass
class Quarter:
    """Outcome of a quarter of the session."""

    asked: int = 0
    sent: int = 0
    silent: int = 0
    """Misses that no line of the report tells of."""
    tokens: list[int] = field(default_factory=list[int])
    milliseconds: list[float] = field(default_factory=list[float])


def facts() -> list[Fact]:
    """Return all facts in random order, no two of the same value."""
    chance = random.Random(SEED)
    pairs = list(product(SUBJECTS, PROPERTIES))
    chance.shuffle(pairs)
    values = chance.sample(range(10_000, 99_999), len(pairs))
    return [
        Fact(
            f"The {what} of the {which} service is {what[:3]}-{value}.",
            f"What is the {what} of the {which} service?",
            f"{what[:3]}-{value}",
        )
        for (which, what), value in zip(pairs, values, strict=True)
    ]


def said(role: str, text: str) -> Message:
    """Return a message."""
    return {"role": role, "content": text}


class Host:
    """A host that goes on with its list of messages, and compacts it."""

    def __init__(self, turns: int, compactions: int) -> None:
        self._turns, self._every = turns, turns // (compactions + 1)
        self._chance = random.Random(SEED)
        self._facts = facts()
        self._gone = [self._facts.pop() for _ in range(EARLIER)]
        self._visible: list[Fact] = []

    def earlier(self) -> list[Message]:
        """Return the earlier session."""
        pairs = ((said("user", fact.statement), self._reply()) for fact in self._gone)
        return [message for pair in pairs for message in pair]

    def turns(self) -> Iterator[Turn]:
        """Yield the turns of the session."""
        messages: list[Message] = []
        for number in range(1, self._turns + 1):
            if number % self._every == 0 and number < self._turns:
                messages = [said("user", SUMMARY), *messages[-KEPT:]]
                texts = [message["content"] for message in messages]
                gone = [fact for fact in self._visible if fact.statement not in texts]
                self._gone += gone
                self._visible = [fact for fact in self._visible if fact not in gone]
            asked = None
            if number % ASKED == 0:
                asked = self._gone.pop(self._chance.randrange(len(self._gone)))
                text = asked.question
            elif number % STATED == 1:
                self._visible.append(self._facts.pop())
                text = self._visible[-1].statement
            else:
                text = f"Please {self._word(VERBS)} the {self._word(PARTS)} of the {self._word(SUBJECTS)} service."
            messages.append(said("user", text))
            yield Turn(list(messages), asked)
            messages.append(self._reply())

    def _reply(self) -> Message:
        words = (self._word((*PARTS, *VERBS)) for _ in range(self._chance.randint(*WORDS)))
        return said("assistant", f"Done: {' '.join(words)}.")

    def _word(self, words: Sequence[str]) -> str:
        return self._chance.choice(words)


def play(way: str, options: argparse.Namespace) -> tuple[Run, list[Quarter]]:
    """Send the session in one way."""
    host = Host(options.turns, options.compactions)
    quarters = [Quarter() for _ in range(QUARTERS)]
    given: list[Turn] = []
    run = Run("", "", way)
    settings: dict[str, Any] = {"auto_recall": False} if way == "off" else {"placement": way}
    if options.min_score is not None:
        settings["recall"] = {"min_score": options.min_score}
    with (
        tempfile.TemporaryDirectory() as folder,
        memctx.open(
            folder,
            session_id="long",
            context_window=options.window,
            disk={"durability": "os"},
            **settings,
        ) as memory,
    ):
        memory.archive(host.earlier(), format="openai")

        def requests() -> Iterator[list[Message]]:
            for turn in host.turns():
                given.append(turn)
                yield turn.messages

        def send(messages: list[Message]) -> list[Message]:
            memory.reembed()  # a model's reply takes longer than the vectors of what was said
            turn = memory.prepare(messages, format="openai")
            judge(given[-1], turn, quarters[(len(given) - 1) * QUARTERS // options.turns])
            run.errors += len(turn.report.errors)
            return turn.messages

        Simulator("openai", FIXED).play(run, requests(), send)
    return run, quarters


def judge(given: Turn, turn: memctx.Turn, quarter: Quarter) -> None:
    """Add a turn to its quarter."""
    report = turn.report
    quarter.tokens.append(report.tokens.recalled)
    quarter.milliseconds.append(sum(report.milliseconds.values()))
    if given.asked is None:
        return
    quarter.asked += 1
    if holds(turn.messages[:-1], given.asked.value):
        quarter.sent += 1
    elif not (report.left_out or report.warnings or report.degraded):
        quarter.silent += 1


def rows(run: Run, quarters: Sequence[Quarter], base: Run) -> Iterator[list[str]]:
    """Yield a line for each quarter of a run, and one for all of it."""
    price = load_prices()[0]
    total = Quarter()
    size = len(run.requests) / QUARTERS
    for number, quarter in enumerate(quarters):
        part = slice(round(number * size), round((number + 1) * size))
        cost = sum(map(price.of, run.requests[part])) / sum(map(price.of, base.requests[part]))
        yield [run.way, f"{number + 1}", *_cells(quarter), "", f"{cost:.2f}x"]
        for name in ("asked", "sent", "silent", "tokens", "milliseconds"):
            setattr(total, name, getattr(total, name) + getattr(quarter, name))
    cost = run.cost(price) / base.cost(price)
    yield [run.way, "all", *_cells(total), str(run.breaks), f"{cost:.2f}x"]


def _cells(quarter: Quarter) -> list[str]:
    return [
        str(quarter.asked),
        f"{quarter.sent / quarter.asked:.1%}",
        str(quarter.silent),
        f"{statistics.fmean(quarter.tokens):,.0f}",
        f"{statistics.median(quarter.milliseconds):.1f}",
    ]


def main() -> None:
    """Play the session and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--compactions", type=int, default=5)
    parser.add_argument("--window", type=int, default=WINDOW)
    parser.add_argument("--min-score", type=float, help="the setting `recall.min_score`")
    options = parser.parse_args()
    host = Host(options.turns, options.compactions)
    host.earlier()
    base = Simulator("openai", FIXED).play(
        Run("", "", "no memory"), (turn.messages for turn in host.turns()), list
    )
    lines = [["way", "quarter", "asked", "answer sent", "silent", "tokens", "ms", "breaks", "cost"]]
    for way in options.ways.split(","):
        run, quarters = play(way, options)
        lines += rows(run, quarters, base)
        print(f"{way}: done, {run.errors} errors", file=sys.stderr)
    print(
        f"{options.turns:,} turns, {options.compactions} compactions, window {options.window:,}:\n"
    )
    print("\n".join(aligned(lines)))


if __name__ == "__main__":
    main()
