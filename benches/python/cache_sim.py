"""Cost of memory with prompt caching: sessions sent call by call, each request priced.

A request is read from the cache as far as it equals the request before it, message by message and byte by byte; the
rest is written. Only input is priced. Two scenes:

- ``resumed``: the first third of a session was archived (a compaction took it away) and the rest is played in a window
  that never fills. Nothing is trimmed, so all that memory costs comes from where it puts what it recalls.
- ``small window``: the whole session is played in a window it does not fit in.

``no memory`` is the same session in an unlimited window without any edit: no request can be cheaper for the same
words. ``oldest first`` is what a host must do in the small window that has nothing better: cut the oldest messages
so that the rest just fits, on every call, or, ``in steps``, down to 0.8 of the window and then no more for a while.

    python benches/python/cache_sim.py --data FOLDER
    python benches/python/cache_sim.py --data FOLDER --session pi:large-session --window 60000 --format openai --gaps
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import sessions
from sessions import Rendering, Weights

import memctx

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers.recency import Recency

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sessions import FormatName, Message

PRICES = Path(__file__).with_name("prices.toml")
SESSIONS = ("pi:before-compaction", "pi:large-session", sessions.CHAIN)
PLACEMENTS = ("head", "tail", "stable")
RESERVE = 4_000
UNLIMITED = 10_000_000
NO_MEMORY, TRUNCATED = "no memory", "oldest first"


@dataclass(frozen=True)
class Price:
    """Prices of a provider, relative to its plain price of input."""

    name: str
    read: float
    write: float
    minimum: int
    minutes: float = float("inf")

    def of(self, request: Request) -> float:
        """Return the price of a request in plain tokens."""
        is_warm = request.gap <= self.minutes and request.shared >= self.minimum
        shared = request.shared if is_warm else 0
        fresh = self.write if request.tokens >= self.minimum else 1.0
        return shared * self.read + (request.tokens - shared) * fresh


@dataclass(frozen=True)
class Request:
    """Tokens of a request, those it shares with the one before, and the minutes that lie between."""

    tokens: int
    shared: int
    gap: float = 0.0


@dataclass
class Run:
    """One way of sending a session."""

    scene: str
    session: str
    way: str
    requests: list[Request] = field(default_factory=list)
    problems: int = 0
    breaks: int = 0
    """Requests that change what was sent before, rather than add to it."""
    trims: int = 0
    recalled: int = 0
    """Tokens of all recalled blocks, each counted when it is first sent."""
    errors: int = 0

    def cost(self, price: Price) -> float:
        """Return the price of all requests."""
        return sum(map(price.of, self.requests))


class Way(Protocol):
    """Transformation of a list of messages before it is sent."""

    def __call__(self, messages: list[Message], /) -> list[Message]:
        """Return the messages to send."""
        ...


class Simulator:
    """Sends a session in every way and records what each request shares with the one before."""

    def __init__(self, format: FormatName, fixed: int, *, has_gaps: bool = False) -> None:
        self._format, self._fixed, self._has_gaps = format, fixed, has_gaps
        self.weights = Weights()

    def play(self, run: Run, turns: Iterable[list[Message]], way: Way) -> Run:
        """Yield every request of a session."""
        known: set[str] = set()
        before: list[bytes] = []
        minute = None
        for messages in turns:
            sent = way(messages)
            wire = [self.weights.bytes(message) for message in sent]
            same = _in_common(before, wire)
            shared = sum(map(self.weights.tokens, sent[:same]))
            now = _minutes(messages)
            gap = now - minute if self._has_gaps and now is not None and minute is not None else 0.0
            total = self._fixed + self.weights.total(sent)
            # The first request finds nothing in the cache, not even what never changes.
            run.requests.append(Request(total, self._fixed + shared if before else 0, gap))
            run.breaks += same < len(before)
            run.problems += len(memctx.validate(sent, self._format))
            for text in (text for message in sent for text in sessions.recalled_texts(message)):
                if text not in known:
                    known.add(text)
                    run.recalled += memctx.estimate_tokens(text, "script")
            before, minute = wire, now
        return run


def _in_common(before: Sequence[bytes], after: Sequence[bytes]) -> int:
    """Return the number of leading messages that two requests share."""
    differing = (place for place, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    return next(differing, min(len(before), len(after)))


def rest(rendering: Rendering, start: int, stride: int) -> Iterator[list[Message]]:
    """Return the requests of a session from a step on, as if it had begun there."""
    skipped = len(rendering.prefix(start))
    lengths = (length for length in rendering.lengths(stride) if length > start)
    return (rendering.prefix(length)[skipped:] for length in lengths)


class Remembering:
    """Memory as a way of sending; its reports are added to the run."""

    def __init__(self, memory: memctx.Memory, format: FormatName, run: Run) -> None:
        self._memory, self._format, self._run = memory, format, run

    def __call__(self, messages: list[Message]) -> list[Message]:
        """Return the messages of `prepare`."""
        turn = self._memory.prepare(messages, format=self._format)
        self._run.trims += any(unit.is_new for unit in turn.report.trimmed)
        self._run.errors += len(turn.report.errors)
        return turn.messages


def _minutes(messages: Sequence[Message]) -> float | None:
    """Return the time of the newest message, where its format has one."""
    stamp = messages[-1].get("timestamp")
    return stamp / 60_000 if isinstance(stamp, int | float) else None


def is_start(message: Message) -> bool:
    """Return whether the kept messages may begin with this one: it holds no result of a removed call."""
    if "type" in message:  # an item, whose neighbors may be bound to it
        return message.get("role") == "user"
    if message.get("role") in {"tool", "toolResult"}:
        return False
    content = message.get("content") or message.get("parts") or ()
    blocks = () if isinstance(content, str) else content
    return not any(
        block.get("type") == "tool_result" or "functionResponse" in block or "toolResult" in block
        for block in blocks
    )


def simulate(options: argparse.Namespace) -> list[Run]:
    """Return all requested runs."""
    simulator = Simulator(options.format, options.fixed, has_gaps=options.gaps)
    runs = []
    for name in options.session:
        rendering = Rendering(sessions.load(options.data, name), options.format)
        third = turning_point(rendering)
        for scene, start, window in (
            ("resumed", third, UNLIMITED),
            ("small window", 0, options.window),
        ):
            if scene not in options.scene:
                continue
            turns = list(rest(rendering, start, options.stride))
            runs.append(simulator.play(Run(scene, name, NO_MEMORY), turns, list))
            if window < UNLIMITED:
                limit = window - RESERVE
                for way, share in ((TRUNCATED, 1.0), (f"{TRUNCATED}, in steps", 0.8)):
                    cut = Recency(simulator.weights.tokens, limit, is_start, share)
                    runs.append(simulator.play(Run(scene, name, way), turns, cut))
            for placement in options.placement:
                run = Run(scene, name, f"memory, {placement}")
                with (
                    tempfile.TemporaryDirectory() as folder,
                    _opened(folder, window, placement) as memory,
                ):
                    if start:
                        memory.archive(rendering.prefix(start), format=options.format)
                    runs.append(
                        simulator.play(run, turns, Remembering(memory, options.format, run))
                    )
                print(f"{scene}, {name}, {run.way}: done", file=sys.stderr)
    return runs


def _opened(folder: str, window: int, placement: str) -> memctx.Memory:
    return memctx.open(
        folder,
        session_id="simulated",
        context_window=window,
        trim={"reply_reserve_tokens": RESERVE},
        placement=placement,
        disk={"durability": "os"},
    )


def turning_point(rendering: Rendering) -> int:
    """Return the index of the first user message after a third of the session that is outside a tool call."""
    script = rendering.script
    return next(
        place
        for place in range(len(script) // 3, len(script))
        if isinstance(script[place], sessions.User)
        and isinstance(script[place - 1], sessions.Assistant | sessions.Results)
    )


def table(runs: Sequence[Run], prices: Sequence[Price]) -> list[str]:
    """Format the runs, each priced against the run of the same scene and session without memory."""
    head = ["scene", "session", "way", "turns", "problems", "trims", "breaks", "recalled", "sent"]
    lines = [[*head, *(price.name for price in prices)]]
    for run in runs:
        base = _base(runs, run, NO_MEMORY)
        facts = [len(run.requests), run.problems, run.trims, run.breaks, run.recalled]
        sent = f"{sum(request.tokens for request in run.requests) / 1e6:.1f} M"
        ratios = [f"{run.cost(price) / base.cost(price):.2f}x" for price in prices]
        lines.append([run.scene, run.session, run.way, *map(str, facts), sent, *ratios])
    return aligned(lines)


def against_truncation(runs: Sequence[Run], prices: Sequence[Price]) -> list[str]:
    """Format the runs in the small window, priced against plain truncation to the same budget."""
    lines = [["session", "way", *(price.name for price in prices)]]
    for run in runs:
        if run.scene != "resumed" and run.way != NO_MEMORY:
            base = _base(runs, run, TRUNCATED)
            ratios = [f"{run.cost(price) / base.cost(price):.2f}x" for price in prices]
            lines.append([run.session, run.way, *ratios])
    return aligned(lines)


def _base(runs: Sequence[Run], run: Run, way: str) -> Run:
    key = (run.scene, run.session, way)
    return next(other for other in runs if (other.scene, other.session, other.way) == key)


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Format cells in Markdown that also line up as plain text."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [*lines[:1], ["-" * width for width in widths], *lines[1:]]
    return ["| " + " | ".join(map(str.ljust, cells, widths)) + " |" for cells in rows]


def load_prices(path: Path = PRICES) -> list[Price]:
    """Return the prices of the providers."""
    return [Price(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["price"]]


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    sessions.add_folder(parser)
    parser.add_argument("--session", action="append", help="sessions to play (all)")
    parser.add_argument("--scene", action="append", choices=("resumed", "small window"))
    parser.add_argument("--placement", action="append", choices=PLACEMENTS)
    parser.add_argument("--format", choices=sessions.FORMATS, default="anthropic")
    parser.add_argument("--window", type=int, default=100_000, help="tokens of the small window")
    parser.add_argument(
        "--fixed", type=int, default=20_000, help="tokens of system prompt and tools"
    )
    parser.add_argument("--stride", type=int, default=1, help="play every so many calls")
    parser.add_argument(
        "--gaps", action="store_true", help="caches expire as the session's clock says (format pi)"
    )
    parser.add_argument("--json", type=Path, help="also write all requests to a file")
    options = parser.parse_args(arguments)
    options.session = options.session or list(SESSIONS)
    options.scene = options.scene or ["resumed", "small window"]
    options.placement = options.placement or list(PLACEMENTS)
    return options


def main() -> None:
    """Run the simulation and print its tables."""
    options = parsed()
    prices = load_prices(PRICES)
    runs = simulate(options)
    print(
        f"FormatName {options.format}, {options.fixed:,} tokens of system prompt and tools, window {options.window:,},"
        f" every {options.stride}. call; cost of input relative to `{NO_MEMORY}` of the same scene:\n"
    )
    print("\n".join(table(runs, prices)))
    if "small window" in options.scene:
        print(f"\nThe small window, relative to `{TRUNCATED}` on the same budget:\n")
        print("\n".join(against_truncation(runs, prices)))
    if errors := sum(run.errors for run in runs):
        print(f"\n{errors} errors were reported.")
    if options.json:
        options.json.write_text(json.dumps([asdict(run) for run in runs]), encoding="utf-8")


if __name__ == "__main__":
    main()
