"""The folder of a sentence encoder, as sentence-transformers lays it out: which files it has and what they say."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

Pooling: TypeAlias = Literal["mean", "cls", "max"]
# Each way to make one vector out of many, as the file of the pooling calls it.
POOLINGS: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
# Later modules than these would have to be run too.
RUN = ("Transformer", "Pooling", "Normalize", "Dropout")
WHOLE_MODELS = ("model.onnx", "onnx/model.onnx", "model.safetensors")
TOKENS = 512
# Of a name that says nothing, the one above it is taken.
NO_NAMES = frozenset({"", "model", "onnx", "files", "weights"})
HASHED = 16
CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
# Vocabularies made for English have a few single characters, those made for many languages one in so many or more.
MANY_LANGUAGES = 20


@dataclass(frozen=True, slots=True)
class Folder:
    """What is needed to run an encoder."""

    name: str
    weights: Path
    tokenizer: Path
    config: dict[str, Any]
    """The ``config.json``: the encoder's measures."""
    pooling: Pooling
    limit: int
    """Tokens of a text that count, those that mark its ends included."""
    query: str
    """What goes before a text that is searched for."""
    document: str
    """What goes before a text that is stored."""
    is_lowered: bool

    @property
    def dim(self) -> int | None:
        """The length of the vectors, where a file says it."""
        return _whole(self.config.get("hidden_size"))

    def is_latin_only(self) -> bool:
        """Whether so few pieces are of Chinese, Japanese or Korean that nothing is known of what is said in them."""
        vocabulary: Any = _document(self.tokenizer).get("model", {}).get("vocab", ())
        # A list of pieces with their scores, or a table of pieces and numbers.
        pieces = [item if isinstance(item, str) else item[0] for item in vocabulary]
        return sum(map(bool, map(CJK.search, pieces))) * MANY_LANGUAGES < len(pieces)

    def revision(self) -> str:
        """A short hash of all that the vectors depend on."""
        parts = (
            *(digest_of(path) for path in (self.weights, self.tokenizer)),
            *(self.pooling, str(self.limit), self.query, self.document, str(self.is_lowered)),
        )
        return sha256("\0".join(parts).encode()).hexdigest()[:HASHED]


def read(path: Path, *, name: str | None = None) -> Folder:
    """The encoder in a folder, or that of a file of weights in one."""
    weights = path if path.is_file() else _weights(path)
    root = _root(weights)
    config = _document(root / "config.json")
    setup = _document(root / "sentence_bert_config.json")
    prompts = cast("dict[str, str]", _prompts(root))
    return Folder(
        name=name or _name(root),
        weights=weights,
        tokenizer=root / "tokenizer.json",
        config=config,
        pooling=_pooling(root),
        limit=_limit(root, config, setup),
        query=prompts.get("query", ""),
        document=prompts.get("document", prompts.get("passage", "")),
        is_lowered=bool(setup.get("do_lower_case")),
    )


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, counted again only where the file is another."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


@cache
def _digest(path: Path, _size: int, _modified: int) -> str:
    with path.open("rb") as file:
        hashed = sha256()
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()


def _weights(folder: Path) -> Path:
    if not folder.is_dir():
        raise ConfigError(f"{folder}: there is no such folder")
    for name in WHOLE_MODELS:
        if (folder / name).is_file():
            return folder / name
    others = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if not others:
        expected = ", ".join(WHOLE_MODELS)
        raise ConfigError(
            f"{folder}: expected one of {expected} or another file that ends in .onnx"
        )
    if len(others) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path in others)
        raise ConfigError(f"{folder}: has {names}; give the path of the file that is meant")
    return others[0]


def _root(weights: Path) -> Path:
    """The folder with the tokenizer: that of the weights, or the one above."""
    for folder in (weights.parent, weights.parent.parent):
        if (folder / "tokenizer.json").is_file():
            return folder
    raise ConfigError(f"{weights.parent}: expected a tokenizer.json beside {weights.name}")


def _name(root: Path) -> str:
    """What the folder is called; of a cache of the model hub, what the model is."""
    parts = [part for part in root.resolve().parts if part.startswith("models--")]
    if parts:
        return parts[-1].split("--")[-1]
    names = [part for part in root.resolve().parts if part.lower() not in NO_NAMES]
    return names[-1]


def _pooling(root: Path) -> Pooling:
    modules = _list(root / "modules.json")
    for module in modules:
        kind = str(module.get("type")).rpartition(".")[2]
        if kind not in RUN:
            raise ConfigError(f"{root}: has a module {kind!r}; only {', '.join(RUN)} can be run")
    places = [str(module.get("path")) for module in modules if "Pooling" in str(module.get("type"))]
    path = root / (places[0] if places else "1_Pooling") / "config.json"
    found = _document(path)
    asked = [
        key for key, value in found.items() if key.startswith("pooling_mode_") and value is True
    ]
    if isinstance(found.get("pooling_mode"), str):
        asked = [f"pooling_mode_{found['pooling_mode']}_tokens".replace("cls_tokens", "cls_token")]
    if not asked:
        return "mean"
    if len(asked) > 1 or asked[0] not in POOLINGS:
        raise ConfigError(f"{path}: expected one of {', '.join(POOLINGS)}, not {', '.join(asked)}")
    return POOLINGS[asked[0]]


def _limit(root: Path, config: dict[str, Any], setup: dict[str, Any]) -> int:
    positions = _whole(config.get("max_position_embeddings")) or TOKENS
    said = _whole(setup.get("max_seq_length"))
    said = said or _whole(_document(root / "tokenizer_config.json").get("model_max_length"))
    return min(said or positions, positions)


def _prompts(root: Path) -> dict[str, Any]:
    prompts = _document(root / "config_sentence_transformers.json").get("prompts")
    found = cast("dict[str, Any]", prompts) if isinstance(prompts, dict) else {}
    return {name: prompt for name, prompt in found.items() if isinstance(prompt, str)}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _document(path: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where there is no file."""
    found = _json(path)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: expected an object, not a {type(found).__name__}")
    return cast("dict[str, Any]", found)


def _list(path: Path) -> list[dict[str, Any]]:
    found = _json(path)
    items = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _json(path: Path) -> object:
    if not path.is_file():
        return None
    try:
        return cast("object", json.loads(path.read_text("utf-8")))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
