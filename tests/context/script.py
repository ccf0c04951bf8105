"""A conversation without a format: what was said, called and answered, before any host wrote it down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

FormatName: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "pi"]
FORMATS: tuple[FormatName, ...] = ("anthropic", "openai", "responses", "gemini", "bedrock", "pi")


@dataclass(frozen=True)
class System:
    """The prompt of the system, for the formats that have it in the list."""

    text: str


@dataclass(frozen=True)
class User:
    """A person's message."""

    texts: tuple[str, ...]
    images: int = 0
    is_plain: bool = False
    """Written as one string where the format allows it."""
    is_cached: bool = False
    """Marked for the provider's cache where the format has such a mark."""
    is_strange: bool = False
    """With an unknown key."""
    origin: dict[str, Any] | None = None
    """The message as its own host, Pi, wrote it."""


@dataclass(frozen=True)
class Thought:
    """The model's thinking, signed by its provider or not; hidden means that only the signature came."""

    text: str
    signature: str | None = None
    is_hidden: bool = False


@dataclass(frozen=True)
class Call:
    """A tool that the model asked for."""

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Assistant:
    """The model's answer. An aborted answer may hold calls that were never carried out."""

    texts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    is_aborted: bool = False
    is_plain: bool = False
    origin: dict[str, Any] | None = None


@dataclass(frozen=True)
class Result:
    """A tool's result."""

    id: str
    name: str
    text: str
    is_error: bool = False
    has_image: bool = False
    origin: dict[str, Any] | None = None


@dataclass(frozen=True)
class Results:
    """The answers to all calls of the step before: one message, or one each, as the format has it."""

    results: tuple[Result, ...]


@dataclass(frozen=True)
class Summary:
    """The summary that a compaction left of everything before it."""

    text: str


@dataclass(frozen=True)
class Shell:
    """A command that the person ran, and what it printed."""

    command: str
    output: str
    origin: dict[str, Any] | None = None


Step: TypeAlias = System | User | Assistant | Results | Summary | Shell
Script: TypeAlias = tuple[Step, ...]
