"""The writer and the verifier as processes."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .run import Records, Run

CRASHED = range(128, 256)
"""Exit statuses by which a shell or strace tells of a signal."""


class Hang(Exception):  # noqa: N818 - it says what the process does
    """A process did not end in time."""


class Writer:
    """One writer; a thread collects its output."""

    def __init__(  # noqa: PLR0913 - what a writer is given
        self,
        run: Run,
        folder: Path,
        tag: str,
        count: int,
        *,
        before: Sequence[str] = (),
        room: int = 0,
    ) -> None:
        """Start the writer, optionally under another command or with a limit on file sizes."""
        self.tried: list[str] = []
        self.acked: list[str] = []
        self.errors = 0
        self.told = ""
        """The end of its stderr, once it has ended."""

        def limit() -> None:
            if room:
                import resource  # noqa: PLC0415 - there is none on Windows

                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the writer
        self.process = subprocess.Popen(
            [*before, *run.store.write, str(folder), tag, str(count)],
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
            preexec_fn=limit,  # noqa: PLW1509 - this process has no other threads that hold locks at a fork
        )
        self._timeout = run.timeout
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for raw in self.process.stdout or ():
            if not raw.endswith(b"\n"):
                break  # torn by a kill: claims nothing
            kind, _, token = raw.decode("utf-8", "replace").strip().partition(" ")
            if kind == "ack":
                self.acked.append(token)
            elif kind == "try":
                self.tried.append(token)
            elif kind == "err":
                self.errors += 1

    def signal(self, number: int) -> None:
        """Send a signal to the writer and its children."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return

    def kill(self) -> None:
        """Kill the writer and its children."""
        self.signal(signal.SIGKILL)

    def wait(self, factor: float = 1) -> int:
        """Return the exit status, or raise `Hang`."""
        try:
            return self.process.wait(self._timeout * factor)
        except subprocess.TimeoutExpired:
            raise Hang from None
        finally:
            self.kill()
            self.process.wait()
            self._reader.join(5)
            self._close()

    def _close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()
        with self._stderr as errors:
            errors.seek(0)
            tail = errors.read()[-400:]
        self.told = tail.decode("utf-8", "replace").strip().replace("\n", " | ")


def add(run: Run, records: Records, writer: Writer) -> None:
    """Add a writer's output to the records."""
    records.acked.update(writer.acked)
    records.tried.update(writer.tried)
    run.counts["acked"] += len(writer.acked)
    run.counts["errs"] += writer.errors


def write(  # noqa: PLR0913, PLR0917 - as above, and what is expected of it
    run: Run, folder: Path, tag: str, count: int, records: Records, where: str, *, room: int = 0
) -> Writer:
    """Run a writer to its end; hanging or dying of a signal is a failure."""
    writer = Writer(run, folder, tag, count, room=room)
    try:
        status = writer.wait()
    except Hang:
        run.fail(where, "the writer hangs")
    else:
        if status < 0:
            run.fail(where, f"the writer died of signal {-status}: {writer.told}")
    add(run, records, writer)
    return writer


def read(run: Run, folder: Path) -> tuple[int, list[str], str]:
    """Return the exit status of verify, the tokens it found, and the end of its stderr; raise `Hang`."""
    command = [*run.store.verify, str(folder)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=run.timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Hang from None
    run.counts["verifies"] += 1
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("rec ")]
    return done.returncode, found, done.stderr[-300:].strip()


def verify(run: Run, folder: Path, where: str, acked: set[str], tried: set[str] | None) -> None:
    """Check a directory against the acknowledged records and, where known, the attempted ones."""
    try:
        status, found, told = read(run, folder)
    except Hang:
        run.fail(where, "verify hangs")
        return
    if status != 0:
        run.fail(where, f"verify ended with {status}: {told}")
        return
    if lost := sorted(acked - set(found)):
        run.counts["lost"] += len(lost)
        run.fail(where, f"{len(lost)} acknowledged records lost, first {lost[0]}")
    if twice := [token for token, count in Counter(found).items() if count > 1]:
        run.counts["twice"] += len(twice)
        run.fail(where, f"{len(twice)} records twice, first {twice[0]}")
    if tried is not None and (unknown := sorted(set(found) - tried)):
        run.counts["phantom"] += len(unknown)
        run.fail(where, f"{len(unknown)} records that were never written, first {unknown[0]}")
