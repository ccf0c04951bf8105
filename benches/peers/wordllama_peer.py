"""WordLlama as it is used by itself, and its table run by model2vec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import wordllama

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Embed = Callable[[list[str]], NDArray[np.float32]]

FOLDER = Path(wordllama.__file__).parent
TABLE = FOLDER / "weights/l2_supercat_256.safetensors"
TOKENIZER = FOLDER / "tokenizers/l2_supercat_tokenizer_config.json"
TOKENS = 512


def wordllama_embed() -> Embed:
    """What WordLlama makes of texts, without a limit to their length."""
    model = wordllama.WordLlama.load(disable_download=True)
    return lambda texts: model.embed(texts, norm=True)
