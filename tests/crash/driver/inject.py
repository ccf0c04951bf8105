"""Mode inject: the k-th system call of a kind fails, or the writer dies in it; then a clean run follows."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from .processes import CRASHED, Hang, Writer, add, verify, write
from .run import Records

if TYPE_CHECKING:
    from pathlib import Path

    from .run import Run

WRITES, SYNCS, RENAMES = "write,pwrite64,writev", "fsync,fdatasync", "renameat,renameat2,rename"
FAULTS = (  # system calls, what happens to them, "+" where it goes on happening
    (WRITES, "error=ENOSPC", ""),
    (WRITES, "error=ENOSPC", "+"),
    (WRITES, "error=EIO", ""),
    (WRITES, "error=EINTR", ""),
    (SYNCS, "error=EIO", ""),
    (SYNCS, "error=ENOSPC", "+"),
    ("openat", "error=EMFILE", ""),
    ("openat", "error=EACCES", "+"),
    (RENAMES, "error=EIO", ""),
    ("ftruncate", "error=EIO", ""),
    ("flock", "error=ENOLCK", "+"),
    ("read,pread64", "error=EIO", ""),
    ("mmap", "error=ENOMEM", ""),
    (WRITES, "signal=KILL", ""),
    (SYNCS, "signal=KILL", ""),
    (RENAMES, "signal=KILL", ""),
    ("ftruncate", "signal=KILL", ""),
)
KILLED = {-signal.SIGKILL, 128 + signal.SIGKILL}


def inject(run: Run) -> None:
    """Move each fault from call to call until the run has fewer such calls."""
    probe, count = run.fresh("probe"), run.measures.records
    write(run, probe, "probe", count, Records(), "probe")
    names = [path.relative_to(probe) for path in probe.rglob("*")]
    for calls, fault, more in FAULTS:
        later = run.chance.sample(range(4, 4 + count), min(run.measures.points, count))
        for place in sorted({1, 2, 3, *later}):
            where = f"{calls.partition(',')[0]} {fault} at call {place}{more}"
            if not _tried(run, where, names, calls, f"{fault}:when={place}{more}"):
                break


def _tried(run: Run, where: str, names: list[Path], calls: str, fault: str) -> bool:
    """Write under one fault and after it; return whether the fault occurred."""
    folder, records = run.fresh("inject"), Records()
    write(run, folder, "before", 3, records, f"{where} (before)")
    trace = run.folder / "inject.trace"
    paths = [
        word for path in (folder, *(folder / name for name in names)) for word in ("-P", str(path))
    ]
    injected = ["-e", f"trace={calls}", "-e", f"inject={calls}:{fault}"]
    before = ["strace", "-f", "-qq", "-o", str(trace), *paths, *injected]
    writer = Writer(run, folder, "during", run.measures.records, before=before)
    status = 0
    try:
        status = writer.wait()
    except Hang:
        run.fail(where, "the writer hangs")
    add(run, records, writer)
    if "KILL" not in fault and (status < 0 or status in CRASHED):
        run.fail(where, f"the writer died with {status}: {writer.told}")
    verify(run, folder, where, records.acked, records.tried)
    after = write(run, folder, "after", 5, records, f"{where} (after)")
    if after.tried and not after.acked:
        run.fail(where, "the store takes no records after the fault went away")
    verify(run, folder, f"{where} (after)", records.acked, records.tried)
    is_met = "INJECTED" in trace.read_text(errors="replace") or status in KILLED
    run.counts["faults"] += 1
    run.counts["met"] += is_met
    return is_met
