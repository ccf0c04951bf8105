"""Messages and lines of 100 MB: bounded time and memory, and everything else works."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .stores import child, linux, said_by

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20

# Prints the processor seconds it took and the most memory it had, in MiB beyond what there was before.
MEASURED = """
    import json, resource, sys, time, memctx

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    text = "the deploy failed on port 8443 " * (int(sys.argv[3]) // 31)
    before, began = peak(), time.process_time()
    store = memctx.lowlevel.Store(sys.argv[1], memctx.lowlevel.StoreOptions(session_id="s1"))
    if sys.argv[2] == "add":
        (added,) = store.add([("user", text, None, None)])
        store.add([("user", "a remark after it", None, None)])
    found = [len(hit.segment.content) for hit in store.search("remark", limit=5)]
    print(json.dumps([time.process_time() - began, peak() - before, len(store), found]))
"""


def measured(folder: Path, what: str, size: int) -> tuple[float, float, int, list[int]]:
    seconds, mib, count, found = json.loads(said_by(child(MEASURED, folder, what, size), 100)[0])
    return seconds, mib, count, found


@pytest.mark.timing
@linux
def test_an_invalid_log_line_of_100_mb_is_skipped(tmp_path: Path) -> None:
    segment = {
        "id": "a",
        "sessionId": "s1",
        "timestamp": 4e12,
        "role": "user",
        "content": "a remark",
    }
    good = json.dumps(segment).encode()
    with (tmp_path / "segments.jsonl").open("wb") as log:
        log.write(good + b"\n")
        for _ in range(100):
            log.write(b"x" * MIB)
        log.write(b"\n" + good.replace(b'"a"', b'"b"').replace(b"remark", b"remark too") + b"\n")
    seconds, mib, count, _ = measured(tmp_path, "read", 0)
    assert count == 2
    assert seconds < 5
    assert mib < 400


@pytest.mark.timing
@linux
def test_a_log_line_above_the_limit_is_skipped(tmp_path: Path) -> None:
    """300 MB are more than the limit; the file is sparse."""
    segment = {
        "id": "a",
        "sessionId": "s1",
        "timestamp": 4e12,
        "role": "user",
        "content": "a remark",
    }
    with (tmp_path / "segments.jsonl").open("wb") as log:
        log.seek(300 * MIB)
        log.write(b"\n" + json.dumps(segment).encode() + b"\n")
    seconds, mib, count, _ = measured(tmp_path, "read", 0)
    assert count == 1
    assert seconds < 5
    assert mib < 800


@linux
@pytest.mark.slow
@pytest.mark.timing
def test_a_message_of_100_mb_is_stored(tmp_path: Path) -> None:
    seconds, mib, count, found = measured(tmp_path, "add", 100 * MIB)
    assert count == 2
    assert found
    assert seconds < 60
    assert mib < 1000


TOO_LONG = """
    import sys, memctx
    store = memctx.lowlevel.Store(sys.argv[1], memctx.lowlevel.StoreOptions(session_id="s1"))
    try:
        store.add([("tool", "\\x01" * (45 << 20), None, None)])
    except memctx.ConfigError as fault:
        print(fault)
    store.add([("user", "a remark after it", None, None)])
    print(len(store))
"""


@linux
@pytest.mark.slow
def test_a_message_above_the_line_limit_is_refused(tmp_path: Path) -> None:
    """45 MB of control characters are 270 MB as JSON, which no reader would load."""
    fault, count = said_by(child(TOO_LONG, tmp_path))
    assert "at most 256 MiB" in fault
    assert count == "1"
