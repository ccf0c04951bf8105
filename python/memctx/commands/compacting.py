"""The verb `compact`: what a compaction would do, and the compaction itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx import _core, compact
from memctx.commands import wording
from memctx.commands.outcome import Outcome, Part
from memctx.compact import NoCut
from memctx.compactor.plan import plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx import Config, Memory
    from memctx.messages import Shape
    from memctx.session import Transcript


def planned(messages: Sequence[Any], config: Config, shape: Shape | None = None) -> Outcome:
    """What a compaction would leave, without asking a model or writing anything."""
    conversation = _core.Scanner(config.estimator).scan(messages, shape)
    settings = config.compaction
    window = compact.resolve_context_window_tokens(config.context_window)
    reserve = compact.reserve_tokens(window, settings.reserve_tokens, settings.reserve_tokens_floor)
    keep = compact.keep_recent_tokens(window, reserve, settings.keep_recent_tokens)
    plan = plan_of(messages, conversation, keep=keep, pinned=(), is_urgent=False)
    data: dict[str, Any] = {
        "is_done": False,
        "messages": len(messages),
        "tokens_before": conversation.tokens,
        "context_window": window,
    }
    if isinstance(plan, NoCut):
        return Outcome({**data, "skipped": plan.reason}, (f"Nothing to compact: {plan.reason}.",))
    cut, leaving = plan.cut, len(plan.leaving)
    tokens = cut.tokens_summarized + cut.tokens_prefix
    data |= {
        "skipped": None,
        "first_kept": cut.first_kept,
        "leaving": leaving,
        "tokens_leaving": tokens,
        "tokens_kept": cut.tokens_kept,
    }
    words = (
        f"Would replace {wording.counted(leaving, 'message')} of {tokens:,} tokens by a summary, "
        f"and keep {cut.tokens_kept:,} tokens from message {cut.first_kept} on."
    )
    return Outcome(data, (words,))


def compacted(
    memory: Memory,
    messages: Sequence[Any],
    *,
    instructions: str | None = None,
    shape: Shape | None = None,
    transcript: Transcript | None = None,
) -> Outcome:
    """Compact the messages: what leaves is archived, and a summary takes its place."""
    done = memory.compact_sync(
        messages, instructions=instructions, shape=shape, transcript=transcript
    )
    data: dict[str, Any] = {
        "is_done": done.did_compact,
        "messages": len(messages),
        "tokens_before": done.tokens_before,
        "skipped": done.skipped,
        "first_kept": done.first_kept,
        "leaving": done.compacted,
        "archived": done.archived,
        "tokens_after": done.tokens_after,
        "rung": done.rung,
        "problems": list(done.problems),
        "entry_id": done.entry_id,
        "summary": done.summary,
    }
    if not done.did_compact:
        return Outcome(data, (f"Nothing to compact: {done.skipped}.",))
    words = (
        f"Compacted {wording.counted(done.compacted, 'message')}: {done.tokens_before:,} tokens "
        f"before, {done.tokens_after:,} after, {wording.counted(done.archived, 'piece')} archived."
    )
    problems = "\n".join(f"- {problem}" for problem in done.problems)
    parts: tuple[Part, ...] = (words, done.summary)
    parts += (f"On the way:\n{problems}",) if problems else ()
    return Outcome(data, parts, action="compact", messages=done.messages)
