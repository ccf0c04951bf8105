"""`Backlog`: batches hold every message once, in order, within the limit, cut between units."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memctx.facts.worker.log import Log
from memctx.facts.worker.queue import Backlog, FailedBatch, Pending

from .sessions import SESSION, Session

messages = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "tool", "another session", "summary"]),
        st.integers(10, 400),
    ),
    max_size=40,
)


def archive(folder: Path, said: list[tuple[str, int]], start: int = 0) -> list[tuple[str, str]]:
    """Archive messages numbered from ``start`` on; return those to extract from. Duplicates are archived once."""
    here, there = Session(folder), Session(folder, "another session")
    wanted = []
    for number, (who, size) in enumerate(said, start):
        words = f"remark {number} ".ljust(size, "x")
        if who == "another session":
            there.add(words)
        elif who == "summary":
            here.add(words, role="assistant", metadata='{"kind":"summary"}')
        else:
            here.add(words, role=who)
            if who != "tool":
                wanted.append((who, words))
    here.close()
    there.close()
    return wanted


@settings(max_examples=25)
@given(messages, st.integers(50, 1000), st.integers(0, 40))
@example([("user", 10), ("user", 10)], 50, 1)
def test_batches_hold_every_message_once_in_order(
    said: list[tuple[str, int]], batch_chars: int, seen: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        first = archive(store, said[:seen])
        backlog = Backlog(Log(store, SESSION), batch_chars)
        backlog.pending(0)
        wanted = first + archive(store, said[seen:], seen)
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
            failed = FailedBatch(batch.start, batch.end, batch.segments, batch.last, 1, 0, "")
            assert backlog.take_again(failed) == batch
            read += joined.values()
            backlog.drop(batch)
            offset = batch.end
            left = wanted[len(read) :]
            assert backlog.pending(offset) == Pending(
                len(left), sum(len(words) for _, words in left)
            )
        assert read == wanted


def test_a_repeated_message_is_pending_once(tmp_path: Path) -> None:
    """Also if the store was closed in between; the same text of another role is another message."""
    said = [("user", 40), ("assistant", 40)]
    backlog = Backlog(Log(tmp_path, SESSION), 1_000)
    archive(tmp_path, said)
    archive(tmp_path, said)
    assert backlog.pending(0) == Pending(2, 80)
    archive(tmp_path, said[::-1])
    assert backlog.pending(0) == Pending(4, 160)


def test_a_batch_keeps_units_whole(session: Session) -> None:
    for number in range(6):
        session.add(f"question {number} ".ljust(60, "?"))
        session.add(f"answer {number} ".ljust(60, "!"), role="assistant")
    backlog = Backlog(Log(session.folder, SESSION), 300)
    batch = backlog.take(0)
    assert batch is not None
    assert [message.role for message in batch.parts[0]] == ["user", "assistant"] * 2
