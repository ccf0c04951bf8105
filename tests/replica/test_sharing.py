"""Sessions that move between hosts: each has everything, once."""

from __future__ import annotations

import shutil
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

import memctx
from memctx.errors import ConfigError, ServerError
from replica.conftest import Hosts, address

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleet.proxy import Proxy
    from memctx._core import Fact
    from postgres.conftest import Space


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def contents(memory: memctx.Memory) -> list[str]:
    return [segment.content for segment in memory.store.segments()]


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def test_a_session_opened_on_another_host_has_everything(hosts: Hosts) -> None:
    with hosts.open("a") as memory:
        memory.archive(said("The webhook listens on port 8443", "Deploy on Friday"))
        memory.facts.add("config", "The database is Postgres 16")
    with hosts.open("b") as memory:
        assert contents(memory) == ["The webhook listens on port 8443", "Deploy on Friday"]
        assert [fact.content for fact in memory.facts] == ["The database is Postgres 16"]
        assert memory.search("which port has the webhook?")[0].segment.content.endswith("8443")


def test_messages_of_one_host_reach_another_that_has_the_session_open(hosts: Hosts) -> None:
    with hosts.open("a") as first, hosts.open("b") as second:
        first.archive(said("The webhook listens on port 8443"))
        wait_for(lambda: bool(second.search("which port has the webhook?")))
        second.facts.add("config", "The cache is Valkey")
        wait_for(lambda: len(first.facts) == 1)


def test_the_same_message_archived_by_two_hosts_is_one_segment(hosts: Hosts) -> None:
    with hosts.open("a") as first, hosts.open("b") as second:
        ids = [memory.archive(said("Use port 8443")).ids for memory in (first, second)]
        assert ids[0] == ids[1]
        first.archive(said("The last port is 9000"))
        wait_for(lambda: "The last port is 9000" in contents(second))
        assert contents(second).count("Use port 8443") == 1
    with hosts.open("c") as third:
        assert contents(third).count("Use port 8443") == 1


def test_facts_changed_by_two_hosts_end_in_the_same_state(hosts: Hosts) -> None:
    with hosts.open("a") as first, hosts.open("b") as second:
        fact = first.facts.add("config", "The port is 1")
        wait_for(lambda: len(second.facts) == 1)
        for number in range(2, 12):
            memory = (first, second)[number % 2]
            memory.facts.update(fact.id, f"The port is {number}")
        wanted = [each.content for each in _server_order(hosts)]

        def has_all(memory: memctx.Memory) -> bool:
            history = [each.content for each in memory.facts.history(fact.id)]
            return sorted(history) == sorted(wanted)

        for memory in (
            first,
            second,
        ):  # a host has its own states at once, those of the other later
            wait_for(partial(has_all, memory))
            assert [each.content for each in memory.facts] == [wanted[-1]]


def _server_order(hosts: Hosts) -> list[Fact]:
    with hosts.open("judge") as memory:
        (fact,) = memory.facts
        return memory.facts.history(fact.id)


def test_a_deleted_cache_is_built_again(hosts: Hosts) -> None:
    with hosts.open("a") as memory:
        memory.archive(said("The first port is 8443", "The second port is 9000"))
        memory.facts.add("config", "The port is 8443")
    shutil.rmtree(hosts.cache("a"))
    with hosts.open("a") as memory:
        assert contents(memory) == ["The first port is 8443", "The second port is 9000"]
        assert len(memory.facts) == 1


@pytest.mark.parametrize("file", ["segments.jsonl", "knowledge.jsonl"])
def test_a_damaged_cache_is_built_again(hosts: Hosts, file: str) -> None:
    with hosts.open("a") as memory:
        memory.archive(said("The first port is 8443", "The second port is 9000"))
        memory.facts.add("config", "The first port is 8443")
        memory.facts.add("config", "The second port is 9000")
    path = hosts.cache("a") / file
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"8443")] ^= 1
    path.write_bytes(damaged)
    with hosts.open("a") as memory:
        wait_for(
            lambda: (
                sorted(contents(memory)) == ["The first port is 8443", "The second port is 9000"]
            )
        )
        wait_for(lambda: len(memory.facts) == 2)


