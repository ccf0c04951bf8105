"""Verbs on a conversation: `context list`, `context detail`, `compact`."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack

from memctx import _core
from memctx.cli.formatting import Table, excerpt, format_count
from memctx.cli.verbs.outcome import Outcome, Part
from memctx.compaction import plan, prepare_compaction
from memctx.config import DiskSettings
from memctx.errors import ConfigError
from memctx.hosts.openclaw import Loaded, Workspace
from memctx.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memctx._core import Conversation
    from memctx.cli.verbs.request import LimitOptions, ModelContext, Request
    from memctx.config import Config
    from memctx.context import Report
    from memctx.messages import FormatName

MAX_MESSAGES = 10
MAX_ROWS = 20
# In display order.
COMPONENTS = {
    "workspace": "workspace files in the system prompt",
    "system": "system prompts",
    "summary": "compaction summaries",
    "recalled": "recalled from memory",
    "user": "user messages",
    "assistant": "model output, with calls and thinking",
    "tool": "tool results",
    "other": "everything else",
}


def list_components(
    request: Request,
    *,
    transcript: Path | None = None,
    window: int | None = None,
    session: str | None = None,
    **limits: Unpack[LimitOptions],
) -> Outcome:
    """Show the token cost of each component of a conversation."""
    context = request.model_context(transcript, session=session, **limits)
    config = request.config(window)
    conversation = _core.MessageReader(config.trim.estimator).read(
        context.messages, context.message_format
    )
    data, parts = _summarize(conversation, config, load_workspace(config))
    return Outcome(data, parts)


def show_detail(
    request: Request,
    *,
    transcript: Path | None = None,
    window: int | None = None,
    session: str | None = None,
    **limits: Unpack[LimitOptions],
) -> Outcome:
    """Show the token cost by file, tool and message, and what the next turn would shorten or leave out."""
    context = request.model_context(transcript, session=session, **limits)
    config = request.config(window)
    conversation = _core.MessageReader(config.trim.estimator).read(
        context.messages, context.message_format
    )
    loaded = load_workspace(config)
    data, parts = _summarize(conversation, config, loaded)
    tools = _cost_by_tool(conversation)
    largest = _largest_messages(conversation)
    report = _prepare_turn(context.messages, config, context.message_format)
    data |= {
        "files": [asdict(file) for file in loaded.files],
        "tools": [{"tool": tool, "tokens": tokens} for tool, tokens in tools],
        "largest": largest,
        "turn": {
            "limit": report.tokens.limit,
            "before": report.tokens.before,
            "after": report.tokens.after,
            "pruned": [asdict(item) for item in report.pruned],
            "trimmed": [asdict(item) for item in report.trimmed],
            "errors": list(report.errors),
        },
    }
    if loaded.files:
        parts += ("Workspace files:", _file_table(loaded))
    if tools:
        parts += ("Tools (calls and results):", _tool_table(tools))
    parts += ("Largest messages:", _message_table(largest), *_describe_changes(report))
    return Outcome(data, parts)


def compact(
    request: Request,
    *,
    transcript: Path | None = None,
    instructions: str | None = None,
    window: int | None = None,
    is_sure: bool = False,
    **limits: Unpack[LimitOptions],
) -> Outcome:
    """Compact a conversation, or describe the compaction if that is not confirmed."""
    context = request.model_context(transcript, **limits)
    if not request.is_confirmed(is_sure=is_sure):
        return plan_compaction(context, request.config(window)).unconfirmed()
    if context.path is not None and context.transcript is None:
        raise ConfigError(
            f"{context.path}: expected a session file of Pi or OpenClaw, found one of {context.file_format}"
        )
    with (
        request.status("Summarizing"),
        request.open_writable_memory(context.session_id, window) as memory,
    ):
        return run_compaction(memory, context, instructions=instructions)


def plan_compaction(context: ModelContext, config: Config) -> Outcome:
    """Describe a compaction without calling a model or writing anything."""
    messages = context.messages
    conversation = _core.MessageReader(config.trim.estimator).read(messages, context.message_format)
    settings = config.compaction
    window = plan.resolve_context_window_tokens(config.context_window)
    reserve = plan.reserve_tokens(window, settings.reserve_tokens, settings.reserve_tokens_floor)
    keep = plan.keep_recent_tokens(window, reserve, settings.keep_recent_tokens)
    planned = prepare_compaction(messages, conversation, keep=keep, pinned=(), is_urgent=False)
    data: dict[str, Any] = {
        "is_done": False,
        "messages": len(messages),
        "tokens_before": conversation.tokens,
        "context_window": window,
    }
    if isinstance(planned, plan.NoCut):
        return Outcome(
            {**data, "skipped": planned.reason}, (f"Nothing to compact: {planned.reason}.",)
        )
    cut, leaving = planned.cut, len(planned.leaving)
    tokens = cut.tokens_summarized + cut.tokens_prefix
    data |= {
        "skipped": None,
        "first_kept": cut.first_kept,
        "leaving": leaving,
        "tokens_leaving": tokens,
        "tokens_kept": cut.tokens_kept,
    }
    words = (
        f"Would replace {format_count(leaving, 'message')} of {tokens:,} tokens by a summary "
        f"and keep {cut.tokens_kept:,} tokens from message {cut.first_kept} on."
    )
    return Outcome(data, (words,))


def run_compaction(
    memory: Memory, context: ModelContext, *, instructions: str | None = None
) -> Outcome:
    """Archive the older messages and replace them by a summary."""
    done = memory.compact_sync(
        context.messages,
        instructions=instructions,
        format=context.message_format,
        transcript=context.transcript,
    )
    data: dict[str, Any] = {
        "is_done": done.did_compact,
        "messages": len(context.messages),
        "tokens_before": done.tokens_before,
        "skipped": done.skipped,
        "first_kept": done.first_kept,
        "leaving": done.compacted,
        "archived": done.archived,
        "tokens_after": done.tokens_after,
        "fallback_level": done.fallback_level,
        "problems": list(done.problems),
        "entry_id": done.entry_id,
        "summary": done.summary,
    }
    if not done.did_compact:
        return Outcome(data, (f"Nothing to compact: {done.skipped}.",))
    words = (
        f"Compacted {format_count(done.compacted, 'message')}: {done.tokens_before:,} tokens "
        f"before, {done.tokens_after:,} after, {format_count(done.archived, 'new segment')} archived."
    )
    problems = "\n".join(f"- {problem}" for problem in done.problems)
    parts: tuple[Part, ...] = (words, done.summary)
    parts += (f"Problems:\n{problems}",) if problems else ()
    return Outcome(data, parts, action="compact", messages=done.messages)


def load_workspace(config: Config) -> Loaded:
    """Return the workspace files as the system prompt has them."""
    workspace = Workspace.of(config)
    return Loaded("", ()) if workspace is None else workspace.load()


def _summarize(
    conversation: Conversation, config: Config, loaded: Loaded
) -> tuple[dict[str, Any], tuple[Part, ...]]:
    window = plan.resolve_context_window_tokens(config.context_window)
    tokens, counts = Counter[str](), Counter[str]()
    if loaded.text:
        tokens["workspace"] = _core.estimate_tokens(loaded.text, "script")
        counts["workspace"] = len(loaded.files)
    for kind, cost in zip(
        _classify_messages(conversation), conversation.message_tokens, strict=True
    ):
        tokens[kind] += cost
        counts[kind] += 1
    total = sum(tokens.values())
    components = [
        {"component": kind, "items": counts[kind], "tokens": tokens[kind]}
        for kind in COMPONENTS
        if counts[kind]
    ]
    data: dict[str, Any] = {
        "format": conversation.format,
        "messages": len(conversation),
        "tokens": total,
        "context_window": window,
        "components": components,
    }
    rows = tuple(
        (
            kind,
            f"{counts[kind]:,}",
            f"{tokens[kind]:,}",
            f"{tokens[kind] / max(total, 1):.0%}",
            COMPONENTS[kind],
        )
        for kind in COMPONENTS
        if counts[kind]
    )
    headings = ("component", "items", "tokens", "share", "description")
    head = (
        f"{format_count(len(conversation), 'message')}, about {total:,} tokens, "
        f"{total / window:.0%} of a window of {window:,}"
    )
    return data, (head, Table(headings, rows, right=("items", "tokens", "share")))


def _classify_messages(conversation: Conversation) -> list[str]:
    summaries, recalled = set(conversation.summaries), set(conversation.recalled)
    return [
        "summary" if index in summaries else "recalled" if index in recalled else role
        for index, role in enumerate(conversation.roles)
    ]


def _cost_by_tool(conversation: Conversation) -> list[tuple[str, int]]:
    """Return the tokens of each tool, calls and results together, largest first."""
    tokens = Counter[str]()
    for parts in conversation.records():
        for _, text, _, metadata in parts:
            tool = json.loads(metadata or "{}").get("tool")
            if tool is not None:
                tokens[tool.get("name") or "?"] += _core.estimate_tokens(text, "script")
    return tokens.most_common()


def _largest_messages(conversation: Conversation) -> list[dict[str, Any]]:
    costs = conversation.message_tokens
    indices = sorted(range(len(costs)), key=lambda index: -costs[index])[:MAX_MESSAGES]
    kinds = _classify_messages(conversation)
    texts = conversation.records(indices)
    return [
        {
            "index": index,
            "role": kinds[index],
            "tokens": costs[index],
            "text": excerpt(" ".join(text for _, text, _, _ in parts), longest=60),
        }
        for index, parts in zip(indices, texts, strict=True)
    ]


def _file_table(loaded: Loaded) -> Table:
    rows = tuple(
        (
            file.name,
            f"{file.raw_chars:,}",
            f"{file.injected_chars:,}",
            file.problem or ("truncated" if file.is_truncated else ""),
        )
        for file in loaded.files
    )
    return Table(("file", "raw", "injected", "note"), rows, right=("raw", "injected"))


def _tool_table(tools: Sequence[tuple[str, int]]) -> Table:
    rows = tuple((tool, f"{tokens:,}") for tool, tokens in tools[:MAX_ROWS])
    return Table(("tool", "tokens"), rows, right=("tokens",))


def _message_table(largest: Sequence[dict[str, Any]]) -> Table:
    rows = tuple(
        (str(each["index"]), str(each["role"]), f"{each['tokens']:,}", str(each["text"]))
        for each in largest
    )
    return Table(("message", "role", "tokens", "text"), rows, right=("message", "tokens"))


def _prepare_turn(messages: Sequence[Any], config: Config, format: FormatName | None) -> Report:
    """Prepare a turn in a scratch store and return its report."""
    with tempfile.TemporaryDirectory(prefix="memctx-") as folder:
        scratch = config.replace(
            storage_path=folder,
            context_window=plan.resolve_context_window_tokens(config.context_window),
            knowledge_extraction=False,
            disk=DiskSettings(durability="os"),
        )
        with Memory(scratch, session_id="context") as memory:
            report = memory.prepare(messages, format=format).report
            _ = len(report.pruned), len(report.trimmed)  # computed on access
            return report


def _describe_changes(report: Report) -> tuple[Part, ...]:
    tokens = report.tokens
    if report.errors and not report.is_over_limit:
        return (f"A turn would fail, and send all of it: {'; '.join(report.errors)}",)
    rows = [
        (
            _format_range((item.index,)),
            "shortened" if item.form == "soft" else "cleared",
            f"{item.tokens_before:,}",
            f"{item.tokens_after:,}",
            "old tool result",
        )
        for item in report.pruned
    ]
    rows += [
        (_format_range(item.indices), "left out", f"{item.tokens:,}", "0", item.reason)
        for item in report.trimmed
    ]
    limit = "no limit" if tokens.limit is None else f"the limit is {tokens.limit:,}"
    if not rows:
        return (f"A turn would send all of it; {limit}.", *report.errors)
    head = f"A turn would send {tokens.after:,} of {tokens.before:,} tokens; {limit}:"
    more = len(rows) - MAX_ROWS
    headings = ("message", "what", "before", "after", "why")
    table = Table(headings, tuple(rows[:MAX_ROWS]), right=("message", "before", "after"))
    return (head, table, *((f"and {more} more",) if more > 0 else ()), *report.errors)


def _format_range(indices: Sequence[int]) -> str:
    return str(indices[0]) if len(indices) == 1 else f"{indices[0]}-{indices[-1]}"
