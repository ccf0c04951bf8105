"""The page of a namespace on a real PostgreSQL server: what other hosts write, edits, and a server that is gone."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("psycopg", reason="psycopg is not installed")

import httpx2
from psycopg.conninfo import conninfo_to_dict

import process
from fleet.proxy import Proxy
from memctx.config import Config
from memctx.errors import MemctxError, ServerUnavailableError
from memctx.ui import Backend
from postgres.conftest import database, host, owner, space  # noqa: F401 - fixtures
from replica.conftest import Hosts, address
from ui.conftest import served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from postgres.conftest import Space
    from ui.conftest import Page

FACT = "The gate of the harbor closes at 22:00"


@pytest.fixture
def hosts(tmp_path: Path, space: Space) -> Hosts:  # noqa: F811 - the fixture
    found = Hosts(tmp_path, space)
    for session, words in (("s1", "The lamp is on pier 9"), ("s2", "Tulips are watered at dawn")):
        with found.open("first", session) as memory:
            memory.archive([{"role": "user", "content": words}])
            memory.facts.add("config", f"{FACT} in {session}")
    return found


@pytest.fixture
def proxy(hosts: Hosts) -> Iterator[Proxy]:
    """Return what the page reaches the server through."""
    found = conninfo_to_dict(hosts.space.dsn)
    made = Proxy(str(found["host"]), int(str(found["port"])))
    hosts.address = address(hosts.space.dsn, host="127.0.0.1", port=made.port)
    yield made
    made.close()


def backend_of(hosts: Hosts, *, timeout: float = 10.0, cache: str = "page") -> Backend:
    postgres = {"cache_path": hosts.cache(cache), "timeout": timeout}
    config = Config(embedding_model="hash", namespace=hosts.space.name, postgres=postgres)
    return Backend.of_server(hosts.address, config, may_write=True)


@pytest.fixture
def page(hosts: Hosts) -> Iterator[Page]:
    with served(backend_of(hosts)) as found:
        yield found


def until(test: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not test():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def contents(hosts: Hosts, name: str, session: str) -> list[str]:
    """Return the facts that a host sees which has nothing in its cache."""
    with hosts.open(name, session) as memory:
        return [each.content for each in memory.facts]


def test_sessions_of_all_hosts_are_shown_and_searched(page: Page) -> None:
    assert {each["id"] for each in page.get("overview")["sessions"]} == {"s1", "s2"}
    assert page.get("messages", session="s2")["messages"][0]["text"].startswith("Tulips")
    assert page.get("search", query="Which pier has the lamp?")["hits"][0]["session"] == "s1"
    assert page.get("health")["server"]["fault"] is None


def test_lines_of_another_host_are_shown(hosts: Hosts, page: Page) -> None:
    with hosts.open("second", "s3") as memory:
        memory.archive([{"role": "user", "content": "The ferry leaves at noon"}])
    until(lambda: "s3" in {each["id"] for each in page.get("overview")["sessions"]})
    until(lambda: bool(page.get("search", query="ferry noon")["hits"]))


@pytest.mark.slow
def test_an_erased_session_is_gone(hosts: Hosts, page: Page) -> None:
    hosts.space.server().erase("s2")
    until(lambda: {each["id"] for each in page.get("overview")["sessions"]} == {"s1"})


def edit(page: Page, action: str, **given: Any) -> Any:
    done = page.post(f"facts/{action}", **given)
    assert done.status_code == 200, done.text
    return done.json()["fact"]


def test_edits_are_on_the_server_when_the_page_says_so(hosts: Hosts, page: Page) -> None:
    fact = next(each for each in page.get("facts")["facts"] if each["session"] == "s1")
    known = {"id": fact["id"], "revision": fact["revision"]}
    edited = edit(page, "update", **known, content="The gate closes at 23:00")
    assert contents(hosts, "third", "s1") == ["The gate closes at 23:00"]
    edit(page, "forget", id=edited["id"], revision=edited["revision"])
    assert contents(hosts, "fourth", "s1") == []
    edit(page, "add", session="s2", type="decision", content="Ship on Friday")
    assert "Ship on Friday" in contents(hosts, "fifth", "s2")


def test_edits_without_a_server_are_kept_and_sent_later(hosts: Hosts, proxy: Proxy) -> None:
    with served(backend_of(hosts, timeout=1.0)) as page:
        proxy.is_down = True
        proxy.cut()
        given = {"session": "s1", "type": "decision", "content": "Ship on Friday"}
        refused = page.post("facts/add", **given)
        assert refused.status_code == 503
        assert "sent when the server is back" in refused.json()["error"]
        assert "Ship on Friday" in [each["content"] for each in page.get("facts")["facts"]]
        assert page.get("health")["server"]["fault"]
        assert page.get("overview")["total"] == 2
        proxy.is_down = False
        until(lambda: page.get("health")["server"]["fault"] is None)
    assert "Ship on Friday" in contents(hosts, "sixth", "s1")


def test_without_a_server_the_cache_is_shown(hosts: Hosts, proxy: Proxy) -> None:
    backend_of(hosts).close()
    proxy.is_down = True
    with served(backend_of(hosts, timeout=1.0)) as page:
        assert page.get("overview")["total"] == 2
        assert page.get("health")["server"]["fault"]
    with pytest.raises(ServerUnavailableError):
        backend_of(hosts, timeout=1.0, cache="empty")


def test_the_command_takes_the_address_of_a_server(hosts: Hosts) -> None:
    run = [sys.executable, "-m", "memctx", "ui", hosts.address, "--namespace", hosts.space.name]
    environ = {**os.environ, "XDG_CACHE_HOME": str(hosts.root), "MEMCTX_EMBEDDING_MODEL": "hash"}
    child = process.start([*run, "--no-browser"], env=environ, stdout=-1)
    assert child.stdout is not None
    try:
        opened = child.stdout.readline().strip()
        with httpx2.Client(timeout=30) as client:
            assert client.get(opened).status_code == 200
            found = client.get(f"{opened.partition('?')[0]}api/overview").json()
        assert found["total"] == 2
    finally:
        child.terminate()
        _, errors = process.finish(child, timeout=20, status=None)
    assert hosts.space.password not in errors


def test_an_unknown_namespace_is_refused(hosts: Hosts) -> None:
    config = Config(
        embedding_model="hash", namespace="none", postgres={"cache_path": hosts.cache("none")}
    )
    with pytest.raises(MemctxError, match="none"):
        Backend.of_server(hosts.address, config, may_write=False)
