"""Groups of settings: the store on disk, recall, trimming, embeddings, privacy, the system prompt, and pruning."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - settings are read from annotations
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast, get_args

from memctx.config.embedder_names import check_choice
from memctx.config.group import Group, setting
from memctx.config.kinds import (
    AMOUNT,
    COUNT,
    COUNT_OR_ZERO,
    NAMED_STRINGS,
    PATH,
    SHARE,
    STRING,
    SWITCH,
    Kind,
    items,
    number,
    one_of,
    optional,
)
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection

Durability: TypeAlias = Literal["fsync", "os"]
Ranking: TypeAlias = Literal["best", "openclaw"]
QueryMessages: TypeAlias = int | Literal["auto"]
Thinking: TypeAlias = Literal["strip", "report"]
EstimatorName: TypeAlias = Literal["script", "utf16"]
PruningMode: TypeAlias = Literal["off", "cache-ttl", "adaptive", "aggressive"]


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


def _query_messages(value: object) -> object:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if is_count or value == "auto":
        return value
    raise ValueError("expected 'auto' or a number of messages of at least 1")


def check_model(value: object) -> object:
    """Return a known name, an import path of an installed package, or an embedder; nothing is imported or loaded."""
    try:
        return check_choice(value)
    except ConfigError as error:
        raise ValueError(str(error)) from None


def _url(value: object) -> object:
    if value is None or (isinstance(value, str) and value.startswith(("http://", "https://"))):
        return value
    raise ValueError("expected an address that starts with http:// or https://")


URL = Kind(_url)


class DiskSettings(Group):
    """Settings of the store on disk, of what of it is held in memory, and of the index of the rest.

    >>> DiskSettings(durability="os").durability
    'os'
    """

    LABEL: ClassVar[str] = "disk"

    durability: Durability = setting(
        one_of(*get_args(Durability)),
        default="fsync",
        description="When a write counts as done: `fsync` on the disk, `os` in the operating system's hands",
    )
    lock_timeout: float = setting(
        AMOUNT,
        default=5.0,
        description="Seconds to wait for another process that is writing",
    )
    max_segments: int = setting(
        COUNT,
        default=20_000,
        description="Segments kept in memory for search; older ones are searched on disk",
    )
    eviction_days: float = setting(
        AMOUNT,
        default=90.0,
        description="Age in days from which segments are no longer loaded into memory; 0 loads all",
    )
    index: bool = setting(
        SWITCH,
        default=True,
        description="Whether what is no longer in memory is indexed on disk, in the background, and searched there",
    )
    deadline_ms: float = setting(
        AMOUNT,
        default=50.0,
        description="Milliseconds that a search waits for that index; `everything=True` waits as long as needed",
    )
    turn_deadline_ms: float = setting(
        AMOUNT,
        default=20.0,
        description="Milliseconds that a turn waits for it; what is found later joins the next step that searches "
        "for the same, and `report.unsearched` says so",
    )


class PostgresSettings(Group):
    """Settings of a memory on a PostgreSQL server.

    >>> PostgresSettings(timeout=5).timeout
    5.0
    """

    LABEL: ClassVar[str] = "postgres"

    cache_path: Path | None = setting(
        optional(PATH),
        default=None,
        description="The directory that caches the sessions opened here; by default one for each server and "
        "namespace in the user's folder of caches",
    )
    timeout: float = setting(
        AMOUNT,
        default=10.0,
        description="Seconds that `open`, `archive`, changes of facts and searches of other sessions wait for the "
        "server; a turn never does",
    )


class RecallSettings(Group):
    """Settings of what a turn recalls: its query, the order of hits, and how much text they may take.

    >>> RecallSettings(min_score=0.5).hard_cap_tokens
    4000
    """

    LABEL: ClassVar[str] = "recall"

    hard_cap_tokens: int = setting(
        number(int, at_least=500),
        default=4_000,
        description="Most tokens that recalled text may take; never more than a tenth of the window",
    )
    min_score: float = setting(
        SHARE,
        default=0.7,
        description="How sure it must be that the question is answered before anything is recalled, from 0 to 1; with "
        "0 the weakest hits are recalled, too",
    )
    window: int = setting(
        number(int, at_least=0, at_most=10),
        default=0,
        description="Neighbors on either side of a recalled segment that are recalled with it, where there is room; "
        "OpenClaw has 2",
    )
    query_messages: QueryMessages = setting(
        Kind(_query_messages),
        default="auto",
        description="Newest user messages that form the query of a turn: a number, OpenClaw has 3; `auto` takes the "
        "newest alone, or three where that is a word or two or a courtesy",
    )
    min_query_chars: int = setting(
        COUNT_OR_ZERO,
        default=3,
        description="Characters below which a query is short and recalls nothing",
    )
    ranking: Ranking = setting(
        one_of(*get_args(Ranking)),
        default="best",
        description="How hits are ordered: `best`, or `openclaw` as OpenClaw's plugin does",
    )


class TrimSettings(Group):
    """Settings of trims: when a turn is too long, what is kept, and how tokens are counted.

    >>> TrimSettings(protected_recent=10).to
    0.5
    """

    LABEL: ClassVar[str] = "trim"

    protected_recent: int = setting(
        COUNT_OR_ZERO,
        default=6,
        description="Newest user and assistant messages that are never trimmed",
    )
    to: float = setting(
        number(float, above=0, at_most=1),
        default=0.5,
        description="Share of the limit that a trim goes down to, so that many turns follow without one",
    )
    short_queries: bool = setting(
        SWITCH,
        default=True,
        description="Whether a turn with a short query trims, by age; OpenClaw's does not, whatever the window",
    )
    reply_reserve_tokens: int = setting(
        COUNT_OR_ZERO,
        default=4_000,
        description="Tokens of the window that a turn leaves free for the model's reply",
    )
    thinking: Thinking = setting(
        one_of(*get_args(Thinking)),
        default="strip",
        description="Handling of signed thinking that an edit made stale: `strip` it, or `report` it to the host",
    )
    cache_ttl: float = setting(
        AMOUNT,
        default=300.0,
        description="Seconds the provider keeps a prompt cached; after a longer pause edits are free",
    )
    estimator: Any = setting(
        Kind(_estimator, "words"),
        default="script",
        description="How tokens are counted: `script`, an upper estimate that knows CJK; `utf16` as OpenClaw's plugin; "
        "or a function of a text",
    )


class EmbeddingSettings(Group):
    """Settings of the server that makes vectors.

    >>> EmbeddingSettings(url="http://127.0.0.1:11434/v1").timeout_ms
    150.0
    """

    LABEL: ClassVar[str] = "embedding"

    url: str | None = setting(
        URL,
        default=None,
        description="Another server to ask than the provider's own; for `openai` and `auto` any that speaks OpenAI's "
        "API, such as Ollama or vLLM",
    )
    timeout_ms: float = setting(
        AMOUNT,
        default=150.0,
        description="Milliseconds that a turn waits for the vector of what it searches; then words alone are searched",
    )


class PrivacySettings(Group):
    """Settings of what reaches the disk besides `redaction`.

    >>> PrivacySettings(pii=True, patterns={"ticket": "ACME-[0-9]{6}"}).pii
    True
    """

    LABEL: ClassVar[str] = "privacy"

    pii: bool = setting(
        SWITCH,
        default=False,
        description="Whether e-mail addresses, phone, card and IBAN numbers are masked too",
    )
    patterns: dict[str, str] = setting(
        NAMED_STRINGS,
        default_factory=dict,
        description="Regular expressions of further secrets, each under the name its mask shows",
    )
    archive_tools: bool | tuple[str, ...] = setting(
        Kind(_tool_names, "items"),
        default=True,
        description="Whether tool calls and results are archived too, or a list of the tools whose are; `*` matches",
    )


class BootstrapSettings(Group):
    """Settings of the workspace files in the system prompt, which OpenClaw calls bootstrap files.

    >>> BootstrapSettings(max_chars=5_000).max_total_chars
    150000
    """

    LABEL: ClassVar[str] = "bootstrap"

    max_chars: int = setting(
        COUNT,
        default=20_000,
        description="Characters of one file that go into the system prompt; longer ones keep head and tail",
    )
    max_total_chars: int = setting(
        COUNT,
        default=150_000,
        description="Characters of all files together that go into the system prompt",
    )


class PruningSettings(Group):
    """Settings for shortening old tool results in the sent messages; the archive keeps them whole.

    >>> PruningSettings(mode="adaptive", deny=["read_*"]).keep_last_assistants
    3
    """

    LABEL: ClassVar[str] = "pruning"
    NESTED: ClassVar[dict[str, str]] = {
        "soft_trim.max_chars": "soft_trim_max_chars",
        "soft_trim.head_chars": "soft_trim_head_chars",
        "soft_trim.tail_chars": "soft_trim_tail_chars",
        "hard_clear.enabled": "hard_clear",
        "hard_clear.placeholder": "placeholder",
        "tools.allow": "allow",
        "tools.deny": "deny",
    }

    mode: PruningMode = setting(
        one_of(*get_args(PruningMode)),
        default="cache-ttl",
        description="`off`; `cache-ttl` when the cache is cold or a trim is due anyway; `adaptive` as soon as the "
        "context is that full; `aggressive` always",
    )
    keep_last_assistants: int = setting(
        COUNT_OR_ZERO,
        default=3,
        description="Results after the so-many-last answer of the model stay whole",
    )
    soft_trim_ratio: float = setting(
        SHARE,
        default=0.3,
        description="Share of the window from which long results keep only head and tail",
    )
    hard_clear_ratio: float = setting(
        SHARE, default=0.5, description="Share of the window from which old results are cleared"
    )
    min_prunable_tool_chars: int = setting(
        COUNT_OR_ZERO,
        default=50_000,
        description="Characters there must be to clear for clearing to begin",
    )
    soft_trim_max_chars: int = setting(
        COUNT_OR_ZERO, default=4_000, description="Characters above which a result counts as long"
    )
    soft_trim_head_chars: int = setting(
        COUNT_OR_ZERO, default=1_500, description="Characters kept of the head of a long result"
    )
    soft_trim_tail_chars: int = setting(
        COUNT_OR_ZERO, default=1_500, description="Characters kept of its tail"
    )
    hard_clear: bool = setting(
        SWITCH, default=True, description="Whether results may be cleared at all"
    )
    placeholder: str = setting(
        STRING,
        default="[Old tool result content cleared]",
        description="What a cleared result reads",
    )
    allow: tuple[str, ...] = setting(
        items(STRING),
        default=(),
        description="Tools whose results may be shortened; none named means all, `*` matches",
    )
    deny: tuple[str, ...] = setting(
        items(STRING),
        default=(),
        description="Tools whose results may not be shortened, whatever `allow` says",
    )

    @classmethod
    def from_scalar(cls, value: object) -> object:
        """Return the settings that a mode alone means; on and off are modes too."""
        if isinstance(value, bool):
            return {"mode": "cache-ttl" if value else "off"}
        return {"mode": value} if isinstance(value, str) else value

    def check_together(self) -> None:
        """Raise `ValueError` if settings contradict each other."""
        kept = self.soft_trim_head_chars + self.soft_trim_tail_chars
        if kept > self.soft_trim_max_chars:
            raise ValueError(
                f"head and tail of a long result are {kept} characters together; "
                f"expected at most soft_trim_max_chars, {self.soft_trim_max_chars}"
            )
