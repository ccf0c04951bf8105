"""An import that ended early goes on where it was: no duplicate, nothing missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import memctx
import process
from cli.import_export import hosts
from memctx.cli.import_export import import_transcripts, importing
from memctx.errors import StoreLockedError, UnsupportedVersionError
from memctx.lowlevel import LogReader

if TYPE_CHECKING:
    from memctx.cli.import_export import Imported, ImportProgress

pytestmark = pytest.mark.usefixtures("alone")
SCRIPT = Path(__file__).with_name("killed.py")


def talk(path: Path, messages: int, *, sessions: int = 7) -> Path:
    lines = [
        {
            "session_id": f"s{at % sessions}",
            "role": "assistant" if at % 2 else "user",
            "content": f"Remark number {at}: shard {at * 7919 % 1000} of the index moved to host {at % 13}.",
            # Long ago: what a store keeps in memory does not tell whether it holds them.
            "timestamp": 1_000_000_000_000 + at * 1000,
        }
        for at in range(messages)
    ]
    return hosts.write_lines(path, lines)


def stored(path: Path) -> list[tuple[str, str, str, float]]:
    return [(e.session_id, e.role, e.content, e.timestamp) for e in LogReader(path).scan()]


def expected(path: Path) -> set[tuple[str, str, str, float]]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {(e["session_id"], e["role"], e["content"], e["timestamp"]) for e in lines}


def in_order(rows: list[tuple[str, str, str, float]]) -> bool:
    """Return True if each session's messages come as they were said."""
    latest: dict[str, float] = {}
    for session, _, _, at in rows:
        if at < latest.get(session, 0):
            return False
        latest[session] = at
    return True


def kill_at(store: Path, source: Path, messages: int, *, batch: int, pause: float) -> None:
    """Start an import, and kill it shortly after it has reported ``messages``."""
    command = [sys.executable, str(SCRIPT), str(store), str(source), str(batch)]
    environment = {**os.environ, "PYTHONPATH": str(Path(memctx.__file__).parent.parent)}
    with process.start(command, env=environment, stdout=subprocess.PIPE, stderr=None) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if int(line) >= messages:
                time.sleep(pause)
                running.send_signal(signal.SIGKILL)
                break


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_repeatedly_killed_imports_store_every_message_once(
    tmp_path: Path,
) -> None:
    source, store = talk(tmp_path / "talk.jsonl", 6_000), tmp_path / "memory"
    # Right after a batch, and some way into the next.
    for wanted, pause in ((200, 0.0), (900, 0.004), (1_500, 0.009)):
        kill_at(store, source, wanted, batch=150, pause=pause)
        half = stored(store)
        assert len(half) == len(set(half))
        assert 0 < len(half) < 6_000, "it was to be killed half-way"
    imported = import_transcripts(store, source)
    rows = stored(store)
    assert len(rows) == 6_000
    assert set(rows) == expected(source)
    assert in_order(rows)
    # It went on where it was, and nothing but the journal is left.
    assert imported.messages < 6_000 - 1_500
    assert [file.suffix for file in (store / "imports").iterdir()] == [".jsonl"]


class StoppedError(Exception):
    pass


def stopped(store: Path, source: Path, batches: int) -> None:
    reports = 0

    def stop(_: ImportProgress) -> None:
        nonlocal reports
        reports += 1
        if reports == batches:
            raise StoppedError

    with pytest.raises(StoppedError):
        import_transcripts(store, source, on_progress=stop)


def cut_journal(store: Path) -> None:
    """Leave files as if a process had died between the store and the journal."""
    (journal,) = (store / "imports").glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])


def test_a_journal_that_is_behind_the_store_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_MESSAGES", 100)
    source, store = talk(tmp_path / "talk.jsonl", 1_000), tmp_path / "memory"
    stopped(store, source, 4)
    cut_journal(store)
    imported = import_transcripts(store, source)
    assert (imported.messages, imported.added, imported.duplicates) == (700, 600, 100)
    assert set(stored(store)) == expected(source)
    assert len(stored(store)) == 1_000


def test_a_batch_that_was_written_half_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_MESSAGES", 100)
    source, store = talk(tmp_path / "talk.jsonl", 500), tmp_path / "memory"
    stopped(store, source, 3)
    cut_journal(store)
    log = store / "segments.jsonl"
    log.write_bytes(log.read_bytes()[:-5_000])  # in the midst of a line
    import_transcripts(store, source)
    rows = stored(store)
    assert set(rows) == expected(source)
    assert len(rows) == 500


def test_a_journal_of_another_store_does_not_count(tmp_path: Path) -> None:
    source, store = talk(tmp_path / "talk.jsonl", 50), tmp_path / "memory"
    import_transcripts(store, source)
    (store / "segments.jsonl").unlink()
    assert import_transcripts(store, source).added == 50
    # A backup from before the import, with something else in it.
    (store / "segments.jsonl").unlink()
    with memctx.open(store, session_id="other") as memory:
        memory.archive([{"role": "user", "content": "The backup is from Monday, " * 900}])
    assert import_transcripts(store, source).added == 50


