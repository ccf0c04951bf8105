"""Failing system calls: write, sync, open and lock."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from .stores import child, contents, filled, linux, opened, said_by

if TYPE_CHECKING:
    from pathlib import Path

# Ten records, each tried up to three times; then all is said of what happened.
STUBBORN = """
    import json, sys, memctx
    store = memctx.lowlevel.Store(sys.argv[1], memctx.lowlevel.StoreOptions(session_id="s1"))
    faults, acked, lost = [], [], []
    for number in range(10):
        content = f"stubborn remark {number}"
        for attempt in range(3):
            try:
                store.add([("user", content, None, None)])
            except (memctx.StoreError, OSError) as fault:
                faults.append(str(fault))
            else:
                acked.append(content)
                break
        else:
            lost.append(content)
        store.search("deploy failed")
    print(json.dumps([acked, lost, faults, store.health()["faults"]]))
"""


def run_with_fault(
    folder: Path,
    calls: str,
    what: str,
    names: tuple[str, ...] = (".", "segments.jsonl", "LOCK"),
    code: str = STUBBORN,
) -> tuple[list[str], list[str], list[str], list[str]]:
    """Run a writer under a strace fault; return acknowledged and refused records, errors and faults of health()."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace")
    trace = folder.with_name("trace")
    paths = [word for name in names for word in ("-P", str((folder / name).absolute()))]
    inject = ("-e", f"trace={calls}", "-e", f"inject={calls}:{what}")
    before = (strace, "-f", "-qq", "-o", str(trace), *paths, *inject)
    (line,) = said_by(child(code, folder, before=before))
    assert "INJECTED" in trace.read_text(errors="replace"), "the fault was never met"
    acked, lost, faults, health = json.loads(line)
    return acked, lost, faults, health


@linux
@pytest.mark.parametrize(
    ("calls", "what"),
    [
        ("write,pwrite64,writev", "error=EIO:when=3"),
        ("write,pwrite64,writev", "error=ENOSPC:when=2"),
        ("write,pwrite64,writev", "error=EINTR:when=2"),
        ("flock", "error=ENOLCK:when=2"),
        ("flock", "error=EINTR:when=2"),
        ("openat", "error=EMFILE:when=1"),
        ("pread64,read", "error=EIO:when=1"),
    ],
)
def test_a_record_refused_by_a_transient_fault_is_stored_by_a_retry(
    tmp_path: Path, calls: str, what: str
) -> None:
    """A retry in the same process stores the record once."""
    folder = tmp_path / "store"
    before = filled(folder)
    acked, lost, _, _ = run_with_fault(folder, calls, what)
    assert not lost
    assert len(acked) == 10
    assert contents(opened(folder)) == before + acked


@linux
@pytest.mark.parametrize(
    ("calls", "what"),
    [
        ("write,pwrite64,writev", "error=ENOSPC:when=3+"),
        ("fdatasync,fsync", "error=EIO:when=1+"),
        ("flock", "error=ENOLCK:when=1+"),
    ],
)
def test_a_permanent_fault_refuses_records_without_a_crash(
    tmp_path: Path, calls: str, what: str
) -> None:
    """Acknowledged records are there, and once the fault is gone the store accepts records."""
    folder = tmp_path / "store"
    before = filled(folder)
    acked, lost, faults, _ = run_with_fault(folder, calls, what)
    assert lost
    assert faults
    assert not any("stubborn" in fault for fault in faults), "an error may not quote a text"
    stored = contents(opened(folder))
    assert set(before + acked) <= set(stored) <= {*before, *acked, *lost}
    assert len(stored) == len(set(stored))
    after, *_ = json.loads(said_by(child(STUBBORN, folder))[0])
    assert len(after) == 10


# strace counts the calls of each thread by itself, and every sync may have a thread of its own.
FAILING_SYNC = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int calls;

