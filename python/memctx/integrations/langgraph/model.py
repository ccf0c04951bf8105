"""`MemctxModel`: a chat model with memory, for the nodes of hand-written graphs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Unpack, cast

from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, ensure_config

from memctx.bridge import Sessions
from memctx.integrations.langchain import LangChainViews, model_name, usage_of, window_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from os import PathLike

    from langchain_core.language_models import LanguageModelInput
    from langchain_core.runnables import RunnableConfig

    from memctx.bridge import Options, Prepared
    from memctx.memory import Memory

VIEWS = LangChainViews()
LAST = 32
"""Messages before an answer that are archived with it, unless they are already."""


class MemctxModel(Runnable["LanguageModelInput", BaseMessage]):
    """Prepares every call of a chat model, in a node of LangGraph or in a chain.

    The graph's state stays as it is: only what is sent is pruned, trimmed and added to. The session is that of the
    thread and of the node, with the nodes around it if it is in a subgraph.

    >>> model = MemctxModel(ChatAnthropic(...).bind_tools(tools), "./memory")  # doctest: +SKIP
    >>> def call_model(state: MessagesState):  # doctest: +SKIP
    ...     return {"messages": [model.invoke(state["messages"])]}
    """

    def __init__(
        self,
        model: Runnable[Any, Any],
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        self.model = model
        self.sessions = Sessions(memory, session_id=session_id, **options)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> MemctxModel:  # noqa: ANN401 - the model's
        """Return the model with tools, and the same memory."""
        bound = MemctxModel.__new__(MemctxModel)
        bound.model = cast("Any", self.model).bind_tools(tools, **kwargs)
        bound.sessions = self.sessions
        return bound

    def prepare(
        self, messages: LanguageModelInput, config: RunnableConfig | None = None
    ) -> Prepared[BaseMessage]:
        """Return the messages to send, for callers that call the model themselves."""
        given = _messages(messages)
        model = getattr(self.model, "bound", self.model)
        return self.sessions.prepare(
            lambda: self._session(given, config),
            given,
            format=VIEWS,
            model=model_name(model),
            window=window_of(model),
        )

    def invoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's
    ) -> BaseMessage:
        """Prepare a call, and call the model."""
        given = _messages(input)
        prepared = self.prepare(given, config)
        answer = self.model.invoke(prepared.messages, config, **kwargs)
        self._learn(prepared, given, answer)
        return cast("BaseMessage", answer)

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's
    ) -> BaseMessage:
        """Prepare an asynchronous call, and call the model."""
        given = _messages(input)
        prepared = await asyncio.to_thread(self.prepare, given, config)
        answer = await self.model.ainvoke(prepared.messages, config, **kwargs)
        await asyncio.to_thread(self._learn, prepared, given, answer)
        return cast("BaseMessage", answer)

    def stream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's
    ) -> Iterator[BaseMessage]:
        """Prepare a call, and stream the model's answer."""
        given = _messages(input)
        prepared = self.prepare(given, config)
        chunks: list[Any] = []
        for chunk in self.model.stream(prepared.messages, config, **kwargs):
            chunks.append(chunk)
            yield chunk
        self._learn(prepared, given, _join(chunks))

    async def astream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the model's
    ) -> AsyncIterator[BaseMessage]:
        """Prepare an asynchronous call, and stream the model's answer."""
        given = _messages(input)
        prepared = await asyncio.to_thread(self.prepare, given, config)
        chunks: list[Any] = []
        async for chunk in self.model.astream(prepared.messages, config, **kwargs):
            chunks.append(chunk)
            yield chunk
        await asyncio.to_thread(self._learn, prepared, given, _join(chunks))

    def close(self) -> None:
        """Close the memories that were opened."""
        self.sessions.close()

    def _learn(
        self, prepared: Prepared[BaseMessage], given: list[BaseMessage], answer: object
    ) -> None:
        """Observe the usage of an answer, and archive the last one behind its question: no call need follow."""
        prepared.observe(usage_of([answer]))
        is_last = isinstance(answer, BaseMessage) and not getattr(answer, "tool_calls", None)
        if is_last and prepared.memory is not None:
            self.sessions.archive(
                prepared.memory.session_id, [*given[-LAST:], answer], format=VIEWS
            )

    def _session(self, messages: Sequence[BaseMessage], config: RunnableConfig | None) -> str:
        """Return the session of the running call: its thread, or the id of the first message, and its node."""
        configurable = ensure_config(config).get("configurable", {})
        thread = configurable.get("thread_id")
        if thread is None and messages:
            thread = messages[0].id
        nodes = [
            each.partition(":")[0] for each in str(configurable.get("checkpoint_ns", "")).split("|")
        ]
        return self.sessions.name(None if thread is None else str(thread), "/".join(nodes))


def _messages(given: LanguageModelInput) -> list[BaseMessage]:
    if isinstance(given, str):
        return [HumanMessage(given)]
    return given.to_messages() if isinstance(given, PromptValue) else convert_to_messages(given)


def _join(chunks: list[Any]) -> object:
    """Return the answer that was streamed; None if there was none."""
    if chunks and all(isinstance(chunk, AIMessageChunk) for chunk in chunks):
        return chunks[0] + chunks[1:]
    return chunks[-1] if chunks else None
