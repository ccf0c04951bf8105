"""The flush of an agent's memory: a silent turn, shortly before a compaction, to write down what must last."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterable, Awaitable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memctx.compact.silence import SILENT, is_silent
from memctx.errors import MemctxError
from memctx.session.counters import Counters
from memctx.workspace import daily
from memctx.workspace.truncate import truncate

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memctx._core import Redactor
    from memctx.session import CounterFile
    from memctx.workspace import Workspace

SOFT_THRESHOLD = 4_000
RESERVE_FLOOR = 20_000
LONGEST_NOTE = 100_000
DATE = "YYYY-MM-DD"

Outcome: TypeAlias = Literal["written", "by_tools", "nothing", "not_due", "skipped", "failed"]
"""What became of a flush."""

RunTurn: TypeAlias = "Callable[[str, str], object]"
"""Asks the model: called with the system prompt and the prompt, gives a text or a stream of it, maybe awaitable."""

SYSTEM = (
    "This is a turn that the user does not see. Soon the conversation is compacted: what is not written down by then "
    "may be gone. Keep what will still matter later: decisions and their reasons, open tasks and how far they are, "
    "promises, preferences, exact names, paths, numbers and identifiers."
)
PROMPT = (
    "Write down now what must outlast the compaction, as short notes in Markdown. If you have tools for files, append "
    "the notes to memory/YYYY-MM-DD.md yourself; otherwise answer with the notes alone and they are appended there."
)

# What every prompt has to say: what shows that it does, and the sentence for one that does not.
HINTS = (
    (
        SILENT,
        f"If there is nothing to keep, or your tools have written it, answer with {SILENT} alone.",
    ),
    (f"memory/{DATE}.md", f"Write to memory/{DATE}.md and to no other file."),
    (
        "append",
        "Only append: never change or remove what is there, and make no second file for the same day.",
    ),
    (
        "AGENTS.md",
        "AGENTS.md, SOUL.md, TOOLS.md, IDENTITY.md, USER.md and the like are for reading only in this turn.",
    ),
)

logger = logging.getLogger("memctx.compact")


def should_flush(  # noqa: PLR0913, PLR0917 - what the decision hangs on
    tokens: int | None,
    window: int,
    reserve_floor: int = RESERVE_FLOOR,
    soft_threshold: float = SOFT_THRESHOLD,
    compaction_count: int = 0,
    flushed_at_count: int | None = None,
) -> bool:
    """Whether memory is to be flushed now: once before each compaction, a little earlier than that.

    ``soft_threshold`` is how many tokens earlier; one between 0 and 1 is the share of the window from which on.

    >>> should_flush(176_000, 200_000, 20_000), should_flush(175_999, 200_000, 20_000)
    (True, False)
    >>> should_flush(140_000, 200_000, 20_000, soft_threshold=0.7)
    True
    >>> should_flush(190_000, 200_000, 20_000, compaction_count=2, flushed_at_count=2)
    False
    """
    if not tokens or tokens <= 0:
        return False
    threshold = _threshold(max(1, int(window)), max(0, int(reserve_floor)), soft_threshold)
    return 0 < threshold <= tokens and flushed_at_count != compaction_count


def _threshold(window: int, reserve: int, soft: float) -> int:
    if not 0 < soft < 1:
        return window - reserve - max(0, int(soft))
    # Behind the point where compaction begins there is nothing left to flush.
    return min(int(window * soft), window - reserve) if reserve < window else int(window * soft)


@dataclass(frozen=True, slots=True)
class FlushPrompts:
    """What the model is told when memory is flushed. ``YYYY-MM-DD`` stands for the day.

    >>> system, prompt = FlushPrompts(prompt="Save what matters.").on("2026-01-24")
    >>> "memory/2026-01-24.md" in prompt and "NO_REPLY" in prompt
    True
    """

    system: str = SYSTEM
    """The system prompt, or what is added to the host's."""
    prompt: str = PROMPT
    """What is said in the user's place."""

    def on(self, day: str, now: str | None = None) -> tuple[str, str]:
        """Both texts for a day, with what a custom text forgot to say, and the time if it is given."""
        told = f"{self.system}\n{self.prompt}"
        hints = [hint for sign, hint in HINTS if sign.lower() not in told.lower()]
        parts = [self.prompt, *hints, *([] if now is None else [f"It is {now}."])]
        return self.system.replace(DATE, day), "\n".join(parts).replace(DATE, day)


