"""What a store holds, written as JSON lines or as Markdown."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypedDict, Unpack

from memctx import _core
from memctx.errors import ConfigError, StoreError
from memctx.memory import Memory
from memctx.messages import part
from memctx.session.entry import LATEST, dumped, iso
from memctx.transfer.place import config_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from os import PathLike

    from memctx._core import Segment

TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote."""

    messages: int
    """Segments that were written."""
    sessions: int
    """Sessions that they belong to."""


class ExportOptions(TypedDict, total=False):
    """Which segments are exported; all, if nothing is said."""

    session_id: str | None
    roles: Sequence[str] | None
    since: float | None
    until: float | None


def export_jsonl(
    memory: Memory | str | PathLike[str],
    target: str | PathLike[str] | TextIO,
    **options: Unpack[ExportOptions],
) -> Exported:
    r"""Write the segments of a store as JSON, one a line, which `import_transcripts` reads again.

    The lines are those of the store itself, without their checksums. Of a memory that sees but its own session only
    that is written. A file is replaced as a whole, once all is written.

    >>> import io, json, memctx, tempfile
    >>> out = io.StringIO()
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     said = {"role": "user", "content": "The webhook listens on port 8443", "timestamp": 1770000000000}
    ...     archived = memory.archive([said])
    ...     exported = export_jsonl(memory, out)
    >>> exported.messages, sorted(json.loads(out.getvalue()))
    (1, ['content', 'id', 'metadata', 'role', 'sessionId', 'timestamp', 'tokens'])
    """
    with _writing(target) as file:
        tally = _Tally()
        for segment in tally.counted(_segments(memory, options)):
            line = {
                "id": segment.id,
                "sessionId": segment.session_id,
                "timestamp": segment.timestamp,
                "role": segment.role,
                "content": segment.content,
                "tokens": segment.tokens,
                "metadata": segment.metadata,
            }
            file.write(f"{dumped(line)}\n")
    return tally.exported()


def export_markdown(
    memory: Memory | str | PathLike[str],
    target: str | PathLike[str] | TextIO,
    **options: Unpack[ExportOptions],
) -> Exported:
    """Write the segments of a store as Markdown, to be read by people: a heading for each session and each message.

    >>> import io, memctx, tempfile
    >>> out = io.StringIO()
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     said = {"role": "user", "content": "The webhook listens on port 8443", "timestamp": 1770000000000}
    ...     archived = memory.archive([said])
    ...     exported = export_markdown(memory, out)
    >>> print(out.getvalue().strip())
    # Session s1
    <BLANKLINE>
    ## user, 2026-02-02 02:40:00 UTC
    <BLANKLINE>
    The webhook listens on port 8443
    """
    session = None
    with _writing(target) as file:
        tally = _Tally()
        for segment in tally.counted(_segments(memory, options)):
            if segment.session_id != session:
                session = segment.session_id
                file.write(f"# Session {_one_line(session)}\n\n")
            file.write(f"## {_heading(segment)}\n\n{_body(segment)}\n\n")
    return tally.exported()


class _Tally:
    """Counts what passes."""

    def __init__(self) -> None:
        self._messages = 0
        self._sessions: set[str] = set()

    def counted(self, segments: Iterator[Segment]) -> Iterator[Segment]:
        for segment in segments:
            self._messages += 1
            self._sessions.add(segment.session_id)
            yield segment

    def exported(self) -> Exported:
        return Exported(self._messages, len(self._sessions))


def _segments(memory: Memory | str | PathLike[str], options: ExportOptions) -> Iterator[Segment]:
    config, session = config_of(memory), options.get("session_id")
    if isinstance(memory, Memory) and not config.cross_session:
        if session not in {None, memory.session_id}:
            raise ConfigError(f"session_id is {session!r}; {memory!r} sees no other session")
        session = memory.session_id
    folder = Path(config.storage_path)
    if not folder.is_dir():
        raise ConfigError(f"memory is {str(folder)!r}, where none is; expected the folder of one")
    return _core.ColdStore(folder).scan(
        session_id=session,
        roles=options.get("roles"),
        since=options.get("since"),
        until=options.get("until"),
    )


@contextmanager
def _writing(target: str | PathLike[str] | TextIO) -> Generator[TextIO, None, None]:
    """A file in the place of the target, which takes it when all is written; or the stream that was given."""
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    path = Path(target).expanduser()
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error}") from error
    finally:
        Path(name).unlink(missing_ok=True)


def _heading(segment: Segment) -> str:
    tool = segment.metadata.get("tool")
    name = part.text(tool, "name")
    who = f"{segment.role} {_one_line(name)}" if name else segment.role
    if not 0 <= segment.timestamp < LATEST:
        return _one_line(who)
    moment = iso(segment.timestamp / 1000)
    return f"{_one_line(who)}, {moment[:10]} {moment[11:19]} UTC"


def _body(segment: Segment) -> str:
    """What was said; what a tool did stands in a fence that nothing in it can close."""
    if segment.role != "tool":
        return segment.content.strip("\n")
    longest = max(map(len, TICKS.findall(segment.content)), default=0)
    fence = "`" * max(3, longest + 1)
    text = segment.content.strip("\n")
    return f"{fence}\n{text}\n{fence}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
