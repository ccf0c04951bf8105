"""`WorkspaceSearchSettings`: the search of workspace and session files; OpenClaw's ``memorySearch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from memctx.config.group import Group, setting
from memctx.config.groups import URL, check_model
from memctx.config.kinds import (
    ABOVE_ZERO,
    COUNT,
    COUNT_OR_ZERO,
    PATH,
    SHARE,
    SWITCH,
    Kind,
    items,
    number,
    one_of,
    optional,
)

if TYPE_CHECKING:
    from pathlib import Path

SearchSource: TypeAlias = Literal["memory", "sessions"]

# The embedder that each of OpenClaw's providers stands for; all but the last take a model.
PROVIDERS = {
    "openai": "openai",
    "gemini": "gemini",
    "voyage": "voyage",
    "auto": "auto",
    "local": "transformer",
}
WITH_MODEL = ("openai", "gemini", "voyage")
# OpenClaw's values where a switch is on and no value is given.
MMR_LAMBDA, HALF_LIFE_DAYS = 0.7, 30.0


class WorkspaceSearchSettings(Group):
    """Settings of the search of workspace files, further files and session files.

    >>> WorkspaceSearchSettings(query={"maxResults": 3}, extraPaths=["~/docs"]).max_results
    3
    """

    LABEL: ClassVar[str] = "workspace_search"
    NESTED: ClassVar[dict[str, str]] = {
        "query.max_results": "max_results",
        "query.min_score": "min_score",
        "query.hybrid.enabled": "hybrid.enabled",
        "query.hybrid.vector_weight": "vector_weight",
        "query.hybrid.text_weight": "text_weight",
        "query.hybrid.candidate_multiplier": "candidate_multiplier",
        "query.hybrid.mmr.enabled": "mmr.enabled",
        "query.hybrid.mmr.lambda": "mmr_lambda",
        "query.hybrid.temporal_decay.enabled": "temporal_decay.enabled",
        "query.hybrid.temporal_decay.half_life_days": "half_life_days",
        "chunking.tokens": "chunk_tokens",
        "chunking.overlap": "overlap_tokens",
        "experimental.session_memory": "session_memory",
        "remote.base_url": "embedding_url",
    }
    IDLE: ClassVar[frozenset[str]] = frozenset(
        {
            "cache",
            "fallback",
            "local",
            "multimodal",
            "output_dimensionality",
            "remote.api_key",
            "remote.batch",
            "remote.headers",
            "store",
            "sync",
        }
    )

    enabled: bool = setting(
        SWITCH, default=True, description="Whether the workspace is searched at all"
    )
    sources: tuple[SearchSource, ...] = setting(
        items(one_of("memory", "sessions")),
        default=("memory",),
        description="What is searched: `memory` for the workspace and `extra_paths`, `sessions` for session files",
    )
    extra_paths: tuple[Path, ...] = setting(
        items(PATH),
        default=(),
        description="Further files, and folders of Markdown files, that are searched; seen from the workspace",
    )
    sessions: tuple[Path, ...] = setting(
        items(PATH),
        default=(),
        description="Session files, or folders of them; for an `openclaw.json` those of the agents beside it",
    )
    embedding_model: Any | None = setting(
        optional(Kind(check_model)),
        default=None,
        description="Another `embedding_model` than that of the memory",
    )
    embedding_url: str | None = setting(
        URL,
        default=None,
        description="The server of that model, where it is not the provider's own",
    )
    max_results: int = setting(COUNT, default=6, description="Passages that a search gives at most")
    min_score: float = setting(
        SHARE, default=0.0, description="Score that a passage must reach; OpenClaw has 0.35"
    )
    vector_weight: float | None = setting(
        optional(SHARE),
        default=None,
        description="Weight of vectors; 0.7, or 0.2 where they are hashed and know no meanings",
    )
    text_weight: float | None = setting(
        optional(SHARE),
        default=None,
        description="Weight of words; what `vector_weight` leaves of 1",
    )
    candidate_multiplier: int = setting(
        number(int, at_least=1, at_most=20),
        default=4,
        description="Candidates looked at for each result, by words and by vectors",
    )
    chunk_tokens: int = setting(COUNT, default=400, description="Tokens of a passage")
    overlap_tokens: int = setting(
        COUNT_OR_ZERO, default=80, description="Tokens that a passage shares with the one before"
    )
    half_life_days: float | None = setting(
        optional(ABOVE_ZERO),
        default=None,
        description="Days after which a note of a day counts half; OpenClaw has 30",
    )
    mmr_lambda: float | None = setting(
        optional(SHARE),
        default=None,
        description="Relevance against variety when passages are chosen, 1 is relevance alone; OpenClaw has 0.7",
    )

    @classmethod
    def from_scalar(cls, value: object) -> object:
        """Return the settings that a switch alone means."""
        return {"enabled": value} if isinstance(value, bool) else value

    @classmethod
    def combine(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings with OpenClaw's switches applied to the values they switch."""
        found = dict(settings)
        _switch(found, "temporal_decay.enabled", "half_life_days", HALF_LIFE_DAYS)
        _switch(found, "mmr.enabled", "mmr_lambda", MMR_LAMBDA)
        if found.pop("hybrid.enabled", True) is False:
            found |= {"vector_weight": 1.0, "text_weight": 0.0}
        if found.pop("session_memory", True) is False and "sources" in found:
            found["sources"] = [each for each in found["sources"] if each != "sessions"] or [
                "memory"
            ]
        if "provider" in found:
            found["embedding_model"] = _model_of(found.pop("provider"), found.pop("model", None))
        elif "model" in found:
            found["embedding_model"] = found.pop("model")
        return found

    def check_together(self) -> None:
        """Raise `ValueError` if settings contradict each other."""
        if not self.sources:
            raise ValueError("sources is empty; expected 'memory', 'sessions' or both")
        if self.overlap_tokens >= self.chunk_tokens:
            raise ValueError(
                f"overlap_tokens is {self.overlap_tokens}; expected less than chunk_tokens, {self.chunk_tokens}"
            )
        if self.vector_weight == 0 and self.text_weight == 0:
            raise ValueError("vector_weight and text_weight are 0; expected one of them to be more")


def _switch(found: dict[str, Any], switch: str, field: str, usual: float) -> None:
    """Apply a switch that OpenClaw has beside a value: without it the value means nothing."""
    is_on = found.pop(switch, None)
    if is_on is True:
        found.setdefault(field, usual)
    elif is_on is False:
        found.pop(field, None)


def _model_of(provider: object, model: object) -> object:
    """Return the `embedding_model` for a provider and its model."""
    name = PROVIDERS.get(str(provider), provider)
    return f"{name}:{model}" if model and name in WITH_MODEL else name
