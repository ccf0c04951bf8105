"""OpenAI Agents SDK: memory for every model call of a run, and a session that archives.

from memctx.integrations.openai_agents import MemctxMemory

memory = MemctxMemory("./memory", context_window=200_000)
result = await Runner.run(agent, "Hello.", **memory.options(session=SQLiteSession("alice", "chat.db")))
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from memctx.bridge import Sessions, require
from memctx.errors import ConfigError, MessageFormatError
from memctx.memory import Memory

require("openai-agents", "0.24", extra="openai-agents")

from agents import RunConfig, RunHooks, SQLiteSession  # noqa: E402 - after the check
from agents.lifecycle import RunHooksBase  # noqa: E402
from agents.run import ModelInputData  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from agents import Agent, ModelResponse, RunContextWrapper, Session, TResponseInputItem
    from agents.memory import SessionSettings
    from agents.run import CallModelData, CallModelInputFilter
    from agents.run_config import RunOptions

    from memctx.bridge import Options, Prepared

__all__ = ["MemctxMemory", "MemctxSession"]

logger = logging.getLogger("memctx.integrations")

FILE = "openai_agents.sqlite3"
"""File of the store in which `MemctxSession` keeps conversations."""

SERVER = "the server keeps the conversation and is sent only what is new; expected a session, or all input items"
SERVER_ARGUMENTS = ("conversation_id", "previous_response_id", "auto_previous_response_id")


@dataclass(slots=True)
class _Call:
    """A model call of an agent, prepared and not yet answered."""

    sessions: Sessions
    session: Callable[[], str]
    agent: object
    prepared: Prepared[TResponseInputItem]
    is_answered: bool = False

    def end(self, response: ModelResponse) -> None:
        """Learn the usage, and archive an answer that no later call will send."""
        if response.usage.input_tokens:
            self.prepared.observe(response.usage)
        items = response.to_input_items()
        if self.prepared.memory is not None and not any(map(_call_id, items)):
            self.sessions.archive(self.session, items, format="responses")


_running: ContextVar[_Call | None] = ContextVar("memctx_model_call", default=None)


class MemctxMemory:
    """Prepares every model call of a run, learns its usage, and archives the answers.

    The session of the run keeps every item: only what is sent is pruned, trimmed and added to. Memory has a session for
    each thread and agent; after a handoff, the other agent has its own.

    >>> memory = MemctxMemory("./memory", context_window=200_000)  # doctest: +SKIP
    >>> await Runner.run(agent, "Hello.", **memory.options(session=session))  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings; ``session_id`` is for runs without a session.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        self.sessions = Sessions(memory, session_id=session_id, **options)

    def options(self, **given: Unpack[RunOptions[Any]]) -> RunOptions[Any]:  # type: ignore[misc]  # without the SDK
        """Return arguments for `Runner.run`, `run_sync` or `run_streamed`: those given, with memory added.

        The thread is that of ``session``, or ``run_config.group_id``. An input filter and hooks that are given run too,
        the filter before memory.
        """
        chosen: RunConfig | dict[str, Any] | None = given.get("run_config")
        config = chosen if isinstance(chosen, RunConfig) else RunConfig(**(chosen or {}))
        session = given.get("session")
        if isinstance(session, MemctxSession):  # what it would archive, the run does
            given["session"] = session = session.inner
        is_server = any(given.get(name) for name in SERVER_ARGUMENTS)
        group, model, first = config.group_id, config.model, config.call_model_input_filter

        def thread() -> str | None:
            if is_server:
                raise ConfigError(SERVER)
            return session.session_id if session is not None else group

        async def prepare(data: CallModelData[Any]) -> ModelInputData:
            if first is not None:
                data = replace(data, model_data=await _apply(first, data))
            return await self._prepare(data, thread, model)

        given["run_config"] = replace(config, call_model_input_filter=prepare)
        hooks = given.get("hooks")
        if hooks is None or isinstance(hooks, RunHooksBase):  # the SDK refuses others
            given["hooks"] = _Hooks(hooks)
        return given

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Prepare a call: for ``RunConfig(call_model_input_filter=memory.filter)``, with a ``session_id``.

        The filter is told neither the run's session nor whether the server keeps the conversation: prefer `options`.
        """
        return await self._prepare(data, lambda: None, None)

    @property
    def hooks(self) -> RunHooks[Any]:
        """Hooks that learn the usage and archive the answers of calls that `filter` prepared."""
        return _Hooks(None)

    async def _prepare(
        self, data: CallModelData[Any], thread: Callable[[], str | None], model: object
    ) -> ModelInputData:
        given, agent = data.model_data, data.agent

        def session() -> str:
            _check_whole(given.input)
            return self.sessions.name(thread(), agent.name)

        prepared = await self.sessions.aprepare(
            session, given.input, format="responses", model=_model_name(model or agent.model)
        )
        _running.set(_Call(self.sessions, session, agent, prepared))
        return replace(given, input=prepared.messages)


class MemctxSession:
    """A session that archives what is added to it, for runs without `MemctxMemory`.

    It wraps ``session``, or else keeps the conversation in the directory of the store. Items that are popped or cleared
    stay in the archive.

    >>> session = MemctxSession("./memory", session_id="alice")  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        session: Session | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Open the conversation; ``session_id`` is by default that of ``session`` or of an open memory.

        Raises:
            ConfigError: a setting is unknown or out of range, or the conversation has no id.
            StoreError: there is no ``session``, and the store cannot be opened; or the `OSError` of the system.
        """
        self.sessions = Sessions(memory, **options)
        if session_id is None and isinstance(memory, Memory):
            session_id = memory.session_id
        if session is None:
            session_id = self.sessions.name(session_id)
            path = Path(self.sessions.open(session_id).store.path) / FILE
            path.touch(mode=0o600)
            session = SQLiteSession(session_id, path)
        self._session_id = session_id
        self.inner: Session = session
        """The session that keeps the items."""
        self.session_settings: SessionSettings | None = session.session_settings

    @property
    def session_id(self) -> str:
        """Id of the conversation."""
        return self._session_id or self.inner.session_id

    @session_id.setter
    def session_id(self, value: str) -> None:
        self._session_id = value

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, or the last ``limit`` of them."""
        return await self.inner.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items, and archive them."""
        await self.inner.add_items(items)
        await asyncio.to_thread(
            self.sessions.archive, lambda: self.session_id, items, format="responses"
        )

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the last item."""
        return await self.inner.pop_item()

    async def clear_session(self) -> None:
        """Remove all items."""
        await self.inner.clear_session()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the other session has, such as run_compaction
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


