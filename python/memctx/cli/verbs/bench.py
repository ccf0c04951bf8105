"""The verb `bench`: speed of memory on this machine, measured in a scratch store."""

from __future__ import annotations

import tempfile
import time
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from memctx.cli.formatting import Table
from memctx.cli.verbs.outcome import Outcome
from memctx.cli.verbs.table import MIN_BENCH_MESSAGES
from memctx.config import Config
from memctx.errors import ConfigError
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memctx.cli.verbs.shell import ShellRequest

BATCH = 100
QUERIES = 50
TURN_MESSAGES = 200
SUBJECTS = ("webhook", "ledger", "refund", "invoice", "currency", "audit", "deploy", "quota")
PREDICATES = ("listens on port", "retries after", "rounds to", "is limited to", "was moved to")


def run_bench(request: ShellRequest, *, messages: int = 5_000) -> Outcome:
    """Measure archiving, search and turns."""
    with request.progress("Archiving", messages) as advance:
        return bench(messages, on_progress=advance)


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
