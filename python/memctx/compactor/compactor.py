"""`Compactor`: compacts the conversations of one session, and has notes written before.

Everything that leaves is in the archive, on the disk, before anything else is done. The caller's list and messages are
never changed: a compaction that fails or is cancelled leaves all as it was, since its result is all it makes. With a
transcript, its entry is the last thing that can fail; once that is written, the compaction stands.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from memctx import _core, compact
from memctx.compact import FlushPrompts, MemoryFlush, MemoryFlushed, NoCut
from memctx.compact.flush import PROMPT, SYSTEM
from memctx.compactor import entries, envelope
from memctx.compactor.hooks import AfterCompaction, BeforeCompaction, Hooks, SessionBeforeCompact
from memctx.compactor.plan import plan_of
from memctx.compactor.result import Compacted, Trigger
from memctx.compactor.summarizers import summarizer_of
from memctx.errors import ConfigError, MemctxError
from memctx.messages import Shape
from memctx.messages.repair import repair
from memctx.session import CounterFile
from memctx.summarize import Summary, summarize_with_fallback
from memctx.summarize.sections import middle_out
from memctx.turn import saved
from memctx.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from os import PathLike

    from memctx._core import Conversation
    from memctx.compact.flush import RunTurn
    from memctx.compactor.hooks import Verdict
    from memctx.compactor.plan import Plan
    from memctx.config import Config
    from memctx.intake import Archived
    from memctx.session import Counters, Transcript
    from memctx.turn import Turn

LEAST_SUMMARY_TOKENS = 400
"""What a summary may cost, however little room there is."""

logger = logging.getLogger("memctx.compactor")


class Compactor:
    """Compacts the conversations of one session. `memctx.Memory` has one; all methods may be called from threads."""

    def __init__(
        self,
        config: Config,
        *,
        session_id: str,
        store: str | PathLike[str],
        archive: Callable[..., Archived],
        hooks: Hooks | None = None,
    ) -> None:
        """``archive`` stores messages, and returns once they are durable; ``store`` is where the counters go."""
        self.hooks = Hooks() if hooks is None else hooks
        self._config = config
        self._settings = config.compaction
        self._session_id = session_id
        self._archive = archive
        self._window = compact.resolve_context_window_tokens(config.context_window)
        settings = self._settings
        self._reserve = compact.reserve_tokens(
            self._window, settings.reserve_tokens, settings.reserve_tokens_floor
        )
        self._redactor = _core.Redactor(
            config.redaction, pii=config.pii, patterns=config.redaction_patterns or None
        )
        self._store = store
        self.reopen()

    def reopen(self) -> None:
        """After a fork: share no locks with the parent."""
        settings = self._settings
        path = saved.path_of(self._store, self._session_id).with_suffix(".counters.json")
        self._counter_file = CounterFile(path, session_id=self._session_id)
        workspace = self._config.workspace
        self._flush = (
            None
            if workspace is None
            else MemoryFlush(
                _no_turn,
                Workspace(workspace),
                self._counter_file,
                prompts=FlushPrompts(
                    system=settings.flush_system_prompt or SYSTEM,
                    prompt=settings.flush_prompt or PROMPT,
                ),
                enabled=settings.memory_flush,
                reserve_floor=self._reserve,
                soft_threshold=settings.soft_threshold,
                redactor=self._redactor,
            )
        )

    @property
    def counters(self) -> Counters:
        """How often the session was compacted and flushed."""
        return self._counter_file.load()

    def should_compact(
        self, messages: Sequence[Any], *, usage: object = None, shape: Shape | None = None
    ) -> bool:
        """Whether the messages have grown into what is kept free of the window."""
        settings = self._settings
        if not settings.enabled:
            return False
        tokens = self._tokens(messages, usage, shape)
        return compact.should_compact(
            tokens, self._window, self._reserve, early=settings.compact_at
        )

    def should_flush(
        self, messages: Sequence[Any], *, usage: object = None, shape: Shape | None = None
    ) -> bool:
        """Whether it is time to have notes written."""
        if self._flush is None:
            return False
        return self._flush.is_due(self._tokens(messages, usage, shape), self._window)

    async def flush(
        self,
        run_turn: RunTurn,
        messages: Sequence[Any],
        *,
        usage: object = None,
        shape: Shape | None = None,
    ) -> MemoryFlushed:
        """Have notes written if it is time: once before each compaction."""
        if self._flush is None:
            return MemoryFlushed("skipped", reason="no workspace is set")
        tokens = self._tokens(messages, usage, shape)
        return await self._flush.run(tokens, self._window, run_turn)

    async def compact(  # noqa: PLR0913 - each has a default
        self,
        messages: Sequence[Any],
        *,
        instructions: str | None = None,
        shape: Shape | None = None,
        reason: Trigger = "manual",
        pinned: Collection[int] = (),
        transcript: Transcript | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Compacted:
        """A shorter list that says the same; what `memctx.Memory.compact` tells of it holds."""
        if reason not in get_args(Trigger):
            expected = ", ".join(get_args(Trigger))
            raise ConfigError(f"reason is {reason!r}; expected one of {expected}")
        conversation = self._scanned(messages, shape)
        plan = await asyncio.to_thread(self._plan, messages, conversation, reason, pinned)
        if isinstance(plan, NoCut):
            return _skipped(messages, conversation, reason, plan.reason)
        if transcript is not None and plan.pinned:
            raise ConfigError("pinned messages have no place in a transcript; expected one of both")
        entry = None if transcript is None else entries.first_kept_entry(transcript, plan)
        archived = await asyncio.to_thread(self._archive, plan.leaving, shape=conversation.shape)
        told = _joined(self._settings.instructions, instructions)
        verdict = await self._verdict(plan, reason, told, entry)
        if verdict.is_cancelled:
            return _skipped(messages, conversation, reason, "a hook cancelled it")
        summary = await self._summary(plan, verdict, told, on_text)
        text = self._fitted(summary.text, plan)
        told_as = envelope.summary_message(text, conversation.shape, conversation.tokens)
        listed = self._checked(plan, told_as)
        tokens_after = self._scanned(listed, conversation.shape).tokens
        if reason != "manual" and tokens_after >= conversation.tokens:
            why = f"the summary leaves {tokens_after:,} tokens, which is no less than before"
            return _skipped(messages, conversation, reason, why)
        result = Compacted(
            messages=listed,
            reason=reason,
            shape=conversation.shape,
            tokens_before=conversation.tokens,
            tokens_after=tokens_after,
            summary=text,
            first_kept=plan.cut.first_kept,
            summary_place=len(plan.cut.head),
            compacted=len(plan.leaving),
            archived=archived.added,
            is_split_turn=plan.cut.is_split_turn,
            rung=summary.rung if verdict.summary is None else "hook",
            problems=summary.problems,
            files=plan.files,
            failures=plan.failures,
            usage=summary.usage,
            stale_thinking=_stale(plan, listed),
        )
        if transcript is not None:
            result = self._written(transcript, result, entry)
        self._count(result, transcript)
        await self._told_after(result)
        return result

    def hooked(self, turn: Turn) -> Turn:
        """The turn as the hooks of ``context`` want it."""
        if not self.hooks.has("context"):
            return turn
        shape = turn.report.shape  # not known where memory failed
        known = cast("Shape", shape) if shape in get_args(Shape) else None
        return replace(turn, messages=self.hooks.context(turn.messages, known))

    def _tokens(self, messages: Sequence[Any], usage: object, shape: Shape | None) -> int:
        conversation = self._scanned(messages, shape)
        return compact.context_tokens(messages, usage=usage, conversation=conversation)

    def _scanned(self, messages: Sequence[Any], shape: Shape | None) -> Conversation:
        return _core.Scanner(self._config.estimator, capacity=0).scan(messages, shape)

    def _plan(
        self,
        messages: Sequence[Any],
        conversation: Conversation,
        reason: Trigger,
        pinned: Collection[int],
    ) -> Plan | NoCut:
        asked, is_urgent = self._settings.keep_recent_tokens, reason == "overflow"
        keep = compact.keep_recent_tokens(self._window, self._reserve, asked)
        if is_urgent:  # the window may be smaller than the settings say
            keep = max(min(keep, conversation.tokens // 2), 1)
        return plan_of(messages, conversation, keep=keep, pinned=pinned, is_urgent=is_urgent)

    async def _verdict(
        self, plan: Plan, reason: Trigger, instructions: str | None, entry: str | None
    ) -> Verdict:
        """Tell the hooks, which may cancel or have a summary of their own."""
        cut, seconds = plan.cut, self._settings.hook_seconds
        verdict = await self.hooks.verdict(
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
        if not verdict.is_cancelled:
            count, leaving = len(plan.messages), len(plan.leaving)
            told = BeforeCompaction(self._session_id, reason, count, cut.tokens_before, leaving)
            await self.hooks.run("before_compaction", told, seconds)
        return verdict

    async def _summary(
        self,
        plan: Plan,
        verdict: Verdict,
        instructions: str | None,
        on_text: Callable[[str], None] | None,
    ) -> Summary:
        if verdict.summary is not None:
            return Summary(verdict.summary, "full")
        history, previous, dropped = plan.history, plan.previous_summary, None
        cut = plan.cut
        leaving = cut.tokens_summarized + cut.tokens_prefix
        share = self._settings.max_history_share
        if compact.is_crowded(cut.tokens_before, leaving, self._window, share):
            # The oldest parts first, by themselves; what they come to is carried on with the rest.
            pruned = compact.prune_history_for_context_share(
                history,
                max_context_tokens=self._window,
                max_history_share=share,
                shape=plan.conversation.shape,
            )
            if pruned.dropped_messages_list:
                dropped = await self._summarized(
                    plan, pruned.dropped_messages_list, [], previous, instructions, on_text
                )
                history, previous = pruned.messages, dropped.text
        summary = await self._summarized(
            plan, history, plan.prefix, previous, instructions, on_text
        )
        if dropped is None:
            return summary
        return Summary(
            summary.text,
            summary.rung,
            dropped.attempts + summary.attempts,
            (*(f"older history: {problem}" for problem in dropped.problems), *summary.problems),
            dropped.usage + summary.usage,
        )

    async def _summarized(  # noqa: PLR0913, PLR0917 - what differs between the two calls
        self,
        plan: Plan,
        history: list[Any],
        prefix: list[Any],
        previous: str | None,
        instructions: str | None,
        on_text: Callable[[str], None] | None,
    ) -> Summary:
        settings = self._settings
        return await summarize_with_fallback(
            history,
            summarizer_of(self._config.summarizer),
            window=self._window,
            reserve_tokens=max(self._reserve, 1),
            mode=settings.mode,
            instructions=instructions,
            previous_summary=previous,
            prefix=prefix,
            ask=plan.ask,
            quality_retries=settings.quality_retries,
            time_limit=settings.timeout_seconds,
            shape=plan.conversation.shape,
            redactor=self._redactor,
            on_text=on_text,
        )

    def _fitted(self, text: str, plan: Plan) -> str:
        """The summary, no longer than there is room for beside what stays; both ends of one that is."""
        costs = plan.conversation.message_tokens
        fixed = [*plan.cut.head, *(place for unit in plan.pinned for place in unit)]
        taken = plan.cut.tokens_kept + sum(costs[place] for place in fixed)
        room = max(self._window - self._reserve - taken, LEAST_SUMMARY_TOKENS)
        fitted, chars = text, len(text)
        while (tokens := _core.estimate_tokens(fitted, "script")) > room and chars > 1:
            chars = min(chars * room // tokens, chars - 1)
            fitted = middle_out(text, chars)
        return fitted

    def _checked(self, plan: Plan, summary: dict[str, Any]) -> list[Any]:
        """The new list. No compaction may make a provider refuse what it would have taken."""
        strips = self._config.thinking == "strip"
        listed, shape = plan.around(summary, strips=strips), plan.conversation.shape
        known = {problem[1] for problem in _core.problems(plan.conversation)}
        if self._worse(listed, shape, known):
            listed = list(repair(listed, shape).messages)
        if worse := self._worse(listed, shape, known):
            index, code, words, _ = worse[0]
            raise MemctxError(
                f"the compacted messages would be refused: message {index}, {code}: {words}"
            )
        return listed

    def _worse(
        self, listed: list[Any], shape: Shape, known: set[str]
    ) -> list[tuple[int, str, str, str | None]]:
        found = _core.problems(self._scanned(listed, shape))
        return [problem for problem in found if problem[1] not in known]

    def _written(self, transcript: Transcript, result: Compacted, entry: str | None) -> Compacted:
        """The result once it stands in the transcript. Nothing is awaited: nobody can cancel it halfway."""
        entry_id = transcript.append_compaction(
            result.summary,
            entry,
            result.tokens_before,
            result.tokens_after,
            entries.details(result.files, result.failures, self._redactor),
            from_hook=result.rung == "hook",
        )
        written, messages = transcript.get(entry_id), list(result.messages)
        if result.shape == "pi" and written is not None and result.summary_place is not None:
            messages[result.summary_place] = written.message
        return replace(result, messages=messages, entry_id=entry_id)

    def _count(self, result: Compacted, transcript: Transcript | None) -> None:
        """Count a compaction; those too that a crash kept from being counted, if a transcript shows them."""
        shown = 0 if transcript is None else transcript.compaction_count
        if self._flush is not None:
            self._flush.compacted(result.tokens_after)
        try:
            self._counter_file.update(
                lambda counters: (
                    counters.compacted(result.tokens_after) if self._flush is None else counters
                ).at_least(shown)
            )
        except MemctxError as error:
            logger.warning("the counters of the session are not saved: %s", error)

    async def _told_after(self, result: Compacted) -> None:
        told = AfterCompaction(
            session_id=self._session_id,
            reason=result.reason,
            message_count=len(result.messages),
            token_count=result.tokens_after or 0,
            compacted_count=result.compacted,
            result=result,
        )
        await self.hooks.run("after_compaction", told, self._settings.hook_seconds)


def _skipped(
    messages: Sequence[Any], conversation: Conversation, reason: Trigger, why: str
) -> Compacted:
    logger.info("nothing is compacted: %s", why)
    return Compacted(list(messages), reason, conversation.shape, conversation.tokens, skipped=why)


def _stale(plan: Plan, listed: Sequence[Any]) -> tuple[int, ...]:
    """Where in the new list there is thinking that no longer holds."""
    signed = {id(plan.messages[place]) for place in plan.signed}
    return tuple(place for place, message in enumerate(listed) if id(message) in signed)


def _joined(*instructions: str | None) -> str | None:
    return "\n".join(filter(None, instructions)) or None


def _no_turn(system: str, prompt: str) -> str:
    raise ConfigError(f"there is nobody to ask: {system[:40]} {prompt[:40]}")
