"""The planning of compactions as a typed program uses it. Only type checkers read this file; nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

from memctx import _core
from memctx.compaction import plan

messages: list[dict[str, str]] = [{"role": "user", "content": "go on"}]
conversation = _core.MessageReader().read(messages)

# when
assert_type(plan.reserve_tokens(200_000, floor=0), int)
assert_type(plan.context_tokens(messages, "anthropic", {"input_tokens": 5}, since=1), int)
assert_type(plan.should_compact(5, 10, 3, early=0.6), bool)
assert_type(plan.parse_compact_command("/compact"), str | None)
assert_type(plan.is_context_overflow(ValueError("no")), bool)
plan.is_context_overflow(b"no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
plan.context_tokens(messages, "other")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# where: in a condition a cut is one, and what is none says why
cut = plan.find_cut(conversation, 5, summaries=[0])
if cut:
    assert_type(cut, plan.Cut)
    assert_type(cut.history(messages), list[Any])
else:
    assert_type(cut, plan.NoCut)
    assert_type(cut.reason, str)

# what: the messages keep their type
assert_type(plan.split_messages_by_token_share(messages, 3), list[list[dict[str, str]]])
assert_type(
    plan.chunk_messages_by_max_tokens(messages, 9, estimate=len), list[list[dict[str, str]]]
)
pruned = plan.prune_history_for_context_share(
    messages, max_context_tokens=9, conversation=conversation
)
assert_type(pruned, plan.PrunedHistory[dict[str, str]])
assert_type(pruned.dropped_messages_list, list[dict[str, str]])

# what is carried over
assert_type(plan.tool_failures(messages), tuple[plan.Failure, ...])
assert_type(plan.file_operations(messages).modified, tuple[str, ...])
assert_type(plan.latest_ask(messages, conversation=conversation), str | None)
