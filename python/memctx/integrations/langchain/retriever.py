"""`MemctxRetriever`: what was said, as documents."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, ensure_config
from pydantic import ConfigDict, PrivateAttr

from memctx import SearchFilter  # noqa: TC001 - pydantic reads the annotation
from memctx.bridge import Options, Sessions

if TYPE_CHECKING:
    from os import PathLike

    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )

    from memctx import SearchHit
    from memctx.memory import Memory

ALL = "langchain"
"""Session of a retriever that searches all of them."""


class MemctxRetriever(BaseRetriever):
    """Finds archived messages by words and vectors.

    The session is the one given, or the thread of the call; with ``cross_session=True`` all are searched. A document
    has the id of its segment, and in ``metadata`` its score, session, role, time and topics. If memory fails, nothing
    is found, and a warning says why.

    >>> retriever = MemctxRetriever("./memory", session_id="alice", limit=4)  # doctest: +SKIP
    >>> retriever.invoke("Which port has the webhook?")[0].metadata["score"]  # doctest: +SKIP
    0.93
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    limit: int
    """Most documents that are returned."""
    min_score: float
    """Least probability, from 0 to 1, that a document answers."""
    filter: SearchFilter | None
    """Conditions on roles, time and topics."""
    _sessions: Sessions = PrivateAttr()

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        limit: int = 10,
        min_score: float = 0.0,
        filter: SearchFilter | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        fields: dict[str, Any] = {"limit": limit, "min_score": min_score, "filter": filter}
        super().__init__(**fields)
        if options.get("cross_session"):
            session_id = session_id or ALL
        self._sessions = Sessions(memory, session_id=session_id, **options)

    def invoke(
        self,
        input: str,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - of LangChain
    ) -> list[Document]:
        """Return the messages that answer a query best."""
        return super().invoke(input, config, **{"thread": _thread(config), **kwargs})

    async def ainvoke(
        self,
        input: str,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - of LangChain
    ) -> list[Document]:
        """Return the messages that answer a query best."""
        return await super().ainvoke(input, config, **{"thread": _thread(config), **kwargs})

    def close(self) -> None:
        """Close the memories that were opened."""
        self._sessions.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        thread: str | None = None,
    ) -> list[Document]:
        del run_manager
        hits = self._sessions.search(
            lambda: self._sessions.name(thread),
            query,
            limit=self.limit,
            min_score=self.min_score,
            filter=self.filter,
        )
        return [_document(hit) for hit in hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,
        thread: str | None = None,
    ) -> list[Document]:
        del run_manager
        return await asyncio.to_thread(self._get_relevant_documents, query, thread=thread)


def _thread(config: RunnableConfig | None) -> str | None:
    """Return the thread of a call, or of the call that it is part of."""
    thread = ensure_config(config).get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)


def _document(hit: SearchHit) -> Document:
    segment = hit.segment
    return Document(
        id=segment.id,
        page_content=segment.content,
        metadata={
            "id": segment.id,
            "score": hit.score,
            "session_id": segment.session_id,
            "role": segment.role,
            "timestamp": segment.timestamp,
            "topics": segment.topics,
        },
    )
