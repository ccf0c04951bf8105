"""Export of a store as JSON lines or Markdown."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypedDict, Unpack

from memctx import _core, checks, store_files
from memctx.cli.escaping import escape_controls, markdown, plain
from memctx.config import Config
from memctx.errors import ConfigError, StoreError
from memctx.hosts.pi import LATEST, dump_json, iso
from memctx.memory import Memory
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from os import PathLike

    from memctx._core import Segment

TICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export."""

    messages: int
    """Segments that were written."""
    sessions: int
    """Sessions that they belong to."""


class ExportOptions(TypedDict, total=False):
    """Filters of an export, and ``overwrite`` to replace an existing file."""

    session_id: str | None
    roles: Sequence[str] | None
    since: float | None
    until: float | None
    overwrite: bool


def export_jsonl(
    memory: Memory | str | PathLike[str],
    target: str | PathLike[str] | TextIO,
    **options: Unpack[ExportOptions],
) -> Exported:
    r"""Write the segments of a store as JSON lines, which `import_transcripts` reads.

    The lines are those of the store itself, without their checksums. Of a memory that sees but its own session only
    that is written. A file appears as a whole, once all is written; one that exists is replaced only with
    ``overwrite``.

    >>> import io, json, memctx, tempfile
    >>> out = io.StringIO()
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     said = {"role": "user", "content": "The webhook listens on port 8443", "timestamp": 1770000000000}
    ...     archived = memory.archive([said])
    ...     exported = export_jsonl(memory, out)
    >>> exported.messages, sorted(json.loads(out.getvalue()))
    (1, ['content', 'id', 'metadata', 'role', 'sessionId', 'timestamp', 'tokens'])

    Raises:
        ConfigError: there is no store, or the file exists already.
        StoreError: the file cannot be written.
    """
    segments = _scan_segments(memory, options)
    with _open_target(target, options) as file:
        counter = _Counter()
        for segment in counter.count(segments):
            line = {
                "id": segment.id,
                "sessionId": segment.session_id,
                "timestamp": segment.timestamp,
                "role": segment.role,
                "content": segment.content,
                "tokens": segment.tokens,
                "metadata": segment.metadata,
            }
            file.write(f"{escape_controls(dump_json(line))}\n")
    return counter.result()


def export_markdown(
    memory: Memory | str | PathLike[str],
    target: str | PathLike[str] | TextIO,
    **options: Unpack[ExportOptions],
) -> Exported:
    """Write the segments of a store as Markdown, with a heading for each session and each message.

    HTML and control characters in them take no effect.

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
    segments = _scan_segments(memory, options)
    with _open_target(target, options) as file:
        counter = _Counter()
        for segment in counter.count(segments):
            if segment.session_id != session:
                session = segment.session_id
                file.write(f"# Session {_format_line(session)}\n\n")
            file.write(f"## {_format_heading(segment)}\n\n{_format_body(segment)}\n\n")
    return counter.result()


class _Counter:
    """Counter of exported segments and sessions."""

    def __init__(self) -> None:
        self._messages = 0
        self._sessions: set[str] = set()

    def count(self, segments: Iterator[Segment]) -> Iterator[Segment]:
        for segment in segments:
            self._messages += 1
            self._sessions.add(segment.session_id)
            yield segment

    def result(self) -> Exported:
        return Exported(self._messages, len(self._sessions))


def _scan_segments(
    memory: Memory | str | PathLike[str], options: ExportOptions
) -> Iterator[Segment]:
    config, session = resolve_config(memory), options.get("session_id")
    if isinstance(memory, Memory) and not config.cross_session:
        if session not in {None, memory.session_id}:
            raise ConfigError(f"session_id is {session!r}; {memory!r} sees no other session")
        session = memory.session_id
    folder = Path(config.storage_path)
    if not isinstance(memory, Memory) and not store_files.is_store(folder):
        raise ConfigError(f"memory is {str(folder)!r}; there is no store")
    return _core.LogReader(folder).scan(
        _core.SearchFilter(
            session_id=session,
            roles=options.get("roles"),
            since=options.get("since"),
            until=options.get("until"),
        ),
    )


@contextmanager
def _open_target(
    target: str | PathLike[str] | TextIO, options: ExportOptions
) -> Generator[TextIO, None, None]:
    """Yield a temporary file that replaces the target when it is complete, or the given stream."""
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    path = Path(target).expanduser()
    if path.exists() and not options.get("overwrite", False):
        raise ConfigError(f"{path}: exists already; pass overwrite=True (--force) to replace it")
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


def _format_heading(segment: Segment) -> str:
    tool = segment.metadata.get("tool")
    name = part.text(tool, "name")
    who = f"{segment.role} {_format_line(name)}" if name else segment.role
    if not 0 <= segment.timestamp < LATEST:
        return _format_line(who)
    moment = iso(segment.timestamp / 1000)
    return f"{_format_line(who)}, {moment[:10]} {moment[11:19]} UTC"


def _format_body(segment: Segment) -> str:
    """Return the text of a segment; that of a tool stands in a fence that its content cannot close."""
    if segment.role != "tool":
        return markdown(segment.content.strip("\n"))
    text = plain(segment.content).strip("\n")
    longest = max(map(len, TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _format_line(text: str) -> str:
    return markdown(" ".join(text.split()))


def resolve_config(memory: Memory | str | PathLike[str]) -> Config:
    """Return the settings of a memory; for a path, those of the environment."""
    if isinstance(memory, Memory):
        return memory.config
    if str(memory) == "":
        raise ConfigError("memory is empty; expected a memory or the path of one")
    return Config.load().replace(storage_path=Path.cwd() / checks.path(memory))
