"""Needle survival: facts said early in long sessions, asked for when the window has long been too small for them.

A session is played call by call through `prepare`; then the question is put as the newest message. A fact survives if
it stands word for word in what is sent: because it was kept, or because it was recalled. The peer is plain truncation,
oldest first, with the whole budget of the window. Each question is asked on its own copy of the store, so none helps
another. Two scenes, as in `cache_sim.py`:

- ``small window``: the whole session is played in a window it does not fit in.
- ``resumed``: the first third of the session was archived (a compaction took it away) and the rest is played in a
  window that never fills, so that no trim ever makes room for what the last question is about.

    python benches/python/needles.py --data FOLDER
    python benches/python/needles.py --data FOLDER --scene resumed --stride 4
    python benches/python/needles.py --data FOLDER --window 60000 --format openai --misses
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import sessions
from cache_sim import PLACEMENTS, RESERVE, UNLIMITED, aligned, is_start, rest, turning_point
from sessions import Assistant, Rendering, Results, User, Weights

import memctx

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers.recency import truncate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions import FormatName, Message, Script

FACTS = Path(__file__).with_name("facts.toml")
PLANTED = ("pi:before-compaction", "pi:large-session", sessions.CHAIN)
EARLY = 0.2
WAYS = ("lex", "para", "xling")
SEED = 11


@dataclass(frozen=True)
class Question:
    """A question, the fact that answers it, and the language and way in which it is asked."""

    fact: str
    text: str
    language: str
    way: str


@dataclass(frozen=True)
class Outcome:
    """Outcome of one question about a fact."""

    session: str
    question: Question
    is_kept: bool
    is_recalled: bool
    is_truncated_kept: bool
    recalled: int

    @property
    def is_found(self) -> bool:
        """True if the model sees the fact."""
        return self.is_kept or self.is_recalled


def hidden(folder: Path, session: str) -> tuple[Script, list[Question]]:
    """Return a session that contains facts throughout."""
    found = sessions.transcripts.needles(folder, session)
    questions = [
        Question(needle.fact, needle.question, *needle.kind.split("-")) for needle in found
    ]
    return sessions.load(folder, f"needles:{session}"), questions


def planted(folder: Path, name: str) -> tuple[Script, list[Question]]:
    """Return a session with our own facts in its first part; a short one is followed by a long one."""
    script = sessions.load(folder, name)
    facts = tomllib.loads(FACTS.read_text(encoding="utf-8"))["fact"]
    end = len(script) if name == sessions.CHAIN else int(len(script) * EARLY)
    chance = random.Random(SEED)  # noqa: S311 - the same places every time
    for fact in facts:
        script = _with(script, fact["fact"], fact["where"], chance.randrange(2, end - 8))
    if name == sessions.CHAIN:
        script += sessions.load(folder, "pi:large-session")
    questions = [
        Question(fact["fact"], fact[way], fact["language"], way)
        for fact in facts
        for way in WAYS
        if way in fact
    ]
    return script, questions


def _with(script: Script, fact: str, where: str, place: int) -> Script:
    """Return the script with the fact at the next suitable index."""
    steps = list(script)
    for at in range(place, len(steps)):
        step = steps[at]
        if where == "tool" and isinstance(step, Results):
            first = step.results[0]
            lines = first.text.splitlines()
            lines.insert(len(lines) // 2, fact)
            result = replace(first, text="\n".join(lines), origin=None)
            steps[at] = replace(step, results=(result, *step.results[1:]))
            return tuple(steps)
        if where != "tool" and isinstance(step, Assistant) and not step.is_aborted:
            if where == "user":  # who speaks while the model works
                steps.insert(at, User((fact,)))
            else:
                steps[at] = replace(step, texts=(fact, *step.texts), origin=None)
            return tuple(steps)
    raise LookupError(f"no place behind step {place} for {fact!r}")


def ask(
    name: str, script: Script, questions: Iterable[Question], options: argparse.Namespace
) -> list[Outcome]:
    """Play the session once and put every question at its end."""
    if not isinstance(script[-1], Assistant):
        script = (*script, Assistant(("Done.",)))
    message_format: FormatName = options.format
    rendering, weights = Rendering(script, message_format), Weights()
    is_resumed = options.scene == "resumed"
    start = turning_point(rendering) if is_resumed else 0
    window = UNLIMITED if is_resumed else options.window
    gone = rendering.prefix(start)
    whole = rendering.whole()[len(gone) :]
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        played = Path(folder, "played")
        with opened(played, window, options.placement) as memory:
            if gone:
                memory.archive(gone, format=message_format)
            for messages in rest(rendering, start, options.stride):
                memory.prepare(messages, format=message_format)
        for number, question in enumerate(questions):
            copy = shutil.copytree(played, Path(folder, str(number)))
            messages = [*whole, *Rendering((User((question.text,)),), message_format).whole()]
            with opened(copy, window, options.placement) as memory:
                sent = memory.prepare(messages, format=message_format).messages
            shutil.rmtree(copy)
            budget = window - RESERVE
            cut = truncate(messages, weights.tokens, budget, is_start)
            blocks = [text for message in sent for text in sessions.recalled_texts(message)]
            outcomes.append(
                Outcome(
                    name,
                    question,
                    is_kept=holds(_without_blocks(sent), question.fact),
                    is_recalled=any(question.fact in text for text in blocks),
                    is_truncated_kept=holds(cut, question.fact),
                    recalled=sum(memctx.estimate_tokens(text, "script") for text in blocks),
                )
            )
    return outcomes


def opened(path: Path, window: int, placement: str) -> memctx.Memory:
    """Open a memory with the defaults of a user, but for the window and where it puts what it recalls."""
    return memctx.open(
        path,
        session_id="needles",
        context_window=window,
        trim={"reply_reserve_tokens": RESERVE},
        placement=placement,
        disk={"durability": "os"},
    )


def holds(messages: Sequence[Message], fact: str) -> bool:
    """Return True if the fact stands in the messages word for word."""
    written = json.dumps(fact, ensure_ascii=False)[1:-1]
    # Some formats have JSON in JSON.
    twice = json.dumps(written, ensure_ascii=False)[1:-1]
    wire = json.dumps(messages, ensure_ascii=False)
    return written in wire or twice in wire


def _without_blocks(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if not sessions.recalled_texts(message)]


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return shares by session, by language and by way of asking."""
    head = ["", "questions", "memory", "kept", "recalled", "of what left", "oldest first"]
    lines = [head, _row("all", outcomes)]
    groups = {
        "session": lambda outcome: outcome.session,
        "language": lambda outcome: outcome.question.language,
        "way": lambda outcome: outcome.question.way,
        "both": lambda outcome: f"{outcome.question.language}-{outcome.question.way}",
    }
    for key in groups.values():
        names = Counter(map(key, outcomes))
        lines += [_row(name, [it for it in outcomes if key(it) == name]) for name in names]
    return aligned(lines)


