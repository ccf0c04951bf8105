"""`Config`: every setting with its default, its limits and its purpose."""

from __future__ import annotations

import os
from dataclasses import dataclass
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

from memctx.config import environment, files, idle
from memctx.config.compaction import Compaction  # noqa: TC001 - pydantic reads it
from memctx.config.embedding import EmbeddingUrl, checked_model
from memctx.config.faults import refused
from memctx.config.names import by_field
from memctx.config.pruning import Pruning  # noqa: TC001 - pydantic reads it
from memctx.config.workspace_search import WorkspaceSearchSettings  # noqa: TC001 - pydantic reads it
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from os import PathLike

    from memctx.config.arguments import Arguments
    from memctx.protocols import Embedder

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
QueryMessages: TypeAlias = int | Literal["auto"]


def _redaction(value: object) -> object:
    """Return the mode for on or off, which are all that OpenClaw has."""
    value = environment.WORDS.get(value, value) if isinstance(value, str) else value
    if isinstance(value, bool):
        return "mask" if value else "off"
    return value


def _tool_names(value: object) -> object:
    """Check a switch or a list of names."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        names = list(cast("Collection[object]", value))
        if all(isinstance(name, str) for name in names):
            return tuple(sorted(set(cast("list[str]", names))))
    raise ValueError("expected true, false or a list of tool names")


def _estimator(value: object) -> object:
    if callable(value) or value in get_args(EstimatorName):
        return value
    raise ValueError("expected 'script', 'utf16' or a function that counts the tokens of a text")


def _knowledge_extraction(value: object) -> object:
    if isinstance(value, bool) or value == "rules":
        return value
    raise ValueError("expected true, false or 'rules'")


def _query_messages(value: object) -> object:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if is_count or value == "auto":
        return value
    raise ValueError("expected 'auto' or a number of messages of at least 1")


def _extractor(value: object) -> object:
    """Check the name of a provider, an extractor, a function or None."""
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
    """Check the name of a provider, a summarizer, a function or None."""
    if isinstance(value, str):
        if value.partition(":")[0] == "anthropic":
            return value
    elif value is None or callable(value) or callable(getattr(value, "summarize", None)):
        return value
    raise ValueError(
        "expected 'anthropic', 'anthropic:<model>', a summarizer or a function of a request"
    )


def _group() -> Any:  # noqa: ANN401 - it becomes the group of its field
    """Return the settings of a group that is not set; an instance would build its schema a second time."""
    return {}


Count = Annotated[int, Field(strict=True, ge=1)]
Switch = Annotated[bool, Field(strict=True)]
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, gt=0, le=1)]


@dataclass(frozen=True, slots=True)
class Checked:
    """Outcome of `Config.check`."""

    config: Config | None
    """The settings; None if any is invalid."""
    faults: tuple[str, ...]
    """Every error, each with its file, variable or argument."""
    without_effect: tuple[str, ...]
    """Settings that OpenClaw has and memctx does not."""


class Config(BaseModel, frozen=True, extra="forbid", validate_default=True):
    """Settings of one memory: frozen, checked, and strict about names.

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
        description="How secrets are masked before they reach the disk: `mask`, `off`, or `seed` as "
        "OpenClaw's plugin does",
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
        description="How hits are ordered: `best`, or `seed` as OpenClaw's plugin does",
    )
    embedding_model: Annotated[Any, BeforeValidator(checked_model)] = Field(
        default="hash",
        description="What makes vectors: `hash`; `transformer`, `static`, each also with `:<folder>`; `openai`, "
        "`gemini`, `voyage`, each also with `:<model>`; `auto`, the first remote one that is configured, then local "
        "weights, then `hash`; `package.module:attribute`; or an `Embedder`",
    )
    embedding_url: EmbeddingUrl = Field(
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
        description="How tokens are counted: `script`, an upper estimate that knows CJK; `utf16` as OpenClaw's plugin; "
        "or a function of a text",
    )
    reply_reserve_tokens: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=4_000,
        description="Tokens of the window that a turn leaves free for the model's reply",
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
    recall_window: Annotated[int, Field(strict=True, ge=0, le=10)] = Field(
        default=0,
        description="Neighbors on either side of a recalled segment that are recalled with it, where there is room; "
        "OpenClaw has 2",
    )
    query_messages: Annotated[int | Literal["auto"], BeforeValidator(_query_messages)] = Field(
        default="auto",
        description="Newest user messages that form the query of a turn: a number, OpenClaw has 3; `auto` takes the "
        "newest alone, or three where that is a word or two",
    )
    min_query_chars: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=3,
        description="Characters below which a query is short and recalls nothing",
    )
    trim_short_queries: Switch = Field(
        default=True,
        description="Whether a turn with a short query trims, by age; OpenClaw's does not, whatever the window",
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
        description="Where recalled text goes: `stable` keeps the prompt cache, `head` after the system prompt as "
        "OpenClaw's plugin does, `tail` before the newest user message",
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
        default_factory=_group,
        description="How old tool results are shortened: a mode, or the settings below",
    )
    knowledge_extraction: Annotated[
        bool | Literal["rules"], BeforeValidator(_knowledge_extraction)
    ] = Field(
        default=True,
        description="Whether facts are extracted from what was archived: by the `extractor`, or by `rules` alone, "
        "which cost nothing and find what is stated explicitly",
    )
    extractor: Annotated[Any | None, BeforeValidator(_extractor)] = Field(
        default=None,
        description="What extracts facts: `anthropic` or `anthropic:<model>`, `openai:<model>`, an `Extractor` or a "
        "function; without one no model is asked",
    )
    compaction: Compaction = Field(
        default_factory=_group,
        description="When and how conversations are compacted: on, off, a mode, or the settings below",
    )
    summarizer: Annotated[Any | None, BeforeValidator(_summarizer)] = Field(
        default=None,
        description="What summarizes: `anthropic` or `anthropic:<model>`, a `Summarizer` or a function; without one a "
        "compaction leaves a list of what there was",
    )
    workspace: Path | None = Field(
        default=None,
        description="The folder of the agent's own files, where notes are written before a compaction",
    )
    workspace_max_chars: Count = Field(
        default=20_000,
        description="Characters of one file of the workspace that go into the system prompt; longer ones keep head "
        "and tail",
    )
    workspace_max_total_chars: Count = Field(
        default=150_000,
        description="Characters of all files of the workspace together that go into the system prompt",
    )
    workspace_search: WorkspaceSearchSettings = Field(
        default_factory=_group,
        description="How the files of the workspace are searched: on, off, or the settings below",
    )
    enabled: Switch = Field(
        default=True,
        description="Whether memory does anything: where it is off, `prepare` gives the messages as they came and "
        "`archive` stores nothing",
    )

    def __init__(self, **settings: Unpack[Arguments]) -> None:
        try:
            super().__init__(**by_field(settings, type(self).model_fields))
        except ValidationError as error:
            raise refused(error, type(self)) from None

    @classmethod
    def load(
        cls,
        *,
        file: str | PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        **arguments: Unpack[Arguments],
    ) -> Self:
        """Return the settings of the arguments, then of the environment, then of a TOML, JSON or JSON5 ``file``.

        The environment is that of the process unless ``environ`` is given. Of an ``openclaw.json`` the block
        ``agents.defaults.memoryContext`` and the entry of the plugin count, and what of the host's own settings
        concerns memory: ``compaction``, ``contextPruning``, ``memorySearch``, ``contextTokens``, ``workspace`` and
        ``bootstrapMaxChars``. Settings without effect here are logged once by name.

        >>> Config.load(environ={"MEMCTX_MAX_SEGMENTS": "500"}, pii=True).max_segments
        500

        Raises:
            ConfigError: settings are invalid; the message names all of them.
            OSError: the file cannot be opened.
        """
        layers, faults, _ = cls._layers(file, environ, dict(arguments))
        if faults:
            raise ConfigError("\n".join(faults))
        return cls._merged(layers)

    @classmethod
    def check(
        cls,
        *,
        file: str | PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Checked:
        """Load settings as `load` does, and return every fault and every setting without effect instead of raising.

        >>> Config.check(environ={"MEMCTX_MAX_SEGMENTS": "0", "MEMCTX_PII": "2"}).faults[1]
        'MEMCTX_PII: pii is 2; expected a valid boolean'

        Raises:
            OSError: the file cannot be opened.
        """
        layers, faults, without_effect = cls._layers(file, environ, {})
        config = None if faults else cls._merged(layers)
        return Checked(config, tuple(faults), tuple(without_effect))

    @classmethod
    def _layers(
        cls,
        file: str | PathLike[str] | None,
        environ: Mapping[str, str] | None,
        arguments: dict[str, Any],
    ) -> tuple[list[Self], list[str], list[str]]:
        """Return the settings of each source, weakest first, the faults, and the names without effect."""
        layers: list[Self] = []
        faults: list[str] = []

        def add(source: str, settings: dict[str, Any] | None) -> list[str]:
            with idle.collected(source) as without_effect:
                try:
                    layers.append(cls(**(files.read(source) if settings is None else settings)))
                except ConfigError as error:
                    faults.extend(f"{source}: {line}" for line in str(error).splitlines())
            return without_effect

        named = [] if file is None else add(str(file), None)
        texts, slips = environment.read(
            os.environ if environ is None else environ, cls.model_fields
        )
        faults += slips
        for name, text in texts.items():
            value = environment.value(text, kind=_kind(cls.model_fields[name].annotation))
            named += add(environment.variable(name), {name: value})
        named += add("arguments", arguments)
        return layers, faults, named

    @classmethod
    def _merged(cls, layers: list[Self]) -> Self:
        return cls(**{name: value for layer in layers for name, value in layer.given().items()})

    def given(self) -> dict[str, Any]:
        """Return the settings that were set rather than left at their defaults."""
        return {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set
        }

    def replace(self, **changes: Unpack[Arguments]) -> Self:
        """Return the settings with some changed, checked again."""
        return type(self)(**(self.given() | type(self)(**changes).given()))


def _kind(annotation: object) -> type:
    """Return the type that a variable is parsed as: a switch, a list, JSON, or plain text."""
    if annotation is bool:
        return bool
    if annotation == bool | tuple[str, ...]:
        return tuple
    is_word = annotation is Path or annotation is Any or get_origin(annotation) is Literal
    return str if is_word else object
