"""The transcripts of a folder: every file in it that is one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memctx.errors import ConfigError
from memctx.transfer.formats import FORMATS, detect_format

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from memctx.transfer.formats import Format

ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".zst", ".db", ".sqlite", ".sqlite3", ".zip")
HISTORY = ".aider.chat.history.md"
# Folders of opencode that only its sessions lead to, and of a memory what is not said by anybody.
PARTS = (("message", "session"), ("part", "session"))
KNOWLEDGE, SEGMENTS = "knowledge.jsonl", "segments.jsonl"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read, and what it was when it was found."""

    path: Path
    name: str
    """The path as seen from the folder."""
    format: Format
    size: int
    changed: int
    """When it was last changed, in nanoseconds."""


def found(
    source: str | PathLike[str], format: Format | None, *, without: Path | None = None
) -> list[Source]:
    """The transcripts at a path, in the order of their names; none of those in the folder ``without``.

    Raises:
        ConfigError: there is nothing at the path, or no transcript.
    """
    root = Path(source).expanduser()
    if not root.exists():
        raise ConfigError(f"source is {str(root)!r}, where nothing is; expected a file or a folder")
    files = (
        [root]
        if root.is_file()
        else list(_files(root, None if without is None else without.resolve()))
    )
    sources: list[Source] = []
    for path in files:
        told = format or detect_format(path)
        if told is not None:
            seen = path.stat()
            name = path.name if path == root else path.relative_to(root).as_posix()
            sources.append(Source(path, name, told, seen.st_size, seen.st_mtime_ns))
    if not sources:
        known = ", ".join(FORMATS)
        raise ConfigError(
            f"{root}: no transcripts in {len(files)} files; expected those of {known}"
        )
    return sources


def facts_beside(sources: list[Source]) -> list[Path]:
    """The files of facts of the memories among the sources."""
    beside = [each.path.with_name(KNOWLEDGE) for each in sources if each.path.name == SEGMENTS]
    return [path for path in beside if path.is_file()]


def _files(root: Path, without: Path | None) -> Iterator[Path]:
    """The files below a folder that may be transcripts; links to folders are not followed."""
    for folder, folders, names in os.walk(root):
        beside = set(folders)
        if without is not None and Path(folder).resolve() == without:
            folders.clear()
            continue
        folders[:] = sorted(
            each for each in folders if not any(each == a and b in beside for a, b in PARTS)
        )
        if SEGMENTS in names:
            # A memory: all else in it is derived from the segments.
            folders.clear()
            yield Path(folder) / SEGMENTS
            continue
        for name in sorted(names):
            path = Path(folder) / name
            if (name.endswith(ENDINGS) or name == HISTORY) and path.is_file():
                yield path
