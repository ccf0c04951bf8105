"""`Compactor`: compacts the conversations of one session, and has notes written before.

Everything that leaves the context is archived on disk before anything else is done. The caller's list and messages are
never changed, so a compaction that fails or is cancelled has no effect. With a transcript, its entry is the last step
that can fail; once it is written, the compaction stands.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from memctx import _core
from memctx.compaction.hooks import AfterCompaction, BeforeCompaction, Hooks, SessionBeforeCompact
from memctx.compaction.notes import (
    PROMPT,
    SYSTEM,
    NotesOptions,
    NotesPrompts,
    NotesWriter,
    NotesWritten,
)
from memctx.compaction.plan import (
    NoCut,
    context_tokens,
    is_crowded,
    keep_recent_tokens,
    prune_history_for_context_share,
    reserve_tokens,
    resolve_context_window_tokens,
    should_compact,
)
from memctx.compaction.preparation import prepare_compaction, summary_message
from memctx.compaction.result import Compacted, Trigger, entry_details, find_first_kept_entry
from memctx.compaction.summary import Summary, SummaryOptions, summarize_with_fallback
from memctx.compaction.summary.function import resolve_summarizer
from memctx.compaction.summary.sections import truncate_middle
from memctx.context import state_writer
from memctx.errors import ConfigError, MemctxError
from memctx.hosts.openclaw import Workspace
from memctx.hosts.pi import CounterFile
from memctx.messages import FORMATS, repair

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from os import PathLike

    from memctx._core import Conversation
    from memctx.compaction.hooks import HookDecision
    from memctx.compaction.notes import RunTurn
    from memctx.compaction.preparation import Preparation
    from memctx.config import Config
    from memctx.context import Archived, Turn
    from memctx.hosts.pi import Counters, Transcript
    from memctx.messages import FormatName

MIN_SUMMARY_TOKENS = 400
"""Tokens that a summary may cost however little room there is."""

logger = logging.getLogger("memctx.compaction")


class Compactor:
    """Compacts the conversations of one session. `memctx.Memory` has one; all methods are thread-safe."""

    def __init__(  # noqa: PLR0913 - its collaborators
        self,
        config: Config,
        *,
        session_id: str,
        store: str | PathLike[str],
        archive: Callable[..., Archived],
        read: Callable[[Sequence[Any], FormatName | None], Conversation],
        hooks: Hooks | None = None,
    ) -> None:
        """Make a compactor that keeps its counters in ``store``.

        ``archive`` stores messages and returns once they are durable. ``read`` reads messages and knows the recalled
        blocks of the session.
        """
        self.hooks = Hooks() if hooks is None else hooks
        self._config = config
        self._settings = config.compaction
        self._session_id = session_id
        self._archive = archive
        self._read = read
        self._window = resolve_context_window_tokens(config.context_window)
        settings = self._settings
        self._reserve = reserve_tokens(
            self._window, settings.reserve_tokens, settings.reserve_tokens_floor
        )
        self._redactor = _core.Redactor(
            config.redaction, pii=config.privacy.pii, patterns=config.privacy.patterns or None
        )
        self._store = store
        self.reopen()

    def reopen(self) -> None:
        """Make counters and notes writer again after a fork, to share no locks with the parent."""
        settings = self._settings
        path = state_writer.path_of(self._store, self._session_id).with_suffix(".counters.json")
        self._counter_file = CounterFile(path, session_id=self._session_id)
        self._notes_writer: NotesWriter | None = None
        workspace = Workspace.of(self._config)
        if workspace is not None:
            options = NotesOptions(
                enabled=settings.memory_flush,
                prompts=NotesPrompts(
                    system=settings.flush_system_prompt or SYSTEM,
                    prompt=settings.flush_prompt or PROMPT,
                ),
                reserve_floor=self._reserve,
                soft_threshold=settings.soft_threshold,
            )
            self._notes_writer = NotesWriter(
                _refuse_turn, workspace, self._counter_file, options, redactor=self._redactor
            )

    @property
    def counters(self) -> Counters:
        """Counters of the session: compactions, notes and tokens."""
        return self._counter_file.load()

    def should_compact(
        self, messages: Sequence[Any], *, usage: object = None, format: FormatName | None = None
    ) -> bool:
        """Return whether the messages have grown into the reserve of the window."""
        settings = self._settings
        if not settings.enabled:
            return False
        tokens = self._tokens(messages, usage, format)
        return should_compact(tokens, self._window, self._reserve, early=settings.compact_at)

    def should_write_notes(
        self, messages: Sequence[Any], *, usage: object = None, format: FormatName | None = None
    ) -> bool:
        """Return whether notes are due."""
        if self._notes_writer is None:
            return False
        return self._notes_writer.is_due(self._tokens(messages, usage, format), self._window)

    async def write_notes(
        self,
        run_turn: RunTurn,
        messages: Sequence[Any],
        *,
        usage: object = None,
        format: FormatName | None = None,
    ) -> NotesWritten:
        """Have the model write notes if they are due: once before each compaction."""
        if self._notes_writer is None:
            return NotesWritten("skipped", reason="no workspace is set")
        tokens = self._tokens(messages, usage, format)
        return await self._notes_writer.run(tokens, self._window, run_turn)

    async def compact(  # noqa: PLR0913 - each has a default
        self,
        messages: Sequence[Any],
        *,
        instructions: str | None = None,
        format: FormatName | None = None,
        reason: Trigger = "manual",
        pinned: Collection[int] = (),
        transcript: Transcript | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Compacted:
        """Replace old messages by a summary; see `memctx.Memory.compact`."""
        if reason not in get_args(Trigger):
            expected = ", ".join(get_args(Trigger))
            raise ConfigError(f"reason is {reason!r}; expected one of {expected}")
        conversation = self._read(messages, format)
        plan = await asyncio.to_thread(self._prepare, messages, conversation, reason, pinned)
        if isinstance(plan, NoCut):
            return _skip(messages, conversation, reason, plan.reason)
        if transcript is not None and plan.pinned:
            raise ConfigError("pinned messages cannot be kept in a transcript; give one of both")
        entry = None if transcript is None else find_first_kept_entry(transcript, plan)
        archived = await asyncio.to_thread(self._archive, plan.leaving, format=conversation.format)
        instructions = "\n".join(filter(None, (self._settings.instructions, instructions))) or None
        decision = await self._ask_hooks(plan, reason, instructions, entry)
        if decision.is_cancelled:
            return _skip(messages, conversation, reason, "a hook cancelled it")
        summary = await self._make_summary(plan, decision, instructions, on_text)
        result = self._make_result(plan, reason, summary, archived.added)
        if reason != "manual" and (result.tokens_after or 0) >= conversation.tokens:
            why = f"the summary leaves {result.tokens_after:,} tokens, which is no less than before"
            return _skip(messages, conversation, reason, why)
        if decision.summary is not None:
            result = replace(result, fallback_level="hook")
        if transcript is not None:
            result = self._write_entry(transcript, result, entry)
        self._count_compaction(result, transcript)
        await self._notify_after(result)
        return result

    def apply_context_hooks(self, turn: Turn) -> Turn:
        """Return the turn as changed by the ``context`` hooks."""
        if not self.hooks.has("context"):
            return turn
        message_format = turn.report.format  # unknown where memory failed
        known = cast("FormatName", message_format) if message_format in FORMATS else None
        return replace(turn, messages=self.hooks.context(turn.messages, known))

    def _tokens(self, messages: Sequence[Any], usage: object, format: FormatName | None) -> int:
        conversation = self._read(messages, format)
        return context_tokens(messages, usage=usage, conversation=conversation)

    def _prepare(
        self,
        messages: Sequence[Any],
        conversation: Conversation,
        reason: Trigger,
        pinned: Collection[int],
    ) -> Preparation | NoCut:
        asked, is_urgent = self._settings.keep_recent_tokens, reason == "overflow"
        keep = keep_recent_tokens(self._window, self._reserve, asked)
        if is_urgent:  # the window may be smaller than the settings say
            keep = max(min(keep, conversation.tokens // 2), 1)
        return prepare_compaction(
            messages, conversation, keep=keep, pinned=pinned, is_urgent=is_urgent
        )

    async def _ask_hooks(
        self, plan: Preparation, reason: Trigger, instructions: str | None, entry: str | None
    ) -> HookDecision:
        """Run the hooks before a compaction, which may cancel it or supply a summary."""
        cut, seconds = plan.cut, self._settings.hook_seconds
        decision = await self.hooks.decide(
            SessionBeforeCompact(
                session_id=self._session_id,
                reason=reason,
                messages_to_summarize=plan.history,
                turn_prefix_messages=plan.prefix,
                is_split_turn=cut.is_split_turn,
                first_kept=cut.first_kept,
                first_kept_entry_id=entry,
                tokens_before=cut.tokens_before,
                previous_summary=plan.previous_summary,
                files=plan.files,
                settings=self._settings,
                instructions=instructions,
            ),
            seconds,
        )
        if not decision.is_cancelled:
            count, leaving = len(plan.messages), len(plan.leaving)
            event = BeforeCompaction(self._session_id, reason, count, cut.tokens_before, leaving)
            await self.hooks.run("before_compaction", event, seconds)
        return decision

    async def _make_summary(
        self,
        plan: Preparation,
        decision: HookDecision,
        instructions: str | None,
        on_text: Callable[[str], None] | None,
    ) -> Summary:
        """Summarize what leaves; the oldest parts first where the history takes too much of the window."""
        if decision.summary is not None:
            return Summary(decision.summary, "full")
        cut, message_format = plan.cut, plan.conversation.format
        options = self._summary_options(message_format, instructions)
        summarizer = resolve_summarizer(self._config.summarizer)
        history, previous, dropped = plan.history, plan.previous_summary, None
        leaving, share = cut.tokens_summarized + cut.tokens_prefix, self._settings.max_history_share
        if is_crowded(cut.tokens_before, leaving, self._window, share):
            pruned = prune_history_for_context_share(
                history,
                max_context_tokens=self._window,
                max_history_share=share,
                format=message_format,
            )
            if oldest := pruned.dropped_messages_list:
                dropped = await summarize_with_fallback(
                    oldest,
                    summarizer,
                    options,
                    previous_summary=previous,
                    ask=plan.ask,
                    on_text=on_text,
                )
                history, previous = pruned.messages, dropped.text
        summary = await summarize_with_fallback(
            history,
            summarizer,
            options,
            previous_summary=previous,
            prefix=plan.prefix,
            ask=plan.ask,
            on_text=on_text,
        )
        return summary if dropped is None else _add_cost(summary, dropped)

    def _summary_options(self, format: FormatName, instructions: str | None) -> SummaryOptions:
        settings = self._settings
        return SummaryOptions(
            window=self._window,
            reserve_tokens=max(self._reserve, 1),
            mode=settings.mode,
            instructions=instructions,
            quality_retries=settings.quality_retries,
            time_limit=settings.timeout_seconds,
            format=format,
            redactor=self._redactor,
        )

    def _make_result(
        self, plan: Preparation, reason: Trigger, summary: Summary, archived: int
    ) -> Compacted:
        conversation, cut = plan.conversation, plan.cut
        text = self._fit_summary(summary.text, plan)
        message = summary_message(text, conversation.format, conversation.tokens)
        messages = self._build_messages(plan, message)
        return Compacted(
            messages=messages,
            reason=reason,
            format=conversation.format,
            tokens_before=conversation.tokens,
            tokens_after=self._read(messages, conversation.format).tokens,
            summary=text,
            first_kept=cut.first_kept,
            summary_index=len(cut.head),
            compacted=len(plan.leaving),
            archived=archived,
            is_split_turn=cut.is_split_turn,
            fallback_level=summary.fallback_level,
            problems=summary.problems,
            files=plan.files,
            failures=plan.failures,
            usage=summary.usage,
            stale_thinking=plan.find_stale_thinking(messages),
        )

    def _fit_summary(self, text: str, plan: Preparation) -> str:
        """Shorten a summary to the room that the kept messages leave; its middle is cut out."""
        costs = plan.conversation.message_tokens
        fixed = [*plan.cut.head, *(index for unit in plan.pinned for index in unit)]
        taken = plan.cut.tokens_kept + sum(costs[index] for index in fixed)
        room = max(self._window - self._reserve - taken, MIN_SUMMARY_TOKENS)
        fitted, chars = text, len(text)
        while (tokens := _core.estimate_tokens(fitted, "script")) > room and chars > 1:
            chars = min(chars * room // tokens, chars - 1)
            fitted = truncate_middle(text, chars)
        return fitted

    def _build_messages(self, plan: Preparation, summary: dict[str, Any]) -> list[Any]:
        """Build the new list, which must have no problem that the messages did not have before."""
        messages = plan.build_messages(summary, strips=self._config.trim.thinking == "strip")
        message_format = plan.conversation.format
        known = {problem[1] for problem in _core.problems(plan.conversation)}
        if self._new_problems(messages, message_format, known):
            messages = list(repair(messages, message_format).messages)
        if problems := self._new_problems(messages, message_format, known):
            index, code, words, _ = problems[0]
            raise MemctxError(
                f"the compacted messages would be refused: message {index}, {code}: {words}"
            )
        return messages

    def _new_problems(
        self, messages: list[Any], format: FormatName, known: set[str]
    ) -> list[tuple[int, str, str, str | None]]:
        found = _core.problems(self._read(messages, format))
        return [problem for problem in found if problem[1] not in known]

    def _write_entry(
        self, transcript: Transcript, result: Compacted, entry: str | None
    ) -> Compacted:
        """Write the compaction to the transcript. Nothing is awaited, so it cannot be cancelled halfway."""
        entry_id = transcript.append_compaction(
            result.summary,
            entry,
            result.tokens_before,
            result.tokens_after,
            entry_details(result.files, result.failures, self._redactor),
            from_hook=result.fallback_level == "hook",
        )
        written, messages = transcript.get(entry_id), list(result.messages)
        if result.format == "pi" and written is not None and result.summary_index is not None:
            messages[result.summary_index] = written.message
        return replace(result, messages=messages, entry_id=entry_id)

    def _count_compaction(self, result: Compacted, transcript: Transcript | None) -> None:
        """Count a compaction, and any that the transcript shows but a crash kept from being counted."""
        shown = 0 if transcript is None else transcript.compaction_count
        writer = self._notes_writer
        if writer is not None:
            writer.count_compaction(result.tokens_after)
        try:
            self._counter_file.update(
                lambda counters: (
                    counters.after_compaction(result.tokens_after) if writer is None else counters
                ).at_least(shown)
            )
        except MemctxError as error:
            logger.warning("session counters cannot be saved: %s", error)

    async def _notify_after(self, result: Compacted) -> None:
        event = AfterCompaction(
            session_id=self._session_id,
            reason=result.reason,
            message_count=len(result.messages),
            token_count=result.tokens_after or 0,
            compacted_count=result.compacted,
            result=result,
        )
        await self.hooks.run("after_compaction", event, self._settings.hook_seconds)


def _add_cost(summary: Summary, older: Summary) -> Summary:
    """Return a summary with the attempts, problems and usage of the one for older history that it builds on."""
    problems = (f"older history: {problem}" for problem in older.problems)
    return replace(
        summary,
        attempts=older.attempts + summary.attempts,
        problems=(*problems, *summary.problems),
        usage=older.usage + summary.usage,
    )


def _skip(
    messages: Sequence[Any], conversation: Conversation, reason: Trigger, why: str
) -> Compacted:
    logger.info("nothing is compacted: %s", why)
    return Compacted(list(messages), reason, conversation.format, conversation.tokens, skipped=why)


def _refuse_turn(system: str, prompt: str) -> str:
    raise ConfigError(f"no model to write notes with: {system[:40]} {prompt[:40]}")
