"""Recalled blocks by identity: what this session sent is ours, text that reads like a block is the person's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx import _core

from .pieces import all_pieces, blocks
from .rendering import Rendering
from .script import Assistant, User

if TYPE_CHECKING:
    from .script import FormatName

FORMATS = ("anthropic", "openai", "responses", "gemini", "bedrock", "pi")
QUOTED = _core.build_block(
    [("config", "port 3000", 1.0)],
    [("id1", 1_767_600_000_000.0, "user", "The webhook has port 8443", 0, 25, 1.0)],
    cap=400,
).text
ASKED = "Which port has the payment webhook of the shop?"


def opened(path: Path, **settings: Any) -> memctx.Memory:
    defaults: dict[str, Any] = {
        "session_id": "s1",
        "context_window": 20_000,
        "recall": {"min_score": 0.0},
    }
    return memctx.open(path, **(defaults | settings))


def stocked(path: Path, **settings: Any) -> memctx.Memory:
    memory = opened(path, **settings)
    memory.archive(
        [{"role": "user", "content": "The payment webhook of the shop listens on port 8443"}]
    )
    return memory


def contents(memory: memctx.Memory) -> list[str]:
    return [segment.content for segment in memory.store.segments()]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", [QUOTED, f"\n{QUOTED}\n"], ids=["exact", "spaced"])
def test_a_quoted_block_is_sent_and_archived_as_the_persons(
    format: FormatName, text: str, tmp_path: Path
) -> None:
    """At the start, in between, beside other text and at the end; in sight it is not altered by one byte."""
    quote, answer, asked = User((text,)), Assistant(("I see.",)), User(("What does that mean?",))
    for number, script in enumerate(
        [
            (quote, answer, asked),
            (asked, answer, quote, answer, asked),
            (asked, answer, quote),
            (User((text, "What does that mean?")), answer, asked),
        ]
    ):
        messages = Rendering(script, format).whole()
        with opened(tmp_path / str(number)) as memory:
            turn = memory.prepare(messages, format=format)
            assert turn.messages == messages
            assert ("text", text) in all_pieces(turn.messages)
            memory.archive(messages, format=format)
            assert any("port 3000" in content for content in contents(memory))


def test_a_quoted_block_is_the_query_and_may_be_trimmed(tmp_path: Path) -> None:
    chatter = [
        {"role": "assistant" if number % 2 else "user", "content": f"chatter {number} " * 60}
        for number in range(80)
    ]
    with opened(tmp_path, context_window=4_000) as memory:
        assert "3000" in memory.prepare([{"role": "user", "content": QUOTED}]).report.query
        first = [*chatter[:2], {"role": "user", "content": QUOTED + " " * 40}, *chatter[3:]]
        turn = memory.prepare([*first, {"role": "user", "content": "Go on"}])
        gone = {index for unit in turn.report.trimmed for index in unit.indices}
        memory.search("wait until all is stored")
        assert 2 not in gone or any("port 3000" in content for content in contents(memory))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("placement", ["stable", "head", "tail"])
def test_blocks_that_come_back_are_ours(format: FormatName, placement: str, tmp_path: Path) -> None:
    """A host that keeps what was sent gets each block sent once, in this process and after a restart."""
    history: list[Any] = []
    for step, question in enumerate([ASKED, "And what is the port of the shop again?", "Sure?"]):
        with stocked(tmp_path, placement=placement) as memory:
            asked = Rendering((User((question,)),), format).whole()
            turn = memory.prepare([*history, *asked], format=format)
            assert len(blocks(turn.messages)) == len(set(blocks(turn.messages)))
            assert step or blocks(turn.messages), "nothing was recalled"
            memory.archive(turn.messages, format=format)
            assert not any("recalled-context" in content for content in contents(memory))
            again = memory.prepare(turn.messages, format=format)
            assert len(blocks(again.messages)) <= max(len(blocks(turn.messages)), 1)
            history = [*turn.messages, *Rendering((Assistant(("8443.",)),), format).whole()]


def test_a_block_is_ours_in_the_session_that_sent_it(tmp_path: Path) -> None:
    with stocked(tmp_path) as memory:
        (block,) = blocks(memory.prepare([{"role": "user", "content": ASKED}]).messages)
    pasted = [
        {"role": "user", "content": block},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "Why?"},
    ]
    with opened(tmp_path, session_id="s2") as other:
        assert other.prepare(pasted, format="openai").messages[0] is pasted[0]
    with opened(tmp_path) as memory:
        turn = memory.prepare(pasted, format="openai")
        assert pasted[0] not in turn.messages[1:]
        assert memory.archive(pasted[:1]).added == 0


CHILD = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from context.test_own_blocks import ASKED, opened
from context.pieces import blocks
memory = opened(Path(sys.argv[2]))
print(json.dumps(blocks(memory.prepare([{"role": "user", "content": ASKED}]).messages)), flush=True)
import os
os._exit(9)
"""


