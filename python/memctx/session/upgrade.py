"""Rewriting a session file of an old version, beside a backup of it."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
from typing import TYPE_CHECKING, Any, cast

from memctx.errors import MessageShapeError, StoreError
from memctx.session.entry import Entry, dumped, parsed
from memctx.session.lines import BYTE_ORDER_MARK
from memctx.session.migrate import Migration

if TYPE_CHECKING:
    from pathlib import Path

MOST_BACKUPS = 1000


def rewritten(data: bytes, header: dict[str, Any]) -> bytes:
    """The bytes of a session file as version 3. Lines that cannot be read stay as they are."""
    migration, lines = Migration(), [dumped(header).encode()]
    for number, raw in enumerate(data.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        found = parsed(raw)
        if found is not None:
            entry = migration.read(found, raw.rstrip(b"\r"), number)
            lines += [] if entry is None else [_line(entry)]
        elif raw.strip():
            migration.pass_over()
            lines.append(raw)
    return b"\n".join([*lines, b""])


def backed_up(path: Path, version: int | None) -> Path:
    """Keep a file under another name, byte for byte; the name."""
    stem = f"{path.name}.{'plain' if version is None else f'v{version}'}"
    for number in range(MOST_BACKUPS):
        backup = path.with_name(f"{stem}.{number}.bak" if number else f"{stem}.bak")
        with contextlib.suppress(FileExistsError):
            _keep(path, backup)
            return backup
    raise StoreError(
        f"{path}: there are {MOST_BACKUPS} backups already; expected room for one more"
    )


def _keep(path: Path, backup: Path) -> None:
    try:
        os.link(path, backup)
    except FileExistsError:
        raise
    except OSError:  # a file has but one name here
        with path.open("rb") as old, backup.open("xb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())


def _line(entry: Entry) -> bytes:
    try:
        return dumped(entry.fields).encode()
    except MessageShapeError:  # a number that JSON cannot write again; the backup has it
        return dumped(_finite(entry.fields)).encode()


def _finite(value: object) -> object:
    """A value in which nothing stands for numbers that are infinite or none at all."""
    if isinstance(value, dict):
        found = cast("dict[str, object]", value)
        return {name: _finite(each) for name, each in found.items()}
    if isinstance(value, list):
        return [_finite(each) for each in cast("list[object]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
