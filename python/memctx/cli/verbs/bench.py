"""The verb `bench`: speed of memory on this machine, and the profile of a trim, measured in a scratch store."""

from __future__ import annotations

import cProfile
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.cli.formatting import Table
from memctx.cli.verbs.outcome import Outcome
from memctx.cli.verbs.table import MIN_BENCH_MESSAGES
from memctx.config import Config, DiskSettings
from memctx.errors import ConfigError
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memctx.cli.verbs.shell import ShellRequest

BATCH = 100
QUERIES = 50
TURN_MESSAGES = 200
SUBJECTS = ("webhook", "ledger", "refund", "invoice", "currency", "audit", "deploy", "quota")
PREDICATES = ("listens on port", "retries after", "rounds to", "is limited to", "was moved to")

PROFILE_SESSION = "memctx-bench"
ROUNDS = 5
PROFILE_BATCH = 500
CONVERSATION_LENGTH = 600
"""Messages of the conversation that is trimmed."""
WINDOW_SHARE = 3
"""Ratio of the conversation's tokens to its window."""

# The core functions that each step calls; everything else in a turn is Python.
STEPS = {
    "read": ("'read' of", "'find' of", "'occurrence' of", "'query' of", "_core.problems"),
    "prune": ("_core.plan_prune", "'with_results' of"),
    "trim": ("_core.plan_trim", "'of' of 'memctx._core.Replay'"),
    "search": ("'search' of 'memctx._core.Store'", "'search' of 'memctx._core.FactStore'"),
    "place": ("_core.build_block", "_core.visible", "_core.is_block", "_core.estimate_tokens"),
    "hand over to the archive": ("_queue.SimpleQueue", "'acquire' of '_thread.lock'"),
}
REST = "assemble and report, in Python"


def run_bench(
    request: ShellRequest,
    *,
    messages: int | None = None,
    is_profile: bool = False,
    profiled_store: Path | None = None,
) -> Outcome:
    """Measure archiving, search and turns; or profile a trim, of a copy of a store if one is given."""
    if profiled_store is not None and not is_profile:
        raise ConfigError("--store is for --trim")
    count = messages or (20_000 if is_profile else 5_000)
    with request.progress("Archiving", count) as advance:
        if is_profile:
            return profile_trim(count, store=profiled_store, on_progress=advance)
        return bench(count, on_progress=advance)


def bench(count: int = 5_000, *, on_progress: Callable[[int, int], None] | None = None) -> Outcome:
    """Archive ``count`` messages, search them, prepare turns, and reopen the store."""
    if count < MIN_BENCH_MESSAGES:
        raise ConfigError(f"count is {count}; expected at least {MIN_BENCH_MESSAGES}")
    said = [make_message(number) for number in range(count)]
    with tempfile.TemporaryDirectory(prefix="memctx-bench-") as folder:
        config = Config(storage_path=folder, context_window=32_000, knowledge_extraction=False)
        with Memory(config, session_id="bench") as memory:
            start = time.perf_counter()
            for at in range(0, count, BATCH):
                memory.archive(said[at : at + BATCH])
                if on_progress is not None:
                    on_progress(min(at + BATCH, count), count)
            archived = count / (time.perf_counter() - start)
            searches = _measure(
                memory.search,
                (
                    f"{SUBJECTS[n % len(SUBJECTS)]} {PREDICATES[n % len(PREDICATES)]} {n * 7}"
                    for n in range(QUERIES)
                ),
            )
            talk = said[:TURN_MESSAGES]
            turns = _measure(
                lambda n: memory.prepare(talk[: TURN_MESSAGES - QUERIES + n]), range(1, QUERIES + 1)
            )
            size = memory.stats()["log_bytes"]
        start = time.perf_counter()
        with Memory(config, session_id="bench") as memory:
            memory.search("webhook")
            opened = (time.perf_counter() - start) * 1000
    data: dict[str, Any] = {
        "messages": count,
        "archived_per_second": archived,
        "bytes_per_message": size / count,
        "search_ms": _summarize(searches),
        "prepare_ms": _summarize(turns),
        "open_and_search_ms": opened,
    }
    rows = (
        ("archive, durable, in batches of 100", f"{archived:,.0f} messages/s"),
        (f"search in {count:,} messages, median", f"{data['search_ms']['median']:.2f} ms"),
        (f"search in {count:,} messages, 95 of 100", f"{data['search_ms']['p95']:.2f} ms"),
        ("prepare a turn of 151 to 200 messages, median", f"{data['prepare_ms']['median']:.2f} ms"),
        ("prepare a turn of 151 to 200 messages, 95 of 100", f"{data['prepare_ms']['p95']:.2f} ms"),
        ("open the store and search it", f"{opened:.1f} ms"),
        ("disk", f"{size / count:,.0f} bytes/message"),
    )
    return Outcome(data, (Table(("what", "measured"), rows, right=("measured",)),))


