"""The VMEM v1 file format for vectors.

All numbers are little-endian. A file is ``VMEM``, a version (1), the dimension and the number of entries, each a u32;
then for every entry the length of its id as u16, the id in UTF-8, and the vector as float32.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.bin"
>>> write(path, ["a", "b"], [[1, 0], [0, 1]])
>>> append(path, ["c"], [[0.5, 0.5]])
>>> ids, matrix = read(path)
>>> ids, matrix.shape
(['a', 'b', 'c'], (3, 2))
"""

from __future__ import annotations

from memctx import _core
from memctx._core import VmemReport
from memctx.errors import CorruptStoreError

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


__all__ = ["VmemReport", "append", "read", "verify", "write"]


def read(
    path: str | PathLike[str], *, strict: bool = False
) -> tuple[list[str], NDArray[np.float32]]:
    """Read a file into its ids and one float32 matrix, a row for each id.

    A file cut short yields every complete entry, and an entry with an unreadable id or a value that is not finite is
    left out; both are logged, or refused with `CorruptStoreError` when ``strict``. A checksum that does not hold, a
    wrong magic number and an unknown version are always errors. Ids may repeat: the last one counts.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.bin"
    >>> write(path, ["a"], [[1, 0]])
    >>> read(path)[0]
    ['a']
    """
    ids, matrix, report = _core.vmem_read(path)
    if not report.ok:
        fault = (
            f"{path}: {report.declared} entries promised, {report.complete} complete, "
            f"{report.unreadable} of those unreadable, {report.trailing_bytes} bytes left over"
        )
        if strict:
            raise CorruptStoreError(fault)
        import logging  # noqa: PLC0415 - costs ten milliseconds and is hardly ever needed

        logging.getLogger("memctx.lowlevel.vmem").warning("%s", fault)
    return ids, matrix


def write(
    path: str | PathLike[str], ids: Sequence[str], matrix: ArrayLike, *, checksum: bool = False
) -> None:
    """Write a file atomically: readers see the old one or the new one, also after a crash.

    ``checksum`` adds a trailer that detects damage and that other readers of the format ignore.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.bin"
    >>> write(path, ["a", "b"], [[1, 0], [0, 1]], checksum=True)
    >>> verify(path).checksum
    'valid'
    """
    _core.vmem_write(path, ids, matrix, checksum)


def append(path: str | PathLike[str], ids: Sequence[str], matrix: ArrayLike) -> None:
    """Append entries without rewriting the file.

    The entries are on disk before the header counts them, so a crash leaves the old file or the new one. A checksum
    is updated if the file has one. The caller makes sure that one process appends at a time.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.bin"
    >>> write(path, ["a"], [[1, 0]])
    >>> append(path, ["b"], [[0, 1]])
    >>> read(path)[0]
    ['a', 'b']
    """
    _core.vmem_append(path, ids, matrix)


def verify(path: str | PathLike[str]) -> VmemReport:
    """Check a file and return its counts; raise only if it is not VMEM v1.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vectors.bin"
    >>> write(path, ["a"], [[1, 0]])
    >>> verify(path).ok
    True
    """
    return _core.vmem_verify(path)
