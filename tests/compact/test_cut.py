"""Where a conversation is cut: by the original's walk, never through a unit, with turns and summaries told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import memctx
from memctx import ConfigError, _core
from memctx.compact.cut import Cut, NoCut, find_cut
from memctx.compact.span import spans_of
from memctx.messages import edit
from turn.rendering import Rendering
from turn.script import SHAPES, Assistant, Call, Result, Results, User
from turn.strategies import FAKE, scripts

if TYPE_CHECKING:
    from turn.rendering import Message
    from turn.script import Script, Shape

shapes = st.sampled_from(SHAPES)
in_all_shapes = pytest.mark.parametrize("shape", SHAPES)
keeps = st.integers(1, 2_500)
PASTED = (User(("Which port?",)), Assistant(("8443.",)), User((FAKE,)))
PARALLEL = (
    User(("Which port?",)),
    Assistant(calls=(Call("a", "read"), Call("b", "read"))),
    Results((Result("a", "read", "8443"), Result("b", "read", "8444"))),
)


def scan(messages: list[Message], shape: Shape | None = None) -> _core.Conversation:
    return _core.Scanner().scan(messages, shape)


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


def cut_of(messages: list[Message], keep: int, shape: Shape = "pi", **more: Any) -> Cut:
    found = find_cut(scan(messages, shape), keep, **more)
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


def test_a_cut_through_a_turn_has_its_beginning_apart() -> None:
    talk = [user("old"), said("done"), user("go"), call("1"), result("1"), call("2"), result("2")]
    cut = cut_of(talk, 60)
    assert cut.first_kept == 5
    assert (cut.turn_start, cut.is_split_turn) == (2, True)
    assert (cut.summarized, cut.prefix) == (range(2), range(2, 5))
    assert cut.turn_prefix(talk) == talk[2:5]


def test_where_no_place_is_left_the_last_call_stays() -> None:
    """One result is more than may stay."""
    talk = [user("old"), said("done"), user("go"), call("1"), result("1", "x" * 9_000)]
    assert cut_of(talk, 100).first_kept == 3


def test_behind_the_limit_the_nearest_place_counts() -> None:
    """The limit is reached inside a group: what stays begins behind it."""
    talk = [user("go"), call("1"), result("1", "x" * 9_000), said("done"), user("next")]
    assert cut_of(talk, 100).first_kept == 3


def test_a_command_of_the_person_begins_a_turn() -> None:
    talk = [user("old" * 90), said("done"), shell(), said("so I see"), user("next")]
    assert cut_of(talk, 12).turn_start == 2
    assert not cut_of(talk, 20).is_split_turn
    assert cut_of(talk, 20).first_kept == 2


def test_a_result_whose_call_is_gone_is_no_place_to_cut() -> None:
    talk = [user("old" * 90), result("gone"), said("done"), user("next")]
    assert cut_of(talk, 30).first_kept == 2


def test_lines_that_mean_nothing_to_a_model_stay_with_what_follows() -> None:
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


def test_where_the_limit_is_in_the_first_message_there_is_nothing_to_cut() -> None:
    talk = [user("a" * 3_000), said("b" * 300)]
    assert why_not(talk, 500) == "there is nothing before the recent messages"


def test_no_messages_are_not_cut() -> None:
    assert why_not([], 1) == "all of the 0 tokens are recent"


def test_there_is_no_second_cut_in_a_row() -> None:
    talk = [summary("all before" * 50), user("c" * 300), said("d" * 300)]
    reason = "there is nothing but the last summary before the recent messages"
    assert why_not(talk, 200) == reason
    assert why_not(talk, 300) == reason, "although the summary itself is over the limit"


def test_an_earlier_summary_is_carried_on() -> None:
    talk = [summary("chose 8443"), user("a" * 300), said("b" * 300), user("c" * 300)]
    cut = cut_of(talk, 100)
    assert (cut.summaries, cut.previous_summary) == ((0,), "chose 8443")
    assert cut.summarized == range(3)
    assert cut.history(talk) == talk[1:3]
    assert cut.tokens_summarized == sum(scan(talk).message_tokens[1:3])


def test_the_summary_of_a_branch_is_news() -> None:
    talk = [summary("tried a", "branchSummary"), said("b" * 300), user("c" * 300)]
    cut = cut_of(talk, 100)
    assert (cut.summaries, cut.previous_summary) == ((), None)
    assert cut.history(talk) == talk[:2]


def test_the_caller_may_say_what_a_summary_is() -> None:
    """As plain text it looks like anybody's message."""
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
    assert "never summarised" in why_not(talk, 150)


