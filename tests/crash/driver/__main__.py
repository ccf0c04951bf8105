"""Run modes over the store of this project: `python -m crash.driver [--size quick] [MODE ...]`, all by default."""

import argparse
import sys
from pathlib import Path

from .modes import MODES, SIZES, lacking, play
from .run import Store

HERE = Path(__file__).parents[1]
STORE = Store(
    write=(sys.executable, str(HERE / "writer.py")),
    verify=(sys.executable, str(HERE / "verify.py")),
)


def main() -> None:
    """Run the requested modes; name those that this machine cannot run, and exit with status 1 on failures only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modes", nargs="*", metavar="MODE", help=", ".join(MODES))
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.modes) - MODES.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; the modes are {', '.join(MODES)}")
    failed, missing = [], []
    for mode in given.modes or MODES:
        if need := lacking(mode):
            missing.append(mode)
            print(f"{mode}: not run, needs {need}", flush=True)
        elif play(mode, STORE, SIZES[given.size][mode], seed=given.seed).failures:
            failed.append(mode)
    if missing:
        print(f"Not run on this machine: {', '.join(missing)}")
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


main()