def test_a_block_of_a_process_that_died_is_ours(tmp_path: Path) -> None:
    """And in a process that was there before, and had read the block as a person's text."""
    with stocked(tmp_path) as memory:
        memory.prepare([{"role": "user", "content": "Good morning"}])
        tests = str(Path(__file__).parents[1])
        ours = str(Path(memctx.__file__).parents[1])
        child = subprocess.run(
            [sys.executable, "-c", CHILD, tests, str(tmp_path)],
            env={"PATH": "", "PYTHONPATH": ours},
            capture_output=True,
            text=True,
            check=False,
        )
        assert child.returncode == 9, child.stderr
        (block,) = json.loads(child.stdout)
        history = [
            {"role": "user", "content": block},
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": "8443"},
            {"role": "user", "content": "Thanks"},
        ]
        turn = memory.prepare(history, format="openai")
        assert blocks(turn.messages).count(block) <= 1
        assert memory.archive(history[:1]).added == 0


def test_a_block_that_was_read_before_it_was_known_is_recognized(tmp_path: Path) -> None:
    """Another process sends a block whose text this one has read as a person's."""
    with stocked(tmp_path) as memory, opened(tmp_path / "away") as other:
        other.archive([{"role": "user", "content": "unrelated"}])
        history = [
            {"role": "user", "content": QUOTED},
            {"role": "assistant", "content": "I see."},
            {"role": "user", "content": "Thanks"},
        ]
        assert memory.prepare(history, format="openai").messages[0] is history[0]
        path = tmp_path / "sessions" / "s1.blocks"
        path.parent.mkdir(
            mode=0o700, exist_ok=True
        )  # this process may not have saved its state yet
        with path.open("a") as file:
            file.write(f"{_core.text_key(QUOTED):016x}\n")
        turn = memory.prepare(history, format="openai")
        assert history[0] not in turn.messages


@pytest.mark.parametrize("damage", [b"", b"zz\n", b"\0" * 40, b"0123", b"\n\n0123456789abcdef"])
def test_a_damaged_file_of_blocks_costs_no_turn(damage: bytes, tmp_path: Path) -> None:
    with stocked(tmp_path) as memory:
        memory.prepare([{"role": "user", "content": ASKED}])
    path = tmp_path / "sessions" / "s1.blocks"
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(damage)
    with opened(tmp_path) as memory:
        turn = memory.prepare([{"role": "user", "content": ASKED}])
        assert not turn.report.errors
        (block,) = blocks(turn.messages)
        assert memory.archive([{"role": "user", "content": block}]).added == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_pipe_or_a_link_in_place_of_the_file_neither_hangs_nor_is_followed(
    kind: str, tmp_path: Path
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir(mode=0o700)
    target = tmp_path / "target"
    if kind == "pipe":
        os.mkfifo(folder / "s1.blocks")
    else:
        target.write_text("mine")
        (folder / "s1.blocks").symlink_to(target)
    with stocked(tmp_path) as memory:
        turn = memory.prepare([{"role": "user", "content": ASKED}])
        assert not turn.report.errors
        assert blocks(turn.messages)
    assert kind == "pipe" or target.read_text() == "mine"


def test_a_quoted_block_is_the_latest_ask_of_a_compaction(tmp_path: Path) -> None:
    """It stays in sight behind the summary, as whatever a person asked last does."""
    chatter = [
        {"role": "assistant" if number % 2 else "user", "content": f"chatter {number} " * 60}
        for number in range(9)
    ]
    said = [*chatter, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": QUOTED}]
    working = [
        {"role": "assistant", "content": f"Still reading, part {number}. " * 60}
        for number in range(4)
    ]
    with opened(tmp_path, context_window=8_000, compaction={"keep_recent_tokens": 300}) as memory:
        compacted = memory.compact_sync([*said, *working], format="openai")
    assert compacted.did_compact
    assert "port 3000" in compacted.summary
