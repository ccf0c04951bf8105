"""Extraction of facts from a session that several hosts have open."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from memctx.errors import ServerUnavailableError
from memctx.facts import CandidateFact
from memctx.facts.extractors import FunctionExtractor
from replica.test_sharing import said, wait_for

if TYPE_CHECKING:
    from fleet.proxy import Proxy
    from memctx.facts.extractors import Request
    from replica.conftest import Hosts

TEXTS = [
    "The invoices are printed in Lisbon on Mondays",
    "Parcels heavier than twenty kilograms need two people",
    "The scheduler keeps its leases in Valkey",
    "Our logo has a green heron",
    "Refunds are approved by the finance team",
    "The crawler respects a delay of two seconds",
    "Translations come from a shared spreadsheet",
    "The night shift begins at ten",
    "Backups are written to three regions",
    "Guests may borrow the blue bicycles",
]


class Model:
    """A slow model, which counts how often it reads each message."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.calls = 0
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> list[CandidateFact]:
        with self._lock:
            self.calls += 1
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        time.sleep(0.3)
        with self._lock:
            self._at_once -= 1
            self.read += [message.text for message in request.messages]
        return [CandidateFact("config", message.text) for message in request.messages]


def test_a_session_that_two_hosts_have_open_is_extracted_from_once(hosts: Hosts) -> None:
    model = Model()
    extractor = FunctionExtractor(model)
    with (
        hosts.open("a", extractor=extractor) as first,
        hosts.open("b", extractor=extractor) as second,
    ):
        first.archive(said(*TEXTS[:5]))
        second.archive(said(*TEXTS[5:]))
        wait_for(lambda: sorted(set(model.read)) == sorted(TEXTS), 30)
        for memory in (first, second):
            assert memory.wait_for_facts(30).result().is_complete
        wait_for(lambda: len(first.facts) == len(second.facts) == len(TEXTS))
        assert model.most_at_once == 1
        assert sorted(model.read) == sorted(TEXTS)
        with hosts.space.server() as server:
            wait_for(lambda: server.stats()["queue"]["segments"] == 0)


def test_extraction_goes_on_where_the_last_host_ended(hosts: Hosts) -> None:
    model = Model()
    with hosts.open("a", extractor=FunctionExtractor(model)) as memory:
        memory.archive(said(*TEXTS[:5]))
        assert memory.wait_for_facts(30).result().is_complete
    with hosts.open("b", extractor=FunctionExtractor(model)) as memory:
        memory.archive(said(*TEXTS[5:]))
        assert memory.wait_for_facts(30).result().is_complete
        assert len(memory.facts) == len(TEXTS)
    assert sorted(model.read) == sorted(TEXTS)


@pytest.mark.slow
def test_a_lease_of_a_host_that_is_gone_expires(hosts: Hosts) -> None:
    model = Model()
    with hosts.open("a") as memory:
        memory.archive(said(*TEXTS[:5]))
        with hosts.space.server() as server:
            assert server.claim_session("s1", owner="gone", lease=2.0).job is not None
            with hosts.open("b", extractor=FunctionExtractor(model)) as other:
                other.archive(said(*TEXTS[5:]))
                time.sleep(0.5)
                assert not model.read
                wait_for(lambda: sorted(model.read) == sorted(TEXTS[5:]), 20)


@pytest.mark.slow
def test_facts_are_extracted_when_the_server_is_back(hosts: Hosts, proxy: Proxy) -> None:
    model = Model()
    with hosts.open("a", extractor=FunctionExtractor(model), timeout=1.0) as memory:
        proxy.is_down = True
        proxy.cut()
        with pytest.raises(ServerUnavailableError):
            memory.archive(said(*TEXTS[:5]))
        assert not memory.wait_for_facts(20).result().is_complete
        assert memory.extraction is not None
        assert "server" in str(memory.extraction.progress().last_error)
        proxy.is_down = False
        wait_for(lambda: sorted(model.read) == sorted(TEXTS[:5]), 20)


def test_a_session_that_was_pushed_is_not_extracted_from(hosts: Hosts) -> None:
    model = Model()
    with hosts.open("a") as memory:
        memory.archive(said(*TEXTS[:5]))
    with hosts.open("b", extractor=FunctionExtractor(model)) as memory:
        memory.archive(said(*TEXTS[5:]))
        assert memory.wait_for_facts(30).result().is_complete
    assert model.read == TEXTS[5:]
