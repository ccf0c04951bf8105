"""Which host wrote a file, told by what is in it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from memctx.errors import ConfigError, StoreError
from memctx.messages import part
from memctx.session.entry import as_object
from memctx.transfer import database
from memctx.transfer.readers import (
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
from memctx.transfer.said import Said
from memctx.transfer.tape import UNREADABLE, Tape, parsed

if TYPE_CHECKING:
    from os import PathLike

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
Reader: TypeAlias = Callable[[Tape], Iterator[Said]]

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
# In the order in which they are asked: what is told by more comes before what is told by less.
_BY_LINE = (
    ("claude-code", claude_code.recognises),
    ("codex", codex.recognises),
    ("gemini", gemini.recognises),
    ("pi", pi.recognises),
    ("opencode", opencode.recognises),
    ("memory", memory.recognises),
    ("plain", plain.recognises),
)
# As much of a file as is looked at.
HEAD, FEW_LINES = 256 * 1024, 40
# A document of that many bytes is read as a whole to see what it is.
SMALL = 16 << 20


def read_transcript(path: str | PathLike[str], *, format: Format | None = None) -> Iterator[Said]:
    r"""The messages of one transcript file, one at a time.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.jsonl"
    >>> _ = path.write_text('{"role": "user", "content": "Which port?"}\n')
    >>> [(said.session, said.id, said.message["content"]) for said in read_transcript(path)]
    [('talk', '1', 'Which port?')]

    Raises:
        ConfigError: the format is unknown, or nothing in the file tells which it is.
        StoreError: the file cannot be read.
    """
    tape = Tape(path)
    wanted = detect_format(path) if format is None else checked(format)
    if wanted is None:
        raise ConfigError(f"{path}: no transcript; expected one of {', '.join(FORMATS)}")
    try:
        yield from READERS[wanted](tape)
    except UNREADABLE as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def checked(format: str) -> Format:
    """A format by its name; a `ConfigError` if there is none of that name."""
    for known in FORMATS:
        if format == known:
            return known
    raise ConfigError(f"format is {format!r}; expected one of {', '.join(FORMATS)}")


def detect_format(path: str | PathLike[str]) -> Format | None:
    """Which host wrote a file, by its content; None if it is no transcript, or cannot be read."""
    tape = Tape(path)
    try:
        with tape.opened() as file:
            head = file.read(HEAD)
        if head.startswith(database.MAGIC):
            return _of_database(tape)
        if head.startswith(b"PK"):
            return "chatgpt" if _has_conversations(tape) else None
        text = head.decode("utf-8-sig", "replace")
        if aider.recognises(text):
            return "aider"
        if chatgpt.recognises(text):
            return "chatgpt"
        return _of_lines(tape) or _of_document(tape, text)
    except (StoreError, *UNREADABLE):
        return None


def _of_lines(tape: Tape) -> Format | None:
    lines = [
        found for line in islice(tape.lines(), FEW_LINES) if (found := parsed(line)) is not None
    ]
    for name, recognises in _BY_LINE:
        if any(recognises(line) for line in lines):
            return checked(name)
    return None


def _of_document(tape: Tape, text: str) -> Format | None:
    """What a file is that is one JSON value over several lines."""
    if not text.lstrip().startswith(("{", "[")) or tape.path.stat().st_size > SMALL:
        return None
    few = [found for each in part.blocks(tape.document())[:FEW_LINES] if (found := as_object(each))]
    for name, recognises in _BY_LINE:
        if any(recognises(each) for each in few):
            return checked(name)
    return None


def _of_database(tape: Tape) -> Format | None:
    with database.opened(tape.path) as connection:
        if "session_id" in database.columns(connection, openclaw.TABLE):
            return "openclaw"
        has_all = all(database.columns(connection, table) for table in opencode.TABLES)
        return "opencode" if has_all else None


def _has_conversations(tape: Tape) -> bool:
    try:
        with zipfile.ZipFile(tape.path) as archive:
            names = [name.rsplit("/", 1)[-1] for name in archive.namelist()]
    except zipfile.BadZipFile:
        return False
    return any(name.startswith(chatgpt.MEMBER) and name.endswith(".json") for name in names)