def test_a_truncated_cache_is_built_again(hosts: Hosts) -> None:
    with hosts.open("a") as memory:
        memory.archive(said("The first port is 8443", "The second port is 9000"))
    path = hosts.cache("a") / "segments.jsonl"
    path.write_bytes(path.read_bytes()[:120])
    with hosts.open("a") as memory:
        wait_for(
            lambda: (
                sorted(contents(memory)) == ["The first port is 8443", "The second port is 9000"]
            )
        )


def test_a_closed_store_does_not_stop_the_replication_of_other_sessions(hosts: Hosts) -> None:
    with hosts.open("a", "s1") as broken, hosts.open("a", "s2") as memory:
        broken.store.close()
        memory.archive(said("The webhook listens on port 8443"))
    with hosts.open("b", "s2") as memory:
        assert contents(memory) == ["The webhook listens on port 8443"]


def test_another_namespace_sees_nothing(hosts: Hosts, other_space: Space) -> None:
    with hosts.open("a") as memory:
        memory.archive(said("The webhook listens on port 8443"))
    others = Hosts(hosts.root / "other", other_space)
    with others.open("a", cross_session=True) as memory:
        assert contents(memory) == []
        assert memory.search("which port has the webhook?") == []
    with pytest.raises(ServerError, match="namespace"):
        memctx.open(
            others.address,
            session_id="s1",
            namespace=hosts.space.name,
            postgres={"cache_path": hosts.root / "thief"},
        )


def test_a_wrong_password_is_refused_at_once_without_showing_it(hosts: Hosts) -> None:
    wrong = hosts.address.replace(hosts.space.password, "hunter2-Qp0x")
    with pytest.raises(ServerError) as caught:
        hosts.open("a", address=wrong)
    assert "hunter2" not in str(caught.value)


def test_a_cache_in_use_for_another_namespace_is_refused(hosts: Hosts) -> None:
    with (
        hosts.open("a"),
        pytest.raises(ConfigError, match="in use for namespace"),
    ):
        memctx.open(
            hosts.address,
            session_id="s2",
            namespace="elsewhere",
            postgres={"cache_path": hosts.cache("a")},
        )


@pytest.mark.parametrize("session", ["s1", "s2"])
def test_a_cache_in_use_for_another_server_is_refused(
    hosts: Hosts, proxy: Proxy, session: str
) -> None:
    direct = address(hosts.space.dsn)
    first, second = (each.partition("@")[2] for each in (hosts.address, direct))
    with hosts.open("a"):
        with pytest.raises(ConfigError, match="in use for") as caught:
            hosts.open("a", session, address=direct)
        with hosts.open("a"), hosts.open("b", session, address=direct):  # each with its own
            pass
    assert f"{proxy.port}/" in first
    for name in (first, second):
        assert name in str(caught.value)
    assert hosts.space.password not in str(caught.value)


def test_a_directory_in_use_without_a_server_is_refused_as_a_cache(hosts: Hosts) -> None:
    with (
        memctx.open(hosts.cache("a"), session_id="s1", embedding_model="hash"),
        pytest.raises(ConfigError, match="in use for no server"),
    ):
        hosts.open("a")


def test_a_memory_kept_open_for_another_server_is_closed(hosts: Hosts, proxy: Proxy) -> None:
    direct = address(hosts.space.dsn)
    with memctx.registry.keep_open(1):
        kept = hosts.open("a")
        kept.close()
        states = [kept.closed]
        with hosts.open("a", address=direct) as memory:
            assert memory is not kept
            states.append(kept.closed)
    assert states == [False, True]
    assert proxy.port


def test_search_across_sessions_runs_on_the_server(hosts: Hosts) -> None:
    with hosts.open("a", "s1") as memory:
        memory.archive(said("The webhook listens on port 8443", "支払いのウェブフックは9000番です"))
    with hosts.open("b", "s2", cross_session=True) as memory:
        assert memory.store.sessions() == []
        hits = memory.search("which port has the webhook?", limit=1)
        assert [hit.segment.content for hit in hits] == ["The webhook listens on port 8443"]
        assert [hit.segment.session_id for hit in hits] == ["s1"]
        assert memory.search("支払いのウェブフック", limit=1)[0].segment.content.startswith(
            "支払い"
        )
