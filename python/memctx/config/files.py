"""Settings from a file: TOML, JSON, or an ``openclaw.json`` with a block for memory in it."""

from __future__ import annotations

import json
import logging
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx.config.names import snake_case
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from os import PathLike

# Where an openclaw.json has the block: of the built-in memory, and of the plugin.
BLOCKS = (
    ("agents", "defaults", "memoryContext"),
    ("plugins", "entries", "memory-context", "config"),
)

# Where it has settings of the host that count here too, each under the name it has here.
BESIDE = {
    "compaction": ("agents", "defaults", "compaction"),
    "context_window": ("agents", "defaults", "contextTokens"),
    "pruning": ("agents", "defaults", "contextPruning"),
    "workspace": ("agents", "defaults", "workspace"),
}

# Seconds of the units that it writes times in; minutes where it names none.
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}

# What only the original has. A file that sets one loads; that it changes nothing here is logged.
WITHOUT_EFFECT = frozenset(
    {"budget", "embeddingDim", "embeddingModelName", "indexType", "search", "vectorPersist"}
)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The settings in a file, as they are spelt there."""
    path = Path(path).expanduser()
    settings = _block(_parse(path))
    idle = sorted(WITHOUT_EFFECT & settings.keys())
    if idle:
        logging.getLogger("memctx.config").warning("%s: no effect here: %s", path, ", ".join(idle))
    return {name: value for name, value in settings.items() if name not in WITHOUT_EFFECT}


def _parse(path: Path) -> dict[str, Any]:
    readers = {".toml": tomllib.loads, ".json": json.loads}
    if path.suffix.lower() not in readers:
        raise ConfigError(f"{path}: expected a file that ends in .toml or .json")
    try:
        found: Any = readers[path.suffix.lower()](path.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise ConfigError(f"{path}: expected an object with settings in it, not a {kind}")
    return cast("dict[str, Any]", found)


def _block(found: dict[str, Any]) -> dict[str, Any]:
    """The settings themselves: the whole file, or the blocks of an openclaw.json that has some."""
    if not {"agents", "plugins"} & found.keys():
        return found
    found_at = (_at(found, keys) for keys in BLOCKS)
    blocks = [cast("dict[str, Any]", block) for block in found_at if isinstance(block, dict)]
    block = blocks[0] if blocks else {}
    own = {snake_case(name) for name in block}
    return {name: value for name, value in _beside(found).items() if name not in own} | block


def _beside(found: dict[str, Any]) -> dict[str, Any]:
    """The settings of the host that count here too."""
    beside = {name: _at(found, keys) for name, keys in BESIDE.items()}
    given = {name: value for name, value in beside.items() if value is not None}
    pruning = given.get("pruning")
    if isinstance(pruning, dict) and "ttl" in pruning:
        rest = dict(cast("dict[str, Any]", pruning))
        given |= {"cache_ttl": _seconds(rest.pop("ttl")), "pruning": rest}
    return given


def _seconds(ttl: object) -> object:
    """A time such as ``5m`` in seconds; what is none stays for whoever checks it."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*", str(ttl))
    return ttl if match is None else float(match[1]) * UNITS[match[2] or "m"]


def _at(found: dict[str, Any], keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - whatever the file has there
    value: Any = found
    for key in keys:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value
