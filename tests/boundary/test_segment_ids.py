"""Ids of segments: made of session, role and content as stored, the same on every machine."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

from memctx._core import Importer
from memctx.lowlevel import LineWriter, LogReader, Store, StoreOptions

if TYPE_CHECKING:
    from pathlib import Path

SAID = ("user", "The webhook listens on port 8443", None, None)


def derived(session: str, role: str, content: str) -> str:
    hasher = hashlib.sha256()
    for text in (session, role, content):
        data = text.encode()
        hasher.update(len(data).to_bytes(8, "big") + data)
    value = int.from_bytes(hasher.digest()[:16], "big")
    value = value & ~(0xF << 76) | 8 << 76
    return str(uuid.UUID(int=value & ~(0x3 << 62) | 2 << 62))


def store(folder: Path, session: str = "s1") -> Store:
    return Store(folder, StoreOptions(session_id=session, durability="os"))


def test_the_id_of_a_segment_is_a_hash_of_its_session_role_and_content(tmp_path: Path) -> None:
    (added,) = store(tmp_path / "a").add([SAID])
    assert added.id == derived("s1", SAID[0], SAID[1])
    assert uuid.UUID(added.id).version == 8
    assert store(tmp_path / "b").add([SAID])[0].id == added.id
    assert store(tmp_path / "b", "s2").add([SAID])[0].id != added.id
    assert store(tmp_path / "a").add([("assistant", *SAID[1:])])[0].id != added.id
    Importer(tmp_path / "c").add([("s1", *SAID)])
    assert [segment.id for segment in LogReader(tmp_path / "c").scan()] == [added.id]


def test_the_id_is_made_of_the_masked_content(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "Ab3dE6gH1jK4mN7pQ0sT" * 4 + "-9xYzAA"
    opened = store(tmp_path)
    (added,) = opened.add([("user", f"The key is {secret}", None, None)])
    assert added.id is not None
    segment = opened.get(added.id)
    assert segment is not None
    assert secret not in segment.content
    assert added.id == derived("s1", "user", segment.content)


def test_logs_with_random_ids_are_read_and_known(tmp_path: Path) -> None:
    line = (
        '{"id":"3b6e0c9a-1f57-4f0e-9d1c-0a4b7c7f2f10","sessionId":"s1","timestamp":1770000002000,'
        '"role":"user","content":"The webhook listens on port 8443"}'
    )
    LineWriter(tmp_path).append([line])
    (added,) = store(tmp_path).add([SAID])
    assert (added.outcome, added.id) == ("duplicate", "3b6e0c9a-1f57-4f0e-9d1c-0a4b7c7f2f10")


def test_a_message_that_left_memory_and_is_said_again_keeps_its_id(tmp_path: Path) -> None:
    options = StoreOptions(session_id="s1", durability="os", max_segments=2, disk_index=True)
    opened = Store(tmp_path, options)
    (first,) = opened.add([SAID])
    opened.add([("user", f"Another remark, number {number}", None, None) for number in range(4)])
    (again,) = opened.add([SAID])
    assert (again.outcome, again.id) == ("added", first.id)
    assert len(list(LogReader(tmp_path).scan())) == 5
    found = opened.search("webhook port", everything=True)
    assert [hit.segment.id for hit in found].count(first.id or "") == 1
    opened.close()
