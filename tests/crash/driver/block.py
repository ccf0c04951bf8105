"""Mode block: a real ext4 on a loop device, whose bytes are copied while the writer is stopped, and mounted again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from .processes import Writer, add, verify
from .run import Records

if TYPE_CHECKING:
    from pathlib import Path

    from .run import Run


def block(run: Run) -> None:
    """Stop a writer at a random moment, and verify both the bytes of the device and the directory after a kill."""
    device, copy = run.folder / "disk.img", run.folder / "copy.img"
    folder, other = run.fresh("disk"), run.fresh("copy")
    with device.open("wb") as file:
        file.truncate(64 << 20)
    _do("mkfs.ext4", "-q", "-F", device)
    _do("mount", "-o", "loop", device, folder)
    try:
        store, records = folder / "store", Records()
        store.mkdir()
        os.sync()
        for number in range(run.measures.rounds):
            writer = Writer(run, store, f"b{number}", run.measures.records)
            time.sleep(run.chance.uniform(0, run.measures.window))
            writer.signal(signal.SIGSTOP)
            time.sleep(0.05)  # what it said before the stop arrives
            seen = records.acked | set(writer.acked)
            _do("cp", "--sparse=always", device, copy)
            writer.kill()
            writer.wait()
            add(run, records, writer)
            _do("mount", "-o", "loop", copy, other)
            try:
                where = f"round {number}, power cut on ext4"
                verify(run, other / "store", where, seen, records.tried)
            finally:
                _do("umount", other)
            verify(run, store, f"round {number}, after the kill", records.acked, records.tried)
            run.counts["rounds"] += 1
    finally:
        _do("umount", "-l", folder)


def _do(name: str, *arguments: str | Path) -> None:
    command = [shutil.which(name) or name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{name} failed with {done.returncode}: {done.stderr.strip()}")
