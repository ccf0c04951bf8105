"""Where a store is, be it open or just a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memctx.config import Config
from memctx.errors import ConfigError
from memctx.memory import Memory

if TYPE_CHECKING:
    from os import PathLike


def config_of(memory: Memory | str | PathLike[str]) -> Config:
    """The settings of a memory; for a path, those of the environment."""
    if isinstance(memory, Memory):
        return memory.config
    if str(memory) == "":
        raise ConfigError("memory is empty; expected a memory or the path of one")
    return Config.load().replace(storage_path=Path.cwd() / Path(memory).expanduser())
