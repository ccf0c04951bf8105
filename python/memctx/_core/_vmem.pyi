"""VMEM files."""

from collections.abc import Sequence
from os import PathLike
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

@final
class VmemReport:
    """Findings of `memctx.lowlevel.vmem.verify` in a file."""

    @property
    def dim(self) -> int:
        """Length of the vectors."""

    @property
    def declared(self) -> int:
        """Entries that the checksum or, without one, the header promises."""

    @property
    def complete(self) -> int:
        """Entries that are there in full."""

    @property
    def unreadable(self) -> int:
        """Complete entries that a reader must skip: an id that is not UTF-8, a value that is not finite."""

    @property
    def trailing_bytes(self) -> int:
        """Bytes after the last complete entry that belong to no entry and no checksum."""

    @property
    def checksum(self) -> Literal["valid", "absent", "wrong"]:
        """State of the file's checksum."""

    @property
    def ok(self) -> bool:
        """True when every promised entry is there, readable, and no checksum contradicts it."""

def vmem_read(
    path: str | PathLike[str],
) -> tuple[list[str], NDArray[np.float32], VmemReport]: ...
def vmem_write(
    path: str | PathLike[str], ids: Sequence[str], matrix: ArrayLike, checksum: bool
) -> None: ...
def vmem_append(path: str | PathLike[str], ids: Sequence[str], matrix: ArrayLike) -> None: ...
def vmem_verify(path: str | PathLike[str]) -> VmemReport: ...
