"""Selection of recalled passages: those that add something, and of several versions the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx._core import parse_block

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HOUR = 3_600_000.0
PORT = "The payment webhook listens on port 8443"
QUESTION = "On which port does the payment webhook listen?"
CHATTER = [
    ("user", "The garden needs water in the morning, before the sun is up."),
    ("assistant", "I will remind you of the garden tomorrow."),
    ("user", "Please book a table for four at the harbor restaurant."),
    ("assistant", "The table for four is booked."),
]


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def recalled(
    path: Path, messages: Sequence[tuple[str, str]], question: str, *visible: dict[str, Any]
) -> tuple[list[str], memctx.Turn]:
    """Return the contents of the block that a question brings to a new session, in their order."""
    with memctx.open(path, session_id="before", context_window=32_000) as memory:
        for role, text in (*CHATTER, *messages):
            memory.archive([said(role, text)])
        memory.reembed()
    with memctx.open(
        path, session_id="now", context_window=32_000, cross_session=True, recall={"min_score": 0.1}
    ) as memory:
        turn = memory.prepare([*visible, said("user", question)], format="openai")
    parsed = [parse_block(each["content"]) for each in turn.messages]
    details = [detail for each in parsed if each is not None for detail in each[1]]
    return [content for _, _, content in details], turn


def reasons(turn: memctx.Turn) -> dict[str, str]:
    return {item.reason: item.role for item in turn.report.left_out}


def block_of(turn: memctx.Turn) -> str:
    texts = [each["content"] for each in turn.messages if parse_block(each["content"]) is not None]
    return "\n".join(texts)


def test_of_three_versions_the_newest_is_told(tmp_path: Path) -> None:
    versions = [
        ("user", "The projector in the Lisbon room is an Alpha 15."),
        ("assistant", "Thank you, I will remember that."),
        (
            "user",
            "I was wrong, the projector in the Lisbon room is not an Alpha 15 but an Alpha 25.",
        ),
        ("assistant", "Thank you, I will remember that."),
        ("user", "The projector in the Lisbon room was replaced: it is a Magna 32 now."),
    ]
    told, turn = recalled(tmp_path, versions, "Which projector is in the Lisbon room?")
    assert any("Magna 32" in text for text in told)
    assert not any("Alpha" in text for text in told)
    left = [item for item in turn.report.left_out if item.reason == "replaced"]
    newest = next(item.id for item in turn.report.recalled if "Magna" in item.text)
    assert [item.of for item in left] == [newest, newest]


def test_a_question_for_what_was_before_gets_it_marked_with_the_time(tmp_path: Path) -> None:
    versions = [
        ("user", "The projector in the Lisbon room is an Alpha 15."),
        ("user", "The projector in the Lisbon room was replaced: it is a Magna 32 now."),
    ]
    question = "Which projector was originally in the Lisbon room?"
    told, turn = recalled(tmp_path, versions, question)
    assert any("Alpha 15" in text for text in told)
    (line,) = [line for line in block_of(turn).splitlines() if "Alpha 15" in line]
    header = line.partition("]")[0]
    assert ", replaced 20" in header
    (line,) = [line for line in block_of(turn).splitlines() if "Magna 32" in line]
    assert ", replaced" not in line.partition("]")[0]


def test_statements_about_other_things_are_kept(tmp_path: Path) -> None:
    versions = [
        ("user", "The projector in the Lisbon room is an Alpha 15."),
        ("user", "The projector in the Porto room was replaced: it is a Magna 32 now."),
    ]
    told, _ = recalled(tmp_path, versions, "Which projector is in the Lisbon room?")
    assert any("Alpha 15" in text for text in told)


def test_a_correction_that_the_model_sees_marks_what_it_takes_back(tmp_path: Path) -> None:
    old = ("user", f"{PORT}. The team of the harbor office looks after it.")
    visible = [
        said("user", "Correction: the payment webhook listens on port 9000 now."),
        said("assistant", "Understood."),
    ]
    told, turn = recalled(tmp_path, [old], QUESTION, *visible)
    assert not told or ", replaced later]" in block_of(turn)


@pytest.mark.parametrize(
    "question",
    [
        "Which port does the payment webhook listen on?",
        "Please, on which port does the payment webhook listen?",
    ],
)
def test_a_past_question_gives_way_to_its_answer(tmp_path: Path, question: str) -> None:
    messages = [("user", question), ("assistant", "It is 8443, behind the proxy.")]
    told, turn = recalled(tmp_path, messages, QUESTION)
    assert told[-1] == "It is 8443, behind the proxy."
    alone = [item for item in turn.report.recalled if item.companion_of is None]
    assert question not in {item.text for item in alone}


def test_a_copy_of_the_question_makes_nothing_sure(tmp_path: Path) -> None:
    """It is not shown, so it must not say that there is something to show."""
    messages = [("user", QUESTION.lower()), ("assistant", "I do not know."), ("user", QUESTION)]
    told, turn = recalled(tmp_path, messages, QUESTION)
    assert told == []
    assert "not sure" in reasons(turn) or not turn.report.left_out


def test_a_copy_of_the_question_takes_nothing_from_the_answer(tmp_path: Path) -> None:
    without, _ = recalled(tmp_path / "a", [("user", PORT)], QUESTION)
    copies = [("user", QUESTION), ("assistant", "Noted."), ("user", QUESTION)]
    beside, _ = recalled(tmp_path / "b", [("user", PORT), *copies], QUESTION)
    assert PORT in without
    assert PORT in beside
    assert QUESTION not in beside


def test_the_same_statement_is_told_once(tmp_path: Path) -> None:
    messages = [("user", PORT), ("assistant", "Fine."), ("user", f"As I said: {PORT.lower()}!")]
    told, turn = recalled(tmp_path, messages, QUESTION)
    assert sum("8443" in text for text in told) == 1
    assert "duplicate" in reasons(turn)


def test_passages_far_below_the_best_are_left_out(tmp_path: Path) -> None:
    """Many messages share a word with the question, and one answers it."""
    weak = [("user", f"The office in street {n} has a port wine tasting.") for n in range(8)]
    told, turn = recalled(tmp_path, [*weak, ("user", PORT)], QUESTION)
    assert PORT in told
    assert len(told) <= 2
    assert "adds little" in reasons(turn) or len(turn.report.left_out) == 0


def test_a_question_for_many_gets_many_in_their_order(tmp_path: Path) -> None:
    names = ("payment", "billing", "search", "login", "upload", "report")
    ports = [
        ("user", f"The {name} webhook listens on port {8000 + n}.") for n, name in enumerate(names)
    ]
    told, _ = recalled(tmp_path, ports, "List all ports that the webhooks listen on")
    assert told == [text for _, text in ports]


def test_the_best_stands_nearest_to_the_question(tmp_path: Path) -> None:
    messages = [
        ("user", PORT),
        ("user", "The payment webhook was slow on Monday, and its port was blocked."),
    ]
    told, turn = recalled(tmp_path, messages, QUESTION)
    best = max(turn.report.recalled, key=lambda item: item.score)
    assert told[-1] == best.text


def test_of_passages_nearly_as_good_the_newest_stands_nearest(tmp_path: Path) -> None:
    """Newer versions of a statement are often not recognized as such."""
    messages = [
        ("user", "I usually drink my coffee with oat milk."),
        ("user", "By the way, I no longer take oat milk in my coffee, I drink it black."),
    ]
    told, _ = recalled(tmp_path, messages, "How do I drink my coffee?")
    assert told[-1] == messages[1][1]
