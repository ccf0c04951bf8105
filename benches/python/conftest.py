"""One corpus for the whole run, one table at its end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import corpus as corpora
import pytest
import report
from benchmark import Benchmark, Ledger

if TYPE_CHECKING:
    from corpus import Corpus

LEDGER = pytest.StashKey[Ledger]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEDGER] = Ledger()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    ready = os.environ.get("MEMCTX_BENCH_CORPUS")
    path = Path(ready) if ready else tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    if not ready:
        corpora.generate(path)
    return corpora.load(path)


@pytest.fixture(scope="session")
def benchmark(pytestconfig: pytest.Config) -> Benchmark:
    return Benchmark(pytestconfig.stash[LEDGER], has_limits=corpora.SIZE == corpora.FULL_SIZE)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    ledger = config.stash[LEDGER]
    if not ledger.rows and not ledger.notes:
        return
    terminalreporter.section("ours against peers: processor time, median (least-most)")
    for line in report.table(ledger):
        terminalreporter.write_line(line)
    facts = (f"{name} {value}" for name, value in report.surroundings().items())
    terminalreporter.write_line(", ".join(facts))
    if out := os.environ.get("MEMCTX_BENCH_OUT"):
        report.save(ledger, Path(out))
