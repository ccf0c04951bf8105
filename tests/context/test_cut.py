"""Cuts, and the turns after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import invariants, memories
from .rendering import Rendering
from .script import Assistant, Call, Result, Results, User

if TYPE_CHECKING:
    from pathlib import Path

    from .script import Step


def test_results_that_were_shortened_make_no_further_cut_due(tmp_path: Path) -> None:
    """A turn is over its limit by what is sent, not by what came: the next ones change nothing."""
    steps: list[Step] = [User(("Find the port of the webhook.",))]
    for number in range(20):
        call = Call(f"c{number}", "read", {"path": f"src/part_{number}.rs"})
        text = "\n".join(f"line {line} of part {number}" for line in range(260))
        steps += [Assistant(("Next.",), (call,)), Results((Result(call.id, "read", text),))]
    steps += [Assistant(("None of these has it.",)), User(("Look at the settings, then.",))]
    with memories.opened(tmp_path / "memory", 36_000, auto_recall=False) as memory:
        first = memory.prepare(Rendering(tuple(steps), "anthropic").whole(), format="anthropic")
        tokens = first.report.tokens
        assert any(item.is_new for item in first.report.pruned)
        assert tokens.limit is not None
        assert tokens.after < tokens.limit < tokens.before
        for words in ("Nothing there.", "Nor there."):
            steps += [Assistant((words,)), User(("Go on.",))]
            turn = memory.prepare(Rendering(tuple(steps), "anthropic").whole(), format="anthropic")
            assert not any(item.is_new for item in turn.report.pruned)
            assert not any(item.is_new for item in turn.report.trimmed)
            assert invariants.wire(turn.messages[: len(first.messages)]) == invariants.wire(
                first.messages
            )
