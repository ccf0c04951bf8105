"""WordLlama as it is used by itself, and its table run by model2vec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import wordllama
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from wordllama.inference import WordLlamaInference

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Embed = Callable[[list[str]], NDArray[np.float32]]

FOLDER = Path(wordllama.__file__).parent
TABLE = FOLDER / "weights/l2_supercat_256.safetensors"
TOKENIZER = FOLDER / "tokenizers/l2_supercat_tokenizer_config.json"
TOKENS = 512


def table() -> NDArray[np.float32]:
    """Load the rows, as both peers keep them."""
    rows: NDArray[np.float32] = load_file(TABLE)["embedding.weight"].astype(np.float32)
    return rows


def wordllama_embed() -> Embed:
    """Return an embedder with WordLlama, without a limit to the length of texts."""
    model = WordLlamaInference(table(), Tokenizer.from_file(str(TOKENIZER)))
    return lambda texts: model.embed(texts, norm=True)