class _Hooks(RunHooks[Any]):
    """Hooks that end the calls which the filter prepared, and pass every event on to those of the user."""

    def __init__(self, other: RunHooks[Any] | None) -> None:
        self._other = other
        for name in dir(other) if other is not None else ():
            if name.startswith("on_") and name != "on_llm_end":
                setattr(self, name, getattr(other, name))

    async def on_llm_end(
        self, context: RunContextWrapper[Any], agent: Agent[Any], response: ModelResponse
    ) -> None:
        """Learn the usage, and archive the answer."""
        call = _running.get()
        # The run of a tool that is an agent sees the call of its caller, if it has hooks and no filter.
        if call is not None and call.agent is agent and not call.is_answered:
            call.is_answered = True
            try:
                await asyncio.to_thread(call.end, response)
            except Exception as error:  # noqa: BLE001 - the call succeeded
                logger.warning("an answer is neither counted nor archived: %s", error)
        if self._other is not None:
            await self._other.on_llm_end(context, agent, response)


async def _apply(filter: CallModelInputFilter, data: CallModelData[Any]) -> ModelInputData:
    """Return the result of a filter, which may be asynchronous."""
    result = filter(data)
    return result if isinstance(result, ModelInputData) else await result


def _check_whole(items: Sequence[Any]) -> None:
    """Raise `MessageFormatError` if an output lacks its call, which the server has."""
    calls = set(map(_call_id, items))
    outputs = (item for item in items if _kind(item).endswith("_call_output"))
    if any(item.get("call_id") not in calls for item in outputs):
        raise MessageFormatError(SERVER)


def _call_id(item: Any) -> str | None:  # noqa: ANN401 - whatever is in the input
    """Return the id of a call; None if the item is none."""
    return item.get("call_id") or item.get("id") if _kind(item).endswith("_call") else None


def _kind(item: object) -> str:
    return str(item.get("type")) if isinstance(item, dict) else ""


def _model_name(model: object) -> str | None:
    name = model if isinstance(model, str) else getattr(model, "model", None)
    return name if isinstance(name, str) else None
