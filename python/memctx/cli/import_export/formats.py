"""Format detection and reading of transcript files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from memctx.cli.import_export.readers import (
    aider,
    chatgpt,
    claude_code,
    codex,
    gemini,
    memory,
    openclaw,
    opencode,
    pi,
    plain,
)
from memctx.cli.import_export.streams import SQLITE_MAGIC, open_database, table_columns
from memctx.cli.import_export.transcript_file import (
    UNREADABLE,
    TranscriptFile,
    TranscriptMessage,
    parse_object,
)
from memctx.errors import ConfigError, StoreError
from memctx.hosts.pi import as_object

if TYPE_CHECKING:
    from os import PathLike

    from memctx.cli.import_export.streams import Limits

Format: TypeAlias = Literal[
    "claude-code",
    "codex",
    "pi",
    "openclaw",
    "gemini",
    "opencode",
    "aider",
    "chatgpt",
    "memory",
    "plain",
]
Reader: TypeAlias = Callable[[TranscriptFile], Iterator[TranscriptMessage]]

FORMATS: tuple[Format, ...] = get_args(Format)
READERS: dict[Format, Reader] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "pi": pi.read,
    "openclaw": openclaw.read,
    "gemini": gemini.read,
    "opencode": opencode.read,
    "aider": aider.read,
    "chatgpt": chatgpt.read,
    "memory": memory.read,
    "plain": plain.read,
}
# In the order in which they are asked: what is found by more comes before what is found by less.
_BY_LINE = (
    ("claude-code", claude_code.recognizes),
    ("codex", codex.recognizes),
    ("gemini", gemini.recognizes),
    ("pi", pi.recognizes),
    ("opencode", opencode.recognizes),
    ("memory", memory.recognizes),
    ("plain", plain.recognizes),
)
# The part of a file that is inspected.
HEAD, HEAD_LINES = 256 * 1024, 40


def read_transcript(
    path: str | PathLike[str], *, format: Format | None = None, limits: Limits | None = None
) -> Iterator[TranscriptMessage]:
    r"""Return the messages of one transcript file, one at a time.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.jsonl"
    >>> _ = path.write_text('{"role": "user", "content": "Which port?"}\n')
    >>> [(said.session, said.id, said.message["content"]) for said in read_transcript(path)]
    [('talk', '1', 'Which port?')]

    Raises:
        ConfigError: the format is unknown, or nothing in the file tells which it is.
        StoreError: the file cannot be read, or is larger than the limits allow.
    """
    transcript = TranscriptFile(path, limits)
    wanted = recognize(transcript) if format is None else check_format(format)
    if wanted is None:
        raise ConfigError(f"{path}: no transcript; expected one of {', '.join(FORMATS)}")
    yield from read_messages(transcript, wanted)


def read_messages(transcript: TranscriptFile, format: Format) -> Iterator[TranscriptMessage]:
    """Return the messages of a file whose format is known.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        yield from READERS[format](transcript)
    except UNREADABLE as error:
        raise StoreError(f"{transcript.path}: cannot be read: {error}") from error


def check_format(format: str) -> Format:
    """Return a format by its name; raise `ConfigError` if it is unknown."""
    for known in FORMATS:
        if format == known:
            return known
    raise ConfigError(f"format is {format!r}; expected one of {', '.join(FORMATS)}")


def detect_format(path: str | PathLike[str], *, limits: Limits | None = None) -> Format | None:
    """Return the format of a file, detected from its content; None if it is no transcript or cannot be read."""
    try:
        return recognize(TranscriptFile(path, limits))
    except StoreError:
        return None


def recognize(transcript: TranscriptFile) -> Format | None:
    """Return the format of a file, detected from its content; None if it is no transcript.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        found = _recognize_content(transcript)
    except UNREADABLE as error:
        raise StoreError(f"{transcript.path}: cannot be read: {error}") from error
    transcript.damaged = 0  # the inspected part is read again
    transcript.skips.clear()
    return found


def _recognize_content(transcript: TranscriptFile) -> Format | None:
    with transcript.open() as file:
        head = file.read(HEAD)
    if head.startswith(SQLITE_MAGIC):
        return _recognize_database(transcript)
    if head.startswith(b"PK"):
        return "chatgpt" if _has_conversations(transcript) else None
    text = head.decode("utf-8-sig", "replace")
    if aider.recognizes(text):
        return "aider"
    if chatgpt.recognizes(text):
        return "chatgpt"
    lines = [parse_object(line) for line in islice(transcript.lines(), HEAD_LINES)]
    found = _recognize_objects(lines)
    if found is not None or (lines and lines[0] is not None) or text.lstrip()[:1] not in ("{", "["):
        return found
    # One JSON value over several lines.
    return _recognize_objects(map(as_object, islice(transcript.values(), HEAD_LINES)))


def _recognize_objects(objects: Iterable[dict[str, Any] | None]) -> Format | None:
    few = [each for each in objects if each is not None]
    for name, recognizes in _BY_LINE:
        if any(recognizes(each) for each in few):
            return check_format(name)
    return None


def _recognize_database(transcript: TranscriptFile) -> Format | None:
    with open_database(transcript.path, transcript.limits) as connection:
        if "session_id" in table_columns(connection, openclaw.TABLE):
            return "openclaw"
        has_all = all(table_columns(connection, table) for table in opencode.TABLES)
        return "opencode" if has_all else None


def _has_conversations(transcript: TranscriptFile) -> bool:
    try:
        with zipfile.ZipFile(transcript.path) as archive:
            return any(map(chatgpt.is_member, archive.namelist()))
    except zipfile.BadZipFile:
        return False
