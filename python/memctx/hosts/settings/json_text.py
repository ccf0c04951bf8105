"""Edits of JSON files as text: comments, order, indentation and line ends of everything else stay as they are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
MAX_DEPTH = 200
DEFAULT_INDENT = "  "


@dataclass(slots=True)
class Node:
    """A value and its place in the text."""

    start: int
    end: int = 0
    value: Any = None
    """The value of a text, a number or a constant."""
    members: dict[str, Member] | None = None
    """The members of an object."""
    items: list[Node] | None = None
    """The items of a list."""

    def to_value(self) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value without its place."""
        if self.members is not None:
            return {name: each.node.to_value() for name, each in self.members.items()}
        return [each.to_value() for each in self.items] if self.items is not None else self.value


@dataclass(slots=True)
class Member:
    """A member of an object."""

    start: int
    """The place of its name."""
    node: Node


@dataclass(slots=True)
class JsonText:
    r"""A JSON document that is edited as text; comments and trailing commas are accepted.

    >>> document = JsonText('{\n  "a": 1 // one\n}\n', "settings.json")
    >>> document.set(("b", "c"), [2])
    >>> print(document.text, end="")
    {
      "a": 1, // one
      "b": {
        "c": [
          2
        ]
      }
    }
    >>> document.remove(("b",))
    >>> print(document.text, end="")
    {
      "a": 1 // one
    }
    """

    text: str
    name: str
    """The file, for errors."""
    root: Node = field(init=False)

    def __post_init__(self) -> None:
        """Read the document.

        Raises:
            ConfigError: it is no JSON object; the message has the line and the column.
        """
        self._read()

    def get(self, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value at a path; None if there is none."""
        node = self._find(path)
        return None if node is None else node.to_value()

    def set(self, path: tuple[str, ...], value: object) -> None:
        """Add a value at a path, whose objects are added where they are missing, or replace the one there."""
        node = self._find(path)
        if node is not None:
            if node.to_value() != value:
                shown = self._dump(value, self._indent_at(node.start))
                self._replace(node.start, node.end, shown)
            return
        known = self._deepest(path)
        missing = path[len(known) :]
        for name in reversed(missing[1:]):
            value = {name: value}
        self._insert(self._object(known), missing[0], value)

    def append(self, path: tuple[str, ...], item: object) -> None:
        """Add an item to the end of the list at a path, which is added where it is missing."""
        node = self._find(path)
        if node is None:
            self.set(path, [item])
        elif node.items is None:
            raise self._fault(f"expected a list in {'.'.join(path)}", node.start)
        else:
            self._insert(node, None, item)

    def drop_items(self, path: tuple[str, ...], is_ours: Callable[[Any], bool]) -> None:
        """Remove the items of the list at a path for which a test is true."""
        while True:
            node = self._find(path)
            items = [] if node is None or node.items is None else node.items
            at = next((i for i, each in enumerate(items) if is_ours(each.to_value())), None)
            if at is None or node is None:
                return
            spans = [(each.start, each.end) for each in items]
            self._cut(node, spans, at)

    def remove(self, path: tuple[str, ...]) -> None:
        """Remove the member at a path, if it is there."""
        parent = self._find(path[:-1])
        if parent is None or parent.members is None or path[-1] not in parent.members:
            return
        spans = [(each.start, each.node.end) for each in parent.members.values()]
        self._cut(parent, spans, list(parent.members).index(path[-1]))

    def _find(self, path: tuple[str, ...]) -> Node | None:
        node = self.root
        for name in path:
            if node.members is None or name not in node.members:
                return None
            node = node.members[name].node
        return node

    def _deepest(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the beginning of a path that is there."""
        end = 0
        while self._find(path[: end + 1]) is not None:
            end += 1
        return path[:end]

    def _object(self, path: tuple[str, ...]) -> Node:
        node = self._find(path)
        if node is None or node.members is None:
            raise self._fault(f"expected an object in {'.'.join(path)}", node.start if node else 0)
        return node

    def _insert(self, parent: Node, name: str | None, value: object) -> None:
        """Add a member or an item behind the others of its parent."""
        nodes = (
            [each.node for each in parent.members.values()]
            if parent.members is not None
            else list(parent.items or ())
        )
        starts = (
            [each.start for each in parent.members.values()]
            if parent.members is not None
            else [each.start for each in nodes]
        )
        inside = self.text[parent.start : parent.end]
        is_one_line = bool(nodes) and "\n" not in inside
        outer = self._indent_at(parent.start)
        # Those of one line begin where their parent does.
        on_own_line = [each for each in starts if self._begins_line(each)]
        inner = self._indent_at(on_own_line[0]) if on_own_line else outer + self._unit()
        shown = json.dumps(value) if is_one_line else self._dump(value, inner)
        if name is not None:
            shown = f"{json.dumps(name)}: {shown}"
        closing = parent.end - 1
        if not nodes:
            rest = self.text[parent.start + 1 : closing]
            kept = rest.rstrip()
            self._replace(
                parent.start + 1 + len(kept),
                closing,
                f"{self._newline}{inner}{shown}{self._newline}{outer}",
            )
            return
        last = nodes[-1].end
        comma = SPACE.match(self.text, last)
        has_comma = comma is not None and self.text[comma.end() : comma.end() + 1] == ","
        if is_one_line:
            before = "" if has_comma else ","
            at = comma.end() + 1 if has_comma and comma is not None else last
            self._replace(at, at, f"{before} {shown}")
            return
        # Behind the comments of the last one.
        end = closing - (len(self.text[:closing]) - len(self.text[:closing].rstrip()))
        after = "," if has_comma else ""
        edits = [(end, end, f"{self._newline}{inner}{shown}{after}")]
        self._apply(edits if has_comma else [*edits, (last, last, ",")])

    def _cut(self, parent: Node, spans: list[tuple[int, int]], at: int) -> None:
        """Remove a member or an item with its line and the comma that separates it."""
        start, end = spans[at]
        if at + 1 < len(spans):
            comma = self.text.index(",", _skip(self.text, end)) + 1
            line_start = self._line_start(start)
            line_end = self._rest_of_line(comma)
            if line_start is not None and line_end is not None:
                self._replace(line_start, line_end, "")
            else:
                self._replace(start, spans[at + 1][0], "")
            return
        after = _skip(self.text, end)
        if self.text[after : after + 1] == ",":
            end = after + 1
        line_start = self._line_start(start)
        if len(spans) == 1:
            inside = self.text[parent.start + 1 : start]
            is_blank = not inside.strip()
            self._replace(parent.start + 1 if is_blank else start, self._blank_end(end, parent), "")
            return
        before = spans[at - 1][1]
        comma = _skip(self.text, before)
        keep_comma = self.text[after : after + 1] == ","
        first = comma + 1 if not self.text[comma + 1 : start].strip() else start
        if line_start is not None:
            first = max(line_start - len(self._newline), comma + 1)
        edits = [(first, end, "")]
        has_comma = self.text[comma : comma + 1] == ","
        self._apply([*edits, (comma, comma + 1, "")] if has_comma and not keep_comma else edits)

    def _blank_end(self, end: int, parent: Node) -> int:
        """Return the end of the white space before the closing bracket, if nothing else is there."""
        rest = self.text[end : parent.end - 1]
        return parent.end - 1 if not rest.strip() else end

    def _line_start(self, at: int) -> int | None:
        """Return the beginning of the line of a place, if only blanks are before it."""
        start = self.text.rfind("\n", 0, at) + 1
        return start if not self.text[start:at].strip() and start else None

    def _rest_of_line(self, at: int) -> int | None:
        """Return the beginning of the next line, if only blanks are before it."""
        end = self.text.find("\n", at)
        return None if end < 0 or self.text[at:end].strip() else end + 1

    def _begins_line(self, at: int) -> bool:
        return self._line_start(at) is not None

    def _indent_at(self, at: int) -> str:
        """Return the white space that the line of a place begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _unit(self) -> str:
        """Return the indentation of one level."""
        for member in (self.root.members or {}).values():
            if self._begins_line(member.start):
                return self._indent_at(member.start) or DEFAULT_INDENT
        return DEFAULT_INDENT

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def _dump(self, value: object, indent: str) -> str:
        unit = self._unit()
        shown = json.dumps(value, indent=unit, ensure_ascii=False)
        return shown.replace("\n", f"{self._newline}{indent}")

    def _replace(self, start: int, end: int, shown: str) -> None:
        self._apply([(start, end, shown)])

    def _apply(self, edits: list[tuple[int, int, str]]) -> None:
        """Replace some places, given from the end of the text to its beginning, and read the text again."""
        for start, end, shown in edits:
            self.text = self.text[:start] + shown + self.text[end:]
        self._read()

    def _read(self) -> None:
        start = _skip(self.text, 0)
        if not self.text[start:].strip():
            raise self._fault("expected a JSON object", start)
        self.root = self._value(start, 0)
        if self.root.members is None:
            raise self._fault("expected a JSON object", start)
        end = _skip(self.text, self.root.end)
        if end < len(self.text):
            raise self._fault("expected the end of the file", end)

    def _value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._fault("it is nested too deep", at)
        sign = self.text[at : at + 1]
        if sign == "{":
            return self._members(at, depth)
        if sign == "[":
            return self._items(at, depth)
        found = STRING.match(self.text, at) or SCALAR.match(self.text, at)
        if found is None:
            raise self._fault("expected a value", at)
        try:
            return Node(at, found.end(), json.loads(found[0]))
        except ValueError:
            raise self._fault("expected a value", at) from None

    def _members(self, start: int, depth: int) -> Node:
        node, at = Node(start, members={}), _skip(self.text, start + 1)
        members: dict[str, Member] = {}
        node.members = members
        while self.text[at : at + 1] != "}":
            name = STRING.match(self.text, at)
            if name is None:
                raise self._fault("expected a name in quotation marks or '}'", at)
            key = str(json.loads(name[0]))
            if key in members:
                raise self._fault(f"{key!r} occurs twice", at)
            colon = _skip(self.text, name.end())
            if self.text[colon : colon + 1] != ":":
                raise self._fault("expected ':'", colon)
            value = self._value(_skip(self.text, colon + 1), depth + 1)
            members[key] = Member(at, value)
            at = self._separator(value.end, "}")
        node.end = at + 1
        return node

    def _items(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = _skip(self.text, start + 1)
        while self.text[at : at + 1] != "]":
            items.append(self._value(at, depth + 1))
            at = self._separator(items[-1].end, "]")
        return Node(start, at + 1, items=items)

    def _separator(self, end: int, closing: str) -> int:
        """Return the place behind a comma, or of the closing bracket."""
        at = _skip(self.text, end)
        if self.text[at : at + 1] == ",":
            return _skip(self.text, at + 1)
        if self.text[at : at + 1] != closing:
            raise self._fault(f"expected ',' or {closing!r}", at)
        return at

    def _fault(self, words: str, at: int) -> ConfigError:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return ConfigError(f"{self.name}:{line}:{column}: {words}; nothing was changed")


def _skip(text: str, at: int) -> int:
    """Return the first place that is no white space and no comment."""
    found = SPACE.match(text, at)
    return at if found is None else found.end()
