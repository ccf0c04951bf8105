"""Zstandard, which Python has from 3.14 on and a package before that."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from memctx.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

MAGIC = b"\x28\xb5\x2f\xfd"


@contextmanager
def opened(raw: BinaryIO, path: Path) -> Generator[BinaryIO, None, None]:
    """A compressed file, to be read from its beginning.

    Raises:
        StoreError: nothing here can decompress it.
    """
    module = _module()
    if module is None:
        raise StoreError(f"{path}: compressed with zstd; expected Python 3.14 or zstandard")
    if hasattr(module, "ZstdFile"):
        with module.ZstdFile(raw) as file:
            yield file
        return
    import io  # noqa: PLC0415 - only where Python itself cannot do it

    with module.ZstdDecompressor().stream_reader(raw) as stream:
        yield io.BufferedReader(stream)


def decompressed(data: bytes, longest: int) -> bytes | None:
    """Some bytes decompressed; None if that is not possible here, they are damaged, or would be too many."""
    module = _module()
    if module is None:
        return None
    try:
        if hasattr(module, "ZstdFile"):
            result: bytes = module.ZstdDecompressor().decompress(data, longest)
            return result
        found: bytes = module.ZstdDecompressor().decompressobj().decompress(data)
    except Exception:  # noqa: BLE001 - each of the two modules has an error of its own
        return None
    return found if len(found) <= longest else None


def _module() -> Any:  # noqa: ANN401 - one of two, neither of which need be there
    for name in ("compression.zstd", "zstandard"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
