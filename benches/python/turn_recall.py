"""Recall through the turn: what the model sees of the evidence when a conversation has outgrown its window.

A conversation is played call by call through `prepare`; then every question is put as the newest message, each to its
own copy of the store. Evidence is *found* if the request holds it, in a message that was kept or in a recalled block.

    python benches/python/turn_recall.py FOLDER
    python benches/python/turn_recall.py FOLDER --sets locomo,needles_dev --windows 40000 --ways stable,tail

`make turn-recall DATA=FOLDER` is the first of these. Ways of sending a conversation:

- `stable` and `tail` are placements of `prepare`; `off` is `prepare` without recall, which must find what is kept only.
- `truncation` cuts the oldest messages.
- `search` fills 4,000 tokens with what `Memory.search` returns when everything is archived; `ceiling` takes all hundred
  results.
- `one-shot` gives a new memory the whole history at once; for `one-shot tail` everything was archived before.

Columns: *found*, with its standard error; *left*, the share of evidence that is in no kept message, and of it
*recalled*; *block*, tokens of the blocks that the question brought, and *evidence*, the share of their passages that
are evidence; *same*, *other* and *talk*, the share of turns in which a question of another conversation of the set, of
another set, or small talk and arithmetic brings a block; *cost* of all calls relative to the same session without
memory in an unlimited window, and *cost/cut* relative to truncation; *ms*, the median time of a call.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sessions
from cache_sim import RESERVE, Run, Simulator, aligned, is_start, load_prices
from turn_sets import ARITHMETIC, SETS, SMALL_TALK, Conversation, Library, Question, asked

import memctx

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers.recency import Recency, truncate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessions import Message

    from memctx.config.arguments import TrimArguments

WINDOWS = (8_000, 16_000, 40_000, 200_000)
PLAYED = ("stable", "tail", "off")
WAYS = (*PLAYED, "truncation", "search", "ceiling", "one-shot", "one-shot tail")
SESSION = "turn recall"
SEARCH_TOKENS = 4_000
RESULTS = 100
FIXED = 20_000
# A conversation is at least this many windows long.
LENGTH = 1.5
# Characters of a passage that are enough to recognize the message it is from.
RECOGNIZED = 40
ENTRY = re.compile(r"^\[[^\]\n]{4,80}\] ", re.MULTILINE)
TAGS = re.compile(r"</?(?:recalled-context|detail|knowledge)[^>\n]*>")


@dataclass
class Figures:
    """Outcome of one way over the conversations of a set in one window."""

    set: str
    window: int
    way: str
    found: list[float] = field(default_factory=list[float])
    left: list[float] = field(default_factory=list[float])
    """Share of each question's evidence that is in no kept message."""
    recalled: list[float] = field(default_factory=list[float])
    """Share that was recalled of the evidence that had left, for questions of which any had."""
    tokens: list[int] = field(default_factory=list[int])
    evidence: list[float] = field(default_factory=list[float])
    same: list[bool] = field(default_factory=list[bool])
    other: list[bool] = field(default_factory=list[bool])
    talk: list[bool] = field(default_factory=list[bool])
    cost: list[float] = field(default_factory=list[float])
    cost_of_cut: list[float] = field(default_factory=list[float])
    milliseconds: list[float] = field(default_factory=list[float])
    trims: list[int] = field(default_factory=list[int])
    breaks: list[int] = field(default_factory=list[int])
    """Requests of each conversation that change what was sent before."""
    errors: int = 0

    def add(self, other: Figures) -> None:
        """Add the figures of another conversation."""
        for name, value in asdict(other).items():
            if isinstance(value, list):
                getattr(self, name).extend(value)
        self.errors += other.errors


def normalized(text: str) -> str:
    """Return a text without what a block or a format adds to it: escapes and the width of blanks."""
    return " ".join(text.replace("\\", "").split())


def entries(block: str) -> list[str]:
    """Return the passages of a recalled block."""
    return [normalized(part).strip("… ") for part in ENTRY.split(TAGS.sub("", block))[1:]]


def is_of(passage: str, gold: str) -> bool:
    """Return whether a passage holds a message or a recognizable part of it."""
    if gold in passage:
        return True
    parts = [part.strip() for part in passage.split("…")]
    return any(part in gold for part in parts if len(part) >= min(RECOGNIZED, len(gold)))


