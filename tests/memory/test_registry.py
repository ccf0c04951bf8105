"""One memory for each directory and session."""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

import memctx
import process
from memctx import Config, ConfigError, Memory, registry

if TYPE_CHECKING:
    from pathlib import Path


class HostSession:
    """A host's object, which compares and hashes in its own way."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


def test_opening_twice_gives_the_same_memory(tmp_path: Path) -> None:
    """Each open wants its own close; the last one closes, and the next open opens again."""
    first = memctx.open(tmp_path, session_id="s")
    with memctx.open(str(tmp_path), session_id="s") as second:
        assert second is first
    assert first.archive([{"role": "user", "content": "still open and writing"}]).added == 1
    first.close()
    assert first.closed
    third = memctx.open(tmp_path, session_id="s")
    assert third is not first
    third.close()


def test_one_directory_has_many_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    names: list[str | Path] = ["~/store", "store", "./store/../store", tmp_path / "store"]
    memories = {memctx.open(name, session_id="s") for name in names}
    assert len(memories) == 1
    assert memories.pop().store.path == str(tmp_path / "store")


def test_the_path_of_the_settings_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_STORAGE_PATH", str(tmp_path / "a"))
    assert memctx.open(session_id="s").store.path == str(tmp_path / "a")
    config = Config(storage_path=tmp_path / "b")
    assert memctx.open(session_id="s", config=config).store.path == str(tmp_path / "b")
    assert memctx.open(tmp_path / "c", session_id="s", config=config).config.storage_path == (
        tmp_path / "c"
    )


def test_arguments_win_over_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A config that is given is all there is beside the arguments; the environment was its maker's to read."""
    monkeypatch.setenv("MEMCTX_DISK_MAX_SEGMENTS", "7")
    config = Config(privacy={"pii": True}, disk={"durability": "os"})
    memory = memctx.open(tmp_path, session_id="s", config=config, disk={"durability": "fsync"})
    assert (memory.config.privacy.pii, memory.config.disk.durability) == (True, "fsync")
    assert memory.config.disk.max_segments == 20_000
    assert memctx.open(tmp_path, session_id="t").config.disk.max_segments == 7


def test_other_settings_for_an_open_memory_are_refused(tmp_path: Path) -> None:
    """The message has the setting and both values; the memory stays as it is."""
    memory = memctx.open(tmp_path, session_id="s", disk={"max_segments": 500}, context_window=1000)
    calls: list[dict[str, Any]] = [
        {"disk": {"max_segments": 600}},
        {"config": Config(disk={"max_segments": 600})},
    ]
    for call in calls:
        with pytest.raises(
            ConfigError, match=r"disk.max_segments is 600; .*session 's'.* with 500$"
        ):
            memctx.open(tmp_path, session_id="s", **call)
    with pytest.raises(ConfigError, match=r"context_window is 2000; .* is open with 1000"):
        memctx.open(tmp_path, session_id="s", context_window=2000)
    memory.close()
    assert memory.closed


def test_equal_or_no_settings_return_the_open_memory(tmp_path: Path) -> None:
    """Opening again with equal settings or with none returns the open memory."""
    memory = memctx.open(tmp_path, session_id="s", disk={"max_segments": 500})
    assert memctx.open(tmp_path, session_id="s", disk={"max_segments": 500}) is memory
    assert memctx.open(tmp_path, session_id="s") is memory
    assert memctx.open(tmp_path, session_id="s", config=Config()) is memory


