"""A disk that is full during a write, and has room again later."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from .stores import REFUSED, child, contents, linux, opened, posix, said_by, say, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMITED = """
    import json, resource, signal, sys, memctx
    folder, limit = sys.argv[1], int(sys.argv[2])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = memctx.lowlevel.Store(folder, memctx.lowlevel.StoreOptions(session_id="s1", durability=sys.argv[3]))
    acked, refused = [], []

    def add(content):
        try:
            store.add([("user", content, None, None)])
        except (memctx.StoreError, OSError):
            refused.append(content)
        else:
            acked.append(content)

    add("before the limit")
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    for number in range(40):
        add(f"remark {number}: " + f"the disk is nearly full {number} " * 20)
    found = len(store.search("disk nearly full", limit=5))
    store.snapshot()  # it may fail, it may not raise
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    again = list(refused)
    for content in again:
        add(content)
    add("after the limit")
    print(json.dumps([acked, len(refused), len(again), found]))
"""


@linux
@pytest.mark.parametrize("durability", ["fsync", "os"])
@pytest.mark.parametrize("limit", [3000, 8192, 10_001])
def test_adds_beyond_a_file_size_limit_are_refused_and_retried(
    tmp_path: Path, limit: int, durability: str
) -> None:
    """Refused records are stored by a retry in the same process; nothing is torn or duplicated."""
    (line,) = said_by(child(LIMITED, tmp_path, limit, durability))
    acked, refused, first_refused, found = json.loads(line)
    assert first_refused > 10
    assert refused == first_refused, "the store takes nothing once there is room again"
    assert found
    store = opened(tmp_path)
    stored = contents(store)
    assert sorted(stored) == sorted(acked)
    assert len(store) == len(acked) == 42
    assert store.health()["skipped_lines"] == 0


@posix
@pytest.mark.parametrize("kib", [40, 64])
def test_adds_to_a_full_file_system_are_refused_and_retried(
    tmp_path: Path, mount: Callable[..., None], kib: int
) -> None:
    mount("-t", "tmpfs", "-o", f"size={kib}k,mode=700", "tmpfs", tmp_path)
    store = opened(tmp_path)
    acked: list[str] = []
    refused: list[str] = []
    for number in range(200):
        remark = text(number) * (number % 40 + 1)
        try:
            say(store, remark)
        except REFUSED:
            refused.append(remark)
        else:
            acked.append(remark)
    assert len(refused) > 20
    assert store.search("deploy failed")
    assert set(acked) <= set(contents(opened(tmp_path)))
    remount = [shutil.which("mount") or "mount", "-o", "remount,size=64m", str(tmp_path)]
    subprocess.run(remount, check=True)
    say(store, *refused)
    assert sorted(contents(store)) == sorted(acked + refused)
    report: dict[str, Any] = opened(tmp_path).health()
    assert report["skipped_lines"] == 0


HEALTH = """
    import json, resource, signal, sys, memctx
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    memory = memctx.open(sys.argv[1], session_id="s1", disk={"durability": sys.argv[2]})
    reports = []

    def look():
        health = memory.health()
        reports.append([health["degraded"], health["ok"], health["reasons"]])

    def tried(call):
        try:
            call()
        except (memctx.StoreError, OSError):
            pass
        look()

    tried(lambda: memory.archive([{"role": "user", "content": "before the limit"}]))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    tried(lambda: memory.archive([{"role": "user", "content": "beyond the limit"}]))
    tried(lambda: memory.search("limit"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    tried(lambda: memory.archive([{"role": "user", "content": "after the limit"}]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    tried(lambda: memory.facts.add("config", "The webhook listens on port 8443"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    tried(lambda: memory.facts.add("config", "The webhook listens on port 8443"))
    print(json.dumps(reports))
"""


@linux
@pytest.mark.parametrize("durability", ["fsync", "os"])
def test_health_is_degraded_while_writes_fail(tmp_path: Path, durability: str) -> None:
    """From the failed write to the next successful one, for segments and facts, with a reason."""
    (line,) = said_by(child(HEALTH, tmp_path, durability))
    before, failed, searched, after, fact_failed, fact_added = json.loads(line)
    assert before == after == fact_added == [False, True, []]
    assert failed == searched
    for is_degraded, is_ok, reasons in (failed, fact_failed):
        assert is_degraded
        assert not is_ok
        assert "write failed" in reasons[0]
        assert "jsonl" in reasons[0]
    assert fact_failed[2][0].startswith("facts: ")


@posix
def test_health_reports_a_full_file_system(tmp_path: Path, mount: Callable[..., None]) -> None:
    mount("-t", "tmpfs", "-o", "size=40k,mode=700", "tmpfs", tmp_path)
    store = opened(tmp_path)
    for number in range(200):
        try:
            say(store, text(number) * 20)
        except REFUSED:
            break
    health = store.health()
    assert health["degraded"]
    assert "No space left" in health["reasons"][0]
    remount = [shutil.which("mount") or "mount", "-o", "remount,size=64m", str(tmp_path)]
    subprocess.run(remount, check=True)
    say(store, "there is room again")
    assert not store.health()["degraded"]
