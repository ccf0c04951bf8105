"""Facts that a summary preserves verbatim: the latest ask, tool failures and file operations."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from memctx import _core
from memctx.compaction.plan.spans import read_conversation
from memctx.compaction.plan.trigger import parse_compact_command
from memctx.messages import FORMATS, blocks_of, edit, part, result_field, results_of, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memctx._core import Conversation
    from memctx.messages import FormatName

CallKey: TypeAlias = tuple[int, str]
"""Unit and id of a call: some hosts number their ids from 0 in every turn."""

MAX_TOOL_FAILURES = 8
"""Number of failures preserved, the newest."""
MAX_TOOL_FAILURE_CHARS = 240
"""Number of characters preserved of one."""
ENDS = 240
_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|returned non-zero exit status)\W{0,4}(-?\d{1,10})\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\s*(?:\w*(?:error|exception|panic)\s*[:(\[]|fatal:|traceback \(most recent|\{\s*\"error\"\s*:\s*[^n\s])",
    re.IGNORECASE,
)
MAX_FILES_CHARS = 900
"""Number of characters of a list of files, one file on each line."""
# Names without case and separators: one stands for Read, read_file and ReadFile.
_READERS = (
    "cat fileread getfilecontents notebookread open openfile read readfile readmanyfiles "
    "readmultiplefiles readtextfile view viewfile viewimage"
)
READERS = frozenset(_READERS.split())
_WRITERS = (
    "appendfile appendtofile applydiff applypatch create createfile createorupdatefile "
    "deletefile edit editfile editnotebook filewrite insertedit multiedit notebookedit "
    "overwritefile patch removefile replace replaceinfile savefile searchreplace strreplace "
    "updatefile write writefile writetofile"
)
WRITERS = frozenset(_WRITERS.split())
EDITORS = frozenset({"strreplacebasededittool", "strreplaceeditor", "texteditor"})
"""Tools whose ``command`` says whether they read or write."""
_PATHS = (
    "path file_path filePath filepath file filename fileName target_file targetFile "
    "absolute_path absolutePath relative_path relativePath notebook_path"
)
PATHS = tuple(_PATHS.split())
LISTS = ("paths", "files", "file_paths", "filePaths")
PATCHES = ("patch", "input", "diff")
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to): |\+\+\+ b/|--- a/)(\S[^\t\r\n]*)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call, or the result of one."""

    index: int
    """Index of its message."""
    key: CallKey
    """Key shared by a call and its result."""
    tool: str
    """Name of the tool; empty where it is unknown."""
    text: str
    """Arguments of a call as JSON, or the text of a result."""
    is_error: bool = False

    @property
    def arguments(self) -> dict[str, object]:
        """Arguments of a call; empty where they are no JSON object.

        >>> ToolUse(0, (0, "c"), "read", '{"path": "a.py"}').arguments
        {'path': 'a.py'}
        """
        try:
            found = json.loads(self.text)
        except ValueError:
            return {}
        return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def find_tool_uses(conversation: Conversation) -> tuple[list[ToolUse], list[ToolUse]]:
    """Return all calls of a conversation, and all results.

    >>> from memctx import _core
    >>> call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]}
    >>> find_tool_uses(_core.MessageReader().read([call]))
    ([ToolUse(index=0, key=(0, 't'), tool='ls', text='{}', is_error=False)], [])
    """
    calls: list[ToolUse] = []
    results: list[ToolUse] = []
    for kind, use in _iter_tool_uses(conversation):
        (calls if kind == "call" else results).append(use)
    return calls, results


def _iter_tool_uses(conversation: Conversation) -> Iterator[tuple[str, ToolUse]]:
    # Reading all records is faster than testing each message for a unit with calls.
    indices = [index for index, role in enumerate(conversation.roles) if role != "system"]
    unit_of = {index: number for number, unit in enumerate(conversation.units) for index in unit}
    for index, records in zip(indices, conversation.records(indices), strict=True):
        for _, text, _, metadata in records:
            if not metadata or not metadata.startswith('{"tool":'):
                continue
            tool = json.loads(metadata)["tool"]
            name, kind = tool.get("name", ""), tool.get("kind", "")
            key = (unit_of[index], tool.get("callId", ""))
            if kind == "call":
                text = text[len(name) :].lstrip()  # noqa: PLW2901 - the name stands before it
            yield kind, ToolUse(index, key, name, text, bool(tool.get("isError")))


