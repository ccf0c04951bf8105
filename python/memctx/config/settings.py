"""`Config`: every setting with its default, its limits and what it is for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Self,
    TypeAlias,
    Unpack,
    cast,
    get_args,
    get_origin,
)

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from memctx.config import environment, files
from memctx.config.compaction import Compaction
from memctx.config.faults import refused
from memctx.config.names import by_field
from memctx.config.pruning import Pruning
from memctx.embeddings.names import choosable
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from os import PathLike

    from memctx.config.arguments import Arguments
    from memctx.embeddings import Embedder

Durability: TypeAlias = Literal["fsync", "os"]
Redaction: TypeAlias = Literal["mask", "seed", "off"]
Ranking: TypeAlias = Literal["best", "seed"]
EmbeddingName: TypeAlias = Literal[
    "hash", "transformer", "static", "openai", "gemini", "voyage", "auto"
]
# A name, a name with a model or a folder behind it, an import path, or an embedder.
EmbeddingModel: TypeAlias = "EmbeddingName | str | Embedder"
Placement: TypeAlias = Literal["stable", "head", "tail"]
Thinking: TypeAlias = Literal["strip", "report"]
EstimatorName: TypeAlias = Literal["script", "utf16"]
KnowledgeExtraction: TypeAlias = bool | Literal["rules"]


def _redaction(value: object) -> object:
    """The original knew only on and off."""
    value = environment.WORDS.get(value, value) if isinstance(value, str) else value
    if isinstance(value, bool):
        return "mask" if value else "off"
    return value


def _tool_names(value: object) -> object:
    """All, none, or the names that a list gives."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        names = list(cast("Collection[object]", value))
        if all(isinstance(name, str) for name in names):
            return tuple(sorted(set(cast("list[str]", names))))
    raise ValueError("expected true, false or a list of tool names")


def _embedding_model(value: object) -> object:
    """A name that there is, an import path of something installed, or an embedder."""
    try:
        return choosable(value)
    except ConfigError as error:
        raise ValueError(str(error)) from None


def _embedding_url(value: object) -> object:
    if value is None or (isinstance(value, str) and value.startswith(("http://", "https://"))):
        return value
    raise ValueError("expected an address that starts with http:// or https://")


def _estimator(value: object) -> object:
    if callable(value) or value in get_args(EstimatorName):
        return value
    raise ValueError("expected 'script', 'utf16' or a function that counts the tokens of a text")


def _knowledge_extraction(value: object) -> object:
    if isinstance(value, bool) or value == "rules":
        return value
    raise ValueError("expected true, false or 'rules'")


def _extractor(value: object) -> object:
    """None, the name of a provider with or without a model, an extractor or a function."""
    if isinstance(value, str):
        provider, _, model = value.partition(":")
        if provider == "anthropic" or (provider == "openai" and model):
            return value
    elif value is None or callable(value) or callable(getattr(value, "extract", None)):
        return value
    raise ValueError(
        "expected 'anthropic', 'anthropic:<model>', 'openai:<model>', an extractor or a function of a request"
    )


def _summarizer(value: object) -> object:
    """None, the name of a provider with or without a model, a summariser or a function."""
    if isinstance(value, str):
        if value.partition(":")[0] == "anthropic":
            return value
    elif value is None or callable(value) or callable(getattr(value, "summarize", None)):
        return value
    raise ValueError(
        "expected 'anthropic', 'anthropic:<model>', a summariser or a function of a request"
    )


Count = Annotated[int, Field(strict=True, ge=1)]
Switch = Annotated[bool, Field(strict=True)]
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, gt=0, le=1)]


