"""Vectors of a model reach the server, and sessions elsewhere are found by meaning."""

from __future__ import annotations

import time
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from memctx.errors import ServerError
from memctx.postgres import Server
from replica.test_sharing import said, wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def test_a_session_that_is_closed_waits_for_vectors_made_while_others_are_sent(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, is_sending = Server.put_vectors, Event()

    def put_slowly(server: Server, *given: Any) -> None:
        is_sending.set()
        time.sleep(0.5)
        put(server, *given)

    monkeypatch.setattr(Server, "put_vectors", put_slowly)
    with hosts.open("a", "s1", embedding_model=Small()) as memory:
        memory.archive(said("The webhook listens on port 8443"))
        assert is_sending.wait(10)
        memory.store.add([("user", "Deployments are frozen on weekends", 2_000, None)])
        memory.reembed()
    monkeypatch.undo()
    server = hosts.space.server()
    assert server.missing_vectors(server.register_model("small", "1", 3)) == []


class Wide:
    """An embedder whose vectors are longer than a server takes."""

    name, revision, dim = "wide", "1", 4_001

    def embed(self, text: str) -> list[float]:
        return [1.0 + len(text)] * self.dim

    def embed_many(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Narrow(Wide):
    """An embedder of short vectors with the name and revision of a model that the server has."""

    name, dim = "registered", 3


@pytest.mark.parametrize("embedder", [Wide(), Narrow()])
def test_vectors_that_the_server_refuses_stop_nothing_else(
    hosts: Hosts, caplog: pytest.LogCaptureFixture, embedder: Wide
) -> None:
    hosts.space.server().register_model("registered", "1", 4)
    with hosts.open("a", "s1", embedding_model=embedder, cross_session=True) as memory:
        memory.archive(said("The webhook listens on port 8443"))
        memory.reembed()
        wait_for(lambda: memory.stats()["server"]["vectors_fault"] is not None)
        memory.archive(said("Deployments are frozen on weekends"))
        memory.facts.add("config", "The database is Postgres 16")
        (hit,) = memory.search("which port has the webhook?", limit=1)
        assert hit.segment.content == "The webhook listens on port 8443"
        status = memory.stats()["server"]
        assert status["fault"] is None
        assert "dim must be" in status["vectors_fault"]
        assert memory.health()["reasons"] == []
    logged = [each for each in caplog.records if "refuses vectors" in each.getMessage()]
    assert len(logged) == 1
    with hosts.open("b", "s1") as memory:
        assert len(memory.facts) == 1
        assert memory.stats()["server"]["vectors_fault"] is None


def test_a_server_that_takes_vectors_again_gets_them(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_server: Server, *_given: object) -> None:
        raise ServerError("no permission")

    with hosts.open("a", "s1", embedding_model=Small()) as memory, monkeypatch.context() as patch:
        patch.setattr(Server, "put_vectors", refuse)
        memory.archive(said("The webhook listens on port 8443"))
        memory.reembed()
        wait_for(lambda: memory.stats()["server"]["vectors_fault"] == "no permission")
        patch.undo()
        wait_for(lambda: memory.stats()["server"]["vectors_fault"] is None)
        server = hosts.space.server()
        model = server.register_model("small", "1", 3)
        assert server.missing_vectors(model) == []


class Small(Wide):
    """An embedder of a few dimensions."""

    name, dim = "small", 3