def blocks_of(messages: Sequence[Message]) -> list[str]:
    """Return the recalled blocks in a request."""
    return [text for message in messages for text in sessions.recalled_texts(message)]


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a message, recalled blocks aside."""
    if isinstance(value, str):
        if not sessions.recalled_texts(value):
            yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)


class Judge:
    """Decides what of a question's evidence a request holds."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._kept: dict[int, tuple[Message, str]] = {}

    def score(self, question: Question, sent: Sequence[Message], before: Sequence[str]) -> None:
        """Add a question; ``before`` holds the blocks that earlier turns brought."""
        kept = "\n".join(map(self._text, sent))
        blocks = blocks_of(sent)
        passages = [passage for block in blocks for passage in entries(block)]
        golds = [normalized(gold) for gold in question.gold]
        gone = [gold for gold in golds if gold not in kept]
        back = [gold for gold in gone if any(is_of(passage, gold) for passage in passages)]
        self.count(golds, gone, back)
        new = [block for block in blocks if block not in before]
        self.weigh(golds, new)

    def count(self, golds: Sequence[str], gone: Sequence[str], back: Sequence[str]) -> None:
        """Add the numbers of a question's evidence: all, what left, and what of that came back."""
        figures = self._figures
        figures.found.append(1 - (len(gone) - len(back)) / len(golds))
        figures.left.append(len(gone) / len(golds))
        if gone:
            figures.recalled.append(len(back) / len(gone))

    def weigh(self, golds: Sequence[str], blocks: Sequence[str]) -> None:
        """Add the size of what a question brought, and the share of it that is evidence."""
        figures = self._figures
        figures.tokens.append(sum(memctx.estimate_tokens(block, "script") for block in blocks))
        passages = [passage for block in blocks for passage in entries(block)]
        if passages:
            right = sum(any(is_of(passage, gold) for gold in golds) for passage in passages)
            figures.evidence.append(right / len(passages))

    def _text(self, message: Message) -> str:
        known = self._kept.get(id(message))
        if known is None:
            known = (message, normalized("\n".join(texts_of(message))))
            self._kept[id(message)] = known
        return known[1]


