"""The folder of a sentence encoder, in the layout of sentence-transformers, with an ONNX file of the model."""

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
# The poolings, by their names in the configuration of the pooling module.
POOLINGS: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
# Other modules would have to be run too.
SUPPORTED_MODULES = ("Transformer", "Pooling", "Normalize", "Dropout")
MODEL_FILES = ("model.onnx", "onnx/model.onnx")
DEFAULT_TOKENS = 512
# Folder names that do not name a model; the parent's name is used.
GENERIC_NAMES = frozenset({"", "model", "onnx", "files", "weights"})
REVISION_CHARS = 16
CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
# English vocabularies have a few CJK characters; in multilingual ones at least one piece in this many has some.
CJK_SHARE = 20


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files and settings of an encoder."""

    name: str
    model: Path
    """The ONNX file."""
    tokenizer: Path
    config: dict[str, Any]
    """The ``config.json`` of the encoder."""
    pooling: Pooling
    limit: int
    """The longest text in tokens, its end marks included."""
    query: str
    """The prompt of a query."""
    document: str
    """The prompt of a stored text."""
    is_lowered: bool

    @property
    def dim(self) -> int | None:
        """The length of the vectors, if a file states it."""
        return _positive_int(self.config.get("hidden_size"))

    def is_latin_only(self) -> bool:
        """Return whether the vocabulary has too few pieces of Chinese, Japanese or Korean to represent them."""
        vocabulary: Any = _read_object(self.tokenizer).get("model", {}).get("vocab", ())
        # A list of pieces with their scores, or a mapping of pieces to ids.
        pieces = [item if isinstance(item, str) else item[0] for item in vocabulary]
        return sum(map(bool, map(CJK.search, pieces))) * CJK_SHARE < len(pieces)

    def revision(self) -> str:
        """Return a short hash of everything that the vectors depend on."""
        parts = (
            *(file_digest(path) for path in (self.model, self.tokenizer)),
            *(self.pooling, str(self.limit), self.query, self.document, str(self.is_lowered)),
        )
        return sha256("\0".join(parts).encode()).hexdigest()[:REVISION_CHARS]


def read_model_folder(path: Path, *, name: str | None = None) -> ModelFolder:
    """Read the encoder in a folder, or the one of an ONNX file in it."""
    model = path if path.is_file() else _find_model(path)
    root = _find_root(model)
    config = _read_object(root / "config.json")
    setup = _read_object(root / "sentence_bert_config.json")
    prompts = cast("dict[str, str]", _read_prompts(root))
    return ModelFolder(
        name=name or _model_name(root),
        model=model,
        tokenizer=root / "tokenizer.json",
        config=config,
        pooling=_read_pooling(root),
        limit=_read_limit(root, config, setup),
        query=prompts.get("query", ""),
        document=prompts.get("document", prompts.get("passage", "")),
        is_lowered=bool(setup.get("do_lower_case")),
    )


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, computed again only if the file has changed."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


@cache
def _digest(path: Path, _size: int, _modified: int) -> str:
    with path.open("rb") as file:
        hashed = sha256()
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()


def _find_model(folder: Path) -> Path:
    if not folder.is_dir():
        raise ConfigError(f"{folder}: there is no such folder")
    for name in MODEL_FILES:
        if (folder / name).is_file():
            return folder / name
    others = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if not others:
        raise ConfigError(
            f"{folder}: there is no {' or '.join(MODEL_FILES)}; take a model whose repository has one, or export it: "
            f"optimum-cli export onnx --model <model> {folder}"
        )
    if len(others) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path in others)
        raise ConfigError(f"{folder}: has {names}; pass the path of one of them")
    return others[0]


def _find_root(model: Path) -> Path:
    """Return the folder with the tokenizer: the folder of the model, or its parent."""
    for folder in (model.parent, model.parent.parent):
        if (folder / "tokenizer.json").is_file():
            return folder
    raise ConfigError(f"{model.parent}: expected a tokenizer.json beside {model.name}")


def _model_name(root: Path) -> str:
    """Return the name of the folder, or of the model in a cache of the model hub."""
    parts = [part for part in root.resolve().parts if part.startswith("models--")]
    if parts:
        return parts[-1].split("--")[-1]
    names = [part for part in root.resolve().parts if part.lower() not in GENERIC_NAMES]
    return names[-1]


def _read_pooling(root: Path) -> Pooling:
    modules = _read_objects(root / "modules.json")
    for module in modules:
        kind = str(module.get("type")).rpartition(".")[2]
        if kind not in SUPPORTED_MODULES:
            raise ConfigError(
                f"{root}: has a module {kind!r}; only {', '.join(SUPPORTED_MODULES)} are supported"
            )
    paths = [str(module.get("path")) for module in modules if "Pooling" in str(module.get("type"))]
    path = root / (paths[0] if paths else "1_Pooling") / "config.json"
    found = _read_object(path)
    modes = [
        key for key, value in found.items() if key.startswith("pooling_mode_") and value is True
    ]
    if isinstance(found.get("pooling_mode"), str):
        modes = [f"pooling_mode_{found['pooling_mode']}_tokens".replace("cls_tokens", "cls_token")]
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in POOLINGS:
        raise ConfigError(f"{path}: expected one of {', '.join(POOLINGS)}, not {', '.join(modes)}")
    return POOLINGS[modes[0]]


def _read_limit(root: Path, config: dict[str, Any], setup: dict[str, Any]) -> int:
    positions = _positive_int(config.get("max_position_embeddings")) or DEFAULT_TOKENS
    stated = _positive_int(setup.get("max_seq_length"))
    stated = stated or _positive_int(
        _read_object(root / "tokenizer_config.json").get("model_max_length")
    )
    return min(stated or positions, positions)


def _read_prompts(root: Path) -> dict[str, Any]:
    prompts = _read_object(root / "config_sentence_transformers.json").get("prompts")
    found = cast("dict[str, Any]", prompts) if isinstance(prompts, dict) else {}
    return {name: prompt for name, prompt in found.items() if isinstance(prompt, str)}


def _positive_int(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is no file."""
    found = _read_json(path)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: expected an object, not a {type(found).__name__}")
    return cast("dict[str, Any]", found)


def _read_objects(path: Path) -> list[dict[str, Any]]:
    found = _read_json(path)
    items = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _read_json(path: Path) -> object:
    if not path.is_file():
        return None
    try:
        return cast("object", json.loads(path.read_text("utf-8")))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
