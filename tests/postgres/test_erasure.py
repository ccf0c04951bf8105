"""Erasure, retention and upkeep."""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memctx.errors import ServerError
from memctx.postgres import Erased, Line
from memctx.postgres import log as logs
from memctx.postgres.driver import Connection
from postgres.cluster import files, rows
from postgres.conftest import close, make_space

if TYPE_CHECKING:
    from memctx.postgres import Server
    from memctx.postgres.keys import Identity
    from postgres.conftest import Database, Space

ORIGIN = uuid.uuid4()
CANARY = "kingfisher-93b1"
HASH = 0x1122334455667788
MARK = 0x7A6B5C4D3E2F1A0B
"""Hash of a word that only an erased segment has."""
DIM = 8


def line(number: int, session_id: str, content: str = "text", at: float = 0.0) -> Line:
    id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session_id} {number}"))  # noqa: A001 - as in the log
    fields = {"id": id, "sessionId": session_id, "role": "user", "content": f"{content} {number}"}
    return Line(session_id, id, json.dumps(fields), "user", at, (), [HASH, number])


def fill(server: Server, session_id: str, content: str) -> int:
    lines = [line(n, session_id, content) for n in range(20)]
    server.append("segments", lines, origin=ORIGIN)
    server.append("facts", [Line(session_id, "f", json.dumps({"id": content}))], origin=ORIGIN)
    server.write_file(session_id, "state", content.encode(), expected=0)
    model = server.register_model("test", "1", DIM)
    server.put_vectors(model, [(session_id, each.id, np.ones(DIM)) for each in lines])
    return model


def test_an_erased_session_is_gone(space: Space) -> None:
    server = space.server()
    model = fill(server, "gone", CANARY)
    fill(server, "kept", "else")
    assert server.erase("gone") == Erased(20, 1, 1, 20)
    assert server.heads(["gone"])["gone"] == (0, 0, {}, True)
    assert server.pull("gone", "segments", 0).rows == []
    assert server.read_file("gone", "state") is None
    assert [each.session_id for each in server.sessions()] == ["kept"]
    found = server.candidates(terms=[HASH], vector=np.ones(DIM), model=model, deadline=5)
    assert {each.session_id for each in found} == {"kept"}
    assert len(server.pull("kept", "segments", 0).rows) == 20
    assert server.erase("gone") == Erased(0, 0, 0, 0)


def test_late_lines_of_an_erased_session_are_dropped(space: Space) -> None:
    server = space.server()
    model = fill(server, "gone", "text")
    server.erase("gone")
    late = line(99, "gone")
    assert server.append("segments", [late, line(1, "other")], origin=ORIGIN) == 1
    assert server.append("facts", [Line("gone", "f", '{"id":"f"}')], origin=ORIGIN) == 0
    assert server.write_file("gone", "state", b"x", expected=0) is None
    server.put_vectors(model, [("gone", late.id, np.ones(DIM))])
    assert server.heads(["gone"])["gone"] == (0, 0, {}, True)
    assert server.claim(owner="me", lease=9, limit=9)[0].session_id == "other"


def test_tombstones_are_numbered(space: Space) -> None:
    server = space.server()
    for name in ("one", "two", "never seen"):
        server.erase(name)
    found = server.erasures()
    assert [each.number for each in found] == [1, 2, 3]
    assert [each.key for each in found] == [
        server.session_key(each) for each in ("one", "two", "never seen")
    ]
    assert [each.number for each in server.erasures(2)] == [3]


def test_followers_hear_of_an_erasure(space: Space) -> None:
    server, follower = space.server(), space.server()
    follower.listen(5)
    server.erase("gone")
    assert follower.listen(5) == {"gone"}


def test_the_files_of_the_server_hold_nothing_erased(own_database: Database) -> None:
    """Neither texts nor hashes are in any file of a table or an index after the tables were written again."""
    space = make_space(own_database)
    cluster = own_database.host.cluster
    if cluster is None:
        pytest.skip("the files of the server are not here")
    server = space.server()
    fill(server, f"name {CANARY}", CANARY)
    fill(server, "kept", "pelican-77aa")
    large = line(
        1_000, f"name {CANARY}", f"{CANARY} {np.random.default_rng(1).bytes(30_000).hex()}"
    )
    server.append("segments", [large._replace(terms=[MARK])], origin=ORIGIN)
    rows(own_database.superuser_dsn, "CHECKPOINT")
    ((database,),) = rows(
        own_database.superuser_dsn, "SELECT oid FROM pg_database WHERE datname = current_database()"
    )
    needles = [
        CANARY.encode(),
        MARK.to_bytes(8, "little"),
        *(large.text[k : k + 40].encode() for k in (400, 30_000)),
    ]

    def found() -> list[bytes]:
        contents = [body for _, body in files(cluster.data, database)]
        assert any(b"pelican-77aa" in body for body in contents)
        return [needle for needle in needles if any(needle in body for body in contents)]

    assert needles[:2] == found()[:2]
    server.erase(f"name {CANARY}")
    own_database.admin.gc(rewrite=True)
    rows(own_database.superuser_dsn, "CHECKPOINT")
    assert found() == []
    assert server.verify().problems == []
    assert len(server.candidates(terms=[HASH], deadline=5)) == 20
    close(space)


