"""Edits of TOML files as text: one table is added behind everything else, or removed again."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from memctx.errors import ConfigError

HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def read_toml(text: str, name: str) -> dict[str, Any]:
    """Return the document of a text.

    Raises:
        ConfigError: it is no TOML; the message has the line and the column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {error}; nothing was changed") from None


def add_table(text: str, name: str, path: tuple[str, ...], values: dict[str, Any]) -> str:
    r"""Return a text with a table behind everything else.

    >>> add_table('model = "m1"\n', "config.toml", ("mcp", "memctx"), {"command": "memctx", "args": ["mcp"]})
    'model = "m1"\n\n[mcp.memctx]\ncommand = "memctx"\nargs = ["mcp"]\n'
    """
    before = read_toml(text, name)
    newline = "\r\n" if "\r\n" in text else "\n"
    # Strings and lists of strings have the same form in JSON.
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(each)} = {json.dumps(value)}" for each, value in values.items()]
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    added = f"{text}{gap}{newline.join(lines)}{newline}"
    wanted: Any = before
    for each in path[:-1]:
        wanted = wanted.setdefault(each, {})
    if not isinstance(wanted, dict):
        raise ConfigError(f"{name}: expected a table in {'.'.join(path[:-1])}; nothing was changed")
    wanted[path[-1]] = values
    if read_toml(added, name) != before:
        raise ConfigError(f"{name}: a table cannot be added behind this; nothing was changed")
    return added


def remove_table(text: str, name: str, path: tuple[str, ...]) -> str:
    """Return a text without a table and the tables in it; the same text if it is not there."""
    read_toml(text, name)
    dotted = r"[ \t]*\.[ \t]*".join(
        f"(?:{re.escape(each)}|{re.escape(json.dumps(each))})" for each in path
    )
    header = re.compile(
        rf"^[ \t]*\[[ \t]*{dotted}[ \t]*(?:\.[^\]\n]*)?\][^\n]*(?:\n|\Z)", re.MULTILINE
    )
    while (found := header.search(text)) is not None:
        following = HEADER.search(text, found.end())
        end = len(text) if following is None else following.start()
        start = found.start()
        blank = re.search(r"\r?\n\Z", text[:start])
        is_last = following is None
        if blank is not None and (is_last or text[: blank.start()].endswith("\n")):
            start = blank.start() if text[: blank.start()].endswith("\n") or not is_last else start
        text = text[:start] + text[end:]
        read_toml(text, name)
    return text


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
