"""The disk fills up in the midst of a write, and has room again later."""

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
    store = memctx.WarmStore(folder, session_id="s1", durability=sys.argv[3])
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
def test_a_file_that_may_not_grow(tmp_path: Path, limit: int, durability: str) -> None:
    """What was refused is stored when it is tried again in the same process, and nothing is torn or twice."""
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
def test_a_file_system_without_room(tmp_path: Path, mount: Callable[..., None], kib: int) -> None:
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
