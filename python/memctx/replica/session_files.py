"""`SessionFiles`: the small files of a session, kept on the server with versions.

What a conversation was sent, its counters and the progress of extraction follow the session to its next host. A file is
fetched when the session is attached and sent when it changes. If two hosts changed it, the one that changed it last
wins, except that keys of sent blocks, which only grow, are merged.
"""

from __future__ import annotations

import logging
from hashlib import sha256
from typing import TYPE_CHECKING

from memctx import files, store_files
from memctx.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memctx.postgres import Server
    from memctx.replica.records import SessionRecord

logger = logging.getLogger("memctx.replica")

STATE, BLOCKS, COUNTERS, EXTRACTION = "state", "blocks", "counters", "extraction"
PLACES = {
    STATE: ("sessions", ".json"),
    BLOCKS: ("sessions", ".blocks"),
    COUNTERS: ("sessions", ".counters.json"),
    EXTRACTION: ("extraction", ".json"),
}
"""Folder and ending of each file."""
MOST_ATTEMPTS = 3


class SessionFiles:
    """The files of the sessions in a cache; the caller holds the lock of the cache."""

    def __init__(self, cache: Path, server: Server) -> None:
        self._cache = cache
        self._server = server
        self._stamps: dict[tuple[str, str], tuple[int, int]] = {}

    def fetch(self, session: SessionRecord, versions: Mapping[str, int]) -> None:
        """Replace the files of which the server has newer versions; save the record."""
        for name, version in versions.items():
            known, digest = session.files.get(name, (0, ""))
            if name not in PLACES or version == known:
                continue
            path = self._path(session.session, name)
            local = self._read(path)
            if local is not None and _digest(local) != digest and known:
                continue  # changed here too: `send` settles it
            found = self._server.read_file(session.session, name)
            if found is not None:
                body = (
                    found.body
                    if local is None or name != BLOCKS
                    else _merge(name, found.body, local)
                )
                store_files.make_folder(path.parent)
                files.replace(path, body, sync=False)
                session.files[name] = (found.version, _digest(found.body))
                session.save(self._cache)

    def send(self, session: SessionRecord) -> None:
        """Send the files that changed; save the record."""
        for name in PLACES:
            path = self._path(session.session, name)
            key = (session.session, name)
            stamp = _stamp(path)
            if stamp is None or self._stamps.get(key) == stamp:
                continue
            body = self._read(path)
            if body is not None and _digest(body) != session.files.get(name, (0, ""))[1]:
                self._send(session, name, body)
            self._stamps[key] = stamp

    def forget(self, session_id: str) -> None:
        """Compare the files of a session again."""
        for name in PLACES:
            self._stamps.pop((session_id, name), None)

    def _send(self, session: SessionRecord, name: str, body: bytes) -> None:
        expected = session.files.get(name, (0, ""))[0]
        for _ in range(MOST_ATTEMPTS):
            version = self._server.write_file(session.session, name, body, expected=expected)
            if version is not None:
                session.files[name] = (version, _digest(body))
                session.save(self._cache)
                return
            found = self._server.read_file(session.session, name)
            expected = 0 if found is None else found.version
            if found is not None:
                body = _merge(name, found.body, body)
        logger.info("session %r: %s changes elsewhere; it is sent later", session.session, name)

    def _path(self, session_id: str, name: str) -> Path:
        folder, ending = PLACES[name]
        return store_files.path_of(self._cache, folder, session_id, ending)

    def _read(self, path: Path) -> bytes | None:
        try:
            return files.read(path, follow=False)
        except FileNotFoundError:
            return None
        except (OSError, StoreError) as error:
            logger.warning("%s: not replicated: %s", path, error)
            return None


def _merge(name: str, theirs: bytes, ours: bytes) -> bytes:
    """Return what to keep of two versions of a file."""
    if name != BLOCKS:
        return ours
    return b"".join(
        dict.fromkeys([*theirs.splitlines(keepends=True), *ours.splitlines(keepends=True)])
    )


def _digest(body: bytes) -> str:
    return sha256(body).hexdigest()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
