"""`Erasures`: removes from a cache the sessions that were erased on the server."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING

from memctx import _core, store_files
from memctx.replica.records import CacheRecord

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from memctx.postgres import Erasure, Server

logger = logging.getLogger("memctx.replica")

SECONDS_BETWEEN_LOOKS = 5.0
PAGE = 2_000
ENDINGS = (".json", ".counters.json", ".blocks", ".lock")


class Erasures:
    """The erasures of a namespace; the caller holds the lock of the cache."""

    def __init__(self, cache: Path, server: Server) -> None:
        self._cache = cache
        self._server = server
        self._looked = 0.0

    def carry_out(self, record: CacheRecord, attached: Collection[str] = ()) -> None:
        """Remove the sessions erased since the record, now and then, and late ones that are not ``attached`` any more.

        The record is reset if the logs were rewritten.
        """
        sessions = [each for each in record.late if each not in attached]
        erasures = self._new_erasures(record)
        if erasures:
            erased = {each.key for each in erasures}
            sessions += [
                each for each in self._sessions() if self._server.session_key(each) in erased
            ]
            record.erasures = erasures[-1].number
        if sessions:
            self._remove(sorted({*sessions}), record)
        if sessions or erasures:
            record.late = [each for each in record.late if each in attached]
            record.save(self._cache)

    def expect(self, session_id: str, record: CacheRecord) -> None:
        """Note that an erased session is open here: what it writes until it is closed has to be removed."""
        if session_id not in record.late:
            record.late.append(session_id)
            record.save(self._cache)

    def _new_erasures(self, record: CacheRecord) -> list[Erasure]:
        if time.monotonic() - self._looked < SECONDS_BETWEEN_LOOKS:
            return []
        found = self._server.erasures(record.erasures)
        self._looked = time.monotonic()
        return found

    def _remove(self, sessions: list[str], record: CacheRecord) -> None:
        removal = _core.LogEditor(self._cache).remove(sessions=sessions)
        for session in sessions:
            for folder in store_files.FOLDERS:
                for ending in ENDINGS:
                    store_files.path_of(self._cache, folder, session, ending).unlink(
                        missing_ok=True
                    )
        logger.info("%s: %d erased sessions removed", self._cache, len(sessions))
        if (
            removal.segments or removal.facts
        ):  # the logs are others now, and are compared with the server again
            fresh = CacheRecord()
            record.origin, record.segments, record.facts = fresh.origin, fresh.segments, fresh.facts

    def _sessions(self) -> list[str]:
        """Return the sessions in the logs of the cache."""
        try:
            reader = _core.LogReader(self._cache)
        except FileNotFoundError:
            return []
        found = {segment.session_id for segment in reader.scan()}
        offset = 0
        while True:
            lines, end = reader.read_lines(offset, log="facts", limit=PAGE)
            found.update(json.loads(text).get("sessionId") or "" for _, text in lines)
            if end == offset:
                return sorted(found)
            offset = end
