"""Lines, heads and files of sessions."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

from memctx.postgres import Head, Line, StoredFile

if TYPE_CHECKING:
    import pytest

    from memctx.postgres import Row, Server
    from memctx.postgres.driver import Connection
    from memctx.postgres.keys import Identity
    from postgres.conftest import Space

HERE, THERE = uuid.uuid4(), uuid.uuid4()


def segment(number: int, session_id: str = "s1", content: str = "") -> Line:
    fields = {
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session_id} {number}")),
        "sessionId": session_id,
        "timestamp": 1_700_000_000_000 + number,
        "role": "user",
        "content": content or f"message {number}",
        "metadata": {"topics": ["api"]},
    }
    return Line.parse("segments", json.dumps(fields), hashes=lambda _text: [number, -number])


def test_lines_come_back_as_they_were(server: Server) -> None:
    lines = [segment(n) for n in range(3)]
    assert server.append("segments", lines, origin=HERE) == 3
    page = server.pull("s1", "segments", 0)
    assert [row.seq for row in page.rows] == [1, 2, 3]
    assert [row.line for row in page.rows] == [line.text for line in lines]
    assert not page.has_more


def test_lines_are_stored_once(server: Server) -> None:
    server.append("segments", [segment(1), segment(1), segment(2)], origin=HERE)
    assert server.append("segments", [segment(2), segment(3)], origin=THERE) == 1
    rows = server.pull("s1", "segments", 0).rows
    assert [row.line for row in rows] == [segment(n).text for n in (1, 2, 3)]


def test_facts_are_known_by_their_text(server: Server) -> None:
    states = [Line("s1", "f1", f'{{"id":"f1","n":{n}}}') for n in range(3)]
    server.append("facts", states, origin=HERE)
    server.append("facts", states[::-1], origin=THERE)
    assert [row.line for row in server.pull("s1", "facts", 0).rows] == [s.text for s in states]
    assert server.heads(["s1"])["s1"] == Head(0, 3, {}, erased=False)


def test_own_lines_come_without_their_text(server: Server) -> None:
    server.append("segments", [segment(1)], origin=HERE)
    server.append("segments", [segment(2)], origin=THERE)
    rows = server.pull("s1", "segments", 0, without=HERE).rows
    assert [(row.line is None, row.is_own) for row in rows] == [(True, True), (False, False)]


def test_pages_follow_each_other(server: Server) -> None:
    server.append("segments", [segment(n) for n in range(25)], origin=HERE)
    seen, after = [], 0
    while True:
        page = server.pull("s1", "segments", after, limit=10)
        seen += [row.seq for row in page.rows]
        after = seen[-1]
        if not page.has_more:
            break
    assert seen == list(range(1, 26))
    assert server.pull("s1", "segments", 25).rows == []


def test_pages_are_bounded_in_bytes(server: Server) -> None:
    big = [segment(n, content="x" * 3_000_000) for n in range(8)]
    server.append("segments", big, origin=HERE)
    page = server.pull("s1", "segments", 0)
    assert len(page.rows) == 6
    assert page.has_more
    assert len(server.pull("s1", "segments", 6).rows) == 2


def test_a_page_without_own_lines_skips_no_line_of_others(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memctx.postgres.log._PAGE_BYTES", 1_000)
    foreign = [segment(n, content="x" * 300) for n in range(8)]
    server.append("segments", foreign, origin=THERE)
    server.append("segments", [segment(8)], origin=HERE)
    found: list[Row] = []
    has_more = True
    while has_more:
        page = server.pull("s1", "segments", len(found), without=HERE)
        found += page.rows
        has_more = page.has_more
    assert [row.seq for row in found] == list(range(1, 10))
    assert [row.line for row in found] == [*(line.text for line in foreign), None]


def test_heads_of_many_sessions(server: Server) -> None:
    lines = [segment(n, f"s{n % 3}") for n in range(10)]
    server.append("segments", lines, origin=HERE)
    heads = server.heads(["s0", "s1", "s2", "unknown"])
    assert [heads[each].segments for each in heads] == [4, 3, 3, 0]
    found = server.sessions()
    assert [(each.session_id, each.segments) for each in found] == [("s0", 4), ("s1", 3), ("s2", 3)]
    assert server.sessions(after="s0", limit=1)[0].session_id == "s1"


def test_ids_that_are_no_uuids_are_kept(server: Server) -> None:
    text = '{"id":"turn 7","sessionId":"s1","role":"user","content":"x"}'
    for _ in range(2):
        server.append("segments", [Line.parse("segments", text)], origin=HERE)
    assert [row.line for row in server.pull("s1", "segments", 0).rows] == [text]


def test_foreign_text_comes_back_exactly(server: Server) -> None:
    content = "支付 'quote' \"double\" {brace} \\ % %s \u2028 🦊 \x7f"
    line = segment(1, "sess'ion {1} 会话", content)
    server.append("segments", [line], origin=HERE)
    assert server.pull("sess'ion {1} 会话", "segments", 0).rows[0].line == line.text


def test_files_have_versions(server: Server) -> None:
    assert server.read_file("s1", "state") is None
    assert server.write_file("s1", "state", b"one", expected=0) == 1
    assert server.write_file("s1", "state", b"two", expected=0) is None
    assert server.write_file("s1", "state", b"two\0\xff", expected=1) == 2
    assert server.read_file("s1", "state") == StoredFile(2, b"two\0\xff")
    assert server.heads(["s1"])["s1"].files == {"state": 2}


def test_a_repeated_write_of_a_file_is_no_conflict(server: Server) -> None:
    assert server.write_file("s1", "state", b"one", expected=0) == 1
    assert server.write_file("s1", "state", b"one", expected=0) == 1
    assert server.write_file("s1", "state", b"two", expected=1) == 2
    assert server.write_file("s1", "state", b"two", expected=1) == 2


def test_notifications_name_the_sessions(space: Space) -> None:
    writer, follower = space.server(), space.server()
    assert follower.listen(5) == {"*"}, "whatever came before may have been missed"
    assert follower.listen(0) == set()
    writer.append("segments", [segment(1, "s1"), segment(1, "s2")], origin=HERE)
    assert follower.listen(5) == {"s1", "s2"}
    writer.append("segments", [segment(1, "s1")], origin=HERE)
    assert follower.listen(0.2) == set(), "nothing new"
    writer.append("segments", [segment(n, f"session {n:0100}") for n in range(200)], origin=HERE)
    assert follower.listen(5) == {"*"}
    writer.write_file("s9", "state", b"", expected=0)
    assert follower.listen(5) == {"s9"}


def test_a_notification_that_memctx_did_not_send_stands_for_all_sessions(space: Space) -> None:
    follower, sender = space.server(), space.server()
    follower.listen(5)
    for text in ("[" * 7_000, '{"a": 1}', "no JSON"):

        def notify(connection: Connection, found: Identity, text: str = text) -> None:
            connection.execute("SELECT pg_notify(%s, %s)", [found.channel, text])

        sender._run("notify", notify)  # noqa: SLF001 - no method sends such a one
        assert follower.listen(5) == {"*"}
