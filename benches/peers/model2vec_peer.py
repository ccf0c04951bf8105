"""Model2vec, with the table that WordLlama carries: its own are only to be had from a model hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import model2vec
from tokenizers import Tokenizer

from peers.wordllama_peer import TOKENIZER, TOKENS, table

if TYPE_CHECKING:
    from peers.wordllama_peer import Embed


def model2vec_embed() -> Embed:
    """Return an embedder with model2vec, in this thread."""
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    model = model2vec.StaticModel(table(), tokenizer, normalize=True, max_length=TOKENS)
    return lambda texts: model.encode(texts, use_multiprocessing=False)