int fdatasync(int file) {
    int call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (call >= atoi(getenv("FAIL_FROM")) && call <= atoi(getenv("FAIL_TO"))) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, file);
}
"""


@pytest.fixture(scope="module")
def failing_sync(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a preload library in which some syncs fail."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("failing_sync")
    (folder / "sync.c").write_text(FAILING_SYNC)
    library = folder / "sync.so"
    command = [compiler, "-shared", "-fPIC", "-o", str(library), str(folder / "sync.c")]
    subprocess.run(command, check=True)
    return library


@linux
@pytest.mark.parametrize(("first", "last"), [(1, 1), (3, 3), (3, 4)])
def test_a_record_of_a_failed_sync_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing_sync: Path, first: int, last: int
) -> None:
    """The record is not acknowledged; a retry writes it again, and it is there once."""
    before = filled(tmp_path)
    monkeypatch.setenv("LD_PRELOAD", str(failing_sync))
    monkeypatch.setenv("FAIL_FROM", str(first))
    monkeypatch.setenv("FAIL_TO", str(last))
    process = child(STUBBORN, tmp_path)
    acked, lost, faults, health = json.loads(said_by(process)[0])
    assert faults
    assert not lost
    assert len(acked) == 10
    assert any("did not reach the disk" in fault for fault in health)
    assert contents(opened(tmp_path)) == before + acked


BATCHES = """
    import json, sys, memctx
    store = memctx.lowlevel.Store(sys.argv[1], memctx.lowlevel.StoreOptions(session_id="s1"))
    acked = []
    for batch in range(10):
        texts = [f"batch {batch} holds remark {number}" for number in range(5)]
        added = store.add([("user", text, None, None) for text in texts])
        acked += [text for text, one in zip(texts, added, strict=True) if one.outcome == "added"]
        assert store.search(texts[0], limit=1)[0].segment.content == texts[0]
    print(json.dumps([acked, [], store.health()["faults"], []]))
"""


@pytest.mark.timing
@linux
@pytest.mark.parametrize("first", [1, 2, 5])
def test_a_store_works_without_a_second_thread(tmp_path: Path, first: int) -> None:
    """Background work is done in the foreground instead."""
    folder = tmp_path / "store"
    before = filled(folder, 80)  # so many that threads share the work
    fault = f"error=EAGAIN:when={first}+"
    acked, _, faults, _ = run_with_fault(folder, "clone3,clone", fault, (), BATCHES)
    assert faults == []
    assert contents(opened(folder)) == before + acked
    assert len(acked) == 50


NO_HANDLES = """
    import json, os, resource, sys, memctx
    folder, early = sys.argv[1], sys.argv[2] == "early"
    memctx.lowlevel.Store, memctx.lowlevel.StoreOptions  # names are imported on first use, which takes handles
    store = None if early else memctx.lowlevel.Store(folder, memctx.lowlevel.StoreOptions(session_id="s1"))
    found = [] if early else [len(store.search("deploy failed"))]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))), hard))
    taken = []
    try:
        while True:
            taken.append(os.dup(0))
    except OSError:
        pass
    if early:
        store = memctx.lowlevel.Store(folder, memctx.lowlevel.StoreOptions(session_id="s1"))
    found.append(len(store.search("deploy failed")))
    try:
        store.add([("user", "without a handle", None, None)])
    except (memctx.StoreError, OSError) as fault:
        refused = str(fault)
    else:
        refused = None
    store.snapshot()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for handle in taken:
        os.close(handle)
    store.add([("user", "with a handle again", None, None)])
    found.append(len(store.search("deploy failed")))
    print(json.dumps([found, refused]))
"""


@linux
@pytest.mark.parametrize("when", ["early", "late"])
def test_a_store_recovers_from_too_many_open_files(tmp_path: Path, when: str) -> None:
    """Search answers from memory, an add raises, and all works again later without a restart."""
    before = filled(tmp_path)
    found, refused = json.loads(said_by(child(NO_HANDLES, tmp_path, when))[0])
    assert found == ([0, 6] if when == "early" else [6, 6, 6])
    assert refused is None or "files" in refused
    stored = contents(opened(tmp_path))
    assert stored[:6] == before
    assert stored[6:] == ["without a handle"] * (refused is None) + ["with a handle again"]
