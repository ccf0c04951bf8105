"""Settings from the environment: ``MEMCTX_`` and the path in capitals, such as ``MEMCTX_DISK_MAX_SEGMENTS``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from memctx.config.names import OPENCLAW_NAMES, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from memctx.config.kinds import Text


class _HasText(Protocol):
    """A setting, of which only the form of its text matters here."""

    @property
    def text(self) -> Text: ...


PREFIX = "MEMCTX_"
OTHER = frozenset({"MEMCTX_MCP_TOKEN", "MEMCTX_SERVE"})
"""Variables of memctx that are no settings."""
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# Likeness of a misspelled name: other programs may have variables under the same prefix.
SLIP = 0.85


def variable(path: str) -> str:
    """Return the variable that a setting is read from.

    >>> variable("disk.max_segments")
    'MEMCTX_DISK_MAX_SEGMENTS'
    """
    return PREFIX + path.upper().replace(".", "_")


def read(environ: Mapping[str, str], paths: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Return the text of each setting and each group that the environment has, and an error for each misspelled one."""
    groups = {path.partition(".")[0] for path in paths}
    known = {variable(path): path for path in (*groups, *paths)}
    meant = {name: name for name in known} | {
        variable(name): variable(path) for name, path in OPENCLAW_NAMES.items()
    }
    without_group = {
        variable(path.rpartition(".")[2]): variable(path) for path in reversed(list(paths))
    }
    found: dict[str, str] = {}
    faults: list[str] = []
    for name, text in environ.items():
        if name in known:
            found[known[name]] = text
        elif (
            name.startswith(PREFIX)
            and name not in OTHER
            and (near := name if name in without_group else nearest(name, meant, SLIP))
        ):
            right = (without_group | meant)[near]
            faults.append(f"{name} in the environment is no setting; did you mean {right}?")
    return found, faults


def source(path: str, texts: Mapping[str, str]) -> str:
    """Return the variables that a setting, or the settings of a group, were read from."""
    names = [
        variable(each)
        for each in texts
        if f"{path}.".startswith(f"{each}.") or each.startswith(f"{path}.")
    ]
    return " and ".join(names)


def parse(texts: Mapping[str, str], fields: Mapping[str, _HasText]) -> dict[str, object]:
    """Return the values of variables, by path."""
    return {
        path: _value(text, fields[path].text if path in fields else "json")
        for path, text in sorted(texts.items())  # a group before its settings, which win
    }


def _value(text: str, form: Text) -> object:
    """Parse the text of a variable: words for a name or a path, else a switch, JSON, or items between commas."""
    if form == "words":
        return text
    word = text.strip().lower()
    if word in WORDS:
        return WORDS[word]
    if form == "switch" and word in {"0", "1"}:
        return word == "1"
    try:
        return json.loads(text)
    except ValueError:
        return [item.strip() for item in text.split(",")] if form == "items" else text
