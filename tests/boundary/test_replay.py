from __future__ import annotations

from array import array

import pytest

from memctx import _core
from memctx.errors import ConfigError

MESSAGES = [{"role": "user", "content": f"question {number}"} for number in range(12)]


def test_removed_units_stay_removed_while_messages_come() -> None:
    reader, replay = _core.MessageReader(), _core.Replay()
    messages = MESSAGES[:8]
    gone = [reader.read(messages).unit_keys[place] for place in (2, 3)]
    for more in ([], MESSAGES[8:9], MESSAGES[9:]):
        messages += more
        trim, kept, places = replay.of(reader.read(messages), array("Q", gone), protected_recent=2)
        assert (len(trim), trim.removed_messages, trim.recognized) == (2, [2, 3], 2)
        assert list(places) == [place for place in range(len(messages)) if place not in {2, 3}]
        left = _core.items_at(messages, places)
        assert all(message is messages[place] for message, place in zip(left, places, strict=True))
        assert kept.keys == _core.MessageReader().read(left).keys
        assert kept.tokens == trim.tokens_after


def test_other_keys_and_pins_start_over() -> None:
    conversation, replay = _core.MessageReader().read(MESSAGES), _core.Replay()
    keys = conversation.unit_keys
    assert replay.of(conversation, keys[1:3])[0].removed_messages == [1, 2]
    assert replay.of(conversation, keys[2:4])[0].removed_messages == [2, 3]
    assert replay.of(conversation, keys[2:4], pinned=[2])[0].removed_messages == [3]
    assert replay.of(conversation, [])[0].removed_messages == []


def test_invalid_indices_are_refused() -> None:
    conversation = _core.MessageReader().read(MESSAGES)
    with pytest.raises(ConfigError, match="index 12 is no message"):
        _core.Replay().of(conversation, [], pinned=[12])
    with pytest.raises(ConfigError, match="protected_recent must be 0 or more, not -1"):
        _core.Replay().of(conversation, [], protected_recent=-1)
    for places in ([12], [-1], array("i", [0, 12])):
        with pytest.raises(IndexError):
            _core.items_at(MESSAGES, places)
    assert _core.items_at(("a", "b"), [1, 0, 1]) == ["b", "a", "b"]