def opened(
    path: Path, window: int, way: str, model: str, depth: float | None = None
) -> memctx.Memory:
    """Open a memory with the defaults of a user, but for the window, the way, the model and the depth of trims."""
    placement = "tail" if way.endswith("tail") else "stable"
    trim: TrimArguments = {"reply_reserve_tokens": min(RESERVE, window // 4)}
    if depth is not None:
        trim["to"] = depth
    return memctx.open(
        path,
        session_id=SESSION,
        context_window=window,
        trim=trim,
        placement=placement,
        auto_recall=way != "off",
        embedding_model=model,
        disk={"durability": "os"},
    )


class Player:
    """Plays one conversation in one window and asks its questions."""

    def __init__(
        self,
        conversation: Conversation,
        window: int,
        folder: Path,
        model: str,
        depth: float | None = None,
    ) -> None:
        self.conversation, self.window, self.folder = conversation, window, folder
        self.model, self.depth = model, depth
        self.whole = conversation.rendering.whole()
        self.limit = window - min(RESERVE, window // 4)
        self._simulator = Simulator("openai", FIXED)
        self._price = load_prices()[0]

    def figures(self, way: str) -> Figures:
        """Return what became of all questions."""
        figures = Figures(self.conversation.set, self.window, way)
        if way in PLAYED:
            self._play(way, figures)
        elif way == "truncation":
            judge = Judge(figures)
            for question in self.conversation.questions:
                messages = [*self.whole, *asked(question.text)]
                cut = truncate(messages, self._simulator.weights.tokens, self.limit, is_start)
                judge.score(question, cut, ())
        elif way in {"search", "ceiling"}:
            self._search(way, figures)
        else:
            self._ask_at_once(way, figures)
        return figures

    def _play(self, way: str, figures: Figures) -> None:
        name = self.conversation.name
        turns = list(self.conversation.rendering.turns())
        played = self.folder / way.replace(" ", "-")
        trims = 0
        with opened(played, self.window, way, self.model, self.depth) as memory:

            def send(messages: list[Message]) -> list[Message]:
                nonlocal trims
                start = time.perf_counter()
                turn = memory.prepare(messages, format="openai")
                figures.milliseconds.append((time.perf_counter() - start) * 1000)
                trims += any(unit.is_new for unit in turn.report.trimmed)
                figures.errors += len(turn.report.errors)
                # A model's reply takes longer than the vectors of what was said.
                memory.reembed()
                return turn.messages

            run = self._simulator.play(Run("", name, way), turns, send)
            before = blocks_of(memory.prepare(self.whole, format="openai").messages)
        cost = run.cost(self._price)
        base = self._simulator.play(Run("", name, "no memory"), turns, list)
        recency = Recency(self._simulator.weights.tokens, self.limit, is_start)
        cut = self._simulator.play(Run("", name, "truncation"), turns, recency)
        figures.cost.append(cost / base.cost(self._price))
        figures.cost_of_cut.append(cost / cut.cost(self._price))
        figures.trims.append(trims)
        figures.breaks.append(run.breaks)
        judge = Judge(figures)
        for question in self.conversation.questions:
            judge.score(question, self._ask(played, way, question.text).messages, before)
        if way == "off" or self.depth is not None:
            return
        for text in self.conversation.same_subject:
            figures.same.append(self._brings_a_block(played, way, text, before))
        for text in self.conversation.other_subject:
            figures.other.append(self._brings_a_block(played, way, text, before))
        for text in (*SMALL_TALK, *ARITHMETIC):
            figures.talk.append(self._brings_a_block(played, way, text, before))

    def _brings_a_block(self, played: Path, way: str, text: str, before: Sequence[str]) -> bool:
        sent = self._ask(played, way, text).messages
        return any(block not in before for block in blocks_of(sent))

    def _ask(self, played: Path, way: str, text: str) -> memctx.Turn:
        copy = Path(shutil.copytree(played, self.folder / "copy"))
        with opened(copy, self.window, way, self.model, self.depth) as memory:
            turn = memory.prepare([*self.whole, *asked(text)], format="openai")
        shutil.rmtree(copy)
        return turn

    def _search(self, way: str, figures: Figures) -> None:
        with opened(self.folder / way, self.window, "stable", self.model) as memory:
            memory.archive(self.whole, format="openai")
            memory.reembed()
            judge = Judge(figures)
            for question in self.conversation.questions:
                golds = [normalized(gold) for gold in question.gold]
                passages, room = [], SEARCH_TOKENS if way == "search" else sys.maxsize
                for hit in memory.search(question.text, limit=RESULTS):
                    room -= memctx.estimate_tokens(hit.segment.content, "script")
                    if room >= 0:
                        passages.append(normalized(hit.segment.content))
                back = [gold for gold in golds if any(is_of(text, gold) for text in passages)]
                judge.count(golds, golds, back)

    def _ask_at_once(self, way: str, figures: Figures) -> None:
        judge = Judge(figures)
        filled = self.folder / "filled"
        with opened(filled, self.window, way, self.model) as memory:
            if way == "one-shot tail":
                memory.archive(self.whole, format="openai")
                memory.reembed()
        for question in self.conversation.questions:
            start = time.perf_counter()
            turn = self._ask(filled, way, question.text)
            figures.milliseconds.append((time.perf_counter() - start) * 1000)
            figures.errors += len(turn.report.errors)
            judge.score(question, turn.messages, ())
        shutil.rmtree(filled)


@dataclass(frozen=True)
class Job:
    """One conversation of a set, to be sent in one way."""

    folder: Path
    set: str
    number: int
    window: int
    way: str
    questions: int
    model: str
    depth: float | None = None
    """Share of the limit that a trim goes down to, instead of the default; then only the questions are asked."""

    def run(self) -> Figures:
        """Return the figures of the conversation."""
        found = Library(self.folder).conversations(
            self.set, int(LENGTH * self.window), most=self.number + 1, questions=self.questions
        )
        *_, conversation = found
        with tempfile.TemporaryDirectory() as scratch:
            player = Player(conversation, self.window, Path(scratch), self.model, self.depth)
            return player.figures(self.way)


def mean(values: Sequence[float], digits: int = 1) -> str:
    """Format a mean as a percentage."""
    return f"{100 * statistics.fmean(values):.{digits}f}" if values else "-"


def error(values: Sequence[float]) -> str:
    """Format the standard error of a mean as a percentage."""
    if len(values) < 2:
        return "-"
    return f"{100 * statistics.stdev(values) / len(values) ** 0.5:.1f}"


def row(figures: Figures) -> list[str]:
    """Return the cells of one line of the table."""
    return [
        figures.set,
        f"{figures.window // 1000}k",
        figures.way,
        str(len(figures.found)),
        f"{mean(figures.found)} ± {error(figures.found)}",
        mean(figures.left, 0),
        mean(figures.recalled),
        f"{statistics.fmean(figures.tokens):.0f}" if figures.tokens else "-",
        mean(figures.evidence, 0),
        mean([float(value) for value in figures.same], 0),
        mean([float(value) for value in figures.other], 0),
        mean([float(value) for value in figures.talk], 0),
        f"{statistics.fmean(figures.cost):.2f}x" if figures.cost else "-",
        f"{statistics.fmean(figures.cost_of_cut):.2f}x" if figures.cost_of_cut else "-",
        f"{statistics.median(figures.milliseconds):.1f}" if figures.milliseconds else "-",
        str(figures.errors or ""),
    ]


HEAD = (
    *("set", "window", "way", "questions", "found", "left", "recalled", "block", "evidence"),
    *("same", "other", "talk", "cost", "cost/cut", "ms", "errors"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Play everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--windows", default=",".join(map(str, WINDOWS)))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--conversations", type=int, default=4, help="at most so many of a set")
    parser.add_argument("--questions", type=int, default=25, help="at most so many of each")
    parser.add_argument("--model", default="auto", help="the setting `embedding_model`")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write every figure to a file")
    given = parser.parse_args(arguments)
    library = Library(given.data)
    total: dict[tuple[str, int, str], Figures] = {}
    with ProcessPoolExecutor(given.processes) as pool:
        jobs = [
            pool.submit(
                Job(given.data, name, number, window, way, given.questions, given.model).run
            )
            for name in given.sets.split(",")
            for window in map(int, given.windows.split(","))
            for way in given.ways.split(",")
            for number in range(library.count(name, given.conversations))
        ]
        for job in jobs:
            figures = job.result()
            key = (figures.set, figures.window, figures.way)
            total.setdefault(key, Figures(*key)).add(figures)
            print(f"{key} done", file=sys.stderr)
    print("\n".join(aligned([HEAD, *map(row, total.values())])))
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in total.values()]))


if __name__ == "__main__":
    main()
