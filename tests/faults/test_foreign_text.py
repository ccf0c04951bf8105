"""Unexpected text in session ids, in messages, and on disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memctx
from memctx import ConfigError
from memctx.lowlevel import LogReader

from .stores import contents, opened, say

if TYPE_CHECKING:
    from pathlib import Path

SESSIONS = [
    "../x",
    "a/b",
    "/etc/passwd",
    "..",
    ".",
    "a\0b",
    "\u2028",
    "s" * 10_240,
    "C:\\x",
    "会话",
]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: ascii(session)[:20])
def test_a_session_id_is_never_a_file_name(tmp_path: Path, session: str) -> None:
    folder = tmp_path / "store"
    store = opened(folder, session)
    say(store, "said in a session with an odd name")
    assert store.snapshot()
    store.close()
    again = opened(folder, session)
    assert contents(again) == ["said in a session with an odd name"]
    assert len(again) == 1
    assert again.search("odd name")
    assert {path.name for path in tmp_path.iterdir()} == {"store"}
    names = {path.name for path in folder.rglob("*") if not path.name.endswith(".snapshot")}
    assert names == {"segments.jsonl", "LOCK", "vectors.bin", "vectors.json", "index"}
    assert contents(opened(folder, "another")) == []


def test_a_session_with_a_lone_surrogate_is_refused(tmp_path: Path) -> None:
    """Replacing the surrogate would make them one, so neither is opened."""
    with pytest.raises(ConfigError, match="surrogate"):
        opened(tmp_path, "\ud800")


def test_an_id_used_by_another_session_hides_no_segment(tmp_path: Path) -> None:
    """Consistent with search and len()."""
    theirs = line("a", "theirs is here", sessionId="s2")
    (tmp_path / "segments.jsonl").write_bytes(line("a", "ours is here") + b"\n" + theirs + b"\n")
    store = opened(tmp_path)
    assert len(store) == 1
    assert contents(store) == ["ours is here"]


@pytest.mark.parametrize(
    "text",
    [
        "a lone \ud800 surrogate and its \udc00 partner",
        "NUL \0 and other controls \x01\x1f\x7f\x85",
        "lines end \u2028 only \u2029 at \x0b\x0c\x1c\x85 line \r\n feeds \r",
        "\ufeff byte order mark \ufffe",
        'a quote " a backslash \\ and \\ud800',
        "🧑‍🤝‍🧑 \U0010ffff \u202e right to left \U000e0041 tags",
        '\'"]}\n{"id":"x"}\n',
    ],
    ids=range(7),
)
def test_a_message_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    """Except for lone surrogates, which UTF-8 cannot encode: each becomes U+FFFD."""
    wanted = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    store = opened(tmp_path)
    (added,) = say(store, text)
    assert added.id is not None
    for reader in (store, opened(tmp_path)):
        assert contents(reader) == [wanted]
        segment = reader.get(added.id)
        assert segment is not None
        assert segment.content == wanted
    assert (tmp_path / "segments.jsonl").read_bytes().count(b"\n") == 1


@given(
    st.lists(st.text(st.characters(codec=None), min_size=1, max_size=80), min_size=1, max_size=6)
)
def test_any_message_texts_come_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    store = opened(folder, redaction="off", durability="os")
    added = store.add([("tool", text, None, None) for text in texts])
    wanted = [
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for text, one in zip(texts, added, strict=True)
        if one.outcome == "added"
    ]
    assert contents(opened(folder)) == wanted


def line(id: str, content: str, **more: Any) -> bytes:
    segment = {"id": id, "sessionId": "s1", "timestamp": 4e12, "role": "user", "content": content}
    return json.dumps({**segment, **more}).encode()


DEEP = b"[" * 100_000
BAD = {
    "not JSON": b"{not json",
    "null": b"null",
    "a list": b"[1,2]",
    "a number": b"7",
    "invalid UTF-8": line("bad", "x").replace(b'"x"', b'"\xff\xc3\x28\xed\xa0\x80"'),
    "deep": DEEP,
    "deep inside": line("bad", "x")[:-1] + b',"metadata":' + DEEP,
    "deep objects": b'{"a":' * 100_000,
    "1e400": line("bad", "x").replace(b"4000000000000.0", b"1e400"),
    "NaN": line("bad", "x").replace(b"4000000000000.0", b"NaN"),
    "no id": line("bad", "x").replace(b'"id"', b'"ID"'),
    "a number for an id": line("bad", "x").replace(b'"bad"', b"1"),
    "NULs": b"\0" * 5000,
    "half a line": line("bad", "x")[:-10],
    "two ids": line("bad", "x").replace(b"{", b'{"id":"other",', 1),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_an_invalid_log_line_is_skipped(tmp_path: Path, bad: bytes) -> None:
    """It is skipped, counted, reported by line number and kept."""
    log = line("a", "remark one") + b"\n" + bad + b"\n" + line("b", "remark two") + b"\n"
    (tmp_path / "segments.jsonl").write_bytes(log)
    store = opened(tmp_path)
    assert contents(store) == ["remark one", "remark two"]
    assert len(store.search("remark")) == 2
    (skipped,) = store.health()["skipped"]
    assert (skipped["line"], skipped["offset"]) == (2, len(line("a", "remark one")) + 1)
    (skipped,) = LogReader(tmp_path).health()["skipped"]
    assert skipped["line"] == 2
    say(store, "remark three")
    assert (tmp_path / "segments.jsonl").read_bytes().startswith(log)
    assert contents(opened(tmp_path)) == ["remark one", "remark two", "remark three"]


GOOD = {
    "CR LF": line("a", "remark") + b"\r",
    "spaces": b"  \t" + line("a", "remark") + b"  ",
    "unknown keys": line("a", "remark", more={"x": [1]}, embedding=[0.1]),
    "a lone surrogate": line("a", "remark \ud800"),
    "a surrogate in a key": line("a", "remark", **{"\ud800": 1}),
    "a huge number": line("a", "remark", tokens=10**30),
    "a negative number": line("a", "remark", tokens=-5),
    "odd metadata": line("a", "remark", metadata="text"),
    "metadata with 1e400": line("a", "remark", metadata={}).replace(b"{}", b'{"x":1e400}'),
    "a deep value within limits": line("a", "remark").replace(
        b"}", b',"more":' + b"[" * 90 + b"]" * 90 + b"}"
    ),
    "twice the same key": line("a", "remark").replace(b"{", b'{"more":1,"more":2,', 1),
}


@pytest.mark.parametrize("good", GOOD.values(), ids=GOOD.keys())
def test_an_unusual_log_line_is_read(tmp_path: Path, good: bytes) -> None:
    (tmp_path / "segments.jsonl").write_bytes(good + b"\n")
    store = opened(tmp_path)
    (segment,) = store.segments()
    assert segment.content.startswith("remark")
    assert isinstance(segment.metadata, dict)
    assert segment.tokens >= 0
    assert len(store) == 1
    assert store.health()["skipped_lines"] == 0


def test_a_byte_order_mark_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    log = (
        b"\xef\xbb\xbf"
        + line("a", "remark one")
        + b"\r\n\r\n\n   \n"
        + line("b", "remark two")
        + b"\n"
    )
    (tmp_path / "segments.jsonl").write_bytes(log)
    store = opened(tmp_path)
    assert contents(store) == ["remark one", "remark two"]
    assert len(store) == 2
    first = store.get("a")
    assert first is not None
    assert first.content == "remark one"
    assert store.health()["skipped_lines"] == 0


def test_unicode_line_separators_end_no_log_line(tmp_path: Path) -> None:
    odd = "one\u2028two\u2029three\x85four"
    raw = line("a", "PLACE").replace(b"PLACE", odd.encode())
    (tmp_path / "segments.jsonl").write_bytes(raw + b"\n")
    assert contents(opened(tmp_path)) == [odd]


@pytest.mark.parametrize(
    "metadata",
    ["", "null", "[]", "not json", '{"a":NaN}', '{"a":1e400}', '{"topics":[]}', "[" * 9999],
)
def test_metadata_other_than_an_object_is_refused(tmp_path: Path, metadata: str) -> None:
    store = opened(tmp_path)
    with pytest.raises(ConfigError, match="metadata must be a JSON object"):
        store.add([("user", "a remark", None, metadata)])
    assert contents(store) == []


@pytest.mark.parametrize("depth", [10, 120])
def test_deep_metadata_comes_back(tmp_path: Path, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    store = opened(tmp_path)
    store.add([("user", "a remark", None, f'{{"nested":{nested}}}')])
    (segment,) = opened(tmp_path).segments()
    assert segment.metadata["nested"] == json.loads(nested)
    assert len(opened(tmp_path)) == 1


def test_a_conversation_of_odd_messages_is_archived(tmp_path: Path) -> None:
    """Through the whole Python layer."""
    texts = ["\ud800 lone", "NUL \0 here", "line\u2028separator", "\r\n\r\nblank", "x" * 100_000]
    with memctx.open(tmp_path, session_id="../\0") as memory:
        archived = memory.archive([{"role": "user", "content": text} for text in texts])
        assert archived.added + archived.skipped == len(texts)
        assert archived.added == len(contents(memory.store))
        for text in texts:
            memory.search(text)
