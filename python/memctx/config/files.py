"""Settings from a file: TOML, JSON, or an ``openclaw.json`` with a block for memory in it."""

from __future__ import annotations

import json
import logging
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
    "workspace": ("agents", "defaults", "workspace"),
}

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
    beside = {name: _at(found, keys) for name, keys in BESIDE.items()}
    given = {name: value for name, value in beside.items() if value is not None}
    return given | (blocks[0] if blocks else {})


def _at(found: dict[str, Any], keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - whatever the file has there
    value: Any = found
    for key in keys:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value
