"""`Transfer`: copies everything between a directory and a server, in either direction.

It continues where an earlier run was interrupted, and compares both sides line by line afterwards.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from memctx import files, store_files
from memctx.errors import ConfigError
from memctx.replica import records
from memctx.replica.erasures import Erasures
from memctx.replica.puller import Puller
from memctx.replica.records import LOGS, CacheRecord
from memctx.replica.session_files import SessionFiles
from memctx.replica.shipper import Shipper, check_session_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from memctx.postgres import Server, SessionInfo
    from memctx.replica.records import LogName

    Progress = Callable[[int, int], object]
    """Called with the bytes or sessions done, and with all of them."""

PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Transferred:
    """Outcome of a transfer."""

    sessions: int
    """Sessions compared."""
    segments: int
    """Segments that both sides have."""
    facts: int
    """States of facts that both sides have."""
    problems: tuple[str, ...]
    """Lines that one side lacks, by session; empty if all is well."""


class Transfer:
    """Transfers between one directory and one namespace."""

    def __init__(self, directory: Path, server: Server) -> None:
        self._directory = directory
        self._server = server
        self._shipper = Shipper(directory, server)
        self._puller = Puller(directory, server, self._shipper)
        self._files = SessionFiles(directory, server)
        self._erasures = Erasures(directory, server)

    def push(self, progress: Progress | None = None) -> Transferred:
        """Send everything in the directory that the server lacks, and compare."""
        with self._locked():
            record = self._record()
            self._shipper.ship(record, progress)
            sessions = self._sessions()
            for session in filter(_is_supported, sessions):
                self._files.send(self._session(session, record))
        return self._compare(sessions, is_push=True)

    def pull(self, progress: Progress | None = None) -> Transferred:
        """Append everything to the directory that it lacks, and compare."""
        sessions = [each.session_id for each in self.sessions()]
        self.fetch(sessions, progress)
        return self._compare(sessions, is_push=False)

    def fetch(self, sessions: Sequence[str], progress: Progress | None = None) -> None:
        """Append what the directory lacks of some sessions, and remove what was erased on the server."""
        with self._locked():
            record = self._record()
            self._erasures.carry_out(record)
            for number, session in enumerate(sessions, 1):
                found = self._session(session, record)
                self._puller.pull(found, record)
                head = self._server.heads([session]).get(session)
                if head is not None:
                    self._files.fetch(found, head.files)
                self._puller.forget(session)
                if progress is not None:
                    progress(number, len(sessions))

    def send(self) -> None:
        """Send the lines of the directory that the server lacks."""
        with self._locked():
            self._shipper.ship(self._record())

    def sessions(self) -> Iterator[SessionInfo]:
        """Return the sessions on the server."""
        after = None
        while found := self._server.sessions(after=after, limit=PAGE):
            yield from found
            after = found[-1].session_id

    def _locked(self) -> AbstractContextManager[files.Held]:
        store_files.make_folder(self._directory / records.FOLDER)
        return files.held(records.lock_path(self._directory))

    def _record(self) -> CacheRecord:
        record = records.load_cache(self._directory)
        is_known = record.server == self._server.fingerprint
        if is_known and self._shipper.is_intact(record):
            return record
        return CacheRecord(server=self._server.fingerprint)

    def _session(self, session_id: str, record: CacheRecord) -> records.SessionRecord:
        return records.load_session(self._directory, session_id, record.origin)

    def _sessions(self) -> list[str]:
        return sorted({session for log in LOGS for session, _ in self._local(log)})

    def _local(self, log: LogName) -> Iterator[tuple[str, str]]:
        """Return session and line of everything in a log of the directory."""
        reader, offset = self._shipper.reader(), 0
        while reader is not None:
            lines, end = reader.read_lines(offset, log=log, limit=PAGE)
            for _, text in lines:
                yield json.loads(text).get("sessionId") or "", text
            if end == offset:
                return
            offset = end

    def _compare(self, sessions: Iterable[str], *, is_push: bool) -> Transferred:
        """Compare the ids of segments and the digests of facts on both sides."""
        counts = dict.fromkeys(LOGS, 0)
        problems: list[str] = []
        wanted = set(sessions)
        for log in LOGS:
            here: dict[str, set[str]] = {session: set() for session in wanted}
            for session, text in self._local(log):
                if session in here:
                    here[session].add(_key(log, text))
            for session in sorted(wanted):
                if not _is_supported(session):
                    problems.append(
                        f"session {session!r}: a server cannot hold its id; nothing is sent"
                    )
                    continue
                there = set(self._remote(session, log))
                given, received = (here[session], there) if is_push else (there, here[session])
                counts[log] += len(given & received)
                if missing := given - received:
                    problems.append(f"session {session!r}: {len(missing)} {log} did not arrive")
        return Transferred(len(wanted), counts["segments"], counts["facts"], tuple(problems))

    def _remote(self, session_id: str, log: LogName) -> Iterator[str]:
        after, has_more = 0, True
        while has_more:
            page = self._server.pull(session_id, log, after, limit=PAGE)
            for row in page.rows:
                after = row.seq
                if row.line is not None:
                    yield _key(log, row.line)
            has_more = page.has_more


def _is_supported(session_id: str) -> bool:
    try:
        check_session_id(session_id)
    except ConfigError:
        return False
    return True


def _key(log: LogName, text: str) -> str:
    """Return the identity of a line: the id of a segment and its content, and all of a fact."""
    if log == "facts":
        return sha256(text.encode()).hexdigest()
    found = json.loads(text)
    identity = f"{found['id']}\n{found['role']}\n{found['content']}"
    return sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