def test_old_segments_are_deleted(own_database: Database) -> None:
    space = make_space(own_database)
    server = space.server()
    now = time.time() * 1_000
    ages = [line(n, "s1", at=now - n * 86_400_000) for n in range(10)]
    server.append("segments", ages, origin=ORIGIN)
    model = server.register_model("test", "1", DIM)
    server.put_vectors(model, [("s1", each.id, np.ones(DIM)) for each in ages])
    assert own_database.admin.gc(older_than_days=4.5) == {"segments": 5, "vectors": 5, "orphans": 0}
    assert [row.seq for row in server.pull("s1", "segments", 0).rows] == [1, 2, 3, 4, 5]
    server.append("segments", [line(50, "s1", at=now)], origin=ORIGIN)
    assert server.pull("s1", "segments", 5).rows[0].seq == 11, "numbers are not used again"
    assert server.verify().problems == []
    other = make_space(own_database)
    assert own_database.admin.gc(older_than_days=0, namespace=other.name)["segments"] == 0
    close(space)


def test_wrong_rows_are_found(own_database: Database) -> None:
    space = make_space(own_database)
    server = space.server()
    fill(server, "s1", "text")
    assert server.verify() == type(server.verify())(1, 20, 1, [])
    superuser = own_database.superuser_dsn
    rows(superuser, "UPDATE memctx.segments SET line = line || ' ' WHERE seq = 3")
    rows(superuser, "UPDATE memctx.facts SET line = 'x' WHERE seq = 1")
    rows(superuser, "DELETE FROM memctx.terms WHERE seq = 5")
    rows(superuser, "UPDATE memctx.sessions SET segments = 19")
    problems = server.verify().problems
    assert problems == [
        "session 's1', segment 3: the line has another SHA-256 than when it was stored",
        "session 's1', fact 1: the line has another SHA-256 than when it was stored",
        "session 's1': segment 20 lies behind the head of its log",
        "session 's1', segment 5: no entry in the text index",
    ]
    close(space)


def test_figures_of_a_namespace(space: Space) -> None:
    server = space.server()
    fill(server, "s1", "text")
    found = server.stats()
    assert (found["sessions"], found["segments"], found["facts"]) == (1, 20, 1)
    assert found["queue"]["segments"] == 20
    assert found["table_bytes"]["segments"] > 0
    assert 0 < found["latency_ms"]["p50"] <= found["latency_ms"]["p99"]


def test_figures_of_a_server(space: Space) -> None:
    fill(space.server(), "s1", "text")
    found = space.database.admin.status()
    assert found["namespaces"][space.name]["segments"] == 20
    assert found["namespaces"][space.name]["queued"] == 20
    assert found["schema"] == 1
    assert found["postgresql"]
    assert found["pgvector"]
    assert found["table_bytes"]["vectors"] > 0


def test_a_dropped_namespace_leaves_nothing(own_database: Database) -> None:
    space, other = make_space(own_database), make_space(own_database)
    fill(space.server(), "s1", CANARY)
    fill(other.server(), "s1", "else")
    own_database.admin.drop_namespace(space.name)
    with pytest.raises(ServerError, match="does not exist"):
        space.server().heads(["s1"])
    for table in ("sessions", "segments", "facts", "terms", "files", "models", "vectors", "queue"):
        found = rows(own_database.superuser_dsn, f"SELECT DISTINCT namespace FROM memctx.{table}")  # noqa: S608
        assert len(found) == 1, table
    assert set(own_database.admin.namespaces()) == {other.name}
    close(space)
    close(other)


def test_a_namespace_dropped_during_an_append_leaves_nothing(own_database: Database) -> None:
    space = make_space(own_database)
    server = space.server()
    fill(server, "s1", "else")
    late = line(77, "s2", CANARY)
    with ThreadPoolExecutor(1) as pool, Connection.connect(space.dsn) as connection:

        def append(given: Connection, identity: Identity) -> int:
            return logs.append(given, identity, "segments", [late], ORIGIN)

        # Of the server's internals, since a call of it commits at once.
        assert server._run("append", lambda _, identity: append(connection, identity)) == 1  # noqa: SLF001 - no method waits in between
        drop = pool.submit(own_database.admin.drop_namespace, space.name)
        time.sleep(0.5)
        connection.commit()
        drop.result()
    for table in ("sessions", "segments", "facts", "terms", "files", "models", "vectors", "queue"):
        found = rows(own_database.superuser_dsn, f"SELECT namespace FROM memctx.{table}")  # noqa: S608 - our tables
        assert found == [], table
    with pytest.raises(ServerError):
        server.append("segments", [late], origin=ORIGIN)
    close(space)


def test_an_administrator_erases_a_session(space: Space) -> None:
    server = space.server()
    fill(server, "s1", "text")
    assert space.database.admin.erase(space.name, "s1").segments == 20
    assert server.heads(["s1"])["s1"].erased
