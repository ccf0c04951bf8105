"""`Sessions`: the memories of an adapter's conversations. Whatever is wrong with memory, calls go on without it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Unpack

from memctx import registry
from memctx.bridge.scope import check_session, current_session
from memctx.bridge.views import Views
from memctx.config import Config
from memctx.config.settings import Arguments
from memctx.context import Report, Turn
from memctx.errors import ConfigError
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from memctx._core import SearchFilter, SearchHit
    from memctx.messages import FormatName

logger = logging.getLogger("memctx.integrations")

MAX_OPEN = 64
"""Most memories that an adapter keeps open; the one used longest ago is closed."""

CHARS_PER_TOKEN = 4
MAX_WARNINGS = 100
"""Most warnings that an adapter logs."""

M = TypeVar("M")
T = TypeVar("T")
SessionName: TypeAlias = "str | Callable[[], str]"
"""The id of a session, or a function that finds it: a failure of it is one of memory."""


class Options(Arguments, total=False):
    """Keyword arguments of every adapter: the settings of `memctx.open`, and these."""

    config: Config | None
    on_turn: Callable[[Turn], object] | None
    """Called with each prepared turn and its report, also where memory stepped aside."""


@dataclass(frozen=True, slots=True)
class Prepared(Generic[M]):
    """The messages to send, and the turn that made them."""

    messages: list[M]
    turn: Turn
    memory: Memory | None = None
    """None if memory stepped aside."""

    def observe(
        self, usage: object, answer: Sequence[Any] = (), format: FormatName | None = None
    ) -> None:
        """Learn the cost of the call from the usage that the provider reported, if it did, and archive the answer."""
        if self.memory is not None and (usage is not None or answer):
            try:
                self.memory.observe(usage, turn=self.turn, answer=answer, format=format)
            except Exception as error:  # noqa: BLE001 - the call succeeded
                logger.warning("usage and answer of a call are not kept: %s", error)


class Sessions:
    """Opens the memory of each conversation of an adapter, and prepares its calls.

    >>> import tempfile
    >>> sessions = Sessions(tempfile.mkdtemp(), context_window=200_000)
    >>> prepared = sessions.prepare("thread-1", [{"role": "user", "content": "Which port?"}])
    >>> prepared.messages, prepared.turn.report.errors
    ([{'role': 'user', 'content': 'Which port?'}], ())
    >>> sessions.close()
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        config: Config | None = None,
        on_turn: Callable[[Turn], object] | None = None,
        **settings: Unpack[Arguments],
    ) -> None:
        """Check the settings. ``on_turn`` is called with each turn and its report, also where memory stepped aside.

        Raises:
            ConfigError: a setting is unknown or out of range, or given for a memory that is open.
        """
        self._on_turn = on_turn
        self._given = memory if isinstance(memory, Memory) else None
        self._path = None if isinstance(memory, Memory) else memory
        self._session_id = session_id
        self._memories: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()
        self._warned: set[str] = set()
        names = [name for name, value in (("session_id", session_id), ("config", config)) if value]
        if self._given is not None and (names or settings):
            raise ConfigError(
                f"memory is open; expected {', '.join([*names, *settings])} where it was opened"
            )
        self._config = Config.load(**settings) if config is None else config.replace(**settings)

    def name(self, thread: str | tuple[str, ...] | None = None, agent: str | None = None) -> str:
        """Return the id of a session: the one that the adapter was given, or the thread's; and the agent's name.

        A thread is one id or several, such as those of user and conversation. Slashes in them are escaped, so that no
        choice of ids makes the name of another session.

        >>> Sessions().name("t1", "researcher"), Sessions().name("t1/researcher")
        ('t1/researcher', 't1%2Fresearcher')

        Raises:
            ConfigError: there is neither. One session for all would show one user what another said.
        """
        parts = (thread,) if isinstance(thread, str) else thread or ()
        first = self._session_id or "/".join(map(_escape, parts))
        if not first:
            raise ConfigError(
                "the conversation has no id; expected session_id, or the framework's thread"
            )
        return f"{first}/{agent}" if agent else first

    def current(self) -> str:
        """Return the id of the session of the `session` block around the call, or else the adapter's."""
        return current_session() or self.name()

    def prepare(
        self,
        session: SessionName,
        messages: Sequence[M],
        *,
        format: FormatName | Views[M] | None = None,
        model: str | None = None,
        window: int | None = None,
    ) -> Prepared[M]:
        """Return the messages to send. If memory fails or does not understand them, they are sent as they are.

        ``format`` is that of the messages, or the views of a framework's own; ``window`` the model's window as the
        framework knows it, for those who set none.
        """
        try:
            memory = self.open(session, window)
            if isinstance(format, Views):
                prepared = Prepared(*format.prepare(memory, messages, model=model), memory)
            else:
                turn = memory.prepare(messages, format=format, model=model)
                prepared = Prepared(turn.messages, turn, memory)
        except Exception as error:  # noqa: BLE001 - the host goes on after any failure
            return self.step_aside(messages, error)
        self._tell(prepared.turn)
        return prepared

    def step_aside(self, messages: Sequence[M], error: Exception) -> Prepared[M]:
        """Return the messages as they are, and report the reason."""
        self._warn(f"memory steps aside: {error}")
        report = Report("unknown", errors=(f"{type(error).__name__}: {error}",))
        turn = Turn(list(messages), report, origins=range(len(messages)))
        self._tell(turn)
        return Prepared(list(messages), turn)

    async def aprepare(
        self,
        session: SessionName,
        messages: Sequence[M],
        *,
        format: FormatName | Views[M] | None = None,
        model: str | None = None,
        window: int | None = None,
    ) -> Prepared[M]:
        """Run `prepare` in a thread, for callers that must not block."""
        run = partial(self.prepare, session, messages)
        return await asyncio.to_thread(run, format=format, model=model, window=window)

    def archive(
        self,
        session: SessionName,
        messages: Sequence[Any],
        *,
        format: FormatName | Views[Any] | None = None,
    ) -> None:
        """Store messages; a failure is reported, and raises nothing."""

        def store() -> None:
            memory = self.open(session)
            if isinstance(format, Views):
                format.archive(memory, messages)
            else:
                memory.archive(messages, format=format)

        self._guard(store, "messages are not archived", None)

    def truncate(
        self,
        session: SessionName,
        message: M,
        *,
        format: Views[M],
        max_chars: int | None = None,
    ) -> M:
        """Return a new tool result, cut to head and tail if it would fill half of the window; it is archived whole.

        ``max_chars`` sets another limit; 0 for none. If memory fails, nothing is cut.
        """

        def shorten() -> M:
            memory = self.open(session)
            limit = max_chars
            if limit is None:
                limit = CHARS_PER_TOKEN * (memory.config.context_window or 0) // 2
            return format.truncate(memory, message, limit) if limit else message

        return self._guard(shorten, "a tool result is not shortened", message)

    def search(
        self,
        session: SessionName,
        query: str,
        *,
        limit: int = 10,
        min_score: float = 0.0,
        filter: SearchFilter | None = None,
    ) -> list[SearchHit]:
        """Return what `Memory.search` finds; nothing if memory fails."""

        def find() -> list[SearchHit]:
            memory = self.open(session)
            return memory.search(query, limit=limit, min_score=min_score, filter=filter)

        return self._guard(find, "memory is not searched", [])

    def open(self, session: SessionName, window: int | None = None) -> Memory:
        """Return the memory of a session."""
        if self._given is not None:
            check_session(self._given.session_id)
            return self._given
        session = session if isinstance(session, str) else session()
        with self._lock:
            memory = self._memories.get(session)
            if memory is None or memory.closed:
                config = self._config
                if config.context_window is None and window:
                    config = config.replace(context_window=window)
                memory = registry.open(self._path, session_id=session, config=config)
                self._memories[session] = memory
            self._memories.move_to_end(session)
            oldest = self._memories.popitem(last=False)[1] if self._is_full else None
        if oldest is not None:
            oldest.close()
        return memory

    def close(self) -> None:
        """Close the memories that the adapter opened."""
        with self._lock:
            memories = list(self._memories.values())
            self._memories.clear()
        for memory in memories:
            memory.close()

    @property
    def _is_full(self) -> bool:
        return len(self._memories) > MAX_OPEN

    def _tell(self, turn: Turn) -> None:
        if self._on_turn is not None:
            self._guard(partial(self._on_turn, turn), "on_turn failed", None)

    def _guard(self, act: Callable[[], T], words: str, otherwise: T) -> T:
        """Return the result of a function; ``otherwise``, and log a warning, if it fails."""
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - the host goes on after any failure
            self._warn(f"{words}: {error}")
            return otherwise

    def _warn(self, words: str) -> None:
        """Log a warning, once."""
        if words not in self._warned and len(self._warned) < MAX_WARNINGS:
            self._warned.add(words)
            logger.warning("%s", words)


def _escape(part: str) -> str:
    """Return an id without slashes, which no other id makes."""
    return part.replace("%", "%25").replace("/", "%2F")
