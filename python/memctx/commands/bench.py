"""The verb `bench`: how quick memory is on this machine, measured in a store that is gone afterwards."""

from __future__ import annotations

import tempfile
import time
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import memctx
from memctx.commands.outcome import Outcome, Table
from memctx.errors import ConfigError
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BATCH = 100
ASKED = 50
TURN_MESSAGES = 200
THINGS = ("webhook", "ledger", "refund", "invoice", "currency", "audit", "deploy", "quota")
DEEDS = ("listens on port", "retries after", "rounds to", "is limited to", "was moved to")


def bench(count: int = 5_000, *, on_progress: Callable[[int, int], None] | None = None) -> Outcome:
    """Archive so many messages, search them, prepare turns, open the store anew."""
    if count < BATCH:
        raise ConfigError(f"count is {count}; expected at least {BATCH}")
    said = [_message(number) for number in range(count)]
    with tempfile.TemporaryDirectory(prefix="memctx-bench-") as folder:
        config = memctx.Config(
            storage_path=folder, context_window=32_000, knowledge_extraction=False
        )
        with Memory(config, session_id="bench") as memory:
            start = time.perf_counter()
            for at in range(0, count, BATCH):
                memory.archive(said[at : at + BATCH])
                if on_progress is not None:
                    on_progress(min(at + BATCH, count), count)
            archived = count / (time.perf_counter() - start)
            searches = _timed(
                memory.search,
                (
                    f"{THINGS[n % len(THINGS)]} {DEEDS[n % len(DEEDS)]} {n * 7}"
                    for n in range(ASKED)
                ),
            )
            talk = said[:TURN_MESSAGES]
            turns = _timed(
                lambda n: memory.prepare(talk[: TURN_MESSAGES - ASKED + n]), range(1, ASKED + 1)
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
        "search_ms": _spread(searches),
        "prepare_ms": _spread(turns),
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


def _message(number: int) -> dict[str, str]:
    thing, deed = THINGS[number % len(THINGS)], DEEDS[number // 3 % len(DEEDS)]
    role = "assistant" if number % 2 else "user"
    words = f"Step {number}: the {thing} of service {number % 97} {deed} {number * 7 % 9973}."
    return {"role": role, "content": f"{words} We look at module_{number % 31}.py next."}


def _timed(call: Callable[[Any], object], arguments: Iterable[Any]) -> list[float]:
    """How many milliseconds each call takes."""
    taken: list[float] = []
    for argument in arguments:
        start = time.perf_counter()
        call(argument)
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def _spread(taken: list[float]) -> dict[str, float]:
    return {"median": median(taken), "p95": quantiles(taken, n=20)[-1], "worst": max(taken)}
