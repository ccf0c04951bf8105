"""`Migration`: lines of every version that was ever written, read as those of version 3.

Version 1 has no ids: each entry follows the one before it, and a compaction counts lines. Version 2 calls ``custom``
messages ``hookMessage``. Plain lines are messages without anything around them, tool calls and results among them.
"""

from __future__ import annotations

import json
from typing import Any

from memctx.session.entry import HEADER, VERSION, Entry, as_object, id_of_line, iso, milliseconds

EPOCH = iso(0)


class Migration:
    """Reads the lines of one file in order."""

    def __init__(self) -> None:
        self.header: dict[str, Any] | None = None
        """The first line, as version 3 has it."""
        self.found_version: int | None = None
        """The version that the file says it has; None for plain lines."""
        self.is_old = False
        """Whether any line reads other than it stands there."""
        self.bridged: dict[str, str] = {}
        """By ids that entries follow but that no line has: the first entry that does."""
        self.repeated = 0
        """How many lines say again what an earlier one says: a damaged disk, or a copy that went wrong."""
        self._ids: dict[str, int] = {}
        self._last: str | None = None
        self._by_index: list[str | None] = []
        self._calls: list[tuple[str, str]] = []

    def read(self, found: dict[str, Any], raw: bytes, line: int) -> Entry | None:
        """The entry of a line; None for the header, and for a line that was there before."""
        if found.get("type") == HEADER and "role" not in found:
            self._by_index.append(None)
            self._read_header(found)
            return None
        if self._is_repeated(found, raw):
            self.repeated += 1
            self.pass_over()
            return None
        fields = found
        if "type" not in found and isinstance(found.get("role"), str):
            fields = self._from_plain(found)
        fields = self._renamed(self._with_first_kept(self._with_id(fields, raw)))
        if fields is not found:
            self.is_old = True
        entry_id = fields["id"]
        entry = Entry(
            type=str(fields.get("type", "")),
            id=entry_id,
            parent_id=self._parent(fields.get("parentId"), entry_id),
            timestamp=_time(fields.get("timestamp")),
            fields=fields,
            line=line,
        )
        self._ids[entry_id] = hash(raw)
        self._by_index.append(entry_id)
        self._last = entry_id
        return entry

    def pass_over(self) -> None:
        """Count a line that cannot be read: it could when version 1 counted the lines."""
        self._by_index.append(None)

    def _is_repeated(self, found: dict[str, Any], raw: bytes) -> bool:
        told = found.get("id")
        return isinstance(told, str) and self._ids.get(told) == hash(raw)

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

    def _with_id(self, fields: dict[str, Any], raw: bytes) -> dict[str, Any]:
        """The fields with an id that no earlier line has, and a parent."""
        found = fields.get("id")
        is_new = isinstance(found, str) and found != "" and found not in self._ids
        if is_new and "parentId" in fields:
            return fields
        head = {"type": fields.get("type", ""), "id": found}
        if not is_new:
            head["id"] = id_of_line(len(self._ids), raw, self._ids)
        # One that is there twice may say the wrong thing of its place too.
        head["parentId"] = fields.get("parentId", self._last) if is_new else self._last
        head["timestamp"] = fields.get("timestamp", EPOCH)
        return head | {name: value for name, value in fields.items() if name not in head}

    def _parent(self, parent: object, id: str) -> str | None:
        """The entry that is followed. Where its line is lost, the one before stands in for it."""
        if parent is None:
            return None
        if isinstance(parent, str) and parent in self._ids:
            return parent
        self.bridged.setdefault(str(parent), id)
        return self._last

    def _with_first_kept(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A compaction that names an entry where version 1 counted the lines."""
        index = fields.get("firstKeptEntryIndex")
        if fields.get("type") != "compaction" or not isinstance(index, int):
            return fields
        kept = next((each for each in self._by_index[max(index, 0) :] if each is not None), None)
        told = {name: value for name, value in fields.items() if name != "firstKeptEntryIndex"}
        return told | {"firstKeptEntryId": kept or fields["id"]}

    def _renamed(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A message of an extension under the name it has since version 3."""
        message = as_object(fields.get("message"))
        if message is None or message.get("role") != "hookMessage":
            return fields
        return fields | {"message": message | {"role": "custom"}}

    def _from_plain(self, found: dict[str, Any]) -> dict[str, Any]:
        """The entry of a message that stands there by itself."""
        at = milliseconds(found.get("timestamp"))
        message = self._message(found)
        if at is not None:
            message["timestamp"] = at
        return {"type": "message", "timestamp": _time(at), "message": message}

    def _message(self, found: dict[str, Any]) -> dict[str, Any]:
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
                    "toolCallId": self._answered(name),
                    "toolName": name,
                    "content": _blocks(content),
                    "isError": found.get("isError") is True,
                }
            case "assistant":
                return {**found, "content": _blocks(content)}
            case _:
                return dict(found)

    def _answered(self, name: str) -> str:
        """The id of the oldest call of a tool that waits for its result."""
        for place, (call_id, called) in enumerate(self._calls):
            if called == name:
                del self._calls[place]
                return call_id
        return f"call_{len(self._by_index)}"


def _blocks(content: object) -> object:
    """Content as a list of blocks."""
    if isinstance(content, list):
        return content  # pyright: ignore[reportUnknownVariableType]
    if content is None:
        return []
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return [{"type": "text", "text": text}]


def _time(timestamp: object) -> str:
    if isinstance(timestamp, str):
        return timestamp
    at = milliseconds(timestamp)
    return EPOCH if at is None else iso(at / 1000)