@dataclass(frozen=True, slots=True)
class MemoryFlushed:
    """What became of a flush.

    >>> MemoryFlushed("skipped", reason="the workspace is read-only").is_done
    False
    """

    outcome: Outcome
    """``"written"`` if the answer became a note, ``"by_tools"`` if the model wrote itself, ``"nothing"`` if there was
    nothing to keep; otherwise it was ``"not_due"``, ``"skipped"`` or ``"failed"``."""
    reason: str | None = None
    """Why it was skipped or failed."""
    text: str = ""
    """The note that was written."""
    name: str | None = None
    """The file of the notes, seen from the workspace."""
    changed: tuple[str, ...] = ()
    """The files that the model's tools changed, which should be that one and no other."""

    @property
    def is_done(self) -> bool:
        """Whether the model had its turn; there is no other one until the next compaction."""
        return self.outcome in {"written", "by_tools", "nothing"}


async def flush_memory(  # noqa: PLR0913 - each has a default
    run_turn: RunTurn,
    workspace: Workspace,
    *,
    prompts: FlushPrompts | None = None,
    redactor: Redactor | None = None,
    at: datetime | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - a host that has none of its own can give one
) -> MemoryFlushed:
    """Run a silent turn and keep what the model answers in ``memory/YYYY-MM-DD.md``.

    ``run_turn(system, prompt)`` gives a text or a stream of texts. If a file of the workspace changed during the turn,
    the model has written with its tools, and its answer is not written again. A turn that fails is logged and told, and
    raises nothing; one that is cancelled writes nothing.

    >>> import asyncio, tempfile
    >>> from memctx.workspace import Workspace
    >>> workspace = Workspace(tempfile.mkdtemp())
    >>> async def model(system, prompt):
    ...     return "- The webhook listens on port 8443."
    >>> flushed = asyncio.run(flush_memory(model, workspace))
    >>> flushed.outcome, workspace.read(flushed.name).splitlines()[-1]
    ('written', '- The webhook listens on port 8443.')
    """
    if not workspace.is_writable:
        return MemoryFlushed("skipped", reason=f"{workspace.path} is read-only")
    now = workspace.local(at)
    name = daily.name_of(now.date())
    system, prompt = (prompts or FlushPrompts()).on(f"{now:%Y-%m-%d}", f"{now:%Y-%m-%d %H:%M %Z}")
    before = _state(workspace)
    try:
        async with asyncio.timeout(timeout):
            answer = await _answer(run_turn(system, prompt))
        if redactor is not None:
            answer = redactor.mask(answer).text
        if changed := _changed(before, _state(workspace)):
            return MemoryFlushed("by_tools", name=name, changed=changed)
        if not answer.strip() or is_silent(answer):
            return MemoryFlushed("nothing", name=name)
        note = truncate(answer.strip(), "the note", LONGEST_NOTE).text
        workspace.note(note, now)  # nobody can cancel it halfway
    except Exception as error:  # the agent goes on without its notes
        logger.warning("memory was not flushed", exc_info=True)
        return MemoryFlushed("failed", reason=f"{type(error).__name__}: {error}", name=name)
    return MemoryFlushed("written", text=note, name=name)


