"""Access to the files of a workspace: reads confined to its folder, and append-only daily notes."""

from __future__ import annotations

import os
import re
import stat
from contextlib import contextmanager
from datetime import date, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from memctx import files
from memctx.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from io import BufferedReader

MAX_FILE_BYTES = 64 * 1024 * 1024

FOLDER = "memory"
DATED = re.compile(r"(\d{4}-\d{2}-\d{2})\.md")


def resolve_inside(root: Path, path: Path) -> Path:
    """Resolve the links of a path inside of ``root``.

    Raises:
        StoreError: it leads out of it.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        raise StoreError(f"{path}: leads out of the workspace; expected a file below {root}")
    return real


def read_file(root: Path, path: Path) -> bytes:
    """Return the bytes of a file inside of ``root``.

    Raises:
        FileNotFoundError: there is none.
        StoreError: it leads out of the folder, is no plain file, is too large, or cannot be read.
    """
    with open_file(root, path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_FILE_BYTES:
            raise StoreError(f"{path}: {size} bytes; expected at most {MAX_FILE_BYTES}")
        return file.read(MAX_FILE_BYTES)


@contextmanager
def open_file(root: Path, path: Path) -> Generator[BufferedReader]:
    """Open a plain file inside of ``root`` for reading; a pipe or a device is refused before it can block.

    Raises:
        FileNotFoundError: there is none.
        StoreError: it leads out of the folder, is no plain file, or cannot be read.
    """
    real = resolve_inside(root, path)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(real, flags | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StoreError(f"{path}: expected a plain file")
    with os.fdopen(descriptor, "rb") as file:
        # Check again: a link may have been put into the path meanwhile.
        resolve_inside(root, path)
        try:
            yield file
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error}") from error


def decode_text(data: bytes) -> str:
    """Decode the bytes of a file; invalid ones are replaced."""
    return data.decode("utf-8-sig", "replace")


def find_notes(root: Path, folder: str) -> Iterator[Path]:
    """Yield the Markdown files below a folder of the workspace, by name."""
    try:
        top = resolve_inside(root, root / folder)
    except StoreError:
        return
    for where, folders, names in os.walk(top):  # does not follow links
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(".md") and not name.startswith("."):
                yield root / folder / (Path(where) / name).relative_to(top)


def resolve_time_zone(time_zone: str | tzinfo | None) -> tzinfo | None:
    """Return a time zone by its name; None is the machine's.

    >>> resolve_time_zone("Asia/Shanghai")
    zoneinfo.ZoneInfo(key='Asia/Shanghai')

    Raises:
        ConfigError: the name is unknown.
    """
    if not isinstance(time_zone, str):
        return time_zone
    try:
        return ZoneInfo(time_zone)
    except (LookupError, ValueError, OSError):
        raise ConfigError(
            f"time_zone is {time_zone!r}; expected a name such as 'Europe/Berlin'"
        ) from None


def local_time(at: datetime | None, time_zone: str | tzinfo | None) -> datetime:
    """Convert a time, by default now, to a time zone."""
    zone = resolve_time_zone(time_zone)
    return datetime.now(zone).astimezone(zone) if at is None else at.astimezone(zone)


def daily_name(day: date) -> str:
    """Return the file of a day's notes, relative to the workspace.

    >>> daily_name(date(2026, 1, 24))
    'memory/2026-01-24.md'
    """
    return f"{FOLDER}/{day:%Y-%m-%d}.md"


def parse_day(name: str) -> date | None:
    """Return the day in the name of a file of daily notes, or None.

    >>> parse_day("2026-01-24.md"), parse_day("projects.md")
    (datetime.date(2026, 1, 24), None)
    """
    found = DATED.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def append_note(root: Path, text: str, at: datetime) -> Path:
    """Append a note under its time to the notes of its day; return the file. It is on disk on return.

    Raises:
        StoreError: the folder leads out of the workspace, or nothing could be written.
    """
    path = root / daily_name(at.date())
    folder = resolve_inside(root, path.parent)
    files.make_folder(folder)
    real = resolve_inside(root, path)
    with files.held(real) as file:
        head = f"# {at:%Y-%m-%d}\n" if file.size == 0 else ""
        note = f"{head}\n## {at:%H:%M}\n\n{text.strip()}\n"
        file.append(note.encode("utf-8", "replace"))
    return path
