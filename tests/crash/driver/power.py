"""Mode power: every system call of a run is recorded, and the directory rebuilt as a power cut could leave it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from . import trace
from .disk import WAYS, Disk
from .processes import Hang, Writer, verify, write
from .run import Records

if TYPE_CHECKING:
    from pathlib import Path

    from .run import Run
    from .trace import Call

WRITES = {"write", "pwrite64", "writev", "pwritev"}
LONGEST = "33554432"
"""Bytes of a buffer that strace writes down."""


def power(run: Run) -> None:
    """Record a run, and cut its power at sampled calls in every way."""
    _Recording(run).cut_everywhere()


class _Recording:
    """The calls of one writer, over a directory that held a few records before."""

    def __init__(self, run: Run) -> None:
        self._run, self._records = run, Records()
        self._folder, self._start = run.fresh("power").resolve(), run.folder / "power.start"
        write(run, self._folder, "before", 5, self._records, "power (before)")
        shutil.rmtree(self._start, ignore_errors=True)
        shutil.copytree(self._folder, self._start)
        file = run.folder / "power.trace"
        before = [
            "strace",
            "-f",
            "-y",
            "-xx",
            "-s",
            LONGEST,
            "-o",
            str(file),
            "-e",
            f"trace={trace.traced()}",
        ]
        writer = Writer(run, self._folder, "during", run.measures.records, before=before)
        try:
            if status := writer.wait(4):
                run.fail("power", f"the recorded writer ended with {status}: {writer.told}")
        except Hang:
            run.fail("power", "the recorded writer hangs")
        self._records.tried.update(writer.tried)
        run.counts["acked"] += len(writer.acked)
        self._calls = list(trace.calls(file))

    def cut_everywhere(self) -> None:
        run, disk = self._run, Disk(self._folder, self._start)
        points = [place + 1 for place, call in enumerate(self._calls) if disk.apply(call)]
        run.counts["ops"] = len(points)
        if not points:
            run.fail("power", "no system call reached the directory")
            return
        self._check_model(disk)
        chosen = sorted(run.chance.sample(points, min(run.measures.points, len(points))))
        for end in chosen:
            later = next((point for point in points if point > end), len(self._calls) + 1)
            self._cut(end, later - 1)
            self._tear(end)

    def _check_model(self, disk: Disk) -> None:
        """Compare the model with the directory."""
        if disk.unmodeled:
            print("not modeled:", *sorted(disk.unmodeled), flush=True)
        real = {str(path): path.read_bytes() for path in self._folder.rglob("*") if path.is_file()}
        for path in real.keys() | disk.files.keys():
            modeled = disk.files.get(path)
            if modeled is None or real.get(path) != bytes(modeled.data):
                self._run.fail("power", f"the model differs from the real file {path}")

    def _replayed(self, end: int, cut: int | None = None) -> tuple[Disk, set[str]]:
        """Return the directory after ``count`` calls, and what had been acknowledged by then."""
        disk, said = Disk(self._folder, self._start), b""
        for place, call in enumerate(self._calls[:end]):
            if _is_said(call):
                said += b"".join(call.texts)[: call.result]
            disk.apply(call, cut if place == end - 1 else None)
        lines = said[: said.rfind(b"\n") + 1].decode("utf-8", "replace").splitlines()
        return disk, self._records.acked | {
            line.split()[1] for line in lines if line.startswith("ack ")
        }

    def _cut(self, end: int, said: int) -> None:
        """Cut the power after a call, with all that the writer printed before its next change."""
        run, target = self._run, self._run.folder / "power.state"
        disk, acked = self._replayed(said)
        name = self._calls[end - 1].name
        for way in WAYS:
            disk.lay(target, way)
            verify(
                run, target, f"power {way} after call {end} ({name})", acked, self._records.tried
            )
            run.counts["states"] += 1

    def _tear(self, end: int) -> None:
        """Cut the power within a write; once, the store also continues from there."""
        run, call = self._run, self._calls[end - 1]
        if call.name not in WRITES or call.result < 2:
            return
        for cut in sorted({1, call.result // 2, call.result - 1}):
            target = self._laid(end, cut)
            _, acked = self._replayed(end, cut)
            where = f"power cut {cut} bytes into the {call.result} of call {end}"
            verify(run, target, where, acked, self._records.tried)
            if cut == call.result // 2:
                records = Records(acked, set(self._records.tried))
                write(run, target, f"then{end}", 3, records, where)
                verify(run, target, f"{where} and 3 more", records.acked, records.tried)
            run.counts["states"] += 1

    def _laid(self, end: int, cut: int) -> Path:
        target = self._run.folder / "power.state"
        disk, _ = self._replayed(end, cut)
        disk.lay(target, "kill")
        return target


def _is_said(call: Call) -> bool:
    """Return whether a call is the writer's, to its standard output."""
    return call.name in {"write", "writev"} and call.handle == "1" and call.result > 0