def test_only_new_messages_of_a_grown_file_are_added(tmp_path: Path) -> None:
    source, store = talk(tmp_path / "talk.jsonl", 100), tmp_path / "memory"
    import_transcripts(store, source)
    talk(source, 120)
    imported = import_transcripts(store, source)
    assert (imported.added, imported.duplicates) == (20, 100)
    assert set(stored(store)) == expected(source)


def test_segments_archived_by_a_live_session_are_not_imported_again(tmp_path: Path) -> None:
    source = hosts.pi(tmp_path)
    with memctx.open(tmp_path / "memory", session_id="pi-1") as memory:
        memory.archive([{"role": "user", "content": hosts.ASKED}])
        imported = import_transcripts(memory, source)
        assert imported.duplicates == 1
        # The open memory finds what came, at once.
        assert memory.search("settings file port")[0].segment.content == hosts.ANSWERED
        # And goes on writing to the same log.
        assert memory.archive([{"role": "user", "content": hosts.LATER}]).duplicates == 1
        assert memory.archive([{"role": "user", "content": "It is on 8443 now."}]).added == 1
    assert len(set(stored(tmp_path / "memory"))) == len(stored(tmp_path / "memory"))


def test_two_imports_at_once_share_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_MESSAGES", 50)
    source, store = talk(tmp_path / "talk.jsonl", 1_000), tmp_path / "memory"
    with ThreadPoolExecutor(2) as pool:
        runs: list[Imported] = list(pool.map(lambda _: import_transcripts(store, source), range(2)))
    assert sum(run.added for run in runs) == 1_000
    rows = stored(store)
    assert len(rows) == 1_000
    assert set(rows) == expected(source)


def test_imported_messages_are_extracted_only_on_request(tmp_path: Path) -> None:
    said = "We decided: the payment webhook of the shop listens on port 8443."
    lines = [
        {"session_id": "s1", "role": "user", "content": f"{said} Version {at}."} for at in range(8)
    ]
    source = hosts.write_lines(tmp_path / "talk.jsonl", lines)
    for extract in (False, True):
        store = tmp_path / f"memory-{extract}"
        with memctx.open(store, session_id="s1", knowledge_extraction="rules") as memory:
            import_transcripts(memory, source, extract=extract)
            assert memory.wait_for_facts().result(timeout=30).is_complete
            assert bool(memory.facts.search("webhook port")) is extract
    # Requested while the session was closed: the next opening extracts the facts.
    import_transcripts(tmp_path / "later", source, extract=True)
    with memctx.open(tmp_path / "later", session_id="s1", knowledge_extraction="rules") as memory:
        assert memory.wait_for_facts().result(timeout=30).is_complete
        assert memory.facts.search("webhook port")


def test_import_progress_increases_to_the_total(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_MESSAGES", 100)
    folder = tmp_path / "source"
    talk(folder / "a.jsonl", 350)
    talk(folder / "b.jsonl", 400, sessions=3)
    reports: list[ImportProgress] = []
    imported = import_transcripts(tmp_path / "memory", folder, on_progress=reports.append)
    assert [each.bytes_done for each in reports] == sorted(each.bytes_done for each in reports)
    assert reports[-1].bytes_done == reports[-1].bytes
    assert (reports[-1].files_done, reports[-1].files) == (2, 2)
    assert (reports[-1].messages, reports[-1].added) == (imported.messages, imported.added)
    assert len(reports) > 5


def test_a_store_that_another_process_holds_is_an_error(tmp_path: Path) -> None:
    source = talk(tmp_path / "talk.jsonl", 3)
    with (
        memctx.open(tmp_path / "memory", session_id="s1", disk={"lock_timeout": 0.05}) as memory,
        process.holding(tmp_path / "memory" / "LOCK"),
        pytest.raises(StoreLockedError, match="another process has held the lock"),
    ):
        import_transcripts(memory, source)
    assert import_transcripts(tmp_path / "memory", source).added == 3


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    source, store = talk(tmp_path / "talk.jsonl", 3), tmp_path / "memory"
    store.mkdir()
    (store / "LOCK").write_text('{"format":2,"min_reader":1,"min_writer":2}\n')
    with pytest.raises(UnsupportedVersionError, match="version 2 of the format"):
        import_transcripts(store, source)
    assert not (store / "segments.jsonl").exists()


def test_a_damaged_version_is_not_trusted(tmp_path: Path) -> None:
    source, store = talk(tmp_path / "talk.jsonl", 3), tmp_path / "memory"
    store.mkdir()
    lock = '{"format":2,"min_reader":1,"min_writer":2,"crc":"00000000"}\n'
    (store / "LOCK").write_text(lock)
    assert import_transcripts(store, source).added == 3
