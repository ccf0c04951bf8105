"""Sessions, turn by turn, in every format: not one request that a provider would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from . import invariants, memories, transcripts
from .pieces import blocks
from .rendering import Rendering
from .script import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memctx.context import Turn

    from .script import FormatName

SESSIONS = transcripts.NAMES
WINDOW = {"swe": 8_000, "pi": 60_000, "needles": 44_000}


def play(
    path: Path, turns: Iterable[list[Any]], format: FormatName, window: int, **settings: Any
) -> dict[str, int]:
    """Prepare every turn, hold it to the invariants that cost little, and count."""
    counts = {"turns": 0, "trims": 0, "recalls": 0}
    last: tuple[list[Any], Turn] | None = None
    with memories.opened(path, window, trim={"reply_reserve_tokens": 2_000}, **settings) as memory:
        for messages in turns:
            turn = memory.prepare(messages, format=format)
            invariants.memory_did_not_fail(turn)
            invariants.is_valid(turn, format)
            invariants.recalled_text_stays_under_its_cap(turn, memory)
            invariants.blocks_are_closed_once(turn)
            counts["turns"] += 1
            counts["trims"] += any(unit.is_new for unit in turn.report.trimmed)
            counts["recalls"] += bool(blocks(turn.messages))
            last = (messages, turn)
        assert last is not None, "there are no turns"
        invariants.check_turn(*last, memory, format)
    return counts


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", SESSIONS)
def test_no_turn_is_refused(data: Path, name: str, format: FormatName, tmp_path: Path) -> None:
    """Every call of the short runs, every thirtieth of the long ones."""
    rendering = Rendering(transcripts.load(data, name), format)
    family = name.partition(":")[0]
    stride = 1 if family == "swe" else 30
    counts = play(tmp_path / "memory", rendering.turns(stride), format, WINDOW[family])
    assert counts["turns"] >= 10
    assert counts["trims"] >= 1
    # A run of one task has nothing to ask memory for once its own words are all that was said.
    assert family == "swe" or counts["recalls"] >= 1


@pytest.mark.replay
@pytest.mark.timeout(900)
@pytest.mark.parametrize("placement", ["stable", "head", "tail"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", SESSIONS)
def test_no_turn_is_refused_in_full(
    data: Path, name: str, format: FormatName, placement: str, tmp_path: Path
) -> None:
    """Every call of every session, wherever recalled text is put."""
    rendering = Rendering(transcripts.load(data, name), format)
    window = WINDOW[name.partition(":")[0]]
    counts = play(tmp_path / "memory", rendering.turns(), format, window, placement=placement)
    assert counts["trims"] >= 1


@pytest.mark.parametrize("format", FORMATS)
def test_a_host_that_compacts_itself_is_followed(
    data: Path, format: FormatName, tmp_path: Path
) -> None:
    """Earlier messages are suddenly a summary; no turn is refused, and the summary is never trimmed."""
    turns = [
        messages
        for script in transcripts.compacted(data, "before-compaction")
        for messages in Rendering(script, format).turns(stride=40)
    ]
    counts = play(tmp_path / "memory", turns, format, 60_000)
    assert counts["turns"] >= 10


@pytest.mark.parametrize("format", FORMATS)
def test_a_restart_before_every_turn_changes_no_byte(
    data: Path, format: FormatName, tmp_path: Path
) -> None:
    """By hashing: vectors that are made in the background are ready sooner or later in another run."""
    script = transcripts.load(data, f"swe:{transcripts.SWE[2]}")
    turns = list(Rendering(script, format).turns())
    with memories.opened(tmp_path / "through", 8_000, embedding_model="hash") as memory:
        through = [
            invariants.timeless(memory.prepare(turn, format=format).messages) for turn in turns
        ]
    restarted = []
    for turn in turns:
        with memories.opened(tmp_path / "restarted", 8_000, embedding_model="hash") as memory:
            restarted.append(invariants.timeless(memory.prepare(turn, format=format).messages))
    assert restarted == through