class Config(BaseModel, frozen=True, extra="forbid", validate_default=True):
    """The settings of one memory: frozen, checked, and with no room for a misspelt name.

    >>> Config(durability="os").replace(pii=True).pii
    True
    """

    storage_path: Path = Field(
        default=Path("~/.memctx"),
        description="The directory of the store, where `memctx.open` is given none",
    )
    durability: Durability = Field(
        default="fsync",
        description="When a write counts as done: `fsync` on the disk, `os` in the operating system's hands",
    )
    lock_timeout: Amount = Field(
        default=5.0,
        description="Seconds to wait for another process that is writing",
    )
    max_segments: Count = Field(
        default=20_000,
        description="Segments kept in memory for search; older ones are searched on disk",
    )
    eviction_days: Amount = Field(
        default=90.0,
        description="Age in days from which segments are no longer loaded into memory; 0 loads all",
    )
    cold: Switch = Field(
        default=True,
        description="Whether what is no longer in memory is indexed on disk, in the background, and searched there",
    )
    cold_deadline_ms: Amount = Field(
        default=50.0,
        description="Milliseconds that a search waits for that index; `everything=True` waits as long as needed",
    )
    cold_turn_deadline_ms: Amount = Field(
        default=0.0,
        description="Milliseconds that a turn waits for it; with 0 it recalls what is in memory, and what is older "
        "when it searches the same again, as after a trim",
    )
    cross_session: Switch = Field(
        default=False,
        description="Whether a search sees every session of the directory or only its own",
    )
    archive_tools: Annotated[bool | tuple[str, ...], BeforeValidator(_tool_names)] = Field(
        default=True,
        description="Whether tool calls and results are archived too, or a list of the tools whose are; `*` matches",
    )
    redaction: Annotated[Redaction, BeforeValidator(_redaction)] = Field(
        default="mask",
        description="How secrets are masked before they reach the disk: `mask`, `off`, or `seed` as the original did",
    )
    redaction_patterns: dict[str, str] = Field(
        default_factory=dict,
        description="Regular expressions of further secrets, each under the name its mask shows",
    )
    pii: Switch = Field(
        default=False,
        description="Whether e-mail addresses, phone, card and IBAN numbers are masked too",
    )
    ranking: Ranking = Field(
        default="best",
        description="How hits are ordered: `best`, or `seed` as the original did",
    )
    embedding_model: Annotated[Any, BeforeValidator(_embedding_model)] = Field(
        default="hash",
        description="What makes vectors: `hash`; `transformer`, `static`, each also with `:<folder>`; `openai`, "
        "`gemini`, `voyage`, each also with `:<model>`; `auto`, the first remote one that is configured, then local "
        "weights, then `hash`; `package.module:attribute`; or an `Embedder`",
    )
    embedding_url: Annotated[str | None, BeforeValidator(_embedding_url)] = Field(
        default=None,
        description="Another server to ask than the provider's own; for `openai` and `auto` any that speaks OpenAI's "
        "API, such as Ollama or vLLM",
    )
    embedding_timeout_ms: Amount = Field(
        default=150.0,
        description="Milliseconds that a turn waits for the vector of what it searches; then words alone are searched",
    )
    context_window: Count | None = Field(
        default=None,
        description="Tokens the model can take",
    )
    working_budget: Count | None = Field(
        default=None,
        description="Tokens a turn may take, where that is to be less than the window",
    )
    estimator: Annotated[Any, BeforeValidator(_estimator)] = Field(
        default="script",
        description="How tokens are counted: `script`, an upper estimate that knows CJK; `utf16` as the original did; "
        "or a function of a text",
    )
    reserve_tokens: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=4_000,
        description="Tokens of the window left free for the answer",
    )
    hard_cap_tokens: Annotated[int, Field(strict=True, ge=500)] = Field(
        default=4_000,
        description="Most tokens that recalled text may take; never more than a tenth of the window",
    )
    auto_recall: Switch = Field(
        default=True,
        description="Whether a turn recalls by itself",
    )
    auto_recall_min_score: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.7,
        description="How well a segment must match to be recalled, from 0 to 1",
    )
    protected_recent: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=6,
        description="Newest user and assistant messages that are never trimmed",
    )
    trim_to: Share = Field(
        default=0.8,
        description="Share of the limit that a trim goes down to, so that many turns follow without one",
    )
    placement: Placement = Field(
        default="stable",
        description="Where recalled text goes: `stable` keeps the prompt cache, `head` after the system prompt as the "
        "original did, `tail` before the newest user message",
    )
    thinking: Thinking = Field(
        default="strip",
        description="What becomes of signed thinking that an edit made stale: `strip` it, or `report` it to the host",
    )
    cache_ttl: Amount = Field(
        default=300.0,
        description="Seconds the provider keeps a prompt cached; after a longer pause edits are free",
    )
    pruning: Pruning = Field(
        default_factory=Pruning,
        description="How old tool results are shortened: a mode, or the settings below",
    )
    knowledge_extraction: Annotated[
        bool | Literal["rules"], BeforeValidator(_knowledge_extraction)
    ] = Field(
        default=True,
        description="Whether facts are extracted from what was archived: by the `extractor`, or by `rules` alone, "
        "which cost nothing and find what is said in so many words",
    )
    extractor: Annotated[Any | None, BeforeValidator(_extractor)] = Field(
        default=None,
        description="What extracts facts: `anthropic` or `anthropic:<model>`, `openai:<model>`, an `Extractor` or a "
        "function; without one no model is asked",
    )
    compaction: Compaction = Field(
        default_factory=Compaction,
        description="When and how conversations are compacted: on, off, a mode, or the settings below",
    )
    summarizer: Annotated[Any | None, BeforeValidator(_summarizer)] = Field(
        default=None,
        description="What summarises: `anthropic` or `anthropic:<model>`, a `Summarizer` or a function; without one a "
        "compaction leaves a list of what there was",
    )
    workspace: Path | None = Field(
        default=None,
        description="The folder of the agent's own files, where notes are written before a compaction",
    )
    enabled: Switch = Field(
        default=True,
        description="Whether hosts use the memory at all; `memctx.open` opens it either way",
    )

    def __init__(self, **settings: Unpack[Arguments]) -> None:
        try:
            super().__init__(**by_field(settings, type(self).model_fields))
        except ValidationError as error:
            raise refused(error) from None

    @classmethod
    def load(
        cls,
        *,
        file: str | PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        **arguments: Unpack[Arguments],
    ) -> Self:
        """The settings of the arguments, then of the environment, then of a TOML or JSON ``file``.

        The environment is that of the process unless ``environ`` is given. Of an ``openclaw.json`` the block
        ``agents.defaults.memoryContext``, or the config of the plugin, counts, and ``agents.defaults.compaction``.

        >>> Config.load(environ={"MEMCTX_MAX_SEGMENTS": "500"}, pii=True).max_segments
        500
        """
        texts = environment.read(os.environ if environ is None else environ, cls.model_fields)
        layers = [cls._from(str(file), files.read(file))] if file is not None else []
        for name, text in texts.items():
            value = environment.value(text, kind=_kind(cls.model_fields[name].annotation))
            layers.append(cls._from(environment.variable(name), {name: value}))
        layers.append(cls._from("arguments", dict(arguments)))
        return cls(**{name: value for layer in layers for name, value in layer.given().items()})

    def given(self) -> dict[str, Any]:
        """The settings that were set rather than left at their defaults."""
        return {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set
        }

    def replace(self, **changes: Unpack[Arguments]) -> Self:
        """The same settings with some changed, checked again."""
        return type(self)(**(self.given() | type(self)(**changes).given()))

    @classmethod
    def _from(cls, source: str, settings: dict[str, Any]) -> Self:
        """The settings of one source, which an error names."""
        try:
            return cls(**settings)
        except ConfigError as error:
            raise ConfigError(f"{source}: {error}") from None


def _kind(annotation: object) -> type:
    """How the environment writes a setting: a switch, a list, JSON, or words as they are."""
    if annotation is bool:
        return bool
    if annotation == bool | tuple[str, ...]:
        return tuple
    is_word = annotation is Path or annotation is Any or get_origin(annotation) is Literal
    return str if is_word else object
