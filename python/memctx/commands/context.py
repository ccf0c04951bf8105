"""Verbs on a context: `context list`, `context detail`: where the tokens go, and what is shortened."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memctx import _core, compact
from memctx.commands import wording
from memctx.commands.outcome import Outcome, Part, Table
from memctx.memory import Memory
from memctx.workspace import Loaded, Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx import Config, Report
    from memctx._core import Conversation
    from memctx.messages import Shape

MOST_MESSAGES = 10
MOST_ROWS = 20
# In the order they are listed in.
KINDS = {
    "workspace": "files of the workspace, in the system prompt",
    "system": "system prompts",
    "summary": "summaries of compactions",
    "recalled": "recalled from memory",
    "user": "what the user said",
    "assistant": "what the model said, its calls and its thinking",
    "tool": "results of tools",
    "other": "the rest",
}


def listed(messages: Sequence[Any], config: Config, shape: Shape | None = None) -> Outcome:
    """What each component of a context costs."""
    conversation = _core.Scanner(config.estimator).scan(messages, shape)
    data, parts = _summary(conversation, config, _loaded(config))
    return Outcome(data, parts)


def detail(messages: Sequence[Any], config: Config, shape: Shape | None = None) -> Outcome:
    """The same by file, tool and message, and what the next turn would shorten or leave out."""
    conversation = _core.Scanner(config.estimator).scan(messages, shape)
    loaded = _loaded(config)
    data, parts = _summary(conversation, config, loaded)
    tools = _tools(conversation)
    largest = _largest(conversation)
    report = _prepared(messages, config, shape)
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
        parts += ("Files of the workspace:", _file_table(loaded))
    if tools:
        parts += ("Tools, calls and results:", _tool_table(tools))
    parts += ("Largest messages:", _message_table(largest), *_changes(report))
    return Outcome(data, parts)


def _summary(
    conversation: Conversation, config: Config, loaded: Loaded
) -> tuple[dict[str, Any], tuple[Part, ...]]:
    window = compact.resolve_context_window_tokens(config.context_window)
    tokens, counts = Counter[str](), Counter[str]()
    if loaded.text:
        tokens["workspace"] = _core.estimate_tokens(loaded.text, "script")
        counts["workspace"] = len(loaded.files)
    for kind, cost in zip(_kinds(conversation), conversation.message_tokens, strict=True):
        tokens[kind] += cost
        counts[kind] += 1
    total = sum(tokens.values())
    components = [
        {"component": kind, "items": counts[kind], "tokens": tokens[kind]}
        for kind in KINDS
        if counts[kind]
    ]
    data: dict[str, Any] = {
        "shape": conversation.shape,
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
            KINDS[kind],
        )
        for kind in KINDS
        if counts[kind]
    )
    headings = ("component", "items", "tokens", "share", "what it is")
    head = (
        f"{wording.counted(len(conversation), 'message')}, about {total:,} tokens, "
        f"{total / window:.0%} of a window of {window:,}"
    )
    return data, (head, Table(headings, rows, right=("items", "tokens", "share")))


def _kinds(conversation: Conversation) -> list[str]:
    summaries, recalled = set(conversation.summaries), set(conversation.recalled)
    return [
        "summary" if place in summaries else "recalled" if place in recalled else role
        for place, role in enumerate(conversation.roles)
    ]


def _tools(conversation: Conversation) -> list[tuple[str, int]]:
    """What each tool costs, calls and results together, dearest first."""
    tokens = Counter[str]()
    for pieces in conversation.records():
        for _, text, _, metadata in pieces:
            tool = json.loads(metadata or "{}").get("tool")
            if tool is not None:
                tokens[tool.get("name") or "?"] += _core.estimate_tokens(text, "script")
    return tokens.most_common()


def _largest(conversation: Conversation) -> list[dict[str, Any]]:
    costs = conversation.message_tokens
    places = sorted(range(len(costs)), key=lambda place: -costs[place])[:MOST_MESSAGES]
    kinds = _kinds(conversation)
    texts = conversation.records(places)
    return [
        {
            "index": place,
            "role": kinds[place],
            "tokens": costs[place],
            "text": wording.excerpt(" ".join(text for _, text, _, _ in pieces), longest=60),
        }
        for place, pieces in zip(places, texts, strict=True)
    ]


def _loaded(config: Config) -> Loaded:
    return Loaded("", ()) if config.workspace is None else Workspace(config.workspace).load()


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
    rows = tuple((tool, f"{tokens:,}") for tool, tokens in tools[:MOST_ROWS])
    return Table(("tool", "tokens"), rows, right=("tokens",))


def _message_table(largest: Sequence[dict[str, Any]]) -> Table:
    rows = tuple(
        (str(each["index"]), str(each["role"]), f"{each['tokens']:,}", str(each["text"]))
        for each in largest
    )
    return Table(("message", "role", "tokens", "text"), rows, right=("message", "tokens"))


def _prepared(messages: Sequence[Any], config: Config, shape: Shape | None) -> Report:
    """What a turn would do, tried in a store of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="memctx-") as folder:
        scratch = config.replace(
            storage_path=folder,
            context_window=compact.resolve_context_window_tokens(config.context_window),
            knowledge_extraction=False,
            durability="os",
        )
        with Memory(scratch, session_id="context") as memory:
            report = memory.prepare(messages, shape=shape).report
            _ = len(report.pruned), len(report.trimmed)  # made when they are asked for
            return report


def _changes(report: Report) -> tuple[Part, ...]:
    tokens = report.tokens
    if report.errors:
        return (f"A turn would fail, and send all of it: {'; '.join(report.errors)}",)
    rows = [
        (
            _places((item.index,)),
            "shortened" if item.form == "soft" else "cleared",
            f"{item.tokens_before:,}",
            f"{item.tokens_after:,}",
            "old tool result",
        )
        for item in report.pruned
    ]
    rows += [
        (_places(item.indices), "left out", f"{item.tokens:,}", "0", item.reason)
        for item in report.trimmed
    ]
    limit = "no limit" if tokens.limit is None else f"the limit is {tokens.limit:,}"
    if not rows:
        return (f"A turn would send all of it; {limit}.",)
    head = f"A turn would send {tokens.after:,} of {tokens.before:,} tokens; {limit}:"
    more = len(rows) - MOST_ROWS
    headings = ("message", "what", "before", "after", "why")
    table = Table(headings, tuple(rows[:MOST_ROWS]), right=("message", "before", "after"))
    return (head, table, *((f"and {more} more",) if more > 0 else ()))


def _places(indices: Sequence[int]) -> str:
    if indices[0] < 0:  # it was not there, and stands for a result that is missing
        return "mended"
    return str(indices[0]) if len(indices) == 1 else f"{indices[0]}-{indices[-1]}"
