"""Indices of a report are those of the list that was given, whatever was repaired or taken out before."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctx import _core

from . import invariants, memories, strategies
from .rendering import Rendering
from .script import Assistant, Call, Result, Results, User

if TYPE_CHECKING:
    from .script import FormatName, Script

formats = st.sampled_from(["anthropic", "openai", "responses", "gemini", "bedrock", "pi"])


@settings(max_examples=50, deadline=None)
@given(
    format=formats,
    script=strategies.scripts(),
    window=st.sampled_from([400, 900, 2_000]),
    drops=st.lists(st.integers(0, 60), max_size=6),
    swaps=st.lists(st.integers(0, 60), max_size=3),
)
@pytest.mark.slow
def test_every_index_of_every_report_is_in_the_list(
    format: FormatName, script: Script, window: int, drops: list[int], swaps: list[int]
) -> None:
    """Messages are missing and out of order, so that calls lack results and results lack calls."""
    messages = Rendering((*script, User(("Which port has the webhook?",))), format).whole()
    for place in swaps:
        messages.insert(0, messages.pop(place % len(messages)))
    gone = {place % len(messages) for place in drops}
    broken = [message for place, message in enumerate(messages) if place not in gone]
    if not broken:
        return
    settings: dict[str, Any] = {
        "pruning": {
            "min_prunable_tool_chars": 1,
            "soft_trim_max_chars": 8,
            "soft_trim_head_chars": 2,
            "soft_trim_tail_chars": 2,
            "keep_last_assistants": 0,
        }
    }
    with memories.fresh(window, **settings) as memory:
        turn = memory.prepare(broken, format=format)
        invariants.indices_are_those_of_the_list(broken, turn)
        again = memory.prepare([*turn.messages, *copy.deepcopy(broken[-1:])], format=format)
        invariants.indices_are_those_of_the_list([*turn.messages, broken[-1]], again)


@pytest.mark.parametrize("format", ["anthropic", "openai", "responses", "gemini", "bedrock", "pi"])
def test_an_added_result_is_reported_with_its_call(format: FormatName) -> None:
    """Calls without results in a full window: the added results leave with them, and only the calls have indices."""
    script: list[Any] = [User(("Which port?",))]
    for number in range(30):
        call = Call(f"c{number}", "read", {"path": f"file {number} " * 40})
        script += [
            Assistant((f"I look into file {number}.",), (call,)),
            User((f"And {number}? " * 30,)),
        ]
    messages = Rendering(tuple(script), format).whole()
    with memories.fresh(2_000) as memory:
        report = (turn := memory.prepare(messages, format=format)).report
        assert any(change.code == "added-result" for change in report.repaired)
        assert report.trimmed
        invariants.indices_are_those_of_the_list(messages, turn)
        for item in report.trimmed:
            assert list(item.indices) == sorted(set(item.indices))


@pytest.mark.parametrize("format", ["anthropic", "openai", "pi"])
def test_repairs_behind_a_block_name_the_callers_messages(format: FormatName) -> None:
    """A block of an earlier turn stands before them in the list that is given, and is taken out first."""
    script = (
        User(("Which port does the payment webhook listen on?",)),
        Assistant(("Let me see.",), (Call("c1", "read", {"path": "a"}),)),
        Results((Result("c1", "read", "8443"),)),
        Assistant(("8443.",)),
        Assistant(("And more.",), (Call("c2", "read", {"path": "b"}),)),
        User(("Well?",)),
    )
    with memories.fresh(6_000) as memory:
        asked = Rendering(script[:1], format).whole()
        sent = memory.prepare(asked, format=format).messages
        assert len(sent) > len(asked), "nothing was recalled"
        history = [*sent, *Rendering(script, format).whole()[len(asked) :]]
        turn = memory.prepare(history, format=format)
        (change,) = turn.report.repaired
        assert change.code == "added-result"
        assert (
            _core.MessageReader()
            .read([history[change.index]], format)
            .records()[0][-1][1]
            .startswith("read")
        )
