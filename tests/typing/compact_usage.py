"""The planning of compactions as a typed program uses it. Only type checkers read this file; nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

from memctx import _core, compact

messages: list[dict[str, str]] = [{"role": "user", "content": "go on"}]
conversation = _core.Scanner().scan(messages)

# when
assert_type(compact.reserve_tokens(200_000, floor=0), int)
assert_type(compact.context_tokens(messages, "anthropic", {"input_tokens": 5}, since=1), int)
assert_type(compact.should_compact(5, 10, 3, early=0.6), bool)
assert_type(compact.manual("/compact"), str | None)
assert_type(compact.is_context_overflow(ValueError("no")), bool)
compact.is_context_overflow(b"no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
compact.context_tokens(messages, "other")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# where: in a condition a cut is one, and what is none says why
cut = compact.find_cut(conversation, 5, summaries=[0])
if cut:
    assert_type(cut, compact.Cut)
    assert_type(cut.history(messages), list[Any])
else:
    assert_type(cut, compact.NoCut)
    assert_type(cut.reason, str)

# what: the messages keep their type
assert_type(compact.split_messages_by_token_share(messages, 3), list[list[dict[str, str]]])
assert_type(
    compact.chunk_messages_by_max_tokens(messages, 9, estimate=len), list[list[dict[str, str]]]
)
pruned = compact.prune_history_for_context_share(
    messages, max_context_tokens=9, conversation=conversation
)
assert_type(pruned, compact.Pruned[dict[str, str]])
assert_type(pruned.dropped_messages_list, list[dict[str, str]])

# what is carried over
assert_type(compact.tool_failures(messages), tuple[compact.Failure, ...])
assert_type(compact.file_operations(messages).modified, tuple[str, ...])
assert_type(compact.latest_ask(messages, conversation=conversation), str | None)
