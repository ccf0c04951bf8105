"""The state of a session, and its file."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx import _core
from memctx.context import state_writer
from memctx.context.state import Block, State

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
    id=st.integers(1, 99),
    head=st.none() | KEYS,
    tail=st.lists(KEYS, max_size=4).map(tuple),
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
def test_cached_json_of_a_state_equals_fresh_json(
    states: list[State], turns: list[tuple[int, list[int], int]]
) -> None:
    """Each turn keeps some of what the last one sent, and of its blocks, and adds to both."""
    written, keys, blocks = state_writer.StateJson(), list[int](), tuple[Block, ...]()
    for number, more, kept in turns:
        state = states[number % len(states)]
        keys = [*keys[:kept], *more]
        blocks = (*blocks[:kept], *state.blocks)
        state = replace(state, sent=tuple(_core.chain(keys)), blocks=blocks)
        document = state.rest_to_json() | json.loads(f"{{{written.encode_large(state)}}}")
        assert State.from_json(json.loads(json.dumps(document))) == state


def test_a_state_file_is_private_and_loads_again(tmp_path: Path) -> None:
    state = State(trimmed={7: ("age", 0.5)}, sent=(1, 2))
    path = state_writer.path_of(tmp_path, "s1")
    state_writer.save(path, "s1", (state, State(id=2)))
    assert state_writer.load(path, "s1") == (state, State(id=2))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [child.name for child in path.parent.iterdir()] == ["s1.json"]


@pytest.mark.parametrize(
    "session_id",
    ["../../etc/passwd", "..", ".", "a/b\\c", "nul\0", "x" * 3000, "会话 1", "A", "\ud800"],
)
def test_no_session_id_leaves_its_folder(tmp_path: Path, session_id: str) -> None:
    path = state_writer.path_of(tmp_path, session_id)
    assert path.parent == tmp_path / "sessions"
    assert path.resolve().parent == (tmp_path / "sessions").resolve()
    state_writer.save(path, session_id, (State(sent=(1,)),))
    assert state_writer.load(path, session_id)[0].sent == (1,)


def test_long_ids_that_begin_alike_have_files_of_their_own(tmp_path: Path) -> None:
    assert state_writer.path_of(tmp_path, "x" * 3000) != state_writer.path_of(tmp_path, "x" * 3001)


def test_the_file_of_another_session_is_not_read(tmp_path: Path) -> None:
    """A file system that does not tell capitals apart gives two sessions one file."""
    path = state_writer.path_of(tmp_path, "A")
    state_writer.save(path, "A", (State(sent=(1,)),))
    assert state_writer.load(path, "a") == ()


@given(STATES)
def test_the_state_of_a_session_of_one_conversation_is_still_read(state: State) -> None:
    with TemporaryDirectory() as folder:
        path = state_writer.path_of(folder, "s1")
        path.parent.mkdir()
        document = {"session": "s1", "version": 1, **state.to_json()}
        for name in ("id", "head", "tail"):
            del document[name]
        path.write_text(json.dumps(document))
        assert state_writer.load(path, "s1") == (replace(state, id=1, head=None, tail=()),)


@given(st.lists(st.lists(STATES, max_size=3, unique_by=lambda state: state.id), max_size=4))
@pytest.mark.slow
def test_the_states_of_a_session_come_back_as_they_were(turns: list[list[State]]) -> None:
    written = state_writer.StatesJson()
    with TemporaryDirectory() as folder:
        path = state_writer.path_of(folder, "s1")
        for states in turns:
            state_writer.save(path, "s1", tuple(states), written)
            assert state_writer.load(path, "s1") == tuple(states)


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "null",
        '{"session":"s1"}',
        '{"session":"s1","version":99}',
        '{"session":"s1","version":2}',
        '{"session":"s1","version":2,"conversations":[7]}',
        '{"session":"s1","version":2,"conversations":[{}]}',
        "\0\0",
    ],
)
def test_a_damaged_state_file_is_reported_and_the_session_starts_over(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = state_writer.path_of(tmp_path, "s1")
    path.parent.mkdir()
    path.write_text(damage)
    assert state_writer.load(path, "s1") == ()
    assert damage in {"[]", "null"} or str(path) in caplog.text
