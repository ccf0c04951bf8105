"""Mode flip: random damage to the files of a store: verify stays alive, invents nothing and keeps the rest."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from .processes import CRASHED, Hang, read, write
from .run import Records

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from .run import Run

WAYS = ("bits", "cut", "zero", "junk", "copied", "gone", "empty", "nul tail", "bad utf-8")
IN_ONE_PLACE = {"bits", "zero", "nul tail", "bad utf-8"}
BAD = b"\xff\xc3\x28\xed\xa0\x80"
PAGE = 4096


def flip(run: Run) -> None:
    """Damage a copy of a good store, again and again."""
    base, records = run.fresh("flip.base"), Records()
    write(run, base, "base", run.measures.records, records, "flip (base)")
    files = [path for path in sorted(base.rglob("*")) if path.is_file() and path.stat().st_size]
    if not files:
        run.fail("flip", "the store has no files")
        return
    kept = []
    for number in range(run.measures.rounds):
        folder = run.folder / "flip"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(base, folder)
        path, way = run.chance.choice(files), run.chance.choice(WAYS)
        damage(folder / path.relative_to(base), way, run.chance)
        share = _kept(run, folder, records, way, f"flip {number}: {way} in {path.name}")
        kept += [share] if share is not None else []
    run.counts["kept %"] = round(100 * sum(kept) / max(1, len(kept)))


def damage(path: Path, way: str, chance: random.Random) -> None:
    """Damage a file in one way."""
    if way == "gone":
        path.unlink()
        return
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    match way:
        case "bits":
            for _ in range(chance.choice([1, 8])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case "cut":
            del data[at:]
        case "zero":
            data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))
        case "junk":
            data[at:at] = chance.randbytes(chance.choice([1, 100, 5000]))
        case "copied":
            data += data[at:]
        case "empty":
            data.clear()
        case "nul tail":
            data += bytes(PAGE)
        case _:
            data[at:at] = BAD
    path.write_bytes(data)


def _kept(run: Run, folder: Path, records: Records, way: str, where: str) -> float | None:
    """Return the share of the records that is left, or None where verify fails."""
    try:
        status, found, told = read(run, folder)
    except Hang:
        run.fail(where, "verify hangs")
        return None
    run.counts["rounds"] += 1
    if status < 0 or status in CRASHED:
        run.fail(where, f"verify died with {status}: {told}")
        return None
    run.counts["refused"] += status != 0
    if unknown := sorted(set(found) - records.tried):
        run.counts["phantom"] += len(unknown)
        run.fail(where, f"{len(unknown)} records that were never written, first {unknown[0]}")
    if way != "copied" and len(found) != len(set(found)):
        run.fail(where, "a record is there twice")
    share = len(set(found)) / max(1, len(records.acked))
    if status == 0 and way in IN_ONE_PLACE and share < run.measures.min_kept:
        run.fail(where, f"damage in one place leaves only {share:.0%} of the records")
    return share
