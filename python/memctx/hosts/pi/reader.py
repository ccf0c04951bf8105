"""Reader of session files: every version is read as version 3, and old files are rewritten.

Version 1 has no ids: each entry follows the one before it, and a compaction counts lines. Version 2 calls ``custom``
messages ``hookMessage``. Plain lines are messages without an envelope, tool calls and results among them.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from memctx import files
from memctx.errors import MessageFormatError, StoreError
from memctx.hosts.pi.entry import (
    HEADER,
    VERSION,
    Entry,
    as_object,
    dump_json,
    id_of_line,
    iso,
    milliseconds,
    parse_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

EPOCH = iso(0)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_BACKUPS = 1000


class Migration:
    """Converts the lines of one file, in order, to entries of version 3."""

    def __init__(self) -> None:
        self.header: dict[str, Any] | None = None
        """First line, converted to version 3."""
        self.found_version: int | None = None
        """Version in the header; None for plain lines."""
        self.is_old = False
        """True if any line had to be converted."""
        self.bridged: dict[str, str] = {}
        """First entry that follows, by the ids of parents that no line has."""
        self.repeated = 0
        """Number of lines that repeat an earlier one, after a damaged disk or a bad copy."""
        self._ids: dict[str, int] = {}
        self._last: str | None = None
        self._by_index: list[str | None] = []
        self._calls: list[tuple[str, str]] = []

    def read(self, found: dict[str, Any], raw: bytes, line: int) -> Entry | None:
        """Return the entry of a line; None for the header, and for a repeated line."""
        if found.get("type") == HEADER and "role" not in found:
            self._by_index.append(None)
            self._read_header(found)
            return None
        if self._is_repeated(found, raw):
            self.repeated += 1
            self.skip_line()
            return None
        fields = found
        if "type" not in found and isinstance(found.get("role"), str):
            fields = self._wrap_plain(found)
        fields = self._rename_role(self._add_first_kept(self._add_id(fields, raw)))
        if fields is not found:
            self.is_old = True
        entry_id = fields["id"]
        entry = Entry(
            type=str(fields.get("type", "")),
            id=entry_id,
            parent_id=self._resolve_parent(fields.get("parentId"), entry_id),
            timestamp=_format_time(fields.get("timestamp")),
            fields=fields,
            line=line,
        )
        self._ids[entry_id] = hash(raw)
        self._by_index.append(entry_id)
        self._last = entry_id
        return entry

    def skip_line(self) -> None:
        """Count an unreadable line, which version 1 counted too."""
        self._by_index.append(None)

    def _is_repeated(self, found: dict[str, Any], raw: bytes) -> bool:
        entry_id = found.get("id")
        return isinstance(entry_id, str) and self._ids.get(entry_id) == hash(raw)

    def _read_header(self, found: dict[str, Any]) -> None:
        if self.header is not None:
            return  # the first one counts
        version = found.get("version", 1)
        self.found_version = version if isinstance(version, int) else VERSION
        self.header = found
        if self.found_version < VERSION:
            self.is_old = True
            self.header = {"type": HEADER, "version": VERSION} | {
                name: value for name, value in found.items() if name not in {"type", "version"}
            }

    def _add_id(self, fields: dict[str, Any], raw: bytes) -> dict[str, Any]:
        """Return the fields with an id that no earlier line has, and a parent."""
        found = fields.get("id")
        is_new = isinstance(found, str) and found != "" and found not in self._ids
        if is_new and "parentId" in fields:
            return fields
        head = {"type": fields.get("type", ""), "id": found}
        if not is_new:
            head["id"] = id_of_line(len(self._ids), raw, self._ids)
        # The parent of a duplicate id may be wrong too.
        head["parentId"] = fields.get("parentId", self._last) if is_new else self._last
        head["timestamp"] = fields.get("timestamp", EPOCH)
        return head | {name: value for name, value in fields.items() if name not in head}

    def _resolve_parent(self, parent: object, id: str) -> str | None:
        """Return the parent; the entry before it where the parent's line is lost."""
        if parent is None:
            return None
        if isinstance(parent, str) and parent in self._ids:
            return parent
        self.bridged.setdefault(str(parent), id)
        return self._last

    def _add_first_kept(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return a compaction with the id of the first kept entry instead of version 1's line number."""
        index = fields.get("firstKeptEntryIndex")
        if fields.get("type") != "compaction" or not isinstance(index, int):
            return fields
        kept = next((each for each in self._by_index[max(index, 0) :] if each is not None), None)
        rest = {name: value for name, value in fields.items() if name != "firstKeptEntryIndex"}
        return rest | {"firstKeptEntryId": kept or fields["id"]}

    def _rename_role(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return a message of an extension with its role of version 3."""
        message = as_object(fields.get("message"))
        if message is None or message.get("role") != "hookMessage":
            return fields
        return fields | {"message": message | {"role": "custom"}}

    def _wrap_plain(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return the entry of a message without an envelope."""
        at = milliseconds(found.get("timestamp"))
        message = self._convert_plain(found)
        if at is not None:
            message["timestamp"] = at
        return {"type": "message", "timestamp": _format_time(at), "message": message}

    def _convert_plain(self, found: dict[str, Any]) -> dict[str, Any]:
        content = found.get("content")
        match found["role"]:
            case "tool_call":
                call_id = f"call_{len(self._by_index)}"
                self._calls.append((call_id, str(found.get("name", ""))))
                call = {
                    "type": "toolCall",
                    "id": call_id,
                    "name": str(found.get("name", "")),
                    "arguments": as_object(found.get("params")) or {},
                }
                return {"role": "assistant", "content": [call], "stopReason": "toolUse"}
            case "tool_result":
                name = str(found.get("name", ""))
                return {
                    "role": "toolResult",
                    "toolCallId": self._match_call(name),
                    "toolName": name,
                    "content": _to_blocks(content),
                    "isError": found.get("isError") is True,
                }
            case "assistant":
                return {**found, "content": _to_blocks(content)}
            case _:
                return dict(found)

    def _match_call(self, name: str) -> str:
        """Return the id of the oldest unanswered call of a tool."""
        for index, (call_id, called) in enumerate(self._calls):
            if called == name:
                del self._calls[index]
                return call_id
        return f"call_{len(self._by_index)}"


def _to_blocks(content: object) -> object:
    """Return content as a list of blocks."""
    if isinstance(content, list):
        return content  # pyright: ignore[reportUnknownVariableType]
    if content is None:
        return []
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return [{"type": "text", "text": text}]


def _format_time(timestamp: object) -> str:
    if isinstance(timestamp, str):
        return timestamp
    at = milliseconds(timestamp)
    return EPOCH if at is None else iso(at / 1000)


class EntryReader:
    """An incremental reader of one file."""

    def __init__(self) -> None:
        self.migration = Migration()
        self.offset = 0
        """Number of bytes read."""
        self.lines = 0
        """Number of lines read."""
        self.skipped = 0
        """Number of lines that could not be read."""
        self.torn = b""
        """Last line that a writer has not finished."""
        self._is_open = False

    def read(self, file: BinaryIO) -> Iterator[Entry]:
        """Return the entries behind those read before.

        A last line without its newline counts if it is complete; otherwise it waits for its writer.
        """
        file.seek(self.offset)
        return self._read(file)

    def read_written(self, data: bytes) -> Iterator[Entry]:
        """Return the entries of bytes that were just appended."""
        return self._read(BytesIO(self.torn + data))

    def _read(self, lines: Iterable[bytes]) -> Iterator[Entry]:
        self.torn = b""
        for raw in lines:
            if self._is_open and raw == b"\n":  # the newline of a line that was read before
                self._is_open = False
                self.offset += 1
                continue
            line = raw.removeprefix(BYTE_ORDER_MARK) if self.offset == 0 else raw
            found = parse_json(line)
            self._is_open = not raw.endswith(b"\n")
            if found is None and self._is_open:
                self._is_open = False
                self.torn = raw
                return
            self.offset += len(raw)
            self.lines += 1
            if found is not None:
                entry = self.migration.read(found, line.rstrip(b"\r\n"), self.lines)
                if entry is not None:
                    yield entry
            elif line.strip():
                self.skipped += 1
                self.migration.skip_line()


def read_entries(path: str | PathLike[str]) -> Iterator[Entry]:
    r"""Yield the entries of a session file in the order of its lines; old versions are read as version 3.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "old.jsonl"
    >>> _ = path.write_text('{"role":"user","content":"Which port?","timestamp":"2026-01-26T10:00:00Z"}\n')
    >>> [(entry.type, entry.message["content"]) for entry in read_entries(path)]
    [('message', 'Which port?')]

    Raises:
        StoreError: there is no such file, or it cannot be opened.
    """
    try:
        with files.reading(Path(path)) as file:
            yield from EntryReader().read(file)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def rewrite(data: bytes, header: dict[str, Any]) -> bytes:
    """Return the bytes of a session file as version 3. Unreadable lines stay unchanged."""
    migration, lines = Migration(), [dump_json(header).encode()]
    for number, raw in enumerate(data.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        found = parse_json(raw)
        if found is not None:
            entry = migration.read(found, raw.rstrip(b"\r"), number)
            lines += [] if entry is None else [_line(entry)]
        elif raw.strip():
            migration.skip_line()
            lines.append(raw)
    return b"\n".join([*lines, b""])


def back_up(path: Path, version: int | None) -> Path:
    """Copy a file to an unused name; return the name."""
    stem = f"{path.name}.{'plain' if version is None else f'v{version}'}"
    for number in range(MAX_BACKUPS):
        backup = path.with_name(f"{stem}.{number}.bak" if number else f"{stem}.bak")
        with contextlib.suppress(FileExistsError):
            _copy(path, backup)
            return backup
    raise StoreError(f"{path}: there are {MAX_BACKUPS} backups already; expected room for one more")


def _copy(path: Path, backup: Path) -> None:
    try:
        os.link(path, backup)
    except FileExistsError:
        raise
    except OSError:  # no hard links here
        with path.open("rb") as old, backup.open("xb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())


def _line(entry: Entry) -> bytes:
    try:
        return dump_json(entry.fields).encode()
    except MessageFormatError:  # infinity or NaN, which JSON cannot express; the backup keeps it
        return dump_json(_replace_infinite(entry.fields)).encode()


def _replace_infinite(value: object) -> object:
    """Return a value with None for infinite numbers and NaN."""
    if isinstance(value, dict):
        found = cast("dict[str, object]", value)
        return {name: _replace_infinite(each) for name, each in found.items()}
    if isinstance(value, list):
        return [_replace_infinite(each) for each in cast("list[object]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