def _row(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    count = len(outcomes)
    left = [outcome for outcome in outcomes if not outcome.is_kept]

    def share(part: int, whole: int = count) -> str:
        return f"{part / whole:.1%}" if whole else "-"

    return [
        name,
        str(count),
        share(sum(outcome.is_found for outcome in outcomes)),
        share(count - len(left)),
        share(sum(outcome.is_recalled and not outcome.is_kept for outcome in outcomes)),
        share(sum(outcome.is_recalled for outcome in left), len(left)),
        share(sum(outcome.is_truncated_kept for outcome in outcomes)),
    ]


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--window", type=int, default=44_000, help="tokens of the window; a tenth is for recall"
    )
    parser.add_argument("--scene", choices=("small window", "resumed"), default="small window")
    parser.add_argument("--placement", choices=PLACEMENTS, default="stable")
    parser.add_argument("--format", choices=sessions.FORMATS, default="anthropic")
    parser.add_argument("--stride", type=int, default=1, help="play every so many calls")
    parser.add_argument("--questions", type=int, help="at most so many of each session")
    parser.add_argument(
        "--misses", action="store_true", help="list the questions whose facts were not found"
    )
    sessions.add_folder(parser)
    return parser.parse_args(arguments)


def main() -> None:
    """Ask everything and print the table."""
    options = parsed()
    sets = {f"needles:{name}": hidden(options.data, name) for name in sessions.transcripts.PI}
    sets |= {f"planted in {name}": planted(options.data, name) for name in PLANTED}
    outcomes: list[Outcome] = []
    for name, (script, questions) in sets.items():
        outcomes += ask(name, script, questions[: options.questions], options)
        print(f"{name}: done", file=sys.stderr)
    where = f"window {options.window:,}" if options.scene == "small window" else "resumed"
    print(
        f"FormatName {options.format}, {where}, {options.placement}, every {options.stride}. call:\n"
    )
    print("\n".join(table(outcomes)))
    blocks = sorted(outcome.recalled for outcome in outcomes)
    print(f"\nTokens recalled: {blocks[len(blocks) // 2]:,} in the median, {blocks[-1]:,} at most")
    if options.misses:
        for outcome in (outcome for outcome in outcomes if not outcome.is_found):
            print(f"- {outcome.session}: {outcome.question.text} -> {outcome.question.fact}")


if __name__ == "__main__":
    main()
