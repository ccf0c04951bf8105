"""Recordings of every layout are read."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from memctx import MessageFormatError, StoreError
from memctx.cli.replay import Recording, replay
from memctx.hosts.pi import Transcript

if TYPE_CHECKING:
    from pathlib import Path

SAID = [
    {"role": "user", "content": "Which port?"},
    {"role": "assistant", "content": "8443"},
    {"role": "user", "content": "And at night?"},
]
ITEMS = [
    {"type": "message", "role": "user", "content": "Which port?"},
    {"type": "function_call", "call_id": "c", "name": "port", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "8443"},
]


def lines(messages: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(message)}\n" for message in messages).encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lines(SAID), SAID),
        (lines(SAID).rstrip(), SAID),
        (b"\n" + lines(SAID).replace(b"\n", b"\r\n\r\n"), SAID),
        (lines(ITEMS), ITEMS),
        (json.dumps(SAID, indent=2).encode(), SAID),
        (json.dumps({"model": "m", "messages": SAID}).encode(), SAID),
        (json.dumps({"input": ITEMS}).encode(), ITEMS),
        (lines(SAID[:1]), SAID[:1]),
        (gzip.compress(lines(SAID), mtime=0), SAID),
    ],
)
def test_recording_reads_messages(tmp_path: Path, data: bytes, expected: list[Any]) -> None:
    path = tmp_path / "said.jsonl"
    path.write_bytes(data)
    assert Recording.read(path) == Recording("said", expected)


def test_a_recording_ignores_compactions(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    transcript = Transcript.open(path)
    ids = transcript.append_messages(SAID)
    transcript.append_compaction("The user asked for a port.", ids[2], tokens_before=1)
    transcript.append_message({"role": "assistant", "content": "9443"})
    assert len(transcript.context().messages) == 3
    assert Recording.read(path).messages == [*SAID, {"role": "assistant", "content": "9443"}]


def test_an_abandoned_branch_is_not_replayed(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    transcript = Transcript.open(path)
    ids = transcript.append_messages(SAID)
    transcript.branch(ids[0])
    transcript.append_message({"role": "assistant", "content": "No idea."})
    assert [message["content"] for message in Recording.read(path).messages] == [
        "Which port?",
        "No idea.",
    ]


def test_recording_counts_damaged_lines(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(b'{"role": "us\n' + lines(SAID) + b'{"role":')
    recording = Recording.read(path)
    assert (recording.messages, recording.skipped) == (SAID, 2)
    assert "2 lines could not be read" in str(replay(recording))


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"no json", b"[]", b'{"messages": []}', b"\x00\xff"]
)
def test_a_file_without_messages_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(data)
    with pytest.raises(MessageFormatError, match=r"empty\.jsonl: no message in it; expected"):
        Recording.read(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.jsonl: cannot be read"):
        replay(tmp_path / "none.jsonl")
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(lines(SAID))[:-9])
    with pytest.raises(StoreError, match=r"cut\.jsonl\.gz: cannot be read"):
        Recording.read(tmp_path / "cut.jsonl.gz")


def test_recording_refuses_files_without_messages(tmp_path: Path) -> None:
    (tmp_path / "numbers.json").write_bytes(b"[1, 2]")
    with pytest.raises(MessageFormatError):
        replay(tmp_path / "numbers.json")
    with pytest.raises(MessageFormatError, match="no message to replay"):
        replay([])
