"""`MemctxMemory`: a memory for agents and chat engines of LlamaIndex."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory.types import BaseChatStoreMemory
from llama_index.core.storage.chat_store import SimpleChatStore

from memctx.bridge import Sessions
from memctx.integrations.llama_index import usage
from memctx.integrations.llama_index.views import LlamaViews
from memctx.memory import Memory

if TYPE_CHECKING:
    from os import PathLike

    from llama_index.core.llms import LLM
    from llama_index.core.storage.chat_store import BaseChatStore

    from memctx.bridge import Options, Prepared

VIEWS = LlamaViews()
LAST = 4
"""Messages that are archived with an answer: those that no call has sent are among them."""


class MemctxMemory(BaseChatStoreMemory):
    """Keeps every message in a chat store, and gives out those to send.

    `get` prepares a model call: the messages that are to be sent, with what the question needs. `get_all` returns the
    whole history. ``session_id`` is also the key in the chat store; without one, each object is a new conversation.

    >>> await agent.run("Which port?", memory=MemctxMemory("./memory", session_id="alice"))  # doctest: +SKIP
    """

    _sessions: Sessions = PrivateAttr()
    _window: int | None = PrivateAttr(default=None)
    _model: str | None = PrivateAttr(default=None)
    _last: tuple[int, list[ChatMessage]] | None = PrivateAttr(default=None)

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        chat_store: BaseChatStore | None = None,
        llm: LLM | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``llm`` tells the window and the name of the model.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        own = memory.session_id if isinstance(memory, Memory) else session_id or str(uuid.uuid4())
        super().__init__(chat_store=chat_store or SimpleChatStore(), chat_store_key=own)
        named = session_id if isinstance(memory, Memory) else own
        self._sessions = Sessions(memory, session_id=named, **options)
        if llm is not None:
            self._window, self._model = llm.metadata.context_window, llm.metadata.model_name

    @property
    def sessions(self) -> Sessions:
        """Sessions of the memory."""
        return self._sessions

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which the memory is serialized."""
        return "MemctxMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: list[ChatMessage] | None = None,
        llm: LLM | None = None,
        **kwargs: Any,  # noqa: ANN401 - as in the base
    ) -> MemctxMemory:
        """Return a memory that begins with a history."""
        memory = cls(llm=llm, **kwargs)
        if chat_history:
            memory.set(chat_history)
        return memory

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: ANN401 - as in the base
        """Return the messages to send. ``input`` is the question, if it is not yet in the history."""
        del kwargs
        messages = self.get_all()
        if (again := self._continued(messages, input)) is not None:
            return again
        asked = _asked(messages, input)
        prepared = self._sessions.prepare(
            self._sessions.name, asked, format=VIEWS, model=self._model, window=self._window
        )
        return self._sent(messages, asked, prepared)

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: ANN401 - as in the base
        """Return the messages to send."""
        del kwargs
        messages = await self.aget_all()
        if (again := self._continued(messages, input)) is not None:
            return again
        asked = _asked(messages, input)
        prepared = await self._sessions.aprepare(
            self._sessions.name, asked, format=VIEWS, model=self._model, window=self._window
        )
        return self._sent(messages, asked, prepared)

    def put(self, message: ChatMessage) -> None:
        """Add a message; the end of the conversation is archived with an answer."""
        super().put(message)
        if message.role == MessageRole.ASSISTANT:
            last = self.get_all()[-LAST:]
            self._sessions.archive(self._sessions.name, last, format=VIEWS)

    async def aput(self, message: ChatMessage) -> None:
        """Add a message; the end of the conversation is archived with an answer."""
        await super().aput(message)
        if message.role == MessageRole.ASSISTANT:
            last = (await self.aget_all())[-LAST:]
            archive = self._sessions.archive
            await asyncio.to_thread(archive, self._sessions.name, last, format=VIEWS)

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the history; the archive keeps what it has."""
        self._last = None
        super().set(messages)

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Replace the history; the archive keeps what it has."""
        self._last = None
        await super().aset(messages)

    def reset(self) -> None:
        """Delete the history; the archive keeps what it has."""
        self._last = None
        super().reset()

    async def areset(self) -> None:
        """Delete the history; the archive keeps what it has."""
        self._last = None
        await super().areset()

    def _continued(
        self, messages: list[ChatMessage], question: str | None
    ) -> list[ChatMessage] | None:
        """Return what was sent and answered since: after an answer nothing is asked, and nothing is to be recalled."""
        if not messages:
            return None if question else []
        if question or self._last is None or messages[-1].role != MessageRole.ASSISTANT:
            return None
        count, sent = self._last
        return [*sent, *messages[count:]]

    def _sent(
        self,
        messages: list[ChatMessage],
        asked: list[ChatMessage],
        prepared: Prepared[ChatMessage],
    ) -> list[ChatMessage]:
        """Return the prepared messages, without a question that the caller adds itself."""
        sent = prepared.messages
        if len(asked) > len(messages):
            sent = [message for message in sent if message is not asked[-1]]
        self._last = len(messages), sent
        usage.wait_for(sent, prepared)
        return list(sent)


def _asked(messages: list[ChatMessage], question: str | None) -> list[ChatMessage]:
    """Return the messages with a question that is not among them: chat engines store it with its answer."""
    if not question or (messages and messages[-1].role == MessageRole.USER):
        return messages
    return [*messages, ChatMessage(question, role=MessageRole.USER)]
