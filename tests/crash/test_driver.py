"""Crash driver: it catches the faults of toy stores, and finds none in ours."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .driver.modes import MODES, SIZES, lacking, play
from .driver.run import Measures, Store

HERE = Path(__file__).parent
OURS = Store((sys.executable, str(HERE / "writer.py")), (sys.executable, str(HERE / "verify.py")))
SMALL = {
    "kill": Measures(rounds=6, writers=2, records=100_000, window=0.5),
    "power": Measures(records=12, points=10),
    "inject": Measures(records=4, points=0),
    "fsize": Measures(records=80, sizes=(64,)),
    "flip": Measures(rounds=12, records=60, min_kept=0.5),
}
CAUGHT = [
    ("power", "unsynced"),
    ("kill", "buffered"),
    ("power", "in-place"),
    ("power", "fused"),
    ("fsize", "careless"),
    ("inject", "careless"),
]


def toy(kind: str) -> Store:
    python, program = sys.executable, str(HERE / "toy.py")
    return Store((python, program, "write", kind), (python, program, "verify", kind))


def skip_where_it_cannot_run(mode: str) -> None:
    if need := lacking(mode):
        pytest.skip(f"crash mode {mode} needs {need}")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["kill", "fsize", "flip"])
def test_a_correct_toy_store_passes(mode: str) -> None:
    skip_where_it_cannot_run(mode)
    run = play(mode, toy("good"), SMALL[mode])
    assert run.failures == []
    assert run.counts["acked"] > 0


@pytest.mark.slow
def test_a_toy_store_that_acknowledges_too_early_is_caught() -> None:
    skip_where_it_cannot_run("kill")
    assert play("kill", toy("buffered"), SMALL["kill"]).counts["lost"] > 0


@pytest.mark.crash
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["power", "inject"])
def test_a_correct_toy_store_passes_under_strace(mode: str) -> None:
    skip_where_it_cannot_run(mode)
    assert play(mode, toy("good"), SMALL[mode]).failures == []


@pytest.mark.crash
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("mode", "kind"), CAUGHT)
def test_a_fault_of_a_toy_store_is_caught(mode: str, kind: str) -> None:
    skip_where_it_cannot_run(mode)
    assert play(mode, toy(kind), SMALL[mode]).failures


@pytest.mark.crash
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", MODES)
def test_no_crash_loses_an_acknowledged_record(mode: str) -> None:
    """A brief run of every mode that this machine can run; `make crash` runs the full ones."""
    skip_where_it_cannot_run(mode)
    run = play(mode, OURS, SIZES["brief"][mode])
    assert run.failures == []
    assert run.counts["acked"] > 0
