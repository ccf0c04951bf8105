"""Notes before a compaction: a silent turn in which the model writes down what must outlast it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterable, Awaitable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memctx.errors import MemctxError
from memctx.hosts.openclaw import SILENT, daily_name, is_silent, truncate
from memctx.hosts.pi import Counters

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memctx._core import Redactor
    from memctx.hosts.openclaw import Workspace
    from memctx.hosts.pi import CounterFile

SOFT_THRESHOLD = 4_000
RESERVE_FLOOR = 20_000
MAX_NOTE_CHARS = 100_000
DATE = "YYYY-MM-DD"

Outcome: TypeAlias = Literal["written", "by_tools", "nothing", "not_due", "skipped", "failed"]
"""Outcome of a turn for notes."""

RunTurn: TypeAlias = "Callable[[str, str], object]"
"""Call of the model with a system prompt and a prompt; returns a text or a stream of texts, or an awaitable of it."""

SYSTEM = (
    "This is a turn that the user does not see. Soon the conversation is compacted: what is not written down by then "
    "may be gone. Keep what will still matter later: decisions and their reasons, open tasks and how far they are, "
    "promises, preferences, exact names, paths, numbers and identifiers."
)
PROMPT = (
    "Write down now what must outlast the compaction, as short notes in Markdown. If you have tools for files, append "
    "the notes to memory/YYYY-MM-DD.md yourself; otherwise answer with the notes alone and they are appended there."
)

# Rules that every prompt must state: a text that shows that it does, and the sentence added where it does not.
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

logger = logging.getLogger("memctx.compaction")


def should_write_notes(  # noqa: PLR0913, PLR0917 - the inputs of the decision
    tokens: int | None,
    window: int,
    reserve_floor: int = RESERVE_FLOOR,
    soft_threshold: float = SOFT_THRESHOLD,
    compaction_count: int = 0,
    written_at_count: int | None = None,
) -> bool:
    """Return whether notes are due: once before each compaction, a little earlier than it.

    ``soft_threshold`` is a number of tokens before the compaction; between 0 and 1 it is a share of the window.

    >>> should_write_notes(176_000, 200_000, 20_000), should_write_notes(175_999, 200_000, 20_000)
    (True, False)
    >>> should_write_notes(140_000, 200_000, 20_000, soft_threshold=0.7)
    True
    >>> should_write_notes(190_000, 200_000, 20_000, compaction_count=2, written_at_count=2)
    False
    """
    if not tokens or tokens <= 0:
        return False
    threshold = _threshold(max(1, int(window)), max(0, int(reserve_floor)), soft_threshold)
    return 0 < threshold <= tokens and written_at_count != compaction_count


def _threshold(window: int, reserve: int, soft: float) -> int:
    if not 0 < soft < 1:
        return window - reserve - max(0, int(soft))
    # Notes must be due no later than the compaction.
    return min(int(window * soft), window - reserve) if reserve < window else int(window * soft)


@dataclass(frozen=True, slots=True)
class NotesPrompts:
    """Prompts of a turn for notes. ``YYYY-MM-DD`` stands for the day.

    >>> system, prompt = NotesPrompts(prompt="Save what matters.").on("2026-01-24")
    >>> "memory/2026-01-24.md" in prompt and "NO_REPLY" in prompt
    True
    """

    system: str = SYSTEM
    """System prompt, or an addition to the host's."""
    prompt: str = PROMPT
    """Message sent as the user."""

    def on(self, day: str, now: str | None = None) -> tuple[str, str]:
        """Return both texts for a day, with the rules that a custom text omits, and the time if it is given."""
        given = f"{self.system}\n{self.prompt}"
        hints = [hint for sign, hint in HINTS if sign.lower() not in given.lower()]
        parts = [self.prompt, *hints, *([] if now is None else [f"It is {now}."])]
        return self.system.replace(DATE, day), "\n".join(parts).replace(DATE, day)


