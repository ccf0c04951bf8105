"""Laws of reading: nothing raises but our errors, streams equal wholes, exports come back."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.import_export import hosts
from memctx import MemctxError
from memctx.cli.import_export import (
    FORMATS,
    detect_format,
    export_jsonl,
    import_transcripts,
    read_transcript,
    streams,
)
from memctx.cli.import_export.readers.tree import lineage
from memctx.cli.import_export.streams import JsonList
from memctx.lowlevel import LogReader

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
WORDS = (
    "type",
    "id",
    "uuid",
    "parentUuid",
    "message",
    "messages",
    "content",
    "payload",
    "role",
    "timestamp",
)
MORE_WORDS = (
    "sessionId",
    "parentId",
    "mapping",
    "parts",
    "author",
    "toolCalls",
    "$set",
    "$rewindTo",
    "version",
)
NAMES = st.sampled_from([*WORDS, *MORE_WORDS])
VALUES = st.sampled_from(
    ["user", "assistant", "session", "message", "gemini", "response_item", "text", "u1", "u2"]
)
# Objects that have the fields of the hosts, with anything in them.
ALIKE = st.recursive(
    VALUES | JSON,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=15,
)


@settings(max_examples=30)
@given(
    st.lists(st.dictionaries(NAMES, ALIKE, max_size=6), max_size=6),
    st.sampled_from(FORMATS),
    st.booleans(),
)
def test_no_json_breaks_a_reader(
    lines: list[dict[str, Any]],
    form: Any,
    is_document: bool,  # noqa: FBT001 - drawn
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talk.jsonl"
        path.write_text(
            json.dumps(lines) if is_document else "\n".join(map(json.dumps, lines)), "utf-8"
        )
        detect_format(path)
        try:
            said = list(read_transcript(path, format=form))
        except MemctxError:
            return
        assert all(type(value) is str for one in said for value in (one.session, one.id))
        # Whatever a reader gives can be stored, or is counted as damaged.
        imported = import_transcripts(Path(folder) / "memory", path, format=form)
        assert imported.messages == len(said)
        assert imported.added == sum(1 for _ in LogReader(Path(folder) / "memory").scan())


@given(st.binary(max_size=300), st.sampled_from(FORMATS))
def test_no_bytes_break_a_reader(data: bytes, form: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talk.jsonl"
        path.write_bytes(data)
        detect_format(path)
        try:
            list(read_transcript(path, format=form))
        except MemctxError as error:
            assert str(path) in str(error)  # noqa: PT017 - most bytes raise nothing


@pytest.mark.parametrize("host", sorted(hosts.HOSTS))
@settings(max_examples=8)
@given(data=st.data())
def test_no_flipped_byte_breaks_a_reader(host: str, data: st.DataObject) -> None:
    write, form, _ = hosts.HOSTS[host]
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "source")
        if path.is_dir():
            path = max(path.rglob("*.json*"), key=lambda each: each.stat().st_size)
        raw = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(
            raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw
        )
        with suppress(MemctxError):
            list(read_transcript(path, format=form))  # type: ignore[arg-type]


@settings(max_examples=30)
@given(st.lists(JSON, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]))
def test_json_list_in_chunks_equals_the_parsed_list(
    values: list[Any], chunk: int, indent: int | None
) -> None:
    text = json.dumps(values, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "CHUNK", chunk)
        found = list(JsonList(io.BytesIO(text.encode())))
        assert json.dumps(found) == json.dumps(values)
        with pytest.raises(ValueError):  # noqa: PT011 - whatever its words, it is one
            list(JsonList(io.BytesIO(text.encode()[:-1])))


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.none() | st.sampled_from("abcdefg")),
    st.sampled_from("abcdef"),
)
def test_a_lineage_ends_and_follows_parents(parents: dict[str, str | None], leaf: str) -> None:
    found = list(lineage(parents, leaf))
    assert len(found) == len(set(found)) <= len(parents)
    assert all(parents[below] == above for below, above in pairwise(found))


SPOKEN = st.tuples(
    st.sampled_from(["s1", "s2", "会话", "a/b .."]),
    st.sampled_from(["user", "assistant"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
    st.integers(1, 4_000_000_000_000),
)


@settings(max_examples=15)
@given(st.lists(SPOKEN, min_size=1, max_size=12))
def test_an_export_imports_unchanged(said: list[tuple[str, str, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            {"session_id": session, "role": role, "content": text, "timestamp": at}
            for session, role, text, at in said
        ]
        hosts.write_lines(folder / "talk.jsonl", lines)
        imported = import_transcripts(folder / "one", folder / "talk.jsonl")
        exported = export_jsonl(folder / "one", folder / "out.jsonl")
        assert imported.added == exported.messages
        assert imported.added + imported.duplicates + imported.skipped == len(said)
        if exported.messages == 0:
            return
        import_transcripts(folder / "two", folder / "out.jsonl")
        first, second = (
            [
                (e.session_id, e.role, e.content, e.timestamp)
                for e in LogReader(folder / each).scan()
            ]
            for each in ("one", "two")
        )
        assert first == second
