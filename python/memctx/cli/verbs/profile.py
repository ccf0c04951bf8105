"""The verb `profile`: where the time of turns, searches, archiving and facts goes, over a store of many segments."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx import store_files
from memctx.cli.formatting import Table
from memctx.cli.profiling import (
    SESSION,
    Operation,
    Player,
    Spread,
    find_profiler,
    make_messages,
    play_all,
    supply_from,
    write_flame_graph,
)
from memctx.cli.verbs.outcome import Outcome
from memctx.cli.verbs.shell import keep_hashed
from memctx.embeddings import Resolution
from memctx.errors import ConfigError, MemctxError
from memctx.memory import Memory

if TYPE_CHECKING:
    from memctx.cli.profiling import Supply
    from memctx.cli.verbs.outcome import Part
    from memctx.cli.verbs.shell import ShellRequest
    from memctx.config import Config

SEGMENTS = 20_000
WINDOW = 32_000
TURNS = 60
CONVERSATIONS = 8
"""Conversations that are played, the last of them under a profiler."""
BATCH = 500
LEAST_SHARE = 0.005
"""Functions of the core that take less of a turn are not listed."""
ORDER = (
    *("first turn", "steady turn", "trimming turn"),
    *("search", "archive", "add a fact", "search facts"),
)


def run_profile(  # noqa: PLR0913 - the options of a command
    request: ShellRequest,
    *,
    segments: int | None = None,
    store: Path | None = None,
    window: int = WINDOW,
    turns: int = TURNS,
    flame_graph: Path | None = None,
) -> Outcome:
    """Play over a synthetic store, or over a copy of ``store``, and show the steps of every operation.

    Raises:
        ConfigError: the store has too little in it, or the profiler for a flame graph is not installed.
    """
    if store is not None and segments is not None:
        raise ConfigError("--segments is for a synthetic store; leave it out with --store")
    if store is not None and not store_files.is_store(store):
        raise ConfigError(f"{store}: there is no store")
    profiler = None if flame_graph is None else find_profiler()
    if flame_graph is not None and not flame_graph.absolute().parent.is_dir():
        raise ConfigError(f"{flame_graph}: there is no such folder")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="memctx-profile-") as folder:
        scratch = Path(folder, "store")
        config = request.config(window).replace(storage_path=scratch, cross_session=True)
        if store is None:
            _fill(request, config, segments or SEGMENTS)
            supply: Supply = make_messages
        else:
            with request.status("Copying the store"):
                # What is played is archived, which must not end up in the user's store.
                shutil.copytree(store, scratch, ignore=shutil.ignore_patterns("LOCK", "*.tmp"))
            config = keep_hashed(config, scratch)
            supply = supply_from(scratch)
        config = _without_network(config)
        with Memory(config, session_id=SESSION) as memory, request.status("Playing"):
            data: dict[str, Any] = {
                "store": None if store is None else str(store),
                "segments": memory.stats()["segments"],
                "embedding_model": memory.health()["embedding"]["used"],
                "window": window,
            }
            player = Player(memory, supply)
            play_all(player, turns, conversations=CONVERSATIONS)
        known = player.operations
        data["operations"] = [_describe(name, known[name]) for name in ORDER if known[name].taken]
        data["flame_graph"] = data["flame_graph_error"] = None
        if flame_graph is not None and profiler is not None:
            try:
                with request.status("Drawing the flame graph"):
                    write_flame_graph(
                        profiler, config, flame_graph, turns=turns, is_copy=store is not None
                    )
                data["flame_graph"] = str(flame_graph)
            except MemctxError as error:
                data["flame_graph_error"] = str(error)
    data["seconds"] = time.perf_counter() - started
    return Outcome(data, _parts(data), is_ok=data["flame_graph_error"] is None)


def _fill(request: ShellRequest, config: Config, count: int) -> None:
    """Archive synthetic messages until the store has ``count`` segments, and make their vectors."""
    config = _without_network(config)
    config = config.replace(disk={"durability": "os"}, privacy={"archive_tools": True})
    with Memory(config, session_id=f"{SESSION}-archive") as memory:
        with request.progress("Archiving", count) as advance:
            done = stored = 0
            while stored < count:
                new = make_messages(done, min(BATCH, count - stored))
                done += len(new)
                stored += memory.archive(new).added
                advance(min(stored, count), count)
        with request.progress("Embedding") as advance:
            memory.reembed(advance)


def _without_network(config: Config) -> Config:
    """Return settings whose vectors are made in the core; nothing is sent to a server for a profile."""
    is_outside = Resolution.of(config).embedder is not None
    return config.replace(embedding_model="hash") if is_outside else config


def _describe(name: str, operation: Operation) -> dict[str, Any]:
    return {
        "name": name,
        "calls": len(operation.taken),
        "milliseconds": Spread.of(operation.taken)._asdict(),
        "steps": _shares(operation.steps),
        "core": [each for each in _shares(operation.core) if each["share"] >= LEAST_SHARE],
    }


def _shares(calls: list[dict[str, float]]) -> list[dict[str, Any]]:
    """Return the percentiles of each step, and its share of the time of all calls."""
    total = sum(sum(call.values()) for call in calls)
    names = dict.fromkeys(name for call in calls for name in call)
    return [
        {
            "name": name,
            **Spread.of(call.get(name, 0.0) for call in calls)._asdict(),
            "share": sum(call.get(name, 0.0) for call in calls) / total,
        }
        for name in names
    ]


def _parts(data: dict[str, Any]) -> tuple[Part, ...]:
    where = "made-up segments" if data["store"] is None else f"segments, a copy of {data['store']}"
    heading = (
        f"{data['segments']:,} {where}; a window of {data['window']:,} tokens; "
        f"vectors by {data['embedding_model']}; {data['seconds']:.0f} s in all"
    )
    rows: list[tuple[str, ...]] = []
    for each in data["operations"]:
        rows.append((each["name"], str(each["calls"]), *_cells(each["milliseconds"]), ""))
        rows += [_row(step) for step in each["steps"]]
    columns = ("milliseconds of", "calls", "p50", "p95", "p99", "share")
    parts: list[Part] = [heading, Table(columns, tuple(rows), right=columns[1:])]
    trims = next((each for each in data["operations"] if each["name"] == "trimming turn"), None)
    if trims is None:
        parts.append("No turn trimmed: a smaller --window or more --turns lets one.")
    elif trims["core"]:
        ranked = sorted(trims["core"], key=lambda each: -each["share"])
        inside = tuple((row[0].strip(), *row[2:]) for row in map(_row, ranked))
        heads = ("in the core, of a trimming turn", "p50", "p95", "p99", "share")
        parts.append(Table(heads, inside, right=heads[1:]))
    if data["flame_graph"] is not None:
        parts.append(f"Flame graph: {data['flame_graph']}")
    if data["flame_graph_error"] is not None:
        parts.append(data["flame_graph_error"])
    return tuple(parts)


def _row(step: dict[str, Any]) -> tuple[str, ...]:
    return (f"  {step['name']}", "", *_cells(step), f"{step['share']:.0%}")


def _cells(spread: dict[str, float]) -> tuple[str, ...]:
    return tuple(f"{spread[name]:.3f}" for name in Spread._fields)
