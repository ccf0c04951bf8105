"""`MemctxMemoryBlock`: recall for LlamaIndex's own `Memory`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemoryBlock

from memctx.bridge import Sessions
from memctx.integrations.llama_index.views import LlamaViews

if TYPE_CHECKING:
    from os import PathLike

    from llama_index.core.llms import ChatMessage

    from memctx.bridge import Options
    from memctx.memory import Memory

VIEWS = LlamaViews()


class MemctxMemoryBlock(BaseMemoryBlock[str]):
    """Archives what LlamaIndex's `Memory` flushes, and recalls what the newest question needs.

    The session is that of the `Memory`.

    >>> blocks = [MemctxMemoryBlock("./memory")]  # doctest: +SKIP
    >>> memory = Memory.from_defaults(session_id="alice", memory_blocks=blocks)  # doctest: +SKIP
    """

    name: str = "recalled"

    _sessions: Sessions = PrivateAttr()

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        name: str = "recalled",
        priority: int = 0,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``name`` and ``priority`` are those of the block.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        super().__init__(name=name, priority=priority)
        self._sessions = Sessions(memory, session_id=session_id, **options)

    @property
    def sessions(self) -> Sessions:
        """Sessions of the block."""
        return self._sessions

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **block_kwargs: Any,  # noqa: ANN401 - as in the base
    ) -> str:
        """Return what memory adds to the messages of a call."""
        del block_kwargs
        if not messages:
            return ""
        prepared = await self._sessions.aprepare(
            lambda: self._sessions.name(session_id), messages, format=VIEWS
        )
        sent = zip(prepared.messages, prepared.turn.origins, strict=True)
        return "\n\n".join(
            message.content or ""
            for message, origin in sent
            if origin is None and message.role == "user"
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Archive messages that leave the short-term memory."""
        session = next((it.additional_kwargs.get("session_id") for it in messages), None)
        await asyncio.to_thread(
            self._sessions.archive, lambda: self._sessions.name(session), messages, format=VIEWS
        )