@in_all_shapes
def test_a_block_that_was_recalled_is_not_summarised(shape: Shape) -> None:
    block = _core.build_block([("config", "port 3000", 1.0)], [], cap=200).text
    talk = [edit.user_message(text, shape) for text in (block, "a" * 300, "c" * 300)]
    cut = cut_of(talk, 100, shape)
    assert cut.history(talk) == talk[1:2]


@settings(max_examples=80)
@given(shapes, scripts(), keeps)
@example("anthropic", PASTED, 1)
@example("responses", PARALLEL, 1)
def test_every_cut_keeps_the_laws(shape: Shape, script: Script, keep: int) -> None:
    messages = Rendering(script, shape).whole()
    conversation = scan(messages, shape)
    cut = find_cut(conversation, keep)
    if not cut:
        assert cut.reason
        return
    no_unit_is_torn(cut, conversation)
    numbers_add_up(cut, conversation)
    about_as_much_stays_as_was_asked_for(cut, conversation, keep)
    a_split_turn_begins_with_a_person(cut, messages, conversation)
    what_is_read_of_the_history_is_the_history(cut, messages, conversation)
    told = edit.user_message("What was before", shape)
    after = [*(messages[place] for place in cut.head), told, *cut.kept(messages)]
    what_stays_is_valid(after, messages, shape)
    there_is_no_second_cut(after, cut, keep, shape)


def no_unit_is_torn(cut: Cut, conversation: _core.Conversation) -> None:
    for unit in conversation.units:
        assert len({place >= cut.first_kept for place in unit}) == 1, "a unit was torn"
        assert len({place in cut.prefix for place in unit}) == 1, "a unit was summarised apart"
    assert cut.first_kept < len(conversation)
    assert cut.prefix.stop == cut.first_kept
    assert cut.summarized == range(cut.prefix.start)
    assert cut.is_split_turn is (cut.turn_start is not None) is bool(cut.prefix)


def numbers_add_up(cut: Cut, conversation: _core.Conversation) -> None:
    apart = sum(conversation.message_tokens[place] for place in cut.skipped)
    parts = cut.tokens_summarized + cut.tokens_prefix + cut.tokens_kept
    assert parts + apart == cut.tokens_before == conversation.tokens
    assert cut.tokens_summarized + cut.tokens_prefix > 0
    assert set(cut.head) | set(cut.summaries) <= cut.skipped


def about_as_much_stays_as_was_asked_for(
    cut: Cut, conversation: _core.Conversation, keep: int
) -> None:
    """More than asked for only by the message at the limit, unless that is in the last place to cut at."""
    costs = conversation.message_tokens
    later = {span.start for span in spans_of(conversation) if span.start > cut.first_kept}
    later.difference_update(conversation.recalled)  # also pasted, a block is no place to cut at
    is_last = not any(conversation.roles[place] in {"user", "assistant"} for place in later)
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
    assert is_shell or "user" in {roles[place] for place in span}
    behind = (place for place in range(span.stop, cut.first_kept) if place not in cut.skipped)
    assert not any(roles[place] == "user" for place in behind), "a later turn begins before the cut"


def what_is_read_of_the_history_is_the_history(
    cut: Cut, messages: list[Message], conversation: _core.Conversation
) -> None:
    again = scan(cut.history(messages), conversation.shape)
    read = cut.scanned_history(conversation)
    assert (read.keys, read.units, read.roles) == (again.keys, again.units, again.roles)
    assert read.tokens == cut.tokens_summarized


def what_stays_is_valid(after: list[Message], messages: list[Message], shape: Shape) -> None:
    """What a provider refuses can at most be two messages of one role side by side, which a repair merges."""
    assert after[-1] is messages[-1]
    codes = {problem.code for problem in memctx.validate(after, shape)}
    assert codes <= {"roles-alternate"}, codes


def there_is_no_second_cut(after: list[Message], cut: Cut, keep: int, shape: Shape) -> None:
    """What a compaction leaves, compacted again at once with the same limit, stays."""
    again = find_cut(scan(after, shape), keep, summaries=[len(cut.head)])
    assert isinstance(again, NoCut)
    assert "summary" in again.reason or "recent" in again.reason


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"keep_recent_tokens": 0}, "keep_recent_tokens is 0; expected at least 1"),
        ({"summaries": [3]}, r"summaries are \[3\]; expected places of 1 messages"),
    ],
)
def test_numbers_out_of_range_are_named(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        find_cut(scan([user("hi")]), **arguments)
