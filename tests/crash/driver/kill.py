"""Mode kill: SIGKILL at a random moment, several writers at once, now and then with a verifier beside them."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from .processes import Hang, Writer, add, verify
from .run import Records

if TYPE_CHECKING:
    from .run import Run

ALL_AT_ONCE = 0.7
"""The share of rounds in which all writers are killed together."""


def kill(run: Run) -> None:
    """Kill writers round after round over one directory."""
    folder, records, chance, measures = run.fresh("kill"), Records(), run.chance, run.measures
    for number in range(measures.rounds):
        where = f"round {number}"
        writers = [
            Writer(run, folder, f"k{number}p{place}", measures.records)
            for place in range(measures.writers)
        ]
        end = time.monotonic() + chance.uniform(0, measures.window)
        if chance.random() < measures.live:
            time.sleep(chance.uniform(0, measures.window / 2))
            seen = records.acked.union(*(writer.acked for writer in writers))
            verify(run, folder, f"{where}, beside its writers", seen, None)
            run.counts["live"] += 1
        time.sleep(max(0.0, end - time.monotonic()))
        chance.shuffle(writers)
        together = len(writers) if chance.random() < ALL_AT_ONCE else max(1, len(writers) // 2)
        for writer in writers[:together]:
            writer.kill()
        for place, writer in enumerate(writers):
            if place >= together:
                time.sleep(chance.uniform(0, measures.window / 4))
                writer.kill()
            try:
                status = writer.wait()
            except Hang:
                status = 1
            if status not in {-signal.SIGKILL, 0}:
                run.fail(where, f"a writer ended with {status}: {writer.told}")
            add(run, records, writer)
        verify(run, folder, where, records.acked, records.tried)
        run.counts["rounds"] += 1
