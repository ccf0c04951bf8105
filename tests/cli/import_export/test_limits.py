"""Reading one file is bounded: by its size in time, by the limits in memory. Nothing is left out in silence."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import memctx
from cli.import_export import hosts
from memctx import ConfigError, StoreError
from memctx.cli import main
from memctx.cli.import_export import Limits, import_transcripts, read_transcript, transcript_file
from memctx.cli.import_export.streams import MIB, MIN_EXPANDED, RATIO
from memctx.cli.replay import Recording
from memctx.lowlevel import LogReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("alone")
SCRIPT = Path(__file__).with_name("measured.py")
SMALL = Limits(value=20_000, expanded=50_000)


def zip_of(path: Path, pieces: Iterator[bytes], member: str = "conversations.json") -> Path:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(member, "w", force_zip64=True) as file,
    ):
        for piece in pieces:
            file.write(piece)
    return path


def gzip_of(path: Path, pieces: Iterator[bytes]) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for piece in pieces:
            file.write(piece)
    return path


def plain_of(path: Path, pieces: Iterator[bytes]) -> Path:
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
    return path


def around(inner: bytes, size: int, before: bytes = b"", after: bytes = b"") -> Iterator[bytes]:
    """Yield a pattern over and over, about ``size`` bytes of it, between two others."""
    block = inner * max(min(size, MIB) // len(inner), 1)
    yield before
    for _ in range(max(size // len(block), 1)):
        yield block
    yield after


SAID = b'{"role": "user", "content": "The webhook listens on port 8443"}\n'
NODE = b'[{"mapping": {"a": {"message": {"content": {"parts": ["'


def blank_zip(folder: Path, size: int) -> Path:
    return zip_of(folder / "export.zip", around(b" ", size, b"[", b"]"))


def blank_gzip(folder: Path, size: int) -> Path:
    return gzip_of(folder / "talk.jsonl.gz", around(b" \n", size, SAID))


def newline_gzip(folder: Path, size: int) -> Path:
    return gzip_of(folder / "talk.jsonl.gz", around(b"\n", size, SAID))


def letter_gzip(folder: Path, size: int) -> Path:
    return gzip_of(folder / "talk.jsonl.gz", around(b"a", size, SAID))


def history_gzip(folder: Path, size: int) -> Path:
    head = b"# aider chat started at 2026-10-26 07:33:20\n\n#### Which port?\n"
    return gzip_of(folder / "history.jsonl.gz", around(b"\n", size, head))


def long_value(folder: Path, size: int) -> Path:
    return plain_of(folder / "conversations.json", around(b"x", size, NODE, b'"]}}}}}]'))


def long_document(folder: Path, size: int) -> Path:
    head = b'{"messages": [{"role": "user", "content": "'
    return plain_of(folder / "talk.json", around(b"x", size, head, b'"}]}'))


def long_item(folder: Path, size: int) -> Path:
    head = b'[{"role": "user", "content": "'
    return plain_of(folder / "talk.json", around(b"x", size, head, b'"}]'))


def long_session(folder: Path, size: int) -> Path:
    head = b'{\n"sessionId": "s1", "projectHash": "p", "messages": [{"id": "m", "content": "'
    return plain_of(folder / "session-1.json", around(b"x", size, head, b'"}]}'))


def long_history(folder: Path, size: int) -> Path:
    head = b"# aider chat started at 2026-10-26 07:33:20\n\n#### Which port?\n"
    return plain_of(folder / ".aider.chat.history.md", around(b"word\n", size, head))


EXPANDING = [blank_zip, blank_gzip, newline_gzip, letter_gzip, history_gzip]
LONG = [long_value, long_document, long_item, long_session, long_history]


@pytest.mark.parametrize("write", EXPANDING)
def test_a_file_that_expands_too_far_is_named_with_the_limit_and_the_remedy(
    write: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    path = write(tmp_path, 200_000)
    (failed,) = import_transcripts(tmp_path / "memory", path, limits=SMALL).failed
    assert str(path) in failed
    assert "expand to more than 48.8 KiB" in failed
    assert "limits.expanded (--max-expanded)" in failed
    assert ("conversations.json: " in failed) == (path.suffix == ".zip")
    if write is not blank_zip:
        with pytest.raises(StoreError, match=r"expand to more than 48\.8 KiB"):
            Recording.read(path, limits=SMALL)


@pytest.mark.parametrize("write", LONG)
def test_a_value_that_is_too_long_is_named_with_the_limit_and_the_remedy(
    write: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    path = write(tmp_path, 200_000)
    done = import_transcripts(tmp_path / "memory", path, limits=SMALL)
    (failed,) = done.failed
    assert str(path) in failed
    assert "one value has more than 19.5 KiB" in failed
    assert "limits.value (--max-value)" in failed
    assert done.added == done.messages <= 1


def test_members_of_an_archive_share_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(10):
            archive.writestr(f"conversations-{number}.json", f"[{' ' * 10_000}]")
    (failed,) = import_transcripts(tmp_path / "memory", path, limits=SMALL).failed
    assert "conversations-4.json: " in failed
    assert import_transcripts(tmp_path / "other", path).failed == ()


def test_a_line_that_is_too_long_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    long = json.dumps({"role": "user", "content": "x" * 30_000}).encode() + b"\n"
    later = SAID.replace(b"8443", b"9443")
    path = plain_of(tmp_path / "talk.jsonl", iter([SAID, long, later, long.rstrip()]))
    done = import_transcripts(tmp_path / "memory", path, limits=SMALL)
    assert (done.added, done.failed) == (2, ())
    assert done.skips == {transcript_file.TOO_LONG: 2}
    assert Recording.read(path, limits=SMALL).skipped == 2
    whole = import_transcripts(tmp_path / "memory", path)
    assert (whole.added, whole.duplicates, whole.skipped) == (1, 3, 0)


def test_a_value_of_a_database_that_is_too_long_is_named(tmp_path: Path) -> None:
    path = hosts.openclaw(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE transcript_events SET event_json = hex(zeroblob(90000))")
        connection.commit()
    (failed,) = import_transcripts(tmp_path / "memory", path, limits=SMALL).failed
    assert str(path) in failed
    assert "one value has more than 19.5 KiB" in failed


def test_a_limit_error_names_the_imported_messages(tmp_path: Path) -> None:
    path = gzip_of(
        tmp_path / "talk.jsonl.gz",
        (SAID.replace(b"8443", b"%d " % port * 1_000) for port in range(10_000, 11_000)),
    )
    done = import_transcripts(tmp_path / "memory", path, limits=Limits(expanded=3 * MIB))
    stored = sum(1 for _ in LogReader(tmp_path / "memory").scan())
    assert 0 < done.added == stored < 1_000
    assert done.failed[0].endswith(f"imported up to message {done.messages:,}")
    whole = import_transcripts(tmp_path / "memory", path, limits=Limits(expanded=10 * MIB))
    assert (whole.failed, whole.added + stored) == ((), 1_000)


@pytest.mark.parametrize("line", [b"x\n", b"{}\n", b'{"color": "blue"}\n', b"[1]\n"])
def test_a_file_without_transcript_lines_is_abandoned(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_file, "MAX_FOREIGN", 1_000)
    path = plain_of(tmp_path / "talk.jsonl", around(line, 1_500 * len(line), SAID))
    done = import_transcripts(tmp_path / "memory", path)
    assert (done.added, "1,000 consecutive lines" in done.failed[0]) == (1, True)
    path = plain_of(tmp_path / "talk.jsonl", around(SAID + line * 900, 2_000 * len(line)))
    assert import_transcripts(tmp_path / "memory", path).failed == ()


def test_the_command_line_raises_the_limits(tmp_path: Path) -> None:
    path = blank_gzip(tmp_path, MIN_EXPANDED + MIB)
    store = ["--store", str(tmp_path / "memory")]
    refused = CliRunner().invoke(main, ["import", str(path), *store])
    assert refused.exit_code == 1
    assert "--max-expanded" in refused.stdout
    done = CliRunner().invoke(main, ["import", str(path), *store, "--max-expanded", "20"])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(main, ["replay", str(path)]).exit_code == 3
    assert CliRunner().invoke(main, ["replay", str(path), "--max-expanded", "20"]).exit_code == 0
    value = CliRunner().invoke(main, ["import", str(path), *store, "--max-value", "0"])
    assert value.exit_code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    os.mkfifo(path)
    for command in (["replay"], ["context", "list"], ["compact"]):
        refused = CliRunner().invoke(main, [*command, str(path)])
        assert (refused.exit_code, "expected a regular file" in refused.stderr) == (3, True)
    hosts.plain(tmp_path / "folder")
    path.rename(tmp_path / "folder" / "pipe.jsonl")
    done = import_transcripts(tmp_path / "memory", tmp_path / "folder")
    assert (done.files, done.failed) == (1, ())


def test_limits_are_positive() -> None:
    for wrong in ({"value": 0}, {"expanded": -1}):
        with pytest.raises(ConfigError, match="expected at least 1 byte"):
            Limits(**wrong)
    assert Limits().expansion(10 * MIB) == RATIO * 10 * MIB


def test_an_honest_archive_is_within_the_limits(tmp_path: Path) -> None:
    said = "".join(
        json.dumps({"role": "user", "content": f"Shard {at * 7919 % 10_007} moved to host {at}."})
        + "\n"
        for at in range(20_000)
    ).encode()
    path = gzip_of(tmp_path / "talk.jsonl.gz", iter([said]))
    assert sum(1 for _ in read_transcript(path)) == 20_000


def measured(store: Path, source: Path) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(Path(memctx.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(store), str(source)],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.timing
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no resource module on Windows")
@pytest.mark.parametrize(
    ("write", "size"),
    [
        (blank_zip, 900 * MIB),
        (blank_gzip, 300 * MIB),
        (long_value, 300 * MIB),
        (long_document, 300 * MIB),
    ],
)
def test_a_hostile_file_takes_little_time_and_memory(
    write: Callable[[Path, int], Path], size: int, tmp_path: Path
) -> None:
    path = write(tmp_path, size)
    took = measured(tmp_path / "memory", path)
    path.unlink()
    assert len(took["failed"]) == 1
    assert took["seconds"] < 20
    assert took["bytes"] < 400 * MIB
