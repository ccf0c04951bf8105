"""The files of vectors of a store: derived, but made by models that take time or money, so they stay while they can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx import vmem
from memctx.errors import CorruptStoreError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

FILES = {"vectors.bin": "vectors.json", "vectors.next.bin": "vectors.next.json"}
"""Each with the file that says who made what is in it."""


def fault(path: Path) -> tuple[int, str | None]:
    """How many vectors of a file can be read, and what is wrong with it."""
    if not path.exists():
        return 0, None
    try:
        report = vmem.verify(path)
    except (MemctxError, OSError) as error:
        return 0, str(error)
    return report.complete, None if report.ok else "entries are missing or damaged"


def forget(store: Path, segments: Collection[str]) -> None:
    """Take the vectors of some segments out of all files; one that is damaged goes as a whole.

    One that cannot be read for another reason, such as a newer version, is an error. The directory's lock must be held.
    """
    for path in _files(store):
        try:
            ids, matrix = vmem.read(path)
        except CorruptStoreError:
            _remove(path)
            continue
        # Those of a long segment are called `id`, `id#1`, `id#2`, ...
        stays = [
            at
            for at, name in enumerate(ids)
            if name not in segments and name.rpartition("#")[0] not in segments
        ]
        if not stays:
            _remove(path)
        elif len(stays) < len(ids):
            vmem.write(path, [ids[at] for at in stays], matrix[stays], checksum=True)


def mend(path: Path) -> None:
    """Keep what can be read of a damaged file. The directory's lock must be held."""
    try:
        ids, matrix = vmem.read(path)
    except CorruptStoreError:
        _remove(path)
    else:
        vmem.write(path, ids, matrix, checksum=True)


def _files(store: Path) -> Iterator[Path]:
    """Those that are there. What a link leads to belongs to somebody else."""
    paths = (store / name for name in FILES)
    return (path for path in paths if path.exists() and not path.is_symlink())


def _remove(path: Path) -> None:
    for each in (path, path.with_name(FILES[path.name])):
        each.unlink(missing_ok=True)
