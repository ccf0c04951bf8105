"""The first set of the corpus, on which the rules were tuned. Each module adds kinds to it."""

import tomllib
from pathlib import Path

from . import keys, look_alikes, named, structural, tokens
from .kinds import TUNED

__all__ = ["TUNED", "keys", "look_alikes", "named", "structural", "tokens"]

for name, texts in tomllib.loads(
    Path(__file__).with_name("look_alikes.toml").read_text("utf-8")
).items():
    TUNED.plain(name, *texts)