def test_a_memory_that_does_not_open_is_not_remembered(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for _ in range(2):
        with pytest.raises((memctx.StoreError, OSError)):
            memctx.open(tmp_path / "file", session_id="s")
        with pytest.raises(ConfigError, match=r"disk\.lock_timeout"):
            memctx.open(tmp_path, session_id="s", disk={"lock_timeout": -1})
    assert registry.memories() == []


@pytest.mark.parametrize("empty", ["path", "session_id"])
def test_an_empty_name_is_refused(tmp_path: Path, empty: str) -> None:
    names = {"path": str(tmp_path), "session_id": "s", empty: ""}
    with pytest.raises(ConfigError, match=f"^{empty} is empty"):
        memctx.open(names["path"], session_id=names["session_id"])


def test_hooks_find_the_memory_of_their_session(tmp_path: Path) -> None:
    first = memctx.open(tmp_path, session_id="s1")
    second = memctx.open(tmp_path, session_id="s2")
    assert memctx.registry.runtime("s1") is first
    assert memctx.registry.runtime("s2", path=tmp_path) is second
    assert registry.memories() == [first, second]
    first.close()
    with pytest.raises(ConfigError, match=r"^session 's1' is not open; open sessions: 's2'$"):
        memctx.registry.runtime("s1")
    second.close()
    with pytest.raises(ConfigError, match=r"open sessions: none$"):
        memctx.registry.runtime("s2")


def test_a_session_open_in_two_directories_needs_a_path(tmp_path: Path) -> None:
    first = memctx.open(tmp_path / "a", session_id="s")
    second = memctx.open(tmp_path / "b", session_id="s")
    with pytest.raises(
        ConfigError, match=r"session 's' is open in .*a, .*b; expected path= to name one"
    ):
        memctx.registry.runtime("s")
    assert memctx.registry.runtime("s", path=tmp_path / "a") is first
    assert memctx.registry.runtime("s", path=tmp_path / "b") is second


def test_an_object_can_have_a_memory(tmp_path: Path) -> None:
    """It is told by identity, even where it hashes not at all, and is not kept alive."""
    memory = memctx.open(tmp_path, session_id="s")
    one, other = HostSession(), HostSession()
    registry.bind(one, memory)
    assert registry.of(one) is memory
    assert registry.of(other) is None
    held = len(registry._bound)  # noqa: SLF001
    del one
    gc.collect()
    assert len(registry._bound) == held - 1  # noqa: SLF001
    registry.bind(other, memory)
    memory.close()
    assert registry.of(other) is None


def test_a_binding_can_be_replaced(tmp_path: Path) -> None:
    owner = HostSession()
    for name in ("s1", "s2"):
        memory = memctx.open(tmp_path, session_id=name)
        registry.bind(owner, memory)
        assert registry.of(owner) is memory


def test_an_owner_without_weak_references_cannot_be_bound(tmp_path: Path) -> None:
    memory = memctx.open(tmp_path, session_id="s")
    with pytest.raises(ConfigError, match=r"^int objects cannot be bound"):
        registry.bind(7, memory)


def test_threads_get_the_same_memory(tmp_path: Path) -> None:
    """However many threads open at once, there is one memory, and as many closes close it."""
    start = threading.Barrier(8)
    found: list[Memory] = []

    def work() -> None:
        start.wait()
        found.append(memctx.open(tmp_path, session_id="s"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    for memory in found:
        assert not memory.closed
        memory.close()
    assert found[0].closed


FORK = """
import os, sys, memctx
def said(text): return [{"role": "user", "content": text}]
memory = memctx.open(sys.argv[1], session_id="s")
memory.archive(said("before the fork, by the parent"))
child = os.fork()
if child == 0:
    try:
        assert memctx.registry.runtime("s") is memory
        memory.archive(said("after the fork, by the child"))
        assert len(memory.search("fork")) >= 2, memory.search("fork")
        os._exit(0)
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(1)
memory.archive(said("after the fork, by the parent"))
_, status = os.waitpid(child, 0)
memory.store.refresh()
found = sorted(segment.content for segment in memory.store.segments())
assert [text.removesuffix(" parent") for text in found] == [
    "after the fork, by the child", "after the fork, by the", "before the fork, by the"], found
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_memories_are_kept_open_and_the_oldest_are_closed(tmp_path: Path) -> None:
    with registry.keep_open(2):
        kept: list[Memory] = []
        for name in ("a", "b", "c"):
            with memctx.open(tmp_path, session_id=name) as memory:
                memory.archive([{"role": "user", "content": f"The port of {name} is 8443"}])
            kept.append(memory)
        assert [memory.closed for memory in kept] == [True, False, False]
        with memctx.open(tmp_path, session_id="b") as memory:
            assert memory is kept[1]
        with memctx.open(tmp_path, session_id="d"):
            assert not kept[2].closed  # one in use is not counted
        assert [memory.closed for memory in kept] == [True, False, True]
    assert all(memory.closed for memory in kept)
    assert registry.memories() == []


def test_a_kept_memory_does_not_lend_its_settings(tmp_path: Path) -> None:
    """The next caller did not ask for what an earlier one was allowed to see."""
    with memctx.open(tmp_path, session_id="other") as memory:
        memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
    with registry.keep_open(2):
        with memctx.open(tmp_path, session_id="s", cross_session=True) as wide:
            assert wide.search("port of the webhook")
        with memctx.open(tmp_path, session_id="s") as narrow:
            assert wide.closed
            assert not narrow.search("port of the webhook")


def test_a_memory_in_use_outlives_the_end_of_keeping(tmp_path: Path) -> None:
    with registry.keep_open(2):
        memory = memctx.open(tmp_path, session_id="s")
    assert not memory.closed
    memory.close()
    assert memory.closed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_stores_of_its_own(tmp_path: Path) -> None:
    """Parent and child write to the same directory after the fork, and neither loses a word."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK, str(tmp_path)]
    assert process.run(command).stderr == ""


HELD = """
import os, sys, threading, memctx
from memctx import registry
memory = memctx.open(sys.argv[1], session_id="s")
held, done = threading.Event(), threading.Event()
def hold():
    with registry._lock:
        held.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    os._exit(0 if memctx.registry.runtime("s") is memory else 1)
_, status = os.waitpid(child, 0)
done.set()
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_while_another_thread_opens_does_not_hang(tmp_path: Path) -> None:
    """The thread that holds the registry is not there in the child, and the child does not wait for it."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", HELD, str(tmp_path)]
    assert process.run(command, timeout=30).stderr == ""
