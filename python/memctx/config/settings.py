"""`Config`: every setting with its default, its limits and its purpose."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeAlias,
    TypedDict,
    Unpack,
    cast,
    get_args,
)

from memctx.config import environment, files
from memctx.config.compaction import CompactionSettings
from memctx.config.faults import Fault, collect_without_effect, explain
from memctx.config.group import Group, flatten, nest, setting
from memctx.config.groups import (
    BootstrapSettings,
    DiskSettings,
    EmbeddingSettings,
    PostgresSettings,
    PrivacySettings,
    PruningSettings,
    RecallSettings,
    TrimSettings,
    check_model,
)
from memctx.config.kinds import COUNT, PATH, STRING, SWITCH, Kind, one_of, optional
from memctx.config.workspace_search import WorkspaceSearchSettings
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from os import PathLike

    from memctx.config.arguments import (
        BootstrapArguments,
        CompactionArguments,
        DiskArguments,
        EmbeddingArguments,
        PostgresArguments,
        PrivacyArguments,
        PruningArguments,
        RecallArguments,
        TrimArguments,
        WorkspaceSearchArguments,
    )
    from memctx.config.compaction import CompactionMode
    from memctx.config.groups import PruningMode
    from memctx.protocols import Embedder, Extractor, Request, Summarizer, SummaryRequest

Redaction: TypeAlias = Literal["mask", "openclaw", "off"]
EmbeddingName: TypeAlias = Literal[
    "auto", "memctx", "hash", "transformer", "static", "use", "openai", "gemini", "voyage"
]
# A name, a name with a model or a folder behind it, an import path, or an embedder.
EmbeddingModel: TypeAlias = "EmbeddingName | str | Embedder"
Placement: TypeAlias = Literal["stable", "head", "tail"]
Capture: TypeAlias = Literal["all", "evicted", "off"]
KnowledgeExtraction: TypeAlias = bool | Literal["rules"]

ENVIRONMENT = "environment"


def _redaction(value: object) -> object:
    """Return the mode for on or off, which are all that OpenClaw has."""
    value = environment.WORDS.get(value, value) if isinstance(value, str) else value
    if isinstance(value, bool):
        return "mask" if value else "off"
    return one_of(*get_args(Redaction)).check(value)


def _knowledge_extraction(value: object) -> object:
    if isinstance(value, bool) or value == "rules":
        return value
    raise ValueError("expected true, false or 'rules'")


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


class OpenArguments(TypedDict, total=False):
    """Settings that `memctx.open` takes beside its own arguments."""

    storage_path: str | PathLike[str]
    working_budget: int | None
    enabled: bool
    cross_session: bool
    capture: Capture
    auto_recall: bool
    placement: Placement
    redaction: Redaction | bool
    embedding_model: EmbeddingModel
    knowledge_extraction: KnowledgeExtraction
    extractor: str | Extractor | Callable[[Request], Any] | None
    summarizer: str | Summarizer | Callable[[SummaryRequest], str | Awaitable[str]] | None
    workspace: str | PathLike[str] | None
    namespace: str
    disk: DiskSettings | DiskArguments | Mapping[str, Any]
    postgres: PostgresSettings | PostgresArguments | Mapping[str, Any]
    recall: RecallSettings | RecallArguments | Mapping[str, Any]
    trim: TrimSettings | TrimArguments | Mapping[str, Any]
    embedding: EmbeddingSettings | EmbeddingArguments | Mapping[str, Any]
    privacy: PrivacySettings | PrivacyArguments | Mapping[str, Any]
    pruning: PruningSettings | PruningArguments | PruningMode | bool | Mapping[str, Any]
    compaction: CompactionSettings | CompactionArguments | CompactionMode | bool | Mapping[str, Any]
    bootstrap: BootstrapSettings | BootstrapArguments | Mapping[str, Any]
    workspace_search: WorkspaceSearchSettings | WorkspaceSearchArguments | bool | Mapping[str, Any]


class Arguments(OpenArguments, total=False):
    """Every setting of `Config`."""

    context_window: int | None


@dataclass(frozen=True, slots=True)
class Checked:
    """Outcome of `Config.check`."""

    config: Config | None
    """The settings; None if any is invalid."""
    faults: tuple[str, ...]
    """Every error, each with its file, variable or argument."""
    without_effect: tuple[str, ...]
    """Settings that OpenClaw has and memctx does not."""


class Config(Group):
    """Settings of one memory: the most used ones here, the others in groups.

    A group is an object of its class or a mapping. Where settings come from several sources, and in `replace`, the
    settings of a group are merged one by one.

    >>> config = Config(context_window=200_000, disk={"durability": "os"})
    >>> config.replace(privacy={"pii": True}).privacy.pii, config.disk.durability
    (True, 'os')
    """

    storage_path: Path = setting(
        PATH,
        default=Path("~/.memctx"),
        description="The directory of the store, where `memctx.open` is given none",
    )
    context_window: int | None = setting(
        optional(COUNT),
        default=None,
        description="Tokens the model can take",
    )
    working_budget: int | None = setting(
        optional(COUNT),
        default=None,
        description="Tokens a turn may take, where that is to be less than the window",
    )
    enabled: bool = setting(
        SWITCH,
        default=True,
        description="Whether memory does anything: where it is off, `prepare` gives the messages as they came and "
        "`archive` stores nothing",
    )
    cross_session: bool = setting(
        SWITCH,
        default=False,
        description="Whether a search sees every session of the directory or only its own",
    )
    capture: Capture = setting(
        one_of(*get_args(Capture)),
        default="all",
        description="What a turn archives: `all` messages as they arrive, only `evicted` ones as they leave the "
        "context, or none with `off`",
    )
    auto_recall: bool = setting(
        SWITCH,
        default=True,
        description="Whether a turn recalls by itself",
    )
    placement: Placement = setting(
        one_of(*get_args(Placement)),
        default="stable",
        description="Where recalled text goes: `stable` keeps the prompt cache, `head` after the system prompt as "
        "OpenClaw's plugin does, `tail` before the newest user message",
    )
    redaction: Redaction = setting(
        Kind(_redaction, "words"),
        default="mask",
        description="How secrets are masked before they reach the disk: `mask`, `off`, or `openclaw` as "
        "OpenClaw's plugin does",
    )
    embedding_model: Any = setting(
        Kind(check_model, "words"),
        default="auto",
        description="What makes vectors: `auto`, a remote one that is configured, else `memctx`, else `hash`; "
        "`memctx`, the encoder that comes with memctx, also with `:<file>`; `hash`; `transformer`, `static`, each also "
        "with `:<folder>`; `use`; `openai`, `gemini`, `voyage`, each also with `:<model>`; `package.module:attribute`; "
        "or an `Embedder`",
    )
    knowledge_extraction: KnowledgeExtraction = setting(
        Kind(_knowledge_extraction),
        default=True,
        description="Whether facts are extracted from what was archived: by the `extractor`, or by `rules` alone, "
        "which cost nothing and find what is stated explicitly",
    )
    extractor: Any | None = setting(
        Kind(_extractor),
        default=None,
        description="What extracts facts: `anthropic` or `anthropic:<model>`, `openai:<model>`, an `Extractor` or a "
        "function; without one no model is asked",
    )
    summarizer: Any | None = setting(
        Kind(_summarizer),
        default=None,
        description="What summarizes: `anthropic` or `anthropic:<model>`, a `Summarizer` or a function; without one a "
        "compaction leaves a list of what there was",
    )
    workspace: Path | None = setting(
        optional(PATH),
        default=None,
        description="The folder of the agent's own files, where notes are written before a compaction",
    )
    namespace: str = setting(
        STRING,
        default="default",
        description="The namespace on a PostgreSQL server, which other namespaces cannot see; without effect in a "
        "directory",
    )
    disk: DiskSettings = setting(
        DiskSettings,
        default_factory=DiskSettings,
        description="The store on disk, what of it is held in memory, and the index of the rest",
    )
    postgres: PostgresSettings = setting(
        PostgresSettings,
        default_factory=PostgresSettings,
        description="A memory on a PostgreSQL server: the local cache, and waiting",
    )
    recall: RecallSettings = setting(
        RecallSettings,
        default_factory=RecallSettings,
        description="What a turn recalls, and how much text that may take",
    )
    trim: TrimSettings = setting(
        TrimSettings,
        default_factory=TrimSettings,
        description="When a turn is trimmed, and what is kept",
    )
    embedding: EmbeddingSettings = setting(
        EmbeddingSettings,
        default_factory=EmbeddingSettings,
        description="The server that makes vectors",
    )
    privacy: PrivacySettings = setting(
        PrivacySettings,
        default_factory=PrivacySettings,
        description="What reaches the disk, besides `redaction`",
    )
    pruning: PruningSettings = setting(
        PruningSettings,
        default_factory=PruningSettings,
        description="How old tool results are shortened: a mode, or settings",
    )
    compaction: CompactionSettings = setting(
        CompactionSettings,
        default_factory=CompactionSettings,
        description="When and how conversations are compacted: on, off, a mode, or settings",
    )
    bootstrap: BootstrapSettings = setting(
        BootstrapSettings,
        default_factory=BootstrapSettings,
        description="The files of the workspace in the system prompt",
    )
    workspace_search: WorkspaceSearchSettings = setting(
        WorkspaceSearchSettings,
        default_factory=WorkspaceSearchSettings,
        description="How the files of the workspace are searched: on, off, or settings",
    )

    def __init__(self, **settings: Unpack[Arguments]) -> None:
        super().__init__(**settings)

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

        >>> Config.load(environ={"MEMCTX_DISK_MAX_SEGMENTS": "500"}, auto_recall=False).disk.max_segments
        500

        Raises:
            ConfigError: settings are invalid; the message names all of them.
            OSError: the file cannot be opened.
        """
        config, faults, _ = cls._layered(file, environ, dict(arguments))
        if faults:
            raise ConfigError("\n".join(faults))
        return config

    @classmethod
    def check(
        cls,
        *,
        file: str | PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Checked:
        """Load settings as `load` does, and return every fault and every setting without effect instead of raising.

        >>> Config.check(environ={"MEMCTX_DISK_MAX_SEGMENTS": "0", "MEMCTX_PRIVACY_PII": "2"}).faults[1]
        'MEMCTX_PRIVACY_PII: privacy.pii is 2; expected a valid boolean'

        Raises:
            OSError: the file cannot be opened.
        """
        config, faults, without_effect = cls._layered(file, environ, {})
        return Checked(None if faults else config, tuple(faults), tuple(without_effect))

    def replace(self, **changes: Unpack[Arguments]) -> Self:
        """Return the settings with some changed, checked again."""
        return type(self)(**(self.given() | flatten(changes, type(self))))

    @classmethod
    def normalize(cls, value: object) -> object:
        """Return settings by field, however they were spelled and grouped."""
        if not isinstance(value, dict):
            return value
        return nest(flatten(cast("dict[str, Any]", value), cls), cls)

    @classmethod
    def _layered(
        cls,
        file: str | PathLike[str] | None,
        environ: Mapping[str, str] | None,
        arguments: dict[str, Any],
    ) -> tuple[Self, list[str], list[str]]:
        """Return the settings of all sources, the faults, and the names without effect.

        Each source is validated together with the weaker ones; one with a fault counts for nothing.
        """
        paths = cls.paths()
        texts, slips = environment.read(os.environ if environ is None else environ, paths)
        sources: list[tuple[str, Callable[[], Mapping[str, Any]]]] = [
            (ENVIRONMENT, lambda: environment.parse(texts, paths)),
            ("arguments", lambda: arguments),
        ]
        if file is not None:
            sources.insert(0, (str(file), lambda: files.read(file)))
        config, faults, named = cls(), slips, list[str]()
        for source, read in sources:
            with collect_without_effect(source) as without_effect:
                found, wrong = config, list[Fault]()
                try:
                    found, wrong = cls.validate(config.given() | flatten(read(), cls))
                except ConfigError as error:
                    faults.append(f"{source}: {error}")
                for path, sentence in explain(wrong, paths):
                    is_text = source == ENVIRONMENT
                    label = environment.source(path, texts) if is_text else source
                    faults.append(f"{label}: {sentence}")
                config = config if wrong else found
            named += without_effect
        return config, faults, named
