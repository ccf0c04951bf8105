"""Batches: every message once and in order, none too large, cut where a unit begins."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memctx.extraction.backlog import Backlog, Pending
from memctx.extraction.cursor import Trouble
from memctx.extraction.log import Log

from .places import SESSION, Place

messages = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "tool", "another session", "summary"]),
        st.integers(10, 400),
    ),
    max_size=40,
)


def told(folder: Path, said: list[tuple[str, int]], start: int = 0) -> list[tuple[str, str]]:
    """Archive it, numbered from ``start`` on: what is said twice is archived once. What is to be extracted from."""
    here, there = Place(folder), Place(folder, "another session")
    wanted = []
    for number, (who, size) in enumerate(said, start):
        words = f"remark {number} ".ljust(size, "x")
        if who == "another session":
            there.tell(words)
        elif who == "summary":
            here.tell(words, role="assistant", metadata='{"kind":"summary"}')
        else:
            here.tell(words, role=who)
            if who != "tool":
                wanted.append((who, words))
    here.close()
    there.close()
    return wanted


@settings(max_examples=25)
@given(messages, st.integers(50, 1000), st.integers(0, 40))
@example([("user", 10), ("user", 10)], 50, 1)
def test_batches_are_all_that_was_said_in_order(
    said: list[tuple[str, int]], batch_chars: int, seen: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        first = told(store, said[:seen])
        backlog = Backlog(Log(store, SESSION), batch_chars)
        backlog.pending(0)
        wanted = first + told(store, said[seen:], seen)
        pending = backlog.pending(0)
        assert pending == Pending(len(wanted), sum(len(words) for _, words in wanted))
        read: list[tuple[str, str]] = []
        offset = 0
        while batch := backlog.take(offset):
            joined: dict[str, tuple[str, str]] = {}
            for part in batch.parts:
                assert sum(len(message.text) for message in part) <= batch_chars
                for message in part:
                    before = joined.get(message.segment, ("", ""))[1]
                    joined[message.segment] = (message.role, before + message.text)
            assert len(batch.parts) == 1 or any(
                len(words) > batch_chars for _, words in joined.values()
            )
            assert batch.pending.messages == len(joined)
            trouble = Trouble(batch.start, batch.end, batch.segments, batch.last, 1, 0, "")
            assert backlog.taken(trouble) == batch
            read += joined.values()
            backlog.drop(batch)
            offset = batch.end
            left = wanted[len(read) :]
            assert backlog.pending(offset) == Pending(
                len(left), sum(len(words) for _, words in left)
            )
        assert read == wanted


def test_what_was_said_before_waits_once(tmp_path: Path) -> None:
    """Also if the store was closed in between; another role says it for itself."""
    said = [("user", 40), ("assistant", 40)]
    backlog = Backlog(Log(tmp_path, SESSION), 1_000)
    told(tmp_path, said)
    told(tmp_path, said)
    assert backlog.pending(0) == Pending(2, 80)
    told(tmp_path, said[::-1])
    assert backlog.pending(0) == Pending(4, 160)


def test_a_unit_stays_whole_where_it_can(place: Place) -> None:
    for number in range(6):
        place.tell(f"question {number} ".ljust(60, "?"))
        place.tell(f"answer {number} ".ljust(60, "!"), role="assistant")
    backlog = Backlog(Log(place.folder, SESSION), 300)
    batch = backlog.take(0)
    assert batch is not None
    assert [message.role for message in batch.parts[0]] == ["user", "assistant"] * 2
