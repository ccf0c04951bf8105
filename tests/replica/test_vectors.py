"""Vectors of a model reach the server, and sessions elsewhere are found by meaning."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from memctx.postgres import Server
from replica.test_sharing import said, wait_for

if TYPE_CHECKING:
    from replica.conftest import Hosts


def test_a_paraphrase_is_found_in_a_session_of_another_host(hosts: Hosts) -> None:
    with hosts.open("a", "s1", embedding_model="memctx") as memory:
        memory.archive(
            said(
                "The physician examined the child at the clinic",
                "Deployments are frozen on weekends",
                "The invoice of March was paid twice",
            )
        )
        memory.reembed()
        server = hosts.space.server()
        status = memory.store.embedding()
        model = server.register_model(status.model, status.revision, status.dim)
        wait_for(lambda: not server.missing_vectors(model), 20)
    with hosts.open("b", "s2", embedding_model="memctx", cross_session=True) as memory:
        hits = memory.search("doctor treating a kid in hospital", limit=1)
        assert [hit.segment.content for hit in hits] == [
            "The physician examined the child at the clinic"
        ]
        assert hits[0].vector > 0


@pytest.mark.slow
def test_vectors_that_a_killed_host_did_not_send_are_sent_by_the_next(hosts: Hosts) -> None:
    with hosts.open("a", "s1", embedding_model="hash") as memory:
        memory.archive(said("The physician examined the child at the clinic"))
    with hosts.open("b", "s1", embedding_model="memctx") as memory:
        memory.reembed()
        server = hosts.space.server()
        status = memory.store.embedding()
        model = server.register_model(status.model, status.revision, status.dim)
        wait_for(lambda: not server.missing_vectors(model), 20)


@pytest.mark.slow
@pytest.mark.timing
def test_archiving_does_not_wait_until_all_vectors_are_sent(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Server.put_vectors

    def put_slowly(server: Server, *given: Any) -> None:
        time.sleep(0.5)
        put(server, *given)

    monkeypatch.setattr(Server, "put_vectors", put_slowly)
    with hosts.open("a", "s1", embedding_model="memctx") as memory:
        memory.archive(said(*(f"The port of service {number} is open" for number in range(500))))
        memory.reembed()
        start = time.monotonic()
        memory.archive(said("Deployments are frozen on weekends"))
        assert time.monotonic() - start < 2.5  # of the four seconds that all of them take
        server = hosts.space.server()
        status = memory.store.embedding()
        model = server.register_model(status.model, status.revision, status.dim)
        wait_for(lambda: not server.missing_vectors(model), 30)


def test_vectors_are_sent_before_a_session_is_closed(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memctx.replica.replica.SECONDS_OF_DETACHING", 30.0)  # on a busy machine
    with hosts.open("a", "s1", embedding_model="memctx") as memory:
        memory.archive(said(*(f"The port of service {number} is open" for number in range(300))))
        memory.reembed()
        status = memory.store.embedding()
    server = hosts.space.server()
    model = server.register_model(status.model, status.revision, status.dim)
    assert server.missing_vectors(model) == []
