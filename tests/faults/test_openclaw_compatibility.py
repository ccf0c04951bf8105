"""OpenClaw compatibility: a directory of the memory-context plugin is read, and its bytes stay."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

from memctx.lowlevel import LogReader

from .stores import contents, filled, opened, results, say

if TYPE_CHECKING:
    from pathlib import Path

IDS = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(5)]
DIM = 384


def line(number: int, content: str, **more: Any) -> bytes:
    segment = {
        "id": IDS[number],
        "sessionId": "s1",
        "sessionKey": "agent:main:main",
        "timestamp": 1_770_000_000_000 + number,
        "role": ("user", "assistant")[number % 2],
        "content": content,
        "tokens": max(1, -(-len(content) // 3)),
        "metadata": {"topics": [], "entities": [{"type": "number", "value": "8443", "offset": 3}]},
        **more,
    }
    return json.dumps(segment, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def vectors(ids: list[str], dim: int = DIM) -> bytes:
    """Return VMEM v1 as OpenClaw writes it, without a checksum."""
    packed = struct.pack("<4sIII", b"VMEM", 1, dim, len(ids))
    for number, name in enumerate(ids):
        values = [float(place == number) for place in range(dim)]
        packed += struct.pack(f"<H{len(name)}s{dim}f", len(name), name.encode(), *values)
    return packed


@pytest.fixture
def store_of_the_original(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    log = [
        line(0, "The payment webhook listens on port 8443"),
        line(1, "支付回调失败后重试 \u2028 三次"),
        line(2, "An old line carries its vector", embedding=[0.5] * 4),
        line(3, 'A line break\nand a "quote" and a \\ stay'),
        line(4, "Another session's remark about the webhook", sessionId="s2"),
    ]
    (folder / "segments.jsonl").write_bytes(b"".join(log))
    (folder / "vectors.bin").write_bytes(vectors(IDS[:4]))
    return folder


def test_an_openclaw_directory_opens_and_its_bytes_are_kept(store_of_the_original: Path) -> None:
    folder = store_of_the_original
    log, vmem = ((folder / name).read_bytes() for name in ("segments.jsonl", "vectors.bin"))
    store = opened(folder, eviction_days=0)
    assert len(store) == 4
    assert [segment.id for segment in store.segments()] == IDS[:4]
    (hit, *_) = store.search("which port has the webhook?")
    assert (hit.segment.id, hit.segment.session_key) == (IDS[0], "agent:main:main")
    assert hit.segment.metadata["entities"][0]["value"] == "8443"
    assert store.search("支付重试")[0].segment.id == IDS[1]
    assert store.health()["skipped_lines"] == 0
    say(store, "a remark of today")
    store.snapshot()
    store.close()
    assert (folder / "segments.jsonl").read_bytes().startswith(log)
    assert (folder / "vectors.bin").read_bytes() == vmem
    reopened = opened(folder, eviction_days=0)
    assert contents(reopened)[-1] == "a remark of today"
    assert len(list(LogReader(folder).scan())) == 6


def test_a_message_stored_by_openclaw_is_a_duplicate(store_of_the_original: Path) -> None:
    store = opened(store_of_the_original, eviction_days=0)
    (added,) = say(store, "The payment webhook listens on port 8443")
    assert (added.outcome, added.id) == ("duplicate", IDS[0])


def test_openclaw_can_read_added_records(store_of_the_original: Path) -> None:
    """OpenClaw's loader needs strings for id, sessionId and content, a known role and a number as timestamp."""
    store = opened(store_of_the_original)
    say(store, "a remark of today")
    last = json.loads((store_of_the_original / "segments.jsonl").read_bytes().splitlines()[-1])
    types = {name: type(value) for name, value in last.items()}
    wanted = {
        "id": str,
        "sessionId": str,
        "timestamp": int,
        "role": str,
        "content": str,
        "tokens": int,
    }
    assert wanted.items() <= types.items()
    assert list(last)[:3] == ["id", "sessionId", "timestamp"]


@pytest.mark.parametrize(
    ("stamp", "words"),
    [
        ({"model": "text-embedding-3-small", "revision": 1, "dim": DIM}, "text-embedding-3-small"),
        ({"model": "text-embedding-3-small", "revision": 1, "dim": 1536}, "1536"),
        ({"revision": 99}, "made by"),
        ({"dim": 512}, "512"),
    ],
)
def test_vectors_of_another_model_are_not_used(
    tmp_path: Path, stamp: dict[str, Any], words: str
) -> None:
    """Also a model of the same dimension: its vectors are neither used nor overwritten."""
    filled(tmp_path)
    wanted = results(opened(tmp_path))
    known = json.loads((tmp_path / "vectors.json").read_text())
    (tmp_path / "vectors.json").write_text(json.dumps({**known, **stamp}))
    ids = [segment.id for segment in opened(tmp_path).segments()]
    foreign = vectors(ids, {**known, **stamp}["dim"])
    (tmp_path / "vectors.bin").write_bytes(foreign)
    store = opened(tmp_path)
    assert results(store) == wanted
    assert words in store.health()["vectors"]
    say(store, "goes on")
    store.close()
    assert (tmp_path / "vectors.bin").read_bytes() == foreign


def test_vectors_of_another_dimension_than_their_metadata_are_not_used(tmp_path: Path) -> None:
    filled(tmp_path)
    wanted = results(opened(tmp_path))
    ids = [segment.id for segment in opened(tmp_path).segments()]
    (tmp_path / "vectors.bin").write_bytes(vectors(ids, 100))
    assert results(opened(tmp_path)) == wanted
