"""All modes: their requirements, and the sizes of a brief, a quick and a full run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .block import block
from .flip import flip
from .inject import inject
from .kill import kill
from .power import power
from .run import Measures, Run
from .space import fsize, full

if TYPE_CHECKING:
    from collections.abc import Callable

    from .run import Store

MODES: dict[str, Callable[[Run], None]] = {
    "kill": kill,
    "power": power,
    "block": block,
    "inject": inject,
    "full": full,
    "fsize": fsize,
    "flip": flip,
}
# Damage wipes up to 4 KiB, a dozen records, so that 95 in 100 can only stay where there are some hundreds.
SIZES: dict[str, dict[str, Measures]] = {
    "brief": {
        "kill": Measures(rounds=8, writers=3, records=100_000),
        "power": Measures(records=24, points=8),
        "block": Measures(rounds=4, records=2_000),
        "inject": Measures(records=6, points=0),
        "full": Measures(records=600, sizes=(100,)),
        "fsize": Measures(records=1_200, sizes=(100,)),
        "flip": Measures(rounds=25, records=400),
    },
    "quick": {
        "kill": Measures(rounds=30, writers=3, records=100_000),
        "power": Measures(records=60, points=40),
        "block": Measures(rounds=10, records=2_000),
        "inject": Measures(records=20, points=4),
        "full": Measures(records=600),
        "fsize": Measures(records=1_200),
        "flip": Measures(rounds=100, records=400),
    },
    "full": {
        "kill": Measures(rounds=200, writers=3, records=100_000),
        "power": Measures(records=90, points=60),
        "block": Measures(rounds=50, records=2_000, window=0.5),
        "inject": Measures(records=20, points=8),
        "full": Measures(records=600),
        "fsize": Measures(records=1_200),
        "flip": Measures(rounds=500, records=400),
    },
}
ALWAYS = ("acked", "lost")
"""Counts that are told even where they are 0."""


def lacking(mode: str) -> str | None:
    """Return what this machine lacks for a mode, or None."""
    if sys.platform != "linux":
        return "Linux"
    if mode in {"inject", "power"} and not shutil.which("strace"):
        return "strace"
    if mode == "full" and not (os.geteuid() == 0 and shutil.which("mount")):
        return "root and mount"
    if mode == "block":
        if os.geteuid() != 0 or not (shutil.which("mount") and shutil.which("mkfs.ext4")):
            return "root, mount and mkfs.ext4"
        if not Path("/dev/loop-control").exists():
            return "loop devices"
    return None


def play(mode: str, store: Store, measures: Measures, *, seed: int = 1) -> Run:
    """Run a mode in a scratch folder, which stays where something failed, and print one line of figures."""
    folder = Path(tempfile.mkdtemp(prefix=f"crash-{mode}-")).resolve()
    run = Run(store, measures, folder, seed=seed)
    started = time.monotonic()
    MODES[mode](run)
    told = {key: run.counts[key] for key in ALWAYS} | dict(run.counts)
    told["failures"] = len(run.failures)
    figures = ", ".join(
        f"{count} {name}" for name, count in told.items() if count or name in {*ALWAYS, "failures"}
    )
    print(f"{mode}: {figures}, {time.monotonic() - started:.0f} s", flush=True)
    if run.failures:
        print(f"Left in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return run
