"""Eight hosts, 200 sessions that move between them, and everything that can fail: nothing acknowledged is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from fleet.proxy import Proxy

if TYPE_CHECKING:
    from fleet.conftest import Servers

HOSTS = 8
SESSIONS = 200
SECONDS = float(os.environ.get("FLEET_SECONDS", "20"))
TESTS = Path(__file__).parent.parent
LONGEST_TURN = 1.5
"""Seconds; the server answers after more than two while it is delayed."""
WAIT_AFTER_LAST_FAULT = 6.0

pytestmark = [pytest.mark.crash, pytest.mark.timeout(SECONDS + 900)]


class Fleet:
    """The hosts, and the faults they suffer."""

    def __init__(self, root: Path, servers: Servers) -> None:
        self.root = root
        self.cluster = servers.cluster
        self.namespace = servers.space.name
        self.proxy = Proxy("127.0.0.1", self.cluster.port)
        self.address = servers.address(self.proxy.port)
        self.hosts: dict[str, subprocess.Popen[bytes]] = {}
        self.faults: Counter[str] = Counter()
        self.random = random.Random(7)

    def start(self, name: str) -> None:
        """Start a host, with the cache it had."""
        self.hosts[name] = subprocess.Popen(
            [
                *(sys.executable, "-m", "fleet.host", str(self.root), self.address),
                *(self.namespace, name, str(SESSIONS)),
            ],
            cwd=TESTS,
        )

    def inject_fault(self) -> None:
        """Do one of the things that happen to hosts and servers."""
        fault = self.random.choices(
            [self.kill_host, self.stop_server, self.cut_connections, self.delay, self.delete_cache],
            weights=[6, 2, 4, 1, 1],
        )[0]
        fault()
        self.faults[fault.__name__] += 1

    def kill_host(self) -> None:
        """Kill a host without warning, and start it again."""
        name = self.random.choice(list(self.hosts))
        self.hosts[name].send_signal(signal.SIGKILL)
        self.hosts[name].wait()
        self.start(name)

    def delete_cache(self) -> None:
        """Lose the disk of a host after everything in it was sent."""
        name = self.random.choice(list(self.hosts))
        host = self.hosts[name]
        host.send_signal(signal.SIGKILL)
        host.wait()
        self.drain(name)
        shutil.rmtree(self.root / f"cache-{name}", ignore_errors=True)
        self.start(name)

    def stop_server(self) -> None:
        """Stop the server at once, as a crash does, and start it after a while."""
        self.cluster.stop("immediate")
        time.sleep(self.random.uniform(0.2, 2.0))
        self.cluster.start()

    def cut_connections(self) -> None:
        """Cut the connections of all hosts."""
        self.proxy.cut()

    def delay(self) -> None:
        """Delay everything by two seconds, for some seconds."""
        self.proxy.delay = 2.0
        time.sleep(4.0)
        self.proxy.delay = 0.0

    def drain(self, name: str) -> None:
        """Send what a dead host left in its cache, as its next start would."""
        if (self.root / f"cache-{name}").exists():
            with memctx.open(
                self.address,
                session_id="drain",
                namespace=self.namespace,
                embedding_model="hash",
                postgres={"cache_path": self.root / f"cache-{name}", "timeout": 60},
            ) as memory:
                memory.archive([{"role": "user", "content": f"drained {name} {time.time_ns()}"}])

    def stop(self) -> None:
        """Let the hosts finish, and send everything."""
        (self.root / "stop").touch()
        for host in self.hosts.values():
            host.wait(timeout=90)
        for name in self.hosts:
            self.drain(name)


def test_no_acknowledged_message_or_fact_of_a_fleet_is_lost_or_stored_twice(
    tmp_path: Path, servers: Servers
) -> None:
    fleet = Fleet(tmp_path, servers)
    try:
        for number in range(HOSTS):
            fleet.start(f"host{number}")
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(fleet.random.uniform(0.3, 2.0))
            fleet.inject_fault()
        time.sleep(WAIT_AFTER_LAST_FAULT)
    finally:
        fleet.proxy.delay = 0.0
        fleet.stop()
    entries = _journal(tmp_path)
    turns = sorted(each["seconds"] for each in entries if each["kind"] == "turn")
    stored = _stored(fleet, tmp_path / "fresh")
    for kind in ("texts", "facts"):
        for entry in entries:
            for text in entry.get(kind, ()):
                count = stored[entry["session"]][kind][text]
                assert count == 1, (
                    f"{entry['kind']} {text!r} of {entry['session']} is stored {count} times"
                )
    for session in stored.values():
        assert [
            text for each in session.values() for text, count in each.items() if count > 1
        ] == []
    errors = [error for each in entries for error in each.get("errors", ())]
    print(_summary(fleet, entries, turns))
    assert errors == []
    assert turns
    assert turns[-1] < LONGEST_TURN
    fleet.proxy.close()


def _journal(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(root.glob("*.journal")):
        for line in path.read_text().splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:  # the host was killed while it wrote
                continue
    return found


def _stored(fleet: Fleet, cache: Path) -> dict[str, dict[str, Counter[str]]]:
    """Return the messages and facts of each session as a host with an empty cache sees them."""
    found: dict[str, dict[str, Counter[str]]] = {}
    for number in range(SESSIONS):
        session = f"session-{number}"
        with memctx.open(
            fleet.address,
            session_id=session,
            namespace=fleet.namespace,
            embedding_model="hash",
            postgres={"cache_path": cache, "timeout": 30},
        ) as memory:
            found[session] = {
                "texts": Counter(segment.content for segment in memory.store.segments()),
                "facts": Counter(fact.content for fact in memory.facts),
            }
    return found


def _summary(fleet: Fleet, entries: list[dict[str, Any]], turns: list[float]) -> str:
    kinds = Counter(
        each["kind"] for each in entries for _ in (*each.get("texts", ()), *each.get("facts", ()))
    )
    p50, p99 = turns[len(turns) // 2], turns[len(turns) * 99 // 100]
    return (
        f"\n{len(turns)} turns: p50 {p50 * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms, longest {turns[-1] * 1e3:.0f} ms; "
        f"{kinds['archived']} acknowledged, {kinds['late']} late; faults: {dict(fleet.faults)}"
    )
