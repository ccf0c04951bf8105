"""`file_operations`: which files the model read and which it changed, told by the names of its tools."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.compact.scan import scanned
from memctx.compact.use import uses_of
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memctx._core import Conversation, Shape
    from memctx.compact.use import Use

MAX_FILES_CHARS = 900
"""How many characters a list of files may have, one file on each line."""
# Names without case and separators, so that one of them stands for Read, read_file and ReadFile.
READERS = frozenset(
    {
        "cat",
        "fileread",
        "getfilecontents",
        "notebookread",
        "open",
        "openfile",
        "read",
        "readfile",
        "readmanyfiles",
        "readmultiplefiles",
        "readtextfile",
        "view",
        "viewfile",
        "viewimage",
    }
)
WRITERS = frozenset(
    {
        "appendfile",
        "appendtofile",
        "applydiff",
        "applypatch",
        "create",
        "createfile",
        "createorupdatefile",
        "deletefile",
        "edit",
        "editfile",
        "editnotebook",
        "filewrite",
        "insertedit",
        "multiedit",
        "notebookedit",
        "overwritefile",
        "patch",
        "removefile",
        "replace",
        "replaceinfile",
        "savefile",
        "searchreplace",
        "strreplace",
        "updatefile",
        "write",
        "writefile",
        "writetofile",
    }
)
EDITORS = frozenset({"strreplacebasededittool", "strreplaceeditor", "texteditor"})
"""Tools that read or write as their command says."""
PATHS = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "fileName",
    "target_file",
    "targetFile",
    "absolute_path",
    "absolutePath",
    "relative_path",
    "relativePath",
    "notebook_path",
)
LISTS = ("paths", "files", "file_paths", "filePaths")
PATCHES = ("patch", "input", "diff")
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to): |\+\+\+ b/|--- a/)(\S[^\t\r\n]*)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Files:
    """The files that were read, and those that were changed; each list sorted and cut short."""

    read: tuple[str, ...] = ()
    """Files that were read and not changed."""
    modified: tuple[str, ...] = ()
    """Files that were written, edited or deleted."""
    read_omitted: int = 0
    """How many files more were read than are listed."""
    modified_omitted: int = 0
    """How many files more were changed than are listed."""


def file_operations(
    messages: Sequence[Any], shape: Shape | None = None, *, conversation: Conversation | None = None
) -> Files:
    """What the calls of tools did to files. A call that failed did nothing.

    >>> def call(name, path):
    ...     return {"type": "tool_use", "id": path, "name": name, "input": {"file_path": path}}
    >>> talk = [{"role": "assistant", "content": [call("Read", "a.py"), call("Edit", "b.py"), call("Read", "b.py")]}]
    >>> files = file_operations(talk)
    >>> files.read, files.modified
    (('a.py',), ('b.py',))
    """
    conversation = scanned(messages, shape, conversation)
    calls, results = uses_of(conversation)
    failed = {use.key for use in results if use.is_error and use.key[1]}
    read: set[str] = set()
    modified: set[str] = set()
    for call in calls:
        if call.key not in failed:
            _enter(call, read, modified)
    first, read_omitted = _capped(read - modified)
    second, modified_omitted = _capped(modified)
    return Files(first, second, read_omitted, modified_omitted)


def _enter(call: Use, read: set[str], modified: set[str]) -> None:
    """Take down the files of one call."""
    name = plain_name(call.tool)
    if name in READERS:
        read.update(_paths(call.arguments))
    elif name in WRITERS:
        modified.update(_paths(call.arguments), _patched(call))
    elif name in EDITORS:
        arguments = call.arguments
        (read if arguments.get("command") == "view" else modified).update(_paths(arguments))


def plain_name(tool: str) -> str:
    """The name of a tool without its server, case and separators.

    >>> plain_name("mcp__filesystem__read_file"), plain_name("functions.apply_patch")
    ('readfile', 'applypatch')
    """
    last = re.split(r"__|[./:]", tool)[-1]
    return re.sub(r"[^a-z]", "", last.lower())


def _paths(arguments: dict[str, object]) -> Iterator[str]:
    """The files that the arguments of a call name."""
    named = [arguments[name] for name in PATHS if name in arguments]
    listed = [item for name in LISTS if name in arguments for item in part.items(arguments[name])]
    for value in (*named, *listed):
        path = value if isinstance(value, str) else part.text(value, "path")
        if path and _is_path(path):
            yield path.strip()


def _patched(call: Use) -> Iterator[str]:
    """The files that a patch changes; some hosts give it as plain text."""
    arguments = call.arguments
    texts = [arguments.get(name) for name in PATCHES] if arguments else [call.text]
    for text in texts:
        if isinstance(text, str):
            yield from (path.strip() for path in _PATCHED.findall(text) if _is_path(path))


def _is_path(text: str) -> bool:
    """Whether a text can be listed as a file: no address, on one line, and no way out of the list."""
    is_plain = bool(text.strip()) and text.isprintable() and len(text) < MAX_FILES_CHARS
    return is_plain and "</" not in text and "://" not in text


def _capped(files: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """The files in order, as many as the list has room for, and how many are left out."""
    ordered = sorted(files)
    left = MAX_FILES_CHARS
    for place, path in enumerate(ordered):
        left -= len(path) + (place > 0)
        if left < 0:
            return tuple(ordered[:place]), len(ordered) - place
    return tuple(ordered), 0
