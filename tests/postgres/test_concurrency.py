"""Several hosts at once: order of commits, exactly once, leases, killed backends, a server that stops."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest

from memctx.errors import ConfigError, LateError, ServerUnavailableError
from memctx.postgres import Administration, Line, Server
from postgres.cluster import Cluster, rows
from postgres.conftest import Database, Host, close, make_space

if TYPE_CHECKING:
    from postgres.conftest import Space


def line(name: str, session_id: str = "s1") -> Line:
    id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session_id} {name}"))  # noqa: A001 - as in the log
    text = json.dumps({"id": id, "sessionId": session_id, "content": name})
    return Line(session_id, id, text, "user", 0.0, (), [1])


def follow(server: Server, session_id: str, stop: threading.Event) -> list[tuple[int, str]]:
    """Poll a session until the writers are done; return all that was seen, in the order seen."""
    seen: list[tuple[int, str]] = []
    while True:
        is_last = stop.is_set()
        page = server.pull(session_id, "segments", seen[-1][0] if seen else 0, limit=50)
        seen += [(row.seq, str(row.line)) for row in page.rows]
        if is_last and not page.has_more:
            return seen


def test_a_follower_sees_every_line_once_and_in_order(space: Space) -> None:
    """Eight writers, each with batches over two sessions; a line is never committed behind the follower."""
    stop = threading.Event()
    with ThreadPoolExecutor(9) as pool:
        follower = pool.submit(follow, space.server(), "s1", stop)

        def write(writer: int) -> None:
            server = space.server()
            for batch in range(12):
                sessions = ("s1", "s2") if writer % 2 else ("s2", "s1")
                lines = [line(f"{writer} {batch} {n}", sessions[n % 2]) for n in range(10)]
                server.append("segments", lines, origin=uuid.uuid4())

        try:
            list(pool.map(write, range(8)))
        finally:
            stop.set()
        seen = follower.result()
    assert [seq for seq, _ in seen] == list(range(1, 8 * 12 * 5 + 1))
    assert len({text for _, text in seen}) == len(seen)
    contents = [json.loads(text)["content"] for _, text in seen]
    for writer in range(8):
        own = [
            tuple(map(int, each.split()[1:])) for each in contents if each.startswith(f"{writer} ")
        ]
        assert own == sorted(own), "lines of a host keep their order"


def test_the_same_lines_from_eight_hosts_are_stored_once(space: Space) -> None:
    lines = [line(str(n), f"s{n % 3}") for n in range(90)]

    def write(host: int) -> int:
        server, added = space.server(), 0
        for start in range(0, 90, 15):
            first = (start + 30 * host) % 90
            added += server.append("segments", lines[first : first + 15], origin=uuid.uuid4())
        return added

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(write, range(8))) == 90
    heads = space.server().heads(["s0", "s1", "s2"])
    assert [each.segments for each in heads.values()] == [30, 30, 30]


def test_an_append_and_an_erasure_at_once(space: Space) -> None:
    """Whatever comes first, nothing of an erased session is left."""
    for n in range(10):
        name = f"s{n}"
        writers = [space.server() for _ in range(3)]
        with ThreadPoolExecutor(4) as pool:
            jobs = [
                pool.submit(each.append, "segments", [line(f"{k}", name)], origin=uuid.uuid4())
                for k, each in enumerate(writers)
            ]
            pool.submit(space.server().erase, name).result()
            for job in jobs:
                job.result()
        assert writers[0].heads([name])[name] == (0, 0, {}, True)
        assert writers[0].pull(name, "segments", 0).rows == []
        close(space)


def test_versions_of_a_file_are_given_once(space: Space) -> None:
    def write(host: int) -> list[int]:
        server, got = space.server(), []
        for n in range(10):
            stored = server.read_file("s1", "state")
            expected = stored.version if stored else 0
            body = f"{host} {n}".encode()
            version = server.write_file("s1", "state", body, expected=expected)
            got += [version] if version else []
        return got

    with ThreadPoolExecutor(6) as pool:
        found = [version for got in pool.map(write, range(6)) for version in got]
    assert sorted(found) == list(range(1, len(found) + 1))


def test_a_job_is_held_by_one_worker(space: Space) -> None:
    server = space.server()
    lines = [line(str(n), f"s{n}") for n in range(60)]
    server.append("segments", lines, origin=uuid.uuid4())

    def work(owner: str) -> list[str]:
        worker, done = space.server(), []
        while jobs := worker.claim(owner=owner, lease=60, limit=4):
            for job in jobs:
                assert (job.after, job.until, job.attempts) == (0, 1, 0)
                assert worker.complete(job, owner=owner)
                done.append(job.session_id)
        return done

    with ThreadPoolExecutor(8) as pool:
        found = [each for done in pool.map(work, map(str, range(8))) for each in done]
    assert sorted(found) == sorted(f"s{n}" for n in range(60))
    assert server.stats()["queue"]["segments"] == 0


def test_a_lease_that_ends_is_free_for_others(space: Space) -> None:
    server = space.server()
    server.append("segments", [line("1")], origin=uuid.uuid4())
    (job,) = server.claim(owner="one", lease=0.05)
    assert server.claim(owner="two", lease=5) == []
    time.sleep(0.1)
    (again,) = server.claim(owner="two", lease=5)
    assert again.attempts == 1
    assert not server.complete(job, owner="one"), "the lease was lost"
    server.append("segments", [line("2")], origin=uuid.uuid4())
    assert server.complete(again, owner="two")
    assert server.claim(owner="one", lease=5) == [("s1", 1, 2, 0)], "what came in the meantime"


def test_a_released_job_comes_back_after_its_delay(space: Space) -> None:
    server = space.server()
    server.append("segments", [line("1")], origin=uuid.uuid4())
    (job,) = server.claim(owner="one", lease=60)
    assert server.release(job, owner="one", delay=0.2)
    assert server.claim(owner="two", lease=60) == []
    time.sleep(0.25)
    assert server.claim(owner="two", lease=60)[0].attempts == 1


def test_killed_backends_cost_and_repeat_nothing(space: Space) -> None:
    """Backends are killed while hosts append and retry."""
    stop = threading.Event()

    def kill() -> int:
        killed = 0
        with psycopg.connect(space.database.superuser_dsn, autocommit=True) as connection:
            while not stop.is_set():
                found = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
                    [space.role],
                ).fetchall()
                killed += len(found)
                time.sleep(0.03)
        return killed

    def write(host: int) -> None:
        server = space.server()
        for n in range(12):
            lines = [line(f"{host} {n} {k}") for k in range(5)]
            for _ in range(200):
                try:
                    server.append("segments", lines, origin=uuid.uuid4())
                except ServerUnavailableError:
                    continue
                break
            else:
                pytest.fail("no append got through")

    with ThreadPoolExecutor(5) as pool:
        killer = pool.submit(kill)
        try:
            list(pool.map(write, range(4)))
        finally:
            stop.set()
        assert killer.result() > 5
    found = [row.line for row in space.server().pull("s1", "segments", 0).rows]
    assert len(found) == len(set(found)) == 4 * 12 * 5


@pytest.mark.slow
@pytest.mark.timing
def test_a_server_that_stops_is_found_again(host: Host) -> None:
    """It is stopped as in a crash: what was acknowledged is there, a listener hears that it may have missed changes."""
    if host.cluster is None:
        pytest.skip("the server is not the tests' own")
    cluster = Cluster({"fsync": "on"})
    try:
        admin = Administration(cluster.dsn())
        admin.migrate()
        space = make_space(Database(Host(cluster.dsn(), cluster), "postgres", cluster.dsn(), admin))
        server, follower = space.server(timeout=3), space.server(timeout=3)
        follower.listen(1)
        server.append("segments", [line("before")], origin=uuid.uuid4())
        cluster.stop("immediate")
        for act in (lambda: server.heads(["s1"]), lambda: follower.listen(0.1)):
            start = time.monotonic()
            with pytest.raises(
                ServerUnavailableError, match="no connection to the PostgreSQL server"
            ):
                act()
            assert time.monotonic() - start < 3
        cluster.start()
        assert server.append("segments", [line("before"), line("after")], origin=uuid.uuid4()) == 1
        assert follower.listen(1) == {"*"}
        assert server.heads(["s1"])["s1"].segments == 2
        close(space)
        admin.close()
    finally:
        cluster.close()


@pytest.mark.timing
def test_a_call_that_waits_for_a_lock_ends_in_time(space: Space) -> None:
    server = space.server(timeout=0.5)
    server.append("segments", [line("1")], origin=uuid.uuid4())
    with psycopg.connect(space.dsn) as connection:
        connection.execute("SELECT FROM memctx.sessions FOR UPDATE")
        start = time.monotonic()
        with pytest.raises(LateError, match="append"):
            server.append("segments", [line("2")], origin=uuid.uuid4())
        assert time.monotonic() - start < 1.5
    assert server.append("segments", [line("2")], origin=uuid.uuid4()) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
@pytest.mark.timing
def test_a_frozen_server_costs_no_more_than_the_deadline(space: Space) -> None:
    if space.database.host.cluster is None:
        pytest.skip("the processes of the server are not here")
    server = space.server(timeout=5)
    server.append("segments", [line("1")], origin=uuid.uuid4())
    (found,) = rows(
        space.database.superuser_dsn,
        "SELECT pid FROM pg_stat_activity WHERE usename = %s",
        space.role,
    )
    pid = int(str(found[0]))
    os.kill(pid, signal.SIGSTOP)
    try:
        start = time.monotonic()
        with pytest.raises(LateError, match="did not answer in time"):
            server.candidates(terms=[1], deadline=0.3)
        assert time.monotonic() - start < 1
        assert len(server.candidates(terms=[1], deadline=5)) == 1, "by another connection"
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_process_opens_its_own_connection(space: Space) -> None:
    server = space.server()
    server.append("segments", [line("parent")], origin=uuid.uuid4())
    child = os.fork()
    if child == 0:
        status = 1
        try:
            server.reopen()
            status = (
                0 if server.append("segments", [line("child")], origin=uuid.uuid4()) == 1 else 2
            )
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert server.heads(["s1"])["s1"].segments == 2, "the connection of the parent goes on"
    assert server.stats()["connections"] == 1


def test_threads_share_a_server(space: Space) -> None:
    server = space.server()
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda n: server.append("segments", [line(str(n))], origin=uuid.uuid4()), range(60)
            )
        )
    assert server.heads(["s1"])["s1"].segments == 60


def test_errors_of_the_caller_leave_the_connection(space: Space) -> None:
    server = space.server()
    server.key  # noqa: B018 - connects
    with pytest.raises(TypeError, match="terms must be whole numbers"):
        server.append("segments", [line("1")._replace(terms=["x"])], origin=uuid.uuid4())  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="terms must be numbers of 64 bits"):
        server.append("segments", [line("1")._replace(terms=[2**63])], origin=uuid.uuid4())
    assert server.append("segments", [line("1")], origin=uuid.uuid4()) == 1
    assert server.stats()["connections"] == 1
