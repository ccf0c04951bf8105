"""A server that is gone or slow: turns go on, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from memctx.errors import ServerUnavailableError
from memctx.replica import Replica
from replica.test_sharing import contents, said, wait_for

if TYPE_CHECKING:
    from fleet.proxy import Proxy
    from memctx import Memory
    from memctx.replica.records import CacheRecord
    from replica.conftest import Hosts


@pytest.mark.slow
def test_messages_of_turns_wait_in_the_cache_and_are_sent_later(hosts: Hosts, proxy: Proxy) -> None:
    with hosts.open("a", timeout=2.0, context_window=8_000) as memory:
        proxy.is_down = True
        proxy.cut()
        turn = memory.prepare(said("The webhook listens on port 8443"))
        assert turn.report.errors == ()
        with pytest.raises(ServerUnavailableError, match="kept in"):
            memory.archive(said("Deploy on Friday"))
        assert memory.stats()["server"]["spooled_bytes"] > 0
        assert any("server" in reason for reason in memory.health()["reasons"])
        proxy.is_down = False
        wait_for(lambda: memory.stats()["server"]["spooled_bytes"] == 0)
        wait_for(lambda: memory.health()["reasons"] == [])
    with hosts.open("b") as memory:
        assert sorted(contents(memory)) == ["Deploy on Friday", "The webhook listens on port 8443"]


def test_a_host_without_a_server_goes_on_with_its_cache(hosts: Hosts, proxy: Proxy) -> None:
    with hosts.open("a") as memory:
        memory.archive(said("The webhook listens on port 8443"))
    proxy.is_down = True
    proxy.cut()
    with hosts.open("a", timeout=1.0) as memory:
        assert memory.search("which port has the webhook?")


def test_a_turn_does_not_wait_for_a_slow_server(hosts: Hosts, proxy: Proxy) -> None:
    with hosts.open("a", context_window=8_000) as memory:
        memory.prepare(said("The webhook listens on port 8443"))
        proxy.delay = 2.0
        messages = said("The webhook listens on port 8443")
        longest = 0.0
        for number in range(10):
            messages += said(f"Parcel {number} goes to gate {number}")
            start = time.perf_counter()
            turn = memory.prepare(messages)
            longest = max(longest, time.perf_counter() - start)
            assert turn.report.errors == ()
        proxy.delay = 0.0
    assert longest < 1.0


def archive_in_child(memory: Memory, text: str) -> int:
    """Fork a child that archives a text and exits; return its process id."""
    child = os.fork()
    if child == 0:
        try:
            memory.archive(said(text))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child must not run the rest of the tests
            os._exit(1)
    return child


def test_a_forked_child_replicates_by_itself(hosts: Hosts) -> None:
    with hosts.open("a") as memory:
        memory.archive(said("before the fork"))
        child = archive_in_child(memory, "said by the child")
        _, status = os.waitpid(child, 0)
        assert status == 0
        memory.archive(said("said by the parent"))
    with hosts.open("b") as memory:
        assert sorted(contents(memory)) == [
            "before the fork",
            "said by the child",
            "said by the parent",
        ]


def test_a_child_forked_while_its_parent_replicates_shares_no_lock(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = Replica._pull  # noqa: SLF001 - a step of a pass

    def pull_slowly(replica: Replica, sessions: list[str], record: CacheRecord) -> None:
        time.sleep(0.3)
        pull(replica, sessions, record)

    with hosts.open("a") as memory:
        monkeypatch.setattr(Replica, "_pull", pull_slowly)
        memory.archive(said("before the fork"))  # returns in the middle of a pass
        child = archive_in_child(memory, "said by the child")
        memory.archive(said("said by the parent"))
        assert os.waitpid(child, 0)[1] == 0


def test_processes_that_share_a_cache_lose_nothing(hosts: Hosts) -> None:
    children = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            try:
                with hosts.open("shared") as memory:
                    for each in range(10):
                        memory.archive(said(f"child {number} says {each}"))
                os._exit(0)
            except BaseException:  # noqa: BLE001 - as above
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    with hosts.open("b") as memory:
        found = contents(memory)
    assert sorted(found) == sorted(f"child {a} says {b}" for a in range(3) for b in range(10))


def test_messages_of_a_killed_host_are_sent_by_its_next_start(hosts: Hosts, proxy: Proxy) -> None:
    (told, tell), (heard, answer) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        memory = hosts.open("a", timeout=1.0, context_window=8_000)
        memory.archive(said("The first message is sent"))
        os.write(tell, b"1")
        os.read(heard, 1)
        memory.prepare(said("The second message is not sent yet"))
        memory.search("the second message")  # waits until it is archived
        os.kill(os.getpid(), signal.SIGKILL)
    os.read(told, 1)
    proxy.is_down = True
    proxy.cut()
    os.write(answer, b"1")
    os.waitpid(child, 0)
    proxy.is_down = False
    with hosts.open("b") as memory:
        assert contents(memory) == ["The first message is sent"]
    with hosts.open("a", "another session"):
        pass
    with hosts.open("b") as memory:
        assert contents(memory) == [
            "The first message is sent",
            "The second message is not sent yet",
        ]


def test_callers_do_not_wait_for_a_line_that_a_crash_left_unfinished(hosts: Hosts) -> None:
    with hosts.open("a") as memory:
        memory.facts.add("config", "The port is 8443")
    with (hosts.cache("a") / "knowledge.jsonl").open("ab") as file:
        file.write(b'{"id":"unfinished')
    with hosts.open("a", timeout=3.0) as memory:
        memory.archive(said("The webhook listens on port 8443"))
        assert memory.stats()["server"]["spooled_bytes"] == 0
        memory.facts.add("config", "The second port is 9000")
    with hosts.open("b") as memory:
        assert len(memory.facts) == 2
        assert len(contents(memory)) == 1
