"""Types of tool results: plain dictionaries, ready for JSON, of which the output schemas are made."""

from __future__ import annotations

from typing import TypedDict


class MessageItem(TypedDict):
    """An archived message, or the part of it that fits."""

    id: str
    session_id: str
    role: str
    time: str
    text: str
    is_cut: bool


class FoundMessage(MessageItem):
    """An archived message that a search found."""

    score: float


class FactItem(TypedDict):
    """A fact."""

    id: str
    session_id: str | None
    type: str
    text: str
    context: str | None
    time: str | None
    is_active: bool


class FoundFact(FactItem):
    """A fact that a search found."""

    score: float


class FoundNote(TypedDict):
    """A passage of a workspace file that a search found."""

    where: str
    text: str
    score: float


class SearchResult(TypedDict):
    """Result of `memory_search`, best first in each list."""

    facts: list[FoundFact]
    notes: list[FoundNote]
    messages: list[FoundMessage]
    omitted: int
    """Number of results left out because they do not fit."""
    unsearched: int
    """Number of messages on disk that are not indexed yet."""


class GetResult(TypedDict):
    """Result of `memory_get`: a message with its neighbors, or a fact with its history."""

    message: MessageItem | None
    before: list[MessageItem]
    after: list[MessageItem]
    next_offset: int | None
    """The offset of the rest of the text; None at its end."""
    fact: FactItem | None
    history: list[FactItem]
    """Earlier states of the fact, oldest first."""
    omitted: int


class StoreResult(TypedDict):
    """Result of `memory_store`."""

    action: str
    """``add``, ``update``, ``supersede``, or ``none`` if it was known."""
    fact: FactItem
    replaced: FactItem | None
    """The fact that no longer holds."""
    reason: str


class UpdateResult(TypedDict):
    """Result of `memory_update`."""

    fact: FactItem
    previous_text: str


class ForgetResult(TypedDict):
    """Result of `memory_forget`: the first call returns a code, the second one takes it."""

    is_forgotten: bool
    fact: FactItem
    confirm: str | None
    """The code that the second call must pass."""
    next_step: str


class SessionItem(TypedDict):
    """A session of the store."""

    id: str
    messages: int
    tokens: int
    first_time: str
    last_time: str
    first_words: str
    is_current: bool


class SessionsResult(TypedDict):
    """Result of `memory_sessions`, newest first."""

    sessions: list[SessionItem]
    total: int
    next_offset: int | None


class StatusResult(TypedDict):
    """Result of `memory_status`."""

    session_id: str
    reads_all_sessions: bool
    is_ok: bool
    problems: list[str]
    messages: int
    facts: int
    sessions: int
    disk_bytes: int
    embedding_model: str
