"""Opening, closing and waiting: no thread is in the way of another, and nothing is left behind."""

from __future__ import annotations

import gc
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import memctx
from memctx.replica import Replica
from postgres.cluster import rows
from postgres.test_log import segment
from replica.test_sharing import contents, said, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from fleet.proxy import Proxy
    from memctx.replica.records import CacheRecord
    from replica.conftest import Hosts


@pytest.mark.slow
def test_a_closed_memory_leaves_no_connection_and_no_thread(hosts: Hosts) -> None:
    for number in range(10):
        with hosts.open("a", f"s{number}") as memory:
            memory.archive(said(f"Parcel {number} has gate {number}"))
    gc.collect()
    counted = rows(
        hosts.space.database.superuser_dsn,
        "SELECT count(*) FROM pg_stat_activity WHERE usename = %s AND state <> 'idle in transaction'",
        hosts.space.role,
    )
    assert counted == [(0,)]
    assert not [each.name for each in threading.enumerate() if each.name.startswith("memctx-ship")]


def test_sessions_of_one_cache_share_two_connections(hosts: Hosts) -> None:
    with hosts.open("a", "s1"), hosts.open("a", "s2"), hosts.open("a", "s3") as memory:
        memory.archive(said("The webhook listens on port 8443"))
        counted = rows(
            hosts.space.database.superuser_dsn,
            "SELECT count(*) FROM pg_stat_activity WHERE usename = %s",
            hosts.space.role,
        )
        assert counted == [(2,)]


def test_a_session_that_is_opened_again_while_it_closes_is_replicated(
    hosts: Hosts, proxy: Proxy
) -> None:
    memory = hosts.open("a", context_window=8_000)
    memory.archive(said("The webhook listens on port 8443"))
    proxy.delay = 0.5  # closing takes a while
    memory.prepare(said("The scheduler keeps its leases in Valkey"))
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(memory.close)
        time.sleep(0.1)
        again = hosts.open("a", context_window=8_000)
        closing.result()
    proxy.delay = 0.0
    with again, hosts.open("b") as other:
        other.archive(said("Deployments are frozen on weekends"))
        wait_for(lambda: "Deployments are frozen on weekends" in contents(again))


@pytest.mark.timing
def test_a_slow_server_holds_up_no_other_memory(hosts: Hosts, proxy: Proxy, tmp_path: Path) -> None:
    proxy.delay = 1.0
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(hosts.open, "a", timeout=5.0)
        time.sleep(0.2)
        start = time.monotonic()
        with memctx.open(tmp_path / "elsewhere", session_id="s1") as memory:
            assert memctx.registry.runtime("s1", path=tmp_path / "elsewhere") is memory
        assert time.monotonic() - start < 0.8
        proxy.delay = 0.0
        opening.result().close()


def test_two_threads_that_open_a_session_at_once_get_the_same_memory(hosts: Hosts) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: hosts.open("a"), range(8)))
    assert len(set(map(id, found))) == 1
    for each in found:
        assert not each.closed
        each.close()
    assert found[0].closed


def test_a_refresh_waits_for_a_pass_that_began_after_it(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is running may have asked the server before the caller did."""
    replicas: list[Replica] = []
    pull = Replica._pull  # noqa: SLF001 - a step of a pass

    def pull_slowly(replica: Replica, sessions: list[str], record: CacheRecord) -> None:
        replicas.append(replica)
        pull(replica, sessions, record)
        time.sleep(0.5)

    with hosts.open("a") as memory, hosts.space.server() as server:
        monkeypatch.setattr(Replica, "_pull", pull_slowly)
        monkeypatch.setattr(Replica, "_note_changed", lambda _replica, _sessions: None)
        memory.archive(said("The webhook listens on port 8443"))
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(memory.archive, said("Refunds are approved by finance"))
            time.sleep(0.2)  # its pass has asked the server by now
            line = segment(1, "s1", "Deployments are frozen on weekends")
            server.append("segments", [line], origin=uuid.uuid4())
            replicas[0].refresh("s1")
            assert "Deployments are frozen on weekends" in contents(memory)
            running.result()
