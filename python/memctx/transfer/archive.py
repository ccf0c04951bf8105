"""`Archive`: the log of a store, to which an import appends what the store does not have."""

from __future__ import annotations

import json
import logging
import zlib
from typing import TYPE_CHECKING

from memctx import _core, durable
from memctx.errors import UnsupportedVersionError
from memctx.transfer.known import Known

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

logger = logging.getLogger("memctx.transfer")

LOCK, SEGMENTS = "LOCK", "segments.jsonl"
VERSION = 1
PAGE = 4096
# A place in the log is known by so many bytes before it.
BEFORE = 256


class Archive:
    """Appends lines under the lock of the store, as the store itself does, and knows all that it holds."""

    def __init__(self, folder: Path, *, timeout: float) -> None:
        self._folder = folder
        self._log = folder / SEGMENTS
        self._timeout = timeout
        self._known = Known()
        self._read = 0
        durable.make_folder(folder)
        self._check_version()
        self._catch_up()

    @property
    def end(self) -> int:
        """Up to where the log is known."""
        return self._read

    def append(self, lines: Sequence[tuple[int, bytes]]) -> tuple[int, int]:
        """Append those lines that are new, and wait for the disk: how many they are, and where the log ends then."""
        with durable.held(self._folder / LOCK, timeout=self._timeout):
            self._catch_up()
            fresh = [(key, line) for key, line in lines if key not in self._known]
            fresh = list(dict(fresh).items())
            if fresh:
                with durable.held(self._log, timeout=self._timeout) as log:
                    log.append(b"".join(line for _, line in fresh))
                    self._read = log.size
                for key, _ in fresh:  # not before they are stored
                    self._known.add(key)
        return len(fresh), self._read

    def mark(self, place: int) -> int | None:
        """What a place in the log is known by, should the log be replaced; None if it is shorter than that."""
        if place == 0:
            return 0
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, place - BEFORE))
                before = file.read(min(place, BEFORE))
        except FileNotFoundError:
            return None
        return zlib.crc32(before) if len(before) == min(place, BEFORE) else None

    def _catch_up(self) -> None:
        """Take in what others have appended."""
        if not self._log.exists():
            self._read = 0
            return
        if self._log.stat().st_size < self._read:
            logger.warning("%s: became shorter; read anew", self._log)
            self._known, self._read = Known(), 0
        cold = _core.ColdStore(self._folder)
        while True:
            segments, end = cold.read_from(self._read, limit=PAGE)
            for each in segments:
                self._known.add(Known.key(each.session_id, each.role, each.content))
            self._read = end
            if not segments:
                return

    def _check_version(self) -> None:
        """Leave a directory alone that a newer memctx writes."""
        try:
            with (self._folder / LOCK).open("rb") as file:
                found = json.loads(file.readline(PAGE))
            needed = int(found["min_writer"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return
        if needed > VERSION:
            raise UnsupportedVersionError(f"{self._folder}: version {needed}; expected {VERSION}")
