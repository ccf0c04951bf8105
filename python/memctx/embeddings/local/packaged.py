"""memctx's own sentence encoder, whose weights are the package memctx-model."""

from __future__ import annotations

import os
import threading
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import _core
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from os import PathLike

    from memctx._core import Encoder

_loaded: dict[Path, Encoder] = {}
_loading = threading.Lock()


def _unlock() -> None:
    """Replace the lock in a forked child, where the thread that may hold it is gone."""
    global _loading  # noqa: PLW0603 - a lock cannot be released by another thread
    _loading = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def packaged_encoder(path: str | PathLike[str] | None = None) -> Encoder:
    """Return the encoder of the installed package memctx-model, or of a file in its format.

    A file is loaded once for each process; all stores and threads share the encoder.

    >>> packaged_encoder() is packaged_encoder()
    True
    >>> packaged_encoder("models/encoder.safetensors")
    Traceback (most recent call last):
    memctx.errors.ConfigError: models/encoder.safetensors: No such file or directory

    Raises:
        ConfigError: The package is not installed, or the file cannot be read or is damaged.
    """
    file = weights_path() if path is None else Path(path).expanduser()
    key = file.absolute()
    with _loading:
        if key not in _loaded:
            try:
                _loaded[key] = _core.Encoder.load(file)
            except OSError as error:
                raise ConfigError(f"{file}: {error.strerror or error}") from error
        return _loaded[key]


def weights_path() -> Path:
    """Return the path of the weights in the package memctx-model.

    Raises:
        ConfigError: The package is not installed.
    """
    try:
        path: Path = import_module("memctx_model").PATH
    except ImportError as error:
        raise ConfigError("memctx-model is not installed: pip install memctx-model") from error
    return path
