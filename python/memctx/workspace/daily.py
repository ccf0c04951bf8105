"""Notes of the day: ``memory/YYYY-MM-DD.md``, which only grows."""

from __future__ import annotations

import re
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from memctx import durable
from memctx.errors import ConfigError
from memctx.workspace import guard

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "memory"
DATED = re.compile(r"(\d{4}-\d{2}-\d{2})\.md")


def zone_of(time_zone: str | tzinfo | None) -> tzinfo | None:
    """A time zone by its name; None is the machine's.

    >>> zone_of("Asia/Shanghai")
    zoneinfo.ZoneInfo(key='Asia/Shanghai')

    Raises:
        ConfigError: nobody knows the name.
    """
    if not isinstance(time_zone, str):
        return time_zone
    try:
        return ZoneInfo(time_zone)
    except (LookupError, ValueError, OSError):
        raise ConfigError(
            f"time_zone is {time_zone!r}; expected a name such as 'Europe/Berlin'"
        ) from None


def local(at: datetime | None, time_zone: str | tzinfo | None) -> datetime:
    """A time, now if none is given, as the clocks in a time zone show it."""
    zone = zone_of(time_zone)
    return datetime.now(zone).astimezone(zone) if at is None else at.astimezone(zone)


def name_of(day: date) -> str:
    """Where the notes of a day are, seen from the workspace.

    >>> name_of(date(2026, 1, 24))
    'memory/2026-01-24.md'
    """
    return f"{FOLDER}/{day:%Y-%m-%d}.md"


def day_of(name: str) -> date | None:
    """The day whose notes a file name says it has, or None.

    >>> day_of("2026-01-24.md"), day_of("projects.md")
    (datetime.date(2026, 1, 24), None)
    """
    found = DATED.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def append(root: Path, text: str, at: datetime) -> Path:
    """Add a note to those of its day, under the time; the file. It is on disk when this returns.

    Raises:
        StoreError: the folder leads out of the workspace, or nothing could be written.
    """
    path = root / name_of(at.date())
    folder = guard.inside(root, path.parent)
    durable.make_folder(folder)
    real = guard.inside(root, path)
    with durable.held(real) as file:
        head = f"# {at:%Y-%m-%d}\n" if file.size == 0 else ""
        note = f"{head}\n## {at:%H:%M}\n\n{text.strip()}\n"
        file.append(note.encode("utf-8", "replace"))
    return path
