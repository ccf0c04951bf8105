"""Requests: the interface between verbs and their two callers, the shell and chat hosts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx.config import Config
    from memctx.hosts.pi import Transcript
    from memctx.memory import Memory
    from memctx.messages import FormatName

Progress: TypeAlias = "AbstractContextManager[Callable[[int, int], None]]"
"""A context whose value is called with the amount done and the total."""


class LimitOptions(TypedDict, total=False):
    """Limits on what is read of one file, in MiB."""

    max_value: int
    max_expanded: int


@dataclass(frozen=True, slots=True)
class ModelContext:
    """The messages that the model sees, and the session file that holds them."""

    messages: Sequence[Any]
    session_id: str
    message_format: FormatName | None = None
    """The messages' format; None to detect it."""
    transcript: Transcript | None = None
    """The session file that a compaction can be written to, if there is one."""
    path: Path | None = None
    """The file that the messages were read from; None for those of a chat."""
    file_format: str | None = None
    """The format of that file."""


class Request(ABC):
    """One call of a verb: access to the memory, the settings and the conversation of the caller."""

    messages: Sequence[Any] | None
    """The messages of the running conversation; None in the shell."""

    @abstractmethod
    def open_memory(
        self, *, model: str | None = None, may_reembed: bool = False
    ) -> AbstractContextManager[Memory]:
        """Open the memory for reading.

        ``model`` overrides the embedding model of the settings. Vectors of a store are replaced by those of a default
        model only with ``may_reembed``.
        """

    @abstractmethod
    def open_writable_memory(
        self, session_id: str | None = None, window: int | None = None
    ) -> AbstractContextManager[Memory]:
        """Open the memory of one session for writing."""

    @abstractmethod
    def config(self, window: int | None = None) -> Config:
        """Return the settings; ``window`` overrides the context window."""

    @abstractmethod
    def store_path(self) -> Path:
        """Return the directory of an existing store."""

    @abstractmethod
    def model_context(
        self, path: Path | None, *, session: str | None = None, **limits: Unpack[LimitOptions]
    ) -> ModelContext:
        """Return the messages of the running conversation, or those of a transcript file."""

    @abstractmethod
    def is_confirmed(self, *, is_sure: bool) -> bool:
        """Return whether a verb may delete or rewrite."""

    def status(self, words: str) -> AbstractContextManager[object]:  # noqa: ARG002 - for overriding
        """Show that a step is running."""
        return nullcontext()

    def progress(self, words: str, total: int = 1, *, is_logged: bool = False) -> Progress:  # noqa: ARG002 - for overriding
        """Show the progress of a step; ``is_logged`` writes it to pipes too."""
        return nullcontext(lambda _done, _total: None)


@dataclass(frozen=True, slots=True)
class ChatRequest(Request):
    """A slash command with the state of its host. A command typed into a chat counts as confirmed."""

    memory: Memory
    messages: Sequence[Any] | None = None
    format: FormatName | None = None
    transcript: Transcript | None = None

    def open_memory(
        self,
        *,
        model: str | None = None,
        may_reembed: bool = False,  # noqa: ARG002 - the host decided
    ) -> AbstractContextManager[Memory]:
        """Return the host's memory, which stays open; its embedding model cannot be changed."""
        if model is not None:
            raise ConfigError(f"model is {model!r}; expected None in a chat")
        return nullcontext(self.memory)

    def open_writable_memory(
        self,
        session_id: str | None = None,  # noqa: ARG002 - the host's memory has its session
        window: int | None = None,  # noqa: ARG002 - and its window
    ) -> AbstractContextManager[Memory]:
        """Return the host's memory, which stays open."""
        return nullcontext(self.memory)

    def config(self, window: int | None = None) -> Config:
        """Return the settings of the host's memory."""
        config = self.memory.config
        return config if window is None else config.replace(context_window=window)

    def store_path(self) -> Path:
        """Return the directory of the host's memory."""
        return Path(self.memory.store.path)

    def model_context(
        self,
        path: Path | None,  # noqa: ARG002 - a chat has no files
        *,
        session: str | None = None,  # noqa: ARG002
        **limits: Unpack[LimitOptions],  # noqa: ARG002
    ) -> ModelContext:
        """Return the messages of the conversation.

        Raises:
            ConfigError: the host gave none.
        """
        if self.messages is None:
            raise ConfigError("messages is None; expected the messages of the conversation")
        return ModelContext(self.messages, self.memory.session_id, self.format, self.transcript)

    def is_confirmed(self, *, is_sure: bool) -> bool:  # noqa: ARG002 - see the class
        """Return True."""
        return True
