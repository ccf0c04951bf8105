"""`Staging`: where messages become the lines of a store, cleaned, masked and sealed, before they go into it.

A store is told its session when it is opened, and opening one reads all that it holds. A transcript has thousands of
sessions; so each batch is archived into an empty store beside the real one, whose lines are then appended at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memctx import _core, durable
from memctx.errors import MessageShapeError
from memctx.intake import is_wanted
from memctx.transfer.known import Known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memctx.config import Config
    from memctx.intake import Row
    from memctx.messages import Shape
    from memctx.transfer.said import Said

SEGMENTS = "segments.jsonl"
PREFIX = ".staging-"
# So many messages of so many sessions are read again with the next batch: results find there the names of the calls
# they answer.
CARRIED, MOST_SESSIONS = 16, 4
HISTORY = "history"


class Staging:
    """Turns messages into lines. What a process that died left behind is cleared away by the next."""

    def __init__(self, config: Config, folder: Path, *, extract: bool) -> None:
        self._config = config
        self._extract = extract
        self._folder = folder
        self._scanner = _core.Scanner(config.estimator, capacity=0)
        self._carried: dict[str, list[Said]] = {}
        self._scratch: Path | None = None
        self.skipped = 0
        """Pieces and messages that were left out, as `Archived.skipped` counts them."""
        self.damaged = 0
        """What was no message at all."""
        self.repeated = 0
        """Pieces that a batch holds twice."""

    def __enter__(self) -> Self:
        durable.make_folder(self._folder)
        for left in self._folder.glob(f"{PREFIX}*"):
            if not _is_alive(left.name):
                shutil.rmtree(left, ignore_errors=True)
        prefix = f"{PREFIX}{os.getpid()}-"
        self._scratch = Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder))
        return self

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def lines(self, batch: Sequence[tuple[str, Said]]) -> list[tuple[int, bytes]]:
        """The lines of a batch, each with its key; with each message comes the name of its format."""
        if self._scratch is None:
            return []
        scratch = Path(tempfile.mkdtemp(dir=self._scratch))
        try:
            for session, group in _sessions(batch):
                rows = list(self._rows(session, group))
                if rows:
                    self._archive(scratch, session, rows)
            return list(_sealed(scratch / SEGMENTS))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _archive(self, scratch: Path, session: str, rows: list[Row]) -> None:
        config = self._config
        store = _core.WarmStore(
            scratch,
            session_id=session,
            max_segments=max(len(rows), 1),
            cold=False,
            durability="os",
            redaction=config.redaction,
            pii=config.pii,
            patterns=config.redaction_patterns or None,
        )
        outcomes = [each.outcome for each in store.add(rows)]
        self.skipped += outcomes.count("noise")
        self.repeated += outcomes.count("duplicate")

    def _rows(self, session: str, group: list[tuple[str, Said]]) -> Iterator[Row]:
        """What is to be stored of the messages of one session."""
        before = self._carried.pop(session, [])
        said = [each for _, each in group]
        pieces = self._scanned(before, said)
        for (host, each), rows in zip(group, pieces, strict=True):
            wanted = [
                row
                for row in rows
                if each.metadata is not None or is_wanted(row, self._config.archive_tools)
            ]
            self.skipped += len(rows) - len(wanted) or int(not rows)
            for role, text, at, metadata in wanted:
                yield (
                    role,
                    text,
                    each.timestamp if at is None else at,
                    self._told(host, each, metadata),
                )
        self._carried[session] = [*before, *said][-CARRIED:]
        if len(self._carried) > MOST_SESSIONS:
            del self._carried[next(iter(self._carried))]

    def _scanned(self, before: list[Said], said: list[Said]) -> list[list[Row]]:
        """The pieces of each message, of which each shape is read for itself."""
        everything = [*before, *said]
        shapes: set[Shape | None] = {each.shape for each in said if each.metadata is None}
        found: list[list[Row]] = [[] for _ in everything]
        for shape in shapes:
            places = [
                at
                for at, each in enumerate(everything)
                if each.metadata is None and each.shape == shape
            ]
            messages = [everything[at].message for at in places]
            try:
                pieces = self._scanner.scan(messages, shape).records()
            except MessageShapeError:
                pieces = [self._alone(message, shape) for message in messages]
            for at, rows in zip(places, pieces, strict=True):
                found[at] = list(rows)
        for at, each in enumerate(everything):
            if each.metadata is not None:
                found[at] = [(each.message["role"], each.message["content"], each.timestamp, None)]
        return found[len(before) :]

    def _alone(self, message: dict[str, Any], shape: Shape | None) -> list[Row]:
        with contextlib.suppress(MessageShapeError):
            return [row for rows in self._scanner.scan([message], shape).records() for row in rows]
        self.damaged += 1
        return []

    def _told(self, format: str, said: Said, metadata: str | None) -> str:
        """The metadata of a piece, and where it comes from. Facts are not looked for in what says its kind."""
        told: dict[str, Any] = json.loads(metadata) if metadata else dict(said.metadata or {})
        told.setdefault("source", {"format": format, "id": said.id})
        if not self._extract:
            told.setdefault("kind", HISTORY)
        elif told.get("kind") == HISTORY:
            del told["kind"]
        return json.dumps(told)


def _sessions(batch: Iterable[tuple[str, Said]]) -> Iterator[tuple[str, list[tuple[str, Said]]]]:
    groups: dict[str, list[tuple[str, Said]]] = {}
    for host, said in batch:
        # Half a character, which some hosts leave, is nothing a store could name a session by.
        session = said.session.encode("utf-8", "replace").decode() or "unnamed"
        groups.setdefault(session, []).append((host, said))
    yield from groups.items()


def _sealed(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for line in data.splitlines(keepends=True):
        found = json.loads(line)
        yield Known.key(found["sessionId"], found["role"], found["content"]), line


def _is_alive(name: str) -> bool:
    """Whether the process that made a folder still runs."""
    number = name.removeprefix(PREFIX).split("-")[0]
    if not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