@dataclass(frozen=True, slots=True)
class NotesOptions:
    """Options of a `NotesWriter`.

    >>> NotesOptions(soft_threshold=0.7).enabled
    True
    """

    enabled: bool = True
    prompts: NotesPrompts | None = None
    reserve_floor: int = RESERVE_FLOOR
    """Tokens of the window that a compaction keeps free."""
    soft_threshold: float = SOFT_THRESHOLD
    """Tokens before the compaction at which notes are due; between 0 and 1, a share of the window."""
    timeout: float | None = None
    """Seconds that the turn may take."""


@dataclass(frozen=True, slots=True)
class NotesWritten:
    """The result of a turn for notes.

    >>> NotesWritten("skipped", reason="the workspace is read-only").is_done
    False
    """

    outcome: Outcome
    """``"written"`` if the answer became a note, ``"by_tools"`` if the model wrote with its tools, ``"nothing"`` if
    there was nothing to keep; otherwise ``"not_due"``, ``"skipped"`` or ``"failed"``."""
    reason: str | None = None
    """Reason why the turn was skipped or failed."""
    text: str = ""
    """Note that was written."""
    name: str | None = None
    """File of the notes, relative to the workspace."""
    changed: tuple[str, ...] = ()
    """Files that the model's tools changed; it should be that file alone."""

    @property
    def is_done(self) -> bool:
        """True if the model had its turn; there is no other until the next compaction."""
        return self.outcome in {"written", "by_tools", "nothing"}


async def write_notes(  # noqa: PLR0913 - each has a default
    run_turn: RunTurn,
    workspace: Workspace,
    *,
    prompts: NotesPrompts | None = None,
    redactor: Redactor | None = None,
    at: datetime | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - for hosts without a time limit of their own
) -> NotesWritten:
    """Run a silent turn and append the model's answer to ``memory/YYYY-MM-DD.md``.

    ``run_turn(system, prompt)`` returns a text or a stream of texts. If a file of the workspace changed during the
    turn, the model has written with its tools, and its answer is not written again. A turn that fails is logged and
    reported, and raises nothing; one that is cancelled writes nothing.

    >>> import asyncio, tempfile
    >>> from memctx.hosts.openclaw import Workspace
    >>> workspace = Workspace(tempfile.mkdtemp())
    >>> async def model(system, prompt):
    ...     return "- The webhook listens on port 8443."
    >>> written = asyncio.run(write_notes(model, workspace))
    >>> written.outcome, workspace.read(written.name).splitlines()[-1]
    ('written', '- The webhook listens on port 8443.')
    """
    if not workspace.is_writable:
        return NotesWritten("skipped", reason=f"{workspace.path} is read-only")
    now = workspace.local(at)
    name = daily_name(now.date())
    texts = (prompts or NotesPrompts()).on(f"{now:%Y-%m-%d}", f"{now:%Y-%m-%d %H:%M %Z}")
    system, prompt = (text if redactor is None else redactor.mask(text).text for text in texts)
    before = _file_states(workspace)
    try:
        async with asyncio.timeout(timeout):
            answer = await _read_answer(run_turn(system, prompt))
        if redactor is not None:
            answer = redactor.mask(answer).text
        if changed := _changed_names(before, _file_states(workspace)):
            return NotesWritten("by_tools", name=name, changed=changed)
        if not answer.strip() or is_silent(answer):
            return NotesWritten("nothing", name=name)
        note = truncate(answer.strip(), "the note", MAX_NOTE_CHARS).text
        workspace.note(note, now)  # synchronous, so it cannot be cancelled halfway
    except Exception as error:  # the agent continues without its notes
        logger.warning("notes were not written", exc_info=True)
        return NotesWritten("failed", reason=f"{type(error).__name__}: {error}", name=name)
    return NotesWritten("written", text=note, name=name)