def profile_trim(
    count: int = 20_000,
    *,
    store: Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Profile turns that trim and turns that follow them, over a copy of ``store`` or ``count`` made-up segments.

    Raises:
        ConfigError: the number is too small, or the store has too little in it.
    """
    if count < MIN_BENCH_MESSAGES:
        raise ConfigError(f"count is {count}; expected at least {MIN_BENCH_MESSAGES}")
    with tempfile.TemporaryDirectory(prefix="memctx-bench-") as folder:
        path = Path(folder, "store")
        if store is None:
            _fill(path, count, on_progress)
        else:
            # Turns archive messages, which must not end up in the measured store.
            shutil.copytree(store, path, ignore=shutil.ignore_patterns("LOCK", "*.tmp"))
        return _profile_turns(path)


def make_message(number: int) -> dict[str, str]:
    """Return a synthetic message."""
    thing, deed = SUBJECTS[number % len(SUBJECTS)], PREDICATES[number // 3 % len(PREDICATES)]
    role = "assistant" if number % 2 else "user"
    words = f"Step {number}: the {thing} of service {number % 97} {deed} {number * 7 % 9973}."
    return {"role": role, "content": f"{words} We look at module_{number % 31}.py next."}


def _measure(call: Callable[[Any], object], arguments: Iterable[Any]) -> list[float]:
    """Return the milliseconds of each call."""
    taken: list[float] = []
    for argument in arguments:
        start = time.perf_counter()
        call(argument)
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def _summarize(taken: list[float]) -> dict[str, float]:
    return {"median": median(taken), "p95": quantiles(taken, n=20)[-1], "worst": max(taken)}


def _fill(path: Path, count: int, on_progress: Callable[[int, int], None] | None) -> None:
    config = _config(path)
    with Memory(config, session_id=PROFILE_SESSION) as memory:
        for at in range(0, count, PROFILE_BATCH):
            memory.archive(
                [make_message(number) for number in range(at, min(at + PROFILE_BATCH, count))]
            )
            if on_progress is not None:
                on_progress(min(at + PROFILE_BATCH, count), count)


def _config(path: Path, window: int | None = None) -> Config:
    return Config(
        storage_path=path,
        context_window=window,
        knowledge_extraction=False,
        disk=DiskSettings(durability="os", eviction_days=0.0, max_segments=10**9),
        cross_session=True,
    )


def _profile_turns(path: Path) -> Outcome:
    talk = _read_conversation(path)
    tokens = sum(_core.estimate_tokens(each["content"], "script") for each in talk)
    trims: list[dict[str, float]] = []
    followers: list[dict[str, float]] = []
    with Memory(
        _config(path, max(tokens // WINDOW_SHARE, 1_000)), session_id=PROFILE_SESSION
    ) as memory:
        segments = memory.stats()["segments"]
        memory.prepare(_vary(talk, ROUNDS))
        for number in range(ROUNDS):
            said = _vary(talk, number)
            # The archive of the turn before is not this one's.
            memory.stats()
            steps, is_trimmed = _profile_turn(memory, said)
            if not is_trimmed:
                raise ConfigError(f"{path}: the store is too small for a trim")
            trims.append(steps)
            memory.stats()
            said += [{"role": "assistant", "content": "Done."}, make_message(number + 7)]
            followers.append(_profile_turn(memory, said)[0])
    data = {
        "segments": segments,
        "messages": len(talk),
        "window": max(tokens // WINDOW_SHARE, 1_000),
        "trim_ms": _medians(trims),
        "next_ms": _medians(followers),
    }
    return Outcome(data, (_heading(data), _table(data)))


def _read_conversation(path: Path) -> list[dict[str, str]]:
    """Return a conversation of the store's newest messages, so that its texts resemble those that are searched."""
    newest: list[dict[str, str]] = []
    for segment in _core.LogReader(path).scan():
        newest.append({"role": segment.role, "content": segment.content})
        del newest[:-CONVERSATION_LENGTH]
    said = [each for each in newest if each["role"] in {"user", "assistant"}]
    if len(said) < MIN_BENCH_MESSAGES:
        raise ConfigError(
            f"{path}: {len(said)} segments for a conversation; expected {MIN_BENCH_MESSAGES}"
        )
    return [{**each, "role": ("user", "assistant")[place % 2]} for place, each in enumerate(said)]


def _vary(talk: Sequence[dict[str, str]], number: int) -> list[dict[str, str]]:
    """Return the conversation with texts that differ in every round, so that no decision is reused."""
    said = [{**each, "content": f"{each['content']} (round {number})"} for each in talk]
    return said if said[-1]["role"] == "user" else said[:-1]


def _profile_turn(memory: Memory, said: list[dict[str, str]]) -> tuple[dict[str, float], bool]:
    """Prepare a turn and return the milliseconds of each step, and whether it trimmed."""
    profile = cProfile.Profile()
    turn = profile.runcall(memory.prepare, said)
    found = dict.fromkeys((*STEPS, REST), 0.0)
    for entry in profile.getstats():
        name = entry.code if isinstance(entry.code, str) else ""
        step = next((step for step, of in STEPS.items() if any(each in name for each in of)), REST)
        found[step] += entry.inlinetime * 1000
    return found, any(unit.is_new for unit in turn.report.trimmed)


def _medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    return {step: median(each[step] for each in rounds) for step in rounds[0]}


def _heading(data: dict[str, Any]) -> str:
    return (
        f"A turn of {data['messages']:,} messages in a window of {data['window']:,} tokens, over "
        f"{data['segments']:,} segments; medians of {ROUNDS}:"
    )


def _table(data: dict[str, Any]) -> Table:
    trim, following = data["trim_ms"], data["next_ms"]
    rows = [
        (
            step,
            f"{trim[step]:.2f}",
            f"{trim[step] / sum(trim.values()):.0%}",
            f"{following[step]:.2f}",
        )
        for step in trim
    ]
    total = ("all", f"{sum(trim.values()):.2f}", "100%", f"{sum(following.values()):.2f}")
    headings = ("step", "a turn that trims, ms", "share", "the next turn, ms")
    return Table(headings, (*rows, total), right=headings[1:])
