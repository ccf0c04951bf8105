"""`MemctxChatMessageHistory`: the messages of a session, kept exactly."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import message_to_dict, messages_from_dict

from memctx import store_files
from memctx.bridge import JsonLog
from memctx.config import Config
from memctx.errors import ConfigError
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from langchain_core.messages import BaseMessage

    from memctx.config.settings import Arguments

FOLDER = "histories"


class MemctxChatMessageHistory(BaseChatMessageHistory):
    """The messages of a session in a file of the store, which several processes may share.

    Messages are on disk when a call returns, and come back exactly as they were added, tool calls, ids and usage
    included. Secrets in them are not masked, unlike in the archive that memory searches.

    >>> history = MemctxChatMessageHistory("./memory", session_id="alice")  # doctest: +SKIP
    >>> history.add_user_message("Which port?")  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        config: Config | None = None,
        **settings: Unpack[Arguments],
    ) -> None:
        """Name the session, by default that of ``memory``; its file is created with the first message.

        Raises:
            ConfigError: there is no session, or a setting is unknown, out of range, or given for a memory that is open.
        """
        super().__init__()
        if isinstance(memory, Memory):
            if config or settings:
                raise ConfigError("memory is open; expected its settings where it was opened")
            session_id = session_id or memory.session_id
            config, memory = memory.config, memory.config.storage_path
        else:
            config = Config.load(**settings) if config is None else config.replace(**settings)
        if not session_id:
            raise ConfigError("session_id is missing; expected the id of the conversation")
        self.session_id = session_id
        folder = Path(config.storage_path if memory is None else memory).expanduser()
        self._messages: list[BaseMessage] = []
        self._lock = threading.Lock()
        self._log = JsonLog(
            store_files.path_of(folder, FOLDER, session_id, ".jsonl"),
            "langchain-messages",
            read=self._read,
            reset=self._messages.clear,
            disk=config.disk,
        )

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # an attribute there
        """All messages, oldest first."""
        with self._lock:
            self._log.follow()
            return [message.model_copy(deep=True) for message in self._messages]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, all of them or none.

        Raises:
            TypeError: a message holds an artifact that is not JSON.
            StoreError: nothing was written.
        """
        with self._lock:
            self._log.append(lambda: [[message_to_dict(each) for each in messages]])

    def clear(self) -> None:
        """Delete all messages of the session."""
        with self._lock:
            self._log.rewrite(list)

    def _read(self, value: list[dict[str, Any]]) -> None:
        self._messages += messages_from_dict(value)
