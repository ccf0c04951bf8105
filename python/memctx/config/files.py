"""Settings from a file: TOML, JSON, JSON5, or an ``openclaw.json`` with settings of memory in it."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx.config.faults import note_without_effect
from memctx.config.names import path_of
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

# Paths of memory's own settings in an openclaw.json, the strongest last: of OpenClaw's plugin, of the
# built-in one, and of memctx's plugin.
ENTRY = ("plugins", "entries", "memory-context")
OWN_ENTRY = ("plugins", "entries", "memctx")
BLOCKS = ((*ENTRY, "config"), ("agents", "defaults", "memoryContext"), (*OWN_ENTRY, "config"))

# Settings of the plugin that are none of memory.
OF_PLUGIN = frozenset({"command"})

# Keys of the host's settings that apply here too, by their paths here.
HOST_SETTINGS = {
    "compaction": ("agents", "defaults", "compaction"),
    "context_window": ("agents", "defaults", "contextTokens"),
    "pruning": ("agents", "defaults", "contextPruning"),
    "workspace": ("agents", "defaults", "workspace"),
    "bootstrap.max_chars": ("agents", "defaults", "bootstrapMaxChars"),
    "bootstrap.max_total_chars": ("agents", "defaults", "bootstrapTotalMaxChars"),
    "workspace_search": ("agents", "defaults", "memorySearch"),
    "enabled": (*ENTRY, "enabled"),
}

# Path of the workspace search in newer files.
SEARCH = ("memory", "search")

# The blocks that make a file an openclaw.json.
HOST = frozenset({"agents", "memory", "plugins", "session"})

# Paths that concern memory and have no effect here; each setting of a group is named.
IDLE = (
    ("agents", "defaults", "blockStreamingDefault"),
    ("agents", "defaults", "skipBootstrap"),
    ("memory",),
    ("plugins", "entries", "memory-core"),
    ("plugins", "entries", "memory-lancedb"),
    ("session", "reset"),
)
SLOT, OWN_SLOTS = ("plugins", "slots", "memory"), frozenset({"memory-context", "memctx"})

# Seconds of the units that it writes times in; minutes where it names none.
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}

# Settings that only OpenClaw's memory-context has: they load, and are logged as without effect.
WITHOUT_EFFECT = frozenset(
    {"budget", "embeddingDim", "embeddingModelName", "indexType", "search", "vectorPersist"}
)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the settings in a file, as they are spelled there; those without effect are noted and left out."""
    path = Path(path).expanduser()
    settings = _settings(_parse(path), path)
    note_without_effect(str(path), WITHOUT_EFFECT & settings.keys())
    return {name: value for name, value in settings.items() if name not in WITHOUT_EFFECT}


def _parse(path: Path) -> dict[str, Any]:
    readers: dict[str, Callable[[str], object]] = {
        ".toml": _toml,
        ".json": _json,
        ".json5": _json,
    }
    if path.suffix.lower() not in readers:
        raise ConfigError("expected a file that ends in .toml or .json, or in .json5")
    try:
        found = readers[path.suffix.lower()](path.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"cannot be read: {error}") from error
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise ConfigError(f"expected an object with settings in it, not a {kind}")
    return cast("dict[str, Any]", found)


def _toml(text: str) -> object:
    import tomllib  # noqa: PLC0415 - few settings are in such a file

    return tomllib.loads(text)


def _json(text: str) -> object:
    r"""Parse JSON or, where it is none, JSON5: comments, trailing commas, names without quotes.

    >>> _json("{agents: {}, // all defaults\n}")
    {'agents': {}}
    """
    try:
        return json.loads(text)
    except ValueError as error:
        try:
            return deepcopy(_json5(text))
        except ImportError:
            raise ValueError(f"{error}; to read it as JSON5, pip install json5") from None


@lru_cache(maxsize=4)
def _json5(text: str) -> object:
    """Parse JSON5, which takes a tenth of a second for 10 kB: a command may load its settings several times."""
    import json5  # noqa: PLC0415 - plain JSON does without

    try:
        return json5.loads(text)
    except ValueError as error:
        raise ValueError(str(error).replace("<string>:", "line ", 1)) from None


def _settings(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the settings: the whole file, or those of memory in an openclaw.json."""
    if not HOST & found.keys():
        return found
    settings = _host_settings(found, path)
    for keys in BLOCKS:
        found_block = _at(found, keys)
        if isinstance(found_block, dict):
            given = cast("dict[str, Any]", found_block)
            block = {name: value for name, value in given.items() if name not in OF_PLUGIN}
            own = {path_of(name) for name in block}
            kept = {name: value for name, value in settings.items() if path_of(name) not in own}
            settings = kept | block
    note_without_effect(str(path), _without_effect(found))
    return settings


def _without_effect(found: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the host's settings that concern memory and change nothing here."""
    for keys in IDLE:
        for name in _leaves(_at(found, keys), ".".join(keys)):
            if not name.startswith(f"{'.'.join(SEARCH)}."):
                yield name
    if _at(found, SLOT) not in {None, *OWN_SLOTS}:
        yield ".".join(SLOT)


def _host_settings(found: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the host's settings that apply here too."""
    values = {name: _at(found, keys) for name, keys in HOST_SETTINGS.items()}
    own_switch = _at(found, (*OWN_ENTRY, "enabled"))
    values["enabled"] = values["enabled"] if own_switch is None else own_switch
    values["workspace_search"] = values["workspace_search"] or _at(found, SEARCH)
    given = {name: value for name, value in values.items() if value is not None}
    pruning = given.get("pruning")
    if isinstance(pruning, dict) and "ttl" in pruning:
        rest = dict(cast("dict[str, Any]", pruning))
        given |= {"trim.cache_ttl": _seconds(rest.pop("ttl")), "pruning": rest}
    search = given.get("workspace_search")
    if isinstance(search, dict) and "sessions" not in search:
        folders = [str(each) for each in sorted(path.parent.glob("agents/*/sessions"))]
        given["workspace_search"] = {**cast("dict[str, Any]", search), "sessions": folders}
    return given


def _seconds(ttl: object) -> object:
    """Return a time such as ``5m`` in seconds; anything else unchanged, for its setting to refuse."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*", str(ttl))
    return ttl if match is None else float(match[1]) * UNITS[match[2] or "m"]


def _leaves(value: object, name: str) -> Iterator[str]:
    """Yield the dotted name of every setting in a group, or of a single setting."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            yield from _leaves(inner, f"{name}.{key}")
    elif value is not None:
        yield name


def _at(found: dict[str, Any], keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - whatever the file has there
    value: Any = found
    for key in keys:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value
