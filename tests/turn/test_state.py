"""What a session remembers, and the file it is kept in."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import _core
from memctx.turn import saved
from memctx.turn.state import Block, State

if TYPE_CHECKING:
    from pathlib import Path

KEYS = st.integers(0, 2**64 - 1)
PLACES = st.tuples(KEYS, st.integers(0, 9))
TEXTS = st.text(max_size=20)
BLOCKS = st.builds(
    Block, TEXTS, st.integers(0, 4000), st.lists(TEXTS, max_size=3).map(tuple), st.none() | PLACES
)
STATES = st.builds(
    State,
    trimmed=st.dictionaries(
        KEYS, st.tuples(st.sampled_from(["relevance", "age"]), st.floats(0, 99)), max_size=4
    ),
    pruned=st.dictionaries(KEYS, st.sampled_from(["soft", "clear"]), max_size=4),
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
    bound=st.dictionaries(PLACES, KEYS, max_size=4),
    recalled_for=st.none() | PLACES,
    newest=st.none() | PLACES,
    sent=st.lists(KEYS, max_size=5).map(tuple),
    estimate=st.integers(0, 10**6),
    excess=st.integers(-(10**5), 10**5),
    touched=st.none() | st.floats(0, 2e9),
    model=st.none() | TEXTS,
)


@given(STATES)
def test_a_state_comes_back_as_it_was(state: State) -> None:
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state


TURNS = st.tuples(st.integers(0, 2), st.lists(KEYS, max_size=4), st.integers(0, 6))


@given(st.lists(STATES, min_size=1, max_size=3), st.lists(TURNS))
def test_what_stays_is_written_as_all_the_rest_is(
    states: list[State], turns: list[tuple[int, list[int], int]]
) -> None:
    """Each turn keeps some of what the last one sent, and of its blocks, and adds to both."""
    written, keys, blocks = saved.Written(), list[int](), tuple[Block, ...]()
    for number, more, kept in turns:
        state = states[number % len(states)]
        keys = [*keys[:kept], *more]
        blocks = (*blocks[:kept], *state.blocks)
        state = replace(state, sent=tuple(_core.chain(keys)), blocks=blocks)
        document = state.rest_to_json() | json.loads(f"{{{written.of(state)}}}")
        assert State.from_json(json.loads(json.dumps(document))) == state


def test_it_is_saved_for_the_owner_only_and_loaded_again(tmp_path: Path) -> None:
    state = State(trimmed={7: ("age", 0.5)}, sent=(1, 2))
    path = saved.path_of(tmp_path, "s1")
    saved.save(path, "s1", state)
    assert saved.load(path, "s1") == state
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [child.name for child in path.parent.iterdir()] == ["s1.json"]


@pytest.mark.parametrize(
    "session_id",
    ["../../etc/passwd", "..", ".", "a/b\\c", "nul\0", "x" * 3000, "会话 1", "A", "\ud800"],
)
def test_no_session_id_leaves_its_folder(tmp_path: Path, session_id: str) -> None:
    path = saved.path_of(tmp_path, session_id)
    assert path.parent == tmp_path / "sessions"
    assert path.resolve().parent == (tmp_path / "sessions").resolve()
    saved.save(path, session_id, State(sent=(1,)))
    assert saved.load(path, session_id).sent == (1,)


def test_long_ids_that_begin_alike_have_files_of_their_own(tmp_path: Path) -> None:
    assert saved.path_of(tmp_path, "x" * 3000) != saved.path_of(tmp_path, "x" * 3001)


def test_the_file_of_another_session_is_not_read(tmp_path: Path) -> None:
    """A file system that does not tell capitals apart gives two sessions one file."""
    path = saved.path_of(tmp_path, "A")
    saved.save(path, "A", State(sent=(1,)))
    assert saved.load(path, "a") == State()


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "null", '{"session":"s1"}', '{"session":"s1","version":99}', "\0\0"]
)
def test_a_damaged_file_is_reported_and_the_session_starts_anew(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = saved.path_of(tmp_path, "s1")
    path.parent.mkdir()
    path.write_text(damage)
    assert saved.load(path, "s1") == State()
    assert damage in {"[]", "null"} or str(path) in caplog.text


def test_what_the_provider_counts_beyond_us_is_kept() -> None:
    state = State(estimate=1000)
    assert state.observed(1500).excess == 500
    assert state.observed(900).excess == -100
    assert state.observed(1).excess == -500, "a count that far below is of another prompt"
