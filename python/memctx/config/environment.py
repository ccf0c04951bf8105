"""Settings from the environment: ``MEMCTX_`` and the name in capitals, such as ``MEMCTX_MAX_SEGMENTS``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memctx.config.names import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PREFIX = "MEMCTX_"
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
# Likeness of a misspelled name: other programs may have variables under the same prefix.
SLIP = 0.85


def variable(field: str) -> str:
    """Return the variable that a setting is read from."""
    return PREFIX + field.upper()


def read(environ: Mapping[str, str], fields: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Return the text of each setting that the environment has, and an error for each misspelled variable."""
    known = {variable(field): field for field in fields}
    found: dict[str, str] = {}
    faults: list[str] = []
    for name, text in environ.items():
        if name in known:
            found[known[name]] = text
        elif name.startswith(PREFIX) and (meant := nearest(name, known, SLIP)):
            faults.append(f"{name} in the environment is no setting; did you mean {meant}?")
    return found, faults


def value(text: str, *, kind: type) -> object:
    """Parse the text of a variable: ``kind`` is `str` for words, `bool` for switches, `tuple` for lists, else JSON."""
    if text.strip().lower() in WORDS and kind is not str:
        return WORDS[text.strip().lower()]
    if kind is bool and text.strip() in {"0", "1"}:
        return text.strip() == "1"
    if kind is str:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return [item.strip() for item in text.split(",")] if kind is tuple else text
