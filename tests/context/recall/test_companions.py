"""Companions: a call comes with its result, an answer with its question, as far as the block has room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import _core

if TYPE_CHECKING:
    from pathlib import Path

PORT = "The payment webhook listens on port 8443"
LONG = "and the log goes on about something else entirely. " * 80


def opened(path: Path, **settings: Any) -> memctx.Memory:
    defaults: dict[str, Any] = {
        "context_window": 8_000,
        "disk": {"durability": "os"},
    }
    return memctx.open(path, session_id="s1", **(defaults | settings))


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def call(number: int, arguments: str) -> dict[str, Any]:
    function = {"name": "read_file", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def result(number: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def archived(path: Path, *messages: dict[str, Any], **settings: Any) -> memctx.Memory:
    memory = opened(path, **settings)
    memory.archive(messages, format="openai")
    return memory


def entries(turn: memctx.Turn) -> list[tuple[str, str]]:
    """Return role and text of the entries in the last block."""
    blocks = [
        _core.parse_block(message["content"])
        for message in turn.messages
        if isinstance(message["content"], str)
    ]
    parsed = [block for block in blocks if block is not None]
    return [(role, text) for _, role, text in parsed[-1][1]] if parsed else []


def ask(memory: memctx.Memory, text: str, *before: dict[str, Any]) -> memctx.Turn:
    return memory.prepare([*before, said("user", text)], format="openai")


def aside(count: int) -> list[dict[str, Any]]:
    """Return what was said in between: messages beside one that is found are often found with it."""
    return [said("assistant", f"One moment, {word} it is") for word in "abcdefgh"[:count]]


TOOLS = (
    call(1, '{"path": "settings/webhook.toml"}'),
    result(1, "port = 8443\nhost = gateway.internal"),
)


@pytest.mark.parametrize(
    "question", ["What was in settings/webhook.toml?", "Which host is gateway.internal?"]
)
def test_a_call_and_its_result_are_recalled_together(tmp_path: Path, question: str) -> None:
    with archived(tmp_path, *TOOLS) as memory:
        told = entries(ask(memory, question))
    assert told == [
        ("tool", 'read_file {"path": "settings/webhook.toml"}'),
        ("tool", "port = 8443\nhost = gateway.internal"),
    ]


@pytest.mark.parametrize("has_vectors", [False, True], ids=["words", "vectors"])
def test_calls_made_at_once_come_with_their_own_results(
    tmp_path: Path, *, has_vectors: bool
) -> None:
    """By words one call is found, and the results are companions; by vectors all four are found."""
    both = call(1, '{"path": "alpha.toml"}')
    both["tool_calls"] += call(2, '{"path": "zebra.toml"}')["tool_calls"]
    results = result(1, "color of the first is red"), result(2, "of the other green")
    with opened(tmp_path) as memory, memory.store.hold_vectors() as hold:
        memory.archive([both, *results], format="openai")
        if has_vectors:
            hold.release()
            memory.reembed()
        told = [text for _, text in entries(ask(memory, "alpha.toml zebra.toml"))]
    halves = [told[at : at + 2] for at in range(0, len(told), 2)]
    assert sorted(halves) == [
        ['read_file {"path": "alpha.toml"}', "color of the first is red"],
        ['read_file {"path": "zebra.toml"}', "of the other green"],
    ]


def test_an_answer_is_recalled_with_its_question(tmp_path: Path) -> None:
    asked, answer = said("user", "How do customers pay us now?"), said("assistant", PORT)
    # By vectors one of the asides is found, too, and stands between the two.
    with opened(tmp_path) as memory, memory.store.hold_vectors():
        memory.archive([asked, *aside(4), answer], format="openai")
        turn = ask(memory, "payment webhook port?")
    told = entries(turn)
    assert told.index(("user", asked["content"])) == told.index(("assistant", PORT)) - 1
    (beside,) = [
        (item.role, item.companion_of) for item in turn.report.recalled if item.companion_of
    ]
    assert beside[0] == "user"
    assert f"belongs to {beside[1][:8]}" in str(turn.report)


def test_a_question_is_recalled_with_the_beginning_of_its_answer(tmp_path: Path) -> None:
    asked = said("user", "Where does the payment webhook of the Lisbon branch listen?")
    answer = said("assistant", f"Behind the blue gateway, {LONG}")
    with archived(tmp_path, asked, answer) as memory:
        told = entries(ask(memory, "payment webhook listen"))
    assert told[0] == ("user", asked["content"])
    assert told[1][0] == "assistant"
    assert told[1][1].startswith("Behind the blue gateway,")
    assert len(told[1][1]) < 400


def test_a_question_and_answer_that_are_both_found_stand_in_their_order(tmp_path: Path) -> None:
    """They were archived at once and have the same time."""
    asked = said("user", "Customers ask on which port the payment webhook listens.")
    with archived(tmp_path, asked, said("assistant", PORT)) as memory:
        turn = ask(memory, "payment webhook listens port")
        assert entries(turn) == [("user", asked["content"]), ("assistant", PORT)]
        assert [item.companion_of for item in turn.report.recalled] == [None, None]


def test_visible_messages_are_no_companions(tmp_path: Path) -> None:
    asked, answer = said("user", "How do customers pay us now?"), said("assistant", PORT)
    with archived(tmp_path, asked, answer) as memory:
        told = entries(ask(memory, "payment webhook port?", asked, said("assistant", "Let me see")))
    assert told == [("assistant", PORT)]


def test_a_companion_in_an_earlier_block_is_not_shown_again(tmp_path: Path) -> None:
    asked = said("user", "Tell me about both of the services, please")
    first, second = said("assistant", PORT), said("assistant", "Invoices go to the blue printer")
    with archived(tmp_path, asked, first, *aside(6), second) as memory:
        messages = [said("user", "payment webhook port 8443 listens?")]
        assert ("user", asked["content"]) in entries(memory.prepare(messages))
        messages += [
            said("assistant", "It is 8443."),
            said("user", "invoices go to which printer?"),
        ]
        told = entries(memory.prepare(messages))
        assert ("assistant", second["content"]) in told
        assert ("user", asked["content"]) not in told


def test_an_excerpt_beside_another_does_not_keep_a_segment_from_being_recalled(
    tmp_path: Path,
) -> None:
    asked = said("user", "Where does the payment webhook of the Lisbon branch listen?")
    answer = said("assistant", f"Behind the blue gateway, {LONG} Invoices go to the printer.")
    with archived(tmp_path, asked, answer) as memory:
        messages = [said("user", "payment webhook listen where?")]
        turn = memory.prepare(messages, format="openai")
        assert [item.role for item in turn.report.recalled] == ["user", "assistant"]
        messages += [said("assistant", "Right there."), said("user", "invoices go to the printer?")]
        turn = memory.prepare(messages, format="openai")
        assert any("Invoices go to the printer" in text for _, text in entries(turn))


def test_companions_take_only_room_that_what_was_found_leaves(tmp_path: Path) -> None:
    """With a smaller cap the companions go first, and the block stays within the cap."""
    talk = [
        said(role, f"{text} number {number} of the payment webhook")
        for number in range(6)
        for role, text in (("user", "question"), ("assistant", f"unrelated words {LONG[:200]}"))
    ]
    with archived(tmp_path, *talk) as memory:
        found = memory.store.search("question payment webhook", limit=6)
        ids = {hit.segment.id for hit in found}
        companions = memory.store.companions(found, limit=20)
        sizes: list[int] = []
        for cap in (150, 300, 600, 1_200, 2_400):
            block = _core.build_block([], found, cap=cap, companions=companions, annotate=True)
            alone = _core.build_block([], found, cap=cap, annotate=True)
            assert block.tokens <= cap
            assert block.details == alone.details
            sizes.append(len(block.companions))
            assert (
                len({companions[at][1].id for at, _ in block.companions} | ids)
                == len(ids) + sizes[-1]
            )
        assert sizes == sorted(sizes)
        assert sizes[0] == 0
        assert sizes[-1] == len(companions) > 0


def test_a_custom_estimator_holds_with_companions(tmp_path: Path) -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text) // 2

    memory = opened(tmp_path, trim={"estimator": count})
    with memory:
        memory.archive([said("user", "How do customers pay us now?"), said("assistant", PORT)])
        turn = ask(memory, "payment webhook port?")
        block = next(message for message in turn.messages if "<recalled" in message["content"])
        assert len(entries(turn)) == 2
        assert turn.report.tokens.recalled == len(block["content"]) // 2


def test_a_result_is_found_by_its_call(tmp_path: Path) -> None:
    """A number answers no question by itself, and stands far inside of what was printed."""
    lines = [f"-rw-r--r-- 1 dev staff {1_000 + line} module_{line}" for line in range(60)]
    lines[40] = "-rw-r--r-- 1 dev staff 48213 total"
    others = [
        message
        for number in range(1, 12)
        for message in (call(number, f'{{"path": "src/part_{number}.py"}}'), result(number, "ok"))
    ]
    with archived(
        tmp_path,
        call(0, '{"command": "wc -c exports/ledger_snapshot"}'),
        result(0, "\n".join(lines)),
        *others,
    ) as memory:
        hits = memory.search("How big is the ledger snapshot of the exports?", limit=3)
    assert [hit.segment.content.split()[0] for hit in hits[:2]] == ["read_file", "-rw-r--r--"]
