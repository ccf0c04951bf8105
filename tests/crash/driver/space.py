"""Modes full and fsize: room runs out while records are written; then there is room again."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from .processes import verify, write
from .run import Records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .run import Run


def full(run: Run) -> None:
    """Fill a small file system in memory, then let it grow."""
    for size in run.measures.sizes:
        folder = run.fresh("full")
        options = f"size={size}k,mode=700"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)  # noqa: S607
        grow = ["mount", "-o", "remount,size=512m", str(folder)]
        try:
            _fill(run, folder, f"tmpfs of {size} KiB", 0, lambda: subprocess.run(grow, check=True))  # noqa: B023
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S607


def fsize(run: Run) -> None:
    """Limit the size of files for one run: writes stop half-way, with EFBIG."""
    for size in run.measures.sizes:
        room = size * 1024 + run.chance.randrange(1024)
        _fill(run, run.fresh("fsize"), f"files of at most {room} bytes", room, lambda: None)


def _fill(run: Run, folder: Path, where: str, room: int, grow: Callable[[], object]) -> None:
    records = Records()
    writer = write(run, folder, "fill", run.measures.records, records, where, room=room)
    if not writer.errors and writer.process.returncode == 0:
        run.fail(where, "the limit was never met: write more records")
    verify(run, folder, where, records.acked, records.tried)
    grow()
    after = write(run, folder, "after", 20, records, f"{where} (room again)")
    if not after.acked:
        run.fail(where, "nothing is stored once there is room again")
    verify(run, folder, f"{where} (room again)", records.acked, records.tried)
    run.counts["rounds"] += 1