class MemoryFlush:
    """Flushes memory once before each compaction, as the counters of a session tell.

    >>> import asyncio, pathlib, tempfile
    >>> from memctx.session import CounterFile
    >>> from memctx.workspace import Workspace
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> counters = CounterFile(folder / "session.counters.json", session_id="s1")
    >>> memory_flush = MemoryFlush(lambda system, prompt: "NO_REPLY", Workspace(folder), counters)
    >>> [asyncio.run(memory_flush.run(180_000, 200_000)).outcome for _ in range(2)]
    ['nothing', 'not_due']
    """

    def __init__(  # noqa: PLR0913 - each has a default
        self,
        run_turn: RunTurn,
        workspace: Workspace,
        counters: CounterFile | None = None,
        *,
        prompts: FlushPrompts | None = None,
        enabled: bool = True,
        reserve_floor: int = RESERVE_FLOOR,
        soft_threshold: float = SOFT_THRESHOLD,
        redactor: Redactor | None = None,
        timeout: float | None = None,
    ) -> None:
        """A flush for one session; without ``counters`` it counts for itself, until the process ends."""
        self._run_turn = run_turn
        self._workspace = workspace
        self._counters = counters
        self._prompts = prompts
        self._enabled = enabled
        self._reserve_floor = reserve_floor
        self._soft_threshold = soft_threshold
        self._redactor = redactor
        self._timeout = timeout
        self._is_running = False
        self._own = Counters()
        self._flushed_at: int | None = None

    def is_due(self, tokens: int | None, window: int) -> bool:
        """Whether a context of so many tokens in such a window is to be flushed now."""
        count = self._load().compaction_count
        # What could not be saved was still done.
        flushed_at = max(self._own.memory_flush_compaction_count, self._flushed_at, key=_or_before)
        return self._enabled and should_flush(
            tokens, window, self._reserve_floor, self._soft_threshold, count, flushed_at
        )

    async def run(
        self, tokens: int | None, window: int, run_turn: RunTurn | None = None
    ) -> MemoryFlushed:
        """Flush if it is due, by another ``run_turn`` if one is given.

        A flush that failed or was skipped is tried again the next time.
        """
        if self._is_running:
            return MemoryFlushed("not_due", reason="a flush is running")
        if not self.is_due(tokens, window):
            return MemoryFlushed("not_due")
        self._is_running = True
        try:
            flushed = await flush_memory(
                run_turn or self._run_turn,
                self._workspace,
                prompts=self._prompts,
                redactor=self._redactor,
                timeout=self._timeout,
            )
            if flushed.is_done:
                now = time.time_ns() // 1_000_000
                self._flushed_at = self._update(
                    lambda counters: counters.flushed(now)
                ).compaction_count
        finally:
            self._is_running = False
        return flushed

    def compacted(self, tokens_after: int | None = None) -> Counters:
        """Count a compaction: the next flush may come."""
        return self._update(lambda counters: counters.compacted(tokens_after))

    def _load(self) -> Counters:
        if self._counters is not None:
            try:
                self._own = self._counters.load()
            except MemctxError as error:
                logger.warning("the counters of the session cannot be read: %s", error)
        return self._own

    def _update(self, change: Callable[[Counters], Counters]) -> Counters:
        self._own = change(self._load())
        if self._counters is not None:
            try:
                self._own = self._counters.update(change)
            except MemctxError as error:
                logger.warning("the counters of the session are not saved: %s", error)
        return self._own


def _or_before(count: int | None) -> int:
    return -1 if count is None else count


def _state(workspace: Workspace) -> dict[str, tuple[int, int]]:
    """What changes when the files of a workspace do."""
    found: dict[str, tuple[int, int]] = {}
    for name in workspace.names():
        with contextlib.suppress(OSError):
            about = (workspace.path / name).stat()
            found[name] = (about.st_mtime_ns, about.st_size)
    return found


def _changed(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, ...]:
    names = before.keys() | after.keys()
    return tuple(sorted(name for name in names if before.get(name) != after.get(name)))


async def _answer(given: object) -> str:
    """The text of a turn, however it came."""
    if isinstance(given, Awaitable):
        given = await cast("Awaitable[object]", given)
    if given is None or isinstance(given, str):
        return given or ""
    if isinstance(given, AsyncIterable):
        return "".join([_part(part) async for part in cast("AsyncIterable[object]", given)])
    if isinstance(given, Iterable):
        return "".join(_part(part) for part in cast("Iterable[object]", given))
    raise TypeError(f"run_turn gave {type(given).__name__}; expected a text or a stream of it")


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    raise TypeError(f"the stream of run_turn has {type(part).__name__}; expected texts")
