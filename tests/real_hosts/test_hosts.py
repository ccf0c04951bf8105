"""Each host with memory and without it: what the model is sent after a compaction, and in a second conversation.

Run by `make hosts`, which installs the hosts first; `HOSTS=folder` says where they are.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

from .hosts import HOSTS
from .install import PACKAGES, program
from .story import CODENAME, DECISION, Story, play

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.real_hosts, pytest.mark.timeout(1200)]

FOLDER = Path(os.environ.get("HOSTS") or Path(__file__).parents[2] / "target" / "hosts").absolute()


@dataclass(frozen=True)
class Played:
    """The story of a host, with memory and without it."""

    host: str
    memory: Story
    control: Story


@pytest.fixture(scope="module", params=list(HOSTS))
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    name: str = request.param
    found = program(FOLDER, name)
    if not found.is_file():
        pytest.skip(f"{PACKAGES[name]} is not in {FOLDER}; `make hosts` installs it")
    stories = [
        play(HOSTS[name], found, tmp_path_factory.mktemp(name), with_memory=with_memory)
        for with_memory in (True, False)
    ]
    return Played(name, *stories)


def test_fact_from_before_compaction_reaches_the_model_after_it(played: Played) -> None:
    assert CODENAME in played.memory.turns["ask"].sent()
    assert CODENAME not in played.control.turns["ask"].sent()


def test_second_conversation_is_told_what_the_first_decided(played: Played) -> None:
    told = played.memory.turns["begin"].sent()
    assert DECISION in told
    assert "[decision]" in told
    assert "- The last answer: Let me see." in told
    assert CODENAME in played.memory.turns["ask again"].sent()
    for turn in ("begin", "ask again"):
        assert DECISION not in played.control.turns[turn].sent()
        assert CODENAME not in played.control.turns[turn].sent()


def test_every_request_is_valid(played: Played) -> None:
    """Claude Code itself sends thinking from before a compaction once, and sends it again without."""
    assert played.memory.refused == played.control.refused
    if played.host == "claude-code":
        assert all("prefix_binding_mismatch" in each for each in played.control.refused)
    else:
        assert played.control.refused == []
    assert played.memory.errors == ""


def test_uninstall_restores_the_settings(played: Played) -> None:
    """The state that Claude Code keeps beside its settings is its own; no entry of memctx is left in it."""
    story = played.memory
    own = HOSTS[played.host].rewritten
    assert {name for name in story.installed if name not in own} != set()
    assert story.installed != story.before
    left = {name: data for name, data in story.after.items() if name not in own}
    assert left == {name: data for name, data in story.before.items() if name not in own}
    for name in own:
        assert "memctx" not in json.loads(story.after[name]).get("mcpServers", {})


def test_cost_of_a_prompt(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the time and the tokens that memory adds to each prompt."""
    memory, control = played.memory.turns, played.control.turns
    with capsys.disabled():
        print(f"\n{played.host}: prompt, seconds and tokens without memory, added by memory")
        for name, turn in memory.items():
            base = control[name]
            print(
                f"  {name:<10} {base.seconds:6.2f} s {turn.seconds - base.seconds:+6.2f} s"
                f" {base.tokens:7} {turn.tokens - base.tokens:+6}"
            )

        def added(of: Callable[[str], float]) -> float:
            return median(of(name) for name in memory)

        seconds = added(lambda name: memory[name].seconds - control[name].seconds)
        tokens = added(lambda name: memory[name].tokens - control[name].tokens)
        print(f"  median     {seconds:+.2f} s, {tokens:+.0f} tokens")