def latest_ask(
    messages: Sequence[Any],
    format: FormatName | None = None,
    *,
    conversation: Conversation | None = None,
) -> str | None:
    """Return the text of the newest message in which a person says something; None if there is none.

    Recalled blocks, summaries, ``/compact`` commands, and messages of hosts and tools under the user's role are
    skipped.

    >>> latest_ask([{"role": "user", "content": "Fix the  port"}, {"role": "assistant", "content": "Done"}])
    'Fix the  port'
    """
    conversation = read_conversation(messages, format, conversation)
    roles, summaries = conversation.roles, set(conversation.summaries)
    with_blocks = {*conversation.recalled, *conversation.carriers}
    for index in reversed(range(len(roles))):
        message = messages[index]
        if roles[index] != "user" or index in summaries or edit.role(message) != "user":
            continue
        blocks = blocks_of(part.unwrapped(message), conversation.format)
        texts = [text for block in blocks if (text := text_in(block, conversation.format))]
        has_block = index in with_blocks  # otherwise a text like a block is the person's own
        ask = "\n".join(text for text in texts if not (has_block and _core.is_block(text)))
        if ask.strip() and parse_compact_command(ask) is None:
            return ask
    return None


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed tool call.

    >>> print(Failure("c1", "bash", "no such file", exit_code=2))
    bash (exit code 2): no such file
    """

    call_id: str
    """Id of the call; empty where there is none."""
    tool: str
    """Name of the tool."""
    text: str
    """Output on one line, shortened."""
    exit_code: int | None = None
    status: str | None = None

    def __str__(self) -> str:
        """Format the failure on one line."""
        code = None if self.exit_code is None else f"exit code {self.exit_code}"
        known = ", ".join(word for word in (self.status, code) if word)
        return f"{self.tool} ({known}): {self.text}" if known else f"{self.tool}: {self.text}"


def tool_failures(
    messages: Sequence[Any],
    format: FormatName | None = None,
    *,
    limit: int = MAX_TOOL_FAILURES,
    conversation: Conversation | None = None,
) -> tuple[Failure, ...]:
    r"""Return the newest tool failures, at most ``limit``, oldest first, each call once.

    In formats without an error flag, a result that begins like an error or ends with an exit code is a failure.

    >>> call = {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "make"}}
    >>> result = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "no rule\nexit code 2"}
    >>> talk = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    >>> [str(failure) for failure in tool_failures(talk)]
    ['bash (exit code 2): no rule exit code 2']
    """
    conversation = read_conversation(messages, format, conversation)
    calls, results = find_tool_uses(conversation)
    is_flagged = FORMATS[conversation.format].flags_errors
    failed = [use for use in results if (use.is_error if is_flagged else _looks_failed(use.text))]
    if is_flagged:
        failed = [*failed, *_find_silent_failures(messages, conversation, calls, results)]
        failed.sort(key=lambda use: use.index)
    once: dict[CallKey | int, ToolUse] = {}
    for number, use in enumerate(failed):
        once.setdefault(use.key if use.key[1] else number, use)
    newest = list(once.values())[-limit:] if limit > 0 else []
    return tuple(_make_failure(use, messages[use.index]) for use in newest)


def _make_failure(use: ToolUse, message: object) -> Failure:
    inner = part.unwrapped(message)
    details = part.get(inner, "details")
    code = next(
        (
            found
            for found in (part.get(details, "exitCode"), part.get(inner, "exitCode"))
            if isinstance(found, int)
        ),
        _find_exit_code(use.text),
    )
    text = " ".join(use.text.split()) or "no output"
    if len(text) > MAX_TOOL_FAILURE_CHARS:
        text = text[: MAX_TOOL_FAILURE_CHARS - 1].rstrip() + "…"
    return Failure(use.key[1], use.tool or "tool", text, code, part.text(details, "status"))


def _looks_failed(text: str) -> bool:
    """Return whether a result reads like that of a failed call."""
    return bool(_ERROR.match(text[:ENDS])) or bool(_find_exit_code(text))


def _find_exit_code(text: str) -> int | None:
    """Return the exit code at the beginning or the end of a result."""
    for end in (text[-ENDS:], text[:ENDS]):
        found = _EXIT.search(end)
        if found:
            return int(found[1])
    return None


def _find_silent_failures(
    messages: Sequence[Any],
    conversation: Conversation,
    calls: Sequence[ToolUse],
    results: Sequence[ToolUse],
) -> Iterator[ToolUse]:
    """Yield results that have an error flag and no text, which the reader does not record."""
    heard = {use.key for use in results}
    for call in calls:
        if call.key in heard:
            continue
        for index in conversation.units[call.key[0]]:
            if call.key[1] and call.key[1] in _error_ids(messages[index], conversation.format):
                yield replace(call, index=index, text="")


def _error_ids(message: object, format: str) -> Iterator[str | None]:
    """Yield the ids of the failed calls whose results are in a message."""
    inner = part.unwrapped(message)
    if part.get(inner, "isError") is True:
        yield part.text(inner, "toolCallId")
    for block in results_of(inner, format):
        field = result_field(block, format)
        result = part.get(block, field) if field else block
        if part.get(result, "is_error") is True or part.text(result, "status") == "error":
            yield part.text(result, "tool_use_id") or part.text(result, "toolUseId")


@dataclass(frozen=True, slots=True)
class Files:
    """The files that were read and those that were changed; each list sorted and shortened."""

    read: tuple[str, ...] = ()
    """Files read and not changed."""
    modified: tuple[str, ...] = ()
    """Files written, edited or deleted."""
    read_omitted: int = 0
    """Number of read files that are not listed."""
    modified_omitted: int = 0
    """Number of changed files that are not listed."""


def file_operations(
    messages: Sequence[Any],
    format: FormatName | None = None,
    *,
    conversation: Conversation | None = None,
) -> Files:
    """Return the files that tool calls read and changed; failed calls do not count.

    >>> def call(name, path):
    ...     return {"type": "tool_use", "id": path, "name": name, "input": {"file_path": path}}
    >>> talk = [{"role": "assistant", "content": [call("Read", "a.py"), call("Edit", "b.py"), call("Read", "b.py")]}]
    >>> files = file_operations(talk)
    >>> files.read, files.modified
    (('a.py',), ('b.py',))
    """
    conversation = read_conversation(messages, format, conversation)
    calls, results = find_tool_uses(conversation)
    failed = {use.key for use in results if use.is_error and use.key[1]}
    read: set[str] = set()
    modified: set[str] = set()
    for call in calls:
        if call.key not in failed:
            _record_files(call, read, modified)
    first, read_omitted = _cap_list(read - modified)
    second, modified_omitted = _cap_list(modified)
    return Files(first, second, read_omitted, modified_omitted)


def _record_files(call: ToolUse, read: set[str], modified: set[str]) -> None:
    """Add the files of one call to the sets."""
    name = normalize_tool_name(call.tool)
    if name in READERS:
        read.update(_find_paths(call.arguments))
    elif name in WRITERS:
        modified.update(_find_paths(call.arguments), _find_patched_paths(call))
    elif name in EDITORS:
        arguments = call.arguments
        (read if arguments.get("command") == "view" else modified).update(_find_paths(arguments))


def normalize_tool_name(tool: str) -> str:
    """Return the name of a tool without its server, case and separators.

    >>> normalize_tool_name("mcp__filesystem__read_file"), normalize_tool_name("functions.apply_patch")
    ('readfile', 'applypatch')
    """
    last = re.split(r"__|[./:]", tool)[-1]
    return re.sub(r"[^a-z]", "", last.lower())


def _find_paths(arguments: dict[str, object]) -> Iterator[str]:
    """Yield the files that the arguments of a call name."""
    named = [arguments[name] for name in PATHS if name in arguments]
    listed = [item for name in LISTS if name in arguments for item in part.items(arguments[name])]
    for value in (*named, *listed):
        path = value if isinstance(value, str) else part.text(value, "path")
        if path and _is_path(path):
            yield path.strip()


def _find_patched_paths(call: ToolUse) -> Iterator[str]:
    """Yield the files that a patch changes; some hosts pass it as plain text."""
    arguments = call.arguments
    texts = [arguments.get(name) for name in PATCHES] if arguments else [call.text]
    for text in texts:
        if isinstance(text, str):
            yield from (path.strip() for path in _PATCHED.findall(text) if _is_path(path))


def _is_path(text: str) -> bool:
    """Return whether a text can be listed as a file: no URL, on one line, and no closing tag."""
    is_plain = bool(text.strip()) and text.isprintable() and len(text) < MAX_FILES_CHARS
    return is_plain and "</" not in text and "://" not in text


def _cap_list(files: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Return the files in order, as many as fit, and the number left out."""
    ordered = sorted(files)
    left = MAX_FILES_CHARS
    for index, path in enumerate(ordered):
        left -= len(path) + (index > 0)
        if left < 0:
            return tuple(ordered[:index]), len(ordered) - index
    return tuple(ordered), 0
