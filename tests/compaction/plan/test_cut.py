"""Cuts of a conversation: OpenClaw's walk, no split unit, turns and summaries kept separate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import memctx
from context.rendering import Rendering
from context.script import FORMATS, Assistant, Call, Result, Results, User
from context.strategies import FAKE, scripts
from memctx import ConfigError, _core
from memctx.compaction.plan.cut import Cut, NoCut, find_cut
from memctx.compaction.plan.spans import find_spans
from memctx.messages import edit

if TYPE_CHECKING:
    from context.rendering import Message
    from context.script import FormatName, Script

formats = st.sampled_from(FORMATS)
in_all_formats = pytest.mark.parametrize("format", FORMATS)
keeps = st.integers(1, 2_500)
PASTED = (User(("Which port?",)), Assistant(("8443.",)), User((FAKE,)))
PARALLEL = (
    User(("Which port?",)),
    Assistant(calls=(Call("a", "read"), Call("b", "read"))),
    Results((Result("a", "read", "8443"), Result("b", "read", "8444"))),
)


def scan(messages: list[Message], format: FormatName | None = None) -> _core.Conversation:
    return _core.MessageReader().read(messages, format)


def user(text: str) -> Message:
    return {"role": "user", "content": text, "timestamp": 1}


def said(text: str) -> Message:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "timestamp": 1}


def call(id: str) -> Message:
    block = {"type": "toolCall", "id": id, "name": "read", "arguments": {"path": "a"}}
    return {"role": "assistant", "content": [block], "timestamp": 1}


def result(id: str, text: str = "x" * 300) -> Message:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": id, "toolName": "read", "content": content}


def summary(text: str, role: str = "compactionSummary") -> Message:
    return {"role": role, "summary": text, "timestamp": 1}


def shell() -> Message:
    return {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0}


def cut_of(messages: list[Message], keep: int, format: FormatName = "pi", **more: Any) -> Cut:
    found = find_cut(scan(messages, format), keep, **more)
    assert isinstance(found, Cut), found
    return found


def why_not(messages: list[Message], keep: int, **more: Any) -> str:
    found = find_cut(scan(messages, "pi"), keep, **more)
    assert isinstance(found, NoCut)
    assert not found
    return found.reason


def test_the_newest_turns_stay() -> None:
    talk = [user("a" * 300), said("b" * 300), user("c" * 300), said("d" * 300)]
    cut = cut_of(talk, 200)
    assert (cut.first_kept, cut.turn_start, cut.is_split_turn) == (2, None, False)
    assert (cut.summarized, cut.prefix) == (range(2), range(2, 2))
    assert cut.history(talk) == talk[:2]
    assert cut.kept(talk) == talk[2:]


def test_the_tokens_add_up() -> None:
    talk = [user("a" * 300), said("b" * 300), user("c" * 300), said("d" * 300)]
    cut = cut_of(talk, 100)
    costs = scan(talk).message_tokens
    assert cut.first_kept == 3
    assert cut.tokens_before == sum(costs)
    assert (cut.tokens_summarized, cut.tokens_prefix) == (sum(costs[:2]), costs[2])
    assert cut.tokens_kept == costs[3]


def test_a_cut_through_a_turn_separates_its_beginning() -> None:
    talk = [user("old"), said("done"), user("go"), call("1"), result("1"), call("2"), result("2")]
    cut = cut_of(talk, 60)
    assert cut.first_kept == 5
    assert (cut.turn_start, cut.is_split_turn) == (2, True)
    assert (cut.summarized, cut.prefix) == (range(2), range(2, 5))
    assert cut.turn_prefix(talk) == talk[2:5]


def test_the_last_call_stays_where_no_index_is_left() -> None:
    """One result is more than may stay."""
    talk = [user("old"), said("done"), user("go"), call("1"), result("1", "x" * 9_000)]
    assert cut_of(talk, 100).first_kept == 3


def test_the_cut_is_the_nearest_index_behind_the_limit() -> None:
    """The limit is reached inside a group: what stays begins behind it."""
    talk = [user("go"), call("1"), result("1", "x" * 9_000), said("done"), user("next")]
    assert cut_of(talk, 100).first_kept == 3


def test_a_shell_command_of_the_user_begins_a_turn() -> None:
    talk = [user("old" * 90), said("done"), shell(), said("so I see"), user("next")]
    assert cut_of(talk, 12).turn_start == 2
    assert not cut_of(talk, 20).is_split_turn
    assert cut_of(talk, 20).first_kept == 2


def test_an_orphaned_result_is_no_index_to_cut_at() -> None:
    talk = [user("old" * 90), result("gone"), said("done"), user("next")]
    assert cut_of(talk, 30).first_kept == 2


def test_lines_without_meaning_stay_with_the_next_message() -> None:
    """As in a session file, in which a change of the model stands before the turn that it is for."""
    change: Message = {"type": "model_change", "id": "2", "modelId": "m"}
    talk: list[Message] = [
        {"type": "message", "id": "1", "message": user("a" * 300)},
        change,
        {"type": "message", "id": "3", "message": user("c" * 300)},
    ]
    cut = cut_of(talk, 100)
    assert cut.kept(talk) == talk[1:]
    assert "nothing before" in why_not(talk[1:], 100)


def test_recent_messages_are_not_cut() -> None:
    assert why_not([user("hi"), said("hello")], 20_000) == "all of the 11 tokens are recent"


def test_a_limit_in_the_first_message_leaves_nothing_to_cut() -> None:
    talk = [user("a" * 3_000), said("b" * 300)]
    assert why_not(talk, 500) == "there is nothing before the recent messages"


def test_no_messages_are_not_cut() -> None:
    assert why_not([], 1) == "all of the 0 tokens are recent"


def test_there_is_no_second_cut_in_a_row() -> None:
    talk = [summary("all before" * 50), user("c" * 300), said("d" * 300)]
    reason = "there is nothing but the last summary before the recent messages"
    assert why_not(talk, 200) == reason
    assert why_not(talk, 300) == reason, "although the summary itself is over the limit"


def test_an_earlier_summary_is_updated_not_summarized() -> None:
    talk = [summary("chose 8443"), user("a" * 300), said("b" * 300), user("c" * 300)]
    cut = cut_of(talk, 100)
    assert (cut.summaries, cut.previous_summary) == ((0,), "chose 8443")
    assert cut.summarized == range(3)
    assert cut.history(talk) == talk[1:3]
    assert cut.tokens_summarized == sum(scan(talk).message_tokens[1:3])


def test_a_branch_summary_is_summarized_as_a_message() -> None:
    talk = [summary("tried a", "branchSummary"), said("b" * 300), user("c" * 300)]
    cut = cut_of(talk, 100)
    assert (cut.summaries, cut.previous_summary) == ((), None)
    assert cut.history(talk) == talk[:2]


def test_the_caller_may_name_earlier_summaries() -> None:
    """As plain text it looks like any other message."""
    talk = [user("Summary: chose 8443"), user("c" * 300)]
    assert cut_of(talk, 100).history(talk) == talk[:1]
    assert "summary" in why_not(talk, 100, summaries=[0])


def test_system_prompts_stay_at_the_head() -> None:
    talk: list[Message] = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "a" * 300},
        {"role": "developer", "content": "be briefer"},
        {"role": "assistant", "content": "b" * 300},
        {"role": "user", "content": "c" * 300},
    ]
    cut = cut_of(talk, 100, "openai")
    assert cut.head == (0, 2)
    assert cut.history(talk) == [talk[1], talk[3]]


def test_a_system_prompt_alone_is_no_history() -> None:
    talk = [{"role": "system", "content": "be brief" * 90}, {"role": "user", "content": "c" * 300}]
    assert "never summarized" in why_not(talk, 150)


@in_all_formats
def test_recalled_blocks_are_not_summarized(format: FormatName) -> None:
    block = _core.build_block([("config", "port 3000", 1.0)], [], cap=200).text
    talk = [edit.user_message(text, format) for text in (block, "a" * 300, "c" * 300)]
    cut = cut_of(talk, 100, format)
    assert cut.history(talk) == talk[1:2]


@settings(max_examples=80)
@given(formats, scripts(), keeps)
@example("anthropic", PASTED, 1)
@example("responses", PARALLEL, 1)
@pytest.mark.slow
def test_every_cut_keeps_the_invariants(format: FormatName, script: Script, keep: int) -> None:
    messages = Rendering(script, format).whole()
    conversation = scan(messages, format)
    cut = find_cut(conversation, keep)
    if not cut:
        assert cut.reason
        return
    no_unit_is_torn(cut, conversation)
    numbers_add_up(cut, conversation)
    about_as_much_stays_as_was_asked_for(cut, conversation, keep)
    a_split_turn_begins_with_a_person(cut, messages, conversation)
    what_is_read_of_the_history_is_the_history(cut, messages, conversation)
    summary = edit.user_message("What was before", format)
    after = [*(messages[index] for index in cut.head), summary, *cut.kept(messages)]
    what_stays_is_valid(after, messages, format)
    there_is_no_second_cut(after, cut, keep, format)


def no_unit_is_torn(cut: Cut, conversation: _core.Conversation) -> None:
    for unit in conversation.units:
        assert len({index >= cut.first_kept for index in unit}) == 1, "a unit was torn"
        assert len({index in cut.prefix for index in unit}) == 1, "a unit was summarized apart"
    assert cut.first_kept < len(conversation)
    assert cut.prefix.stop == cut.first_kept
    assert cut.summarized == range(cut.prefix.start)
    assert cut.is_split_turn is (cut.turn_start is not None) is bool(cut.prefix)


def numbers_add_up(cut: Cut, conversation: _core.Conversation) -> None:
    apart = sum(conversation.message_tokens[index] for index in cut.skipped)
    parts = cut.tokens_summarized + cut.tokens_prefix + cut.tokens_kept
    assert parts + apart == cut.tokens_before == conversation.tokens
    assert cut.tokens_summarized + cut.tokens_prefix > 0
    assert set(cut.head) | set(cut.summaries) <= cut.skipped


def about_as_much_stays_as_was_asked_for(
    cut: Cut, conversation: _core.Conversation, keep: int
) -> None:
    """Assert that only the message at the limit exceeds it, unless that is in the last index to cut at."""
    costs = conversation.message_tokens
    later = {span.start for span in find_spans(conversation) if span.start > cut.first_kept}
    later.difference_update(conversation.recalled)  # also pasted, a block is no index to cut at
    is_last = not any(conversation.roles[index] in {"user", "assistant"} for index in later)
    assert cut.tokens_kept - costs[cut.first_kept] < keep or is_last


def a_split_turn_begins_with_a_person(
    cut: Cut, messages: list[Message], conversation: _core.Conversation
) -> None:
    roles = conversation.roles
    if cut.turn_start is None:
        return
    assert roles[cut.first_kept] == "assistant"
    opening = next(unit for unit in conversation.units if unit[0] == cut.turn_start)
    span = range(opening[0], opening[-1] + 1)
    is_shell = messages[span[0]].get("role") == "bashExecution"
    assert is_shell or "user" in {roles[index] for index in span}
    behind = (index for index in range(span.stop, cut.first_kept) if index not in cut.skipped)
    assert not any(roles[index] == "user" for index in behind), "a later turn begins before the cut"


def what_is_read_of_the_history_is_the_history(
    cut: Cut, messages: list[Message], conversation: _core.Conversation
) -> None:
    again = scan(cut.history(messages), conversation.format)
    read = cut.scanned_history(conversation)
    assert (read.keys, read.units, read.roles) == (again.keys, again.units, again.roles)
    assert read.tokens == cut.tokens_summarized


def what_stays_is_valid(after: list[Message], messages: list[Message], format: FormatName) -> None:
    """Assert that a provider can at most refuse two neighbors of one role, which a repair merges."""
    assert after[-1] is messages[-1]
    codes = {problem.code for problem in memctx.validate(after, format)}
    assert codes <= {"roles-alternate"}, codes


def there_is_no_second_cut(after: list[Message], cut: Cut, keep: int, format: FormatName) -> None:
    """Assert that compacting the result again at once with the same limit leaves it unchanged."""
    again = find_cut(scan(after, format), keep, summaries=[len(cut.head)])
    assert isinstance(again, NoCut)
    assert "summary" in again.reason or "recent" in again.reason


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"keep_recent_tokens": 0}, "keep_recent_tokens is 0; expected at least 1"),
        ({"summaries": [3]}, r"summaries are \[3\]; expected indices of 1 messages"),
    ],
)
def test_cut_numbers_out_of_range_are_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        find_cut(scan([user("hi")]), **arguments)
