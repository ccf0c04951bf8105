"""Tool results that are protected from a trim and yet do not fit the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import memctx

from . import invariants, memories
from .rendering import Rendering
from .script import FORMATS, Assistant, Call, Result, Results, User

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from .script import FormatName, Step

WINDOW = 16_000


def listing(number: int, chars: int) -> str:
    """Return the text of a file whose lines differ from those of other files."""
    lines = (
        f"line {line} of file {number} sets value_{line * number % 97}" for line in range(chars)
    )
    text = "\n".join(lines)[:chars]
    return f"{text}\nthe end of file {number}"


def reads(*lengths: int) -> list[Step]:
    """Return a task and one call after the other, each with a result of so many characters."""
    steps: list[Step] = [User(("Read the files and find the bug.",))]
    for number, length in enumerate(lengths, start=1):
        call = Call(f"c{number}", "read", {"path": f"src/part_{number}.py"})
        result = Result(call.id, "read", listing(number, length))
        steps += [Assistant(("Next.",), (call,)), Results((result,))]
    return steps


def whole(steps: list[Step], format: FormatName) -> list[dict[str, object]]:
    return Rendering(tuple(steps), format).whole()


@pytest.mark.parametrize("format", FORMATS)
def test_a_newest_result_larger_than_the_window_is_shortened(
    format: FormatName, tmp_path: Path
) -> None:
    """Its head and tail are sent, it is in the store whole, and later turns send the same bytes."""
    steps = reads(300_000)
    with memories.opened(tmp_path / "memory", WINDOW) as memory:
        given = whole(steps, format)
        turn = memory.prepare(given, format=format)
        report = turn.report
        assert report.tokens.before > WINDOW
        assert report.tokens.limit is not None
        assert report.tokens.after <= report.tokens.limit
        assert not report.is_over_limit
        assert report.errors == ()
        # There is no time to make the vectors of so much.
        assert all("vectors are not made yet" in words for words in report.degraded)
        (short,) = report.pruned
        assert (short.form, short.is_new) == ("soft", True)
        sent = invariants.wire(turn.messages)
        for part in ("line 0 of file 1", "the end of file 1", "Tool result shortened"):
            assert part in sent
        assert memctx.validate(turn.messages, format) == []

        steps += [Assistant(("The bug is in line 3.",)), User(("Go on, then.",))]
        later = memory.prepare(whole(steps, format), format=format)
        before = [invariants.wire([message]) for message in turn.messages]
        assert [invariants.wire([message]) for message in later.messages][: len(before)] == before
        contents = [hit.segment.content for hit in memory.search("line 3000 of file 1", limit=3)]
        assert any(listing(1, 300_000) in content for content in contents)


@pytest.mark.parametrize("lengths", [(20_000,) * 6, (20_000,) * 12, (100_000,) * 3])
def test_several_results_that_do_not_fit_together_are_shortened(
    lengths: tuple[int, ...], tmp_path: Path
) -> None:
    """Results that the model has answered are shortened first; the newest keeps most."""
    sent: list[Any] = []
    with memories.opened(tmp_path / "memory", WINDOW, auto_recall=False) as memory:
        for count in range(1, len(lengths) + 1):
            turn = memory.prepare(whole(reads(*lengths[:count]), "openai"), format="openai")
            assert turn.report.tokens.after <= WINDOW, count
            assert not turn.report.is_over_limit
            assert memctx.validate(turn.messages, "openai") == []
            sent = turn.messages
    sizes = [len(str(message["content"])) for message in sent if message["role"] == "tool"]
    assert sizes[-1] == max(sizes)
    assert sizes[-1] > 2 * sizes[0]


def test_a_result_that_fits_stays_whole_beside_older_ones(tmp_path: Path) -> None:
    """As long as shorter old results make enough room, the newest one is not touched."""
    with memories.opened(tmp_path / "memory", WINDOW, auto_recall=False) as memory:
        for count in (1, 2):
            memory.prepare(whole(reads(*(20_000,) * count), "openai"), format="openai")
        given = whole(reads(20_000, 20_000, 20_000), "openai")
        turn = memory.prepare(given, format="openai")
    assert turn.messages[-1] is given[-1]
    assert [item.index for item in turn.report.pruned] == [2, 4]


def test_an_overflow_that_cannot_be_shortened_is_reported(tmp_path: Path) -> None:
    """Results of tools that the settings spare stay whole, and the report says that the request is too long."""
    for folder, pruning in (("off", {"mode": "off"}), ("denied", {"deny": ["read"]})):
        with memories.opened(tmp_path / folder, WINDOW, pruning=pruning) as memory:
            report = memory.prepare(whole(reads(300_000), "openai"), format="openai").report
        assert not report.pruned
        assert report.is_over_limit
        assert report.degraded


def test_a_result_shortened_to_fit_outlasts_a_restart(tmp_path: Path) -> None:
    """The next process sends the same bytes."""
    given = whole(reads(2_000, 300_000), "openai")
    sent = []
    for _ in range(2):
        with memories.opened(tmp_path / "memory", WINDOW, auto_recall=False) as memory:
            sent.append(invariants.wire(memory.prepare(given, format="openai").messages))
    assert sent[0] == sent[1]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("begun", [(), (User(("Check the logs.",)), Assistant(("Which?",)))])
def test_pasted_texts_that_do_not_fit_together_leave_room_for_the_newest(
    begun: tuple[Step, ...], format: FormatName, tmp_path: Path
) -> None:
    """The provider would refuse the request. The first is in the store, and is not sent whole again."""
    pasted = [f"Look at this log:\n{listing(number, 30_000)}" for number in (3, 4)]
    steps: list[Step] = [
        *begun,
        User((pasted[0],)),
        Assistant(("It is fine.",)),
        User((pasted[1],)),
    ]
    with memories.opened(tmp_path / "memory", WINDOW) as memory:
        given = whole(steps, format)
        turn = memory.prepare(given, format=format)
        assert not turn.report.is_over_limit
        assert "too large for the window" in turn.report.trimmed[0].reason
        invariants.check_turn(given, turn, memory, format)
        steps += [Assistant(("Fine, too.",)), User(("What does file 3 end with?",))]
        later = memory.prepare(whole(steps, format), format=format)
        assert not later.report.is_over_limit
        assert not any(unit.is_new for unit in later.report.trimmed)
        assert "file 4" in str(later.messages)
        assert "the end of file 3" in str(later.messages), "recalled"


def test_a_question_larger_than_the_window_is_reported(tmp_path: Path) -> None:
    """Nothing else leaves for it in vain."""
    steps: list[Step] = [
        User(("Fix the bug.",)),
        Assistant(("Which?",)),
        User((listing(5, 200_000),)),
    ]
    with memories.opened(tmp_path, WINDOW) as memory:
        turn = memory.prepare(whole(steps, "openai"), format="openai")
    assert turn.report.is_over_limit
    assert not turn.report.trimmed
