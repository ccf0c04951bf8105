"""Several conversations under one session id: each is sent as if it were alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.context.state import MOST

if TYPE_CHECKING:
    from pathlib import Path

WINDOW = 6_000


def said(name: str, number: int) -> dict[str, Any]:
    role = "user" if number % 2 == 0 else "assistant"
    text = f"{name} {number}: the build of part {number} of {name} went on, and its log says what it always says. "
    return {"role": role, "content": text * 6}


def talk(name: str, count: int) -> list[dict[str, Any]]:
    """Return a conversation of its own; the last message is the person's."""
    return [said(name, number) for number in range(count)]


def opened(path: Path, window: int = WINDOW, **settings: Any) -> memctx.Memory:
    return memctx.open(path, session_id="s1", context_window=window, **settings)


def wire(messages: list[Any]) -> str:
    return json.dumps(messages)


@pytest.mark.parametrize("placement", ["stable", "head", "tail"])
def test_alternating_conversations_keep_their_prefixes(tmp_path: Path, placement: str) -> None:
    """Each call sends what the conversation would have sent without the other one."""
    names = ("agent", "subagent")
    with opened(tmp_path / "both", placement=placement, auto_recall=False) as memory:
        alone = {
            name: opened(tmp_path / name, placement=placement, auto_recall=False) for name in names
        }
        trims = 0
        for count in range(1, 121, 6):
            for name in names:
                turn = memory.prepare(talk(name, count))
                expected = alone[name].prepare(talk(name, count))
                assert wire(turn.messages) == wire(expected.messages)
                assert turn.report.cache.stable_prefix == expected.report.cache.stable_prefix
                assert count == 1 or turn.report.cache.stable_prefix > 0
                trims += bool(turn.report.trimmed)
        assert trims, "nothing was trimmed, so nothing was tried"
        for single in alone.values():
            single.close()


def test_alternating_conversations_keep_their_recalled_blocks(tmp_path: Path) -> None:
    """A block that one conversation recalled stays where it was sent, whatever the other one recalls."""
    with opened(tmp_path, 100_000) as memory:
        memory.archive([{"role": "user", "content": "The payment webhook listens on port 8443"}])
        asked = [{"role": "user", "content": "Which port has the payment webhook?"}]
        first = memory.prepare(asked).messages
        assert len(first) == 2, "nothing was recalled"
        memory.prepare(talk("other", 1))
        for number in range(4):
            asked = [*asked, said("on", 2 * number + 1), said("on", 2 * number + 2)]
            turn = memory.prepare(asked)
            assert wire(turn.messages[:2]) == wire(first)
            assert turn.report.cache.first_changed is None
            memory.prepare(talk("other", 2 * number + 3))


def test_parallel_branches_keep_their_prefixes(tmp_path: Path) -> None:
    """Branches begin alike and go on differently."""
    trunk = talk("trunk", 61)
    with opened(tmp_path, auto_recall=False) as memory:
        memory.prepare(trunk)
        for count in range(1, 31, 2):
            for name in ("left", "right"):
                branch = [*trunk, *(said(name, number + 1) for number in range(count + 1))]
                turn = memory.prepare(branch)
                assert turn.report.cache.stable_prefix > 0, (name, count)
                if count > 1 and not any(unit.is_new for unit in turn.report.trimmed):
                    assert turn.report.cache.first_changed is None, (name, count)


def test_states_of_several_conversations_outlast_a_restart(tmp_path: Path) -> None:
    sent: dict[str, str] = {}
    with opened(tmp_path, auto_recall=False) as memory:
        for name in ("agent", "subagent"):
            sent[name] = wire(memory.prepare(talk(name, 81)).messages)
    with opened(tmp_path, auto_recall=False) as memory:
        for name in ("agent", "subagent"):
            turn = memory.prepare(talk(name, 81))
            assert wire(turn.messages) == sent[name]
            assert turn.report.cache.first_changed is None
            assert turn.report.cache.stable_prefix == len(turn.messages)


def test_a_list_without_its_first_messages_is_the_same_conversation(tmp_path: Path) -> None:
    """A host with a sliding window of its own drops the oldest messages on each call."""
    messages = talk("agent", 60)
    with opened(tmp_path, auto_recall=False) as memory:
        memory.observe(5_000, turn=memory.prepare(messages[:21]))
        excess = memory.prepare(messages[:21]).report.tokens.excess
        for end in range(23, 60, 2):
            turn = memory.prepare(messages[end - 20 : end])
            assert turn.report.tokens.excess == excess
    states = json.loads((tmp_path / "sessions" / "s1.json").read_text())["conversations"]
    assert len(states) == 1


def test_an_edited_list_goes_on_from_a_copy(tmp_path: Path) -> None:
    """A person takes the last message back and asks something else: what was out stays out."""
    with opened(tmp_path, auto_recall=False) as memory:
        before = memory.prepare(talk("agent", 81))
        edited = [*talk("agent", 80), {"role": "user", "content": "Something else, please"}]
        turn = memory.prepare(edited)
        assert not any(unit.is_new for unit in turn.report.trimmed)
        assert turn.report.cache.stable_prefix == len(before.messages) - 1


def test_a_conversation_of_one_common_message_is_not_taken_for_another(tmp_path: Path) -> None:
    """Text common to every conversation does not identify one."""
    again = {"role": "user", "content": "Go on, please"}
    with opened(tmp_path, auto_recall=False) as memory:
        memory.prepare([*talk("agent", 80), again])
        turn = memory.prepare([*talk("other", 4), again])
        assert turn.report.cache.stable_prefix == 0
        longer = [*talk("agent", 80), again, said("agent", 81), said("agent", 82)]
        assert memory.prepare(longer).report.cache.first_changed is None


def test_more_conversations_than_are_remembered_are_reported_once(tmp_path: Path) -> None:
    with opened(tmp_path, auto_recall=False) as memory:
        told = [
            memory.prepare(talk(f"agent {number}", 3)).report.warnings for number in range(MOST + 3)
        ]
    assert sum(map(len, told)) == 1
    ((warning,),) = [each for each in told if each]
    assert "session_id" in warning
    states = json.loads((tmp_path / "sessions" / "s1.json").read_text())["conversations"]
    assert len(states) == MOST


def test_a_failed_archive_reverts_that_conversation_alone(tmp_path: Path) -> None:
    with opened(tmp_path, auto_recall=False) as memory:
        short = talk("agent", 3)
        memory.prepare(short)
        memory.store.close()
        assert memory.prepare(talk("subagent", 81)).report.trimmed
        failed = memory.prepare(talk("subagent", 81))
        assert failed.report.errors
        assert len(failed.messages) == 81
        turn = memory.prepare([*short, said("agent", 3), said("agent", 4)])
        assert turn.report.cache.stable_prefix == 3