class NotesWriter:
    """Writes notes once before each compaction, as counted by the counters of a session.

    >>> import asyncio, pathlib, tempfile
    >>> from memctx.hosts.pi import CounterFile
    >>> from memctx.hosts.openclaw import Workspace
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> counters = CounterFile(folder / "session.counters.json", session_id="s1")
    >>> writer = NotesWriter(lambda system, prompt: "NO_REPLY", Workspace(folder), counters)
    >>> [asyncio.run(writer.run(180_000, 200_000)).outcome for _ in range(2)]
    ['nothing', 'not_due']
    """

    def __init__(
        self,
        run_turn: RunTurn,
        workspace: Workspace,
        counters: CounterFile | None = None,
        options: NotesOptions | None = None,
        *,
        redactor: Redactor | None = None,
    ) -> None:
        """Make a writer for one session; without ``counters`` it counts in memory."""
        self._run_turn = run_turn
        self._workspace = workspace
        self._counters = counters
        self._options = options or NotesOptions()
        self._redactor = redactor
        self._is_running = False
        self._own = Counters()
        self._written_at: int | None = None

    def is_due(self, tokens: int | None, window: int) -> bool:
        """Return whether notes are due for a context of ``tokens`` tokens in ``window``."""
        options, count = self._options, self._load().compaction_count
        # A turn whose count could not be saved was still done.
        written_at = max(self._own.notes_written_count, self._written_at, key=_none_first)
        return options.enabled and should_write_notes(
            tokens, window, options.reserve_floor, options.soft_threshold, count, written_at
        )

    async def run(
        self, tokens: int | None, window: int, run_turn: RunTurn | None = None
    ) -> NotesWritten:
        """Write notes if they are due, with another ``run_turn`` if one is given.

        A turn that failed or was skipped is tried again the next time.
        """
        if self._is_running:
            return NotesWritten("not_due", reason="a turn for notes is running")
        if not self.is_due(tokens, window):
            return NotesWritten("not_due")
        self._is_running = True
        try:
            written = await write_notes(
                run_turn or self._run_turn,
                self._workspace,
                prompts=self._options.prompts,
                redactor=self._redactor,
                timeout=self._options.timeout,
            )
            if written.is_done:
                now = time.time_ns() // 1_000_000
                counted = self._update(lambda counters: counters.after_notes(now))
                self._written_at = counted.compaction_count
        finally:
            self._is_running = False
        return written

    def count_compaction(self, tokens_after: int | None = None) -> Counters:
        """Count a compaction, after which notes may be due again; return the counters."""
        return self._update(lambda counters: counters.after_compaction(tokens_after))

    def _load(self) -> Counters:
        if self._counters is not None:
            try:
                self._own = self._counters.load()
            except MemctxError as error:
                logger.warning("session counters cannot be read: %s", error)
        return self._own

    def _update(self, change: Callable[[Counters], Counters]) -> Counters:
        self._own = change(self._load())
        if self._counters is not None:
            try:
                self._own = self._counters.update(change)
            except MemctxError as error:
                logger.warning("session counters cannot be saved: %s", error)
        return self._own


def _none_first(count: int | None) -> int:
    return -1 if count is None else count


def _file_states(workspace: Workspace) -> dict[str, tuple[int, int]]:
    """Return the modification time and size of each file of a workspace."""
    found: dict[str, tuple[int, int]] = {}
    for name in workspace.names():
        with contextlib.suppress(OSError):
            about = (workspace.path / name).stat()
            found[name] = (about.st_mtime_ns, about.st_size)
    return found


def _changed_names(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, ...]:
    names = before.keys() | after.keys()
    return tuple(sorted(name for name in names if before.get(name) != after.get(name)))


async def _read_answer(given: object) -> str:
    """Return the text of a turn, from a text, a stream of texts, or an awaitable of either."""
    if isinstance(given, Awaitable):
        given = await cast("Awaitable[object]", given)
    if given is None or isinstance(given, str):
        return given or ""
    if isinstance(given, AsyncIterable):
        return "".join([_check_part(part) async for part in cast("AsyncIterable[object]", given)])
    if isinstance(given, Iterable):
        return "".join(_check_part(part) for part in cast("Iterable[object]", given))
    raise TypeError(f"run_turn returned {type(given).__name__}; expected a text or a stream of it")


def _check_part(part: object) -> str:
    if isinstance(part, str):
        return part
    raise TypeError(f"the stream of run_turn has {type(part).__name__}; expected texts")
