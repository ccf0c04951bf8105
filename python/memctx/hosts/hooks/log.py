"""The log of hooks: errors that a host does not see, in a file of bounded size."""

from __future__ import annotations

import os
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from memctx.hosts.hooks.session import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256 * 1024
"""Size at which the log is moved to ``hooks.log.1``, in place of the one before."""
MAX_ENTRY = 8 * 1024


def log_path(root: Path) -> Path:
    """Return the path of the log."""
    return root / FOLDER / "hooks.log"


def log_error(root: Path, what: str, error: BaseException) -> None:
    """Append an error; a log that cannot be written is given up."""
    trace = "".join(traceback.format_exception(error))[-MAX_ENTRY:]
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    entry = f"{at} {what}: {type(error).__name__}: {error}\n{trace}\n"
    with suppress(OSError, ValueError):
        path = log_path(root)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            if path.stat().st_size > MAX_BYTES:
                path.replace(path.with_name(f"{path.name}.1"))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(entry.encode("utf-8", "replace"))
