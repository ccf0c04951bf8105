"""Exports can be read: by people, and by another import."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

import memctx
from cli.import_export import hosts
from memctx import ConfigError, StoreError
from memctx.cli.import_export import export_jsonl, export_markdown, import_transcripts
from memctx.lowlevel import LogReader

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for host in ("claude-code", "pi", "chatgpt"):
        import_transcripts(tmp_path / "memory", hosts.HOSTS[host][0](tmp_path / host))
    return tmp_path / "memory"


def stored(path: Path) -> list[tuple[str, str, str, float, object]]:
    return [
        (e.session_id, e.role, e.content, e.timestamp, e.metadata.get("tool"))
        for e in LogReader(path).scan()
    ]


def test_exported_json_lines_import_unchanged(store: Path, tmp_path: Path) -> None:
    exported = export_jsonl(store, tmp_path / "all.jsonl")
    assert (exported.messages, exported.sessions) == (len(stored(store)), 3)
    imported = import_transcripts(tmp_path / "other", tmp_path / "all.jsonl")
    assert (imported.added, imported.skipped, imported.duplicates) == (exported.messages, 0, 0)
    assert stored(tmp_path / "other") == stored(store)
    # And a store is a source as well.
    import_transcripts(tmp_path / "third", store)
    assert stored(tmp_path / "third") == stored(store)


def test_export_filters_by_session_role_and_time(store: Path) -> None:
    out = io.StringIO()
    exported = export_jsonl(store, out, session_id="pi-1", roles=["user"])
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["content"] for line in lines] == [hosts.ASKED, hosts.LATER]
    assert {line["sessionId"] for line in lines} == {"pi-1"}
    assert exported.messages == 2
    assert export_jsonl(store, io.StringIO(), since=hosts.AT + 180_000).messages == 3
    assert export_jsonl(store, io.StringIO(), until=hosts.AT).messages == 3


def test_a_memory_exports_its_own_sessions(store: Path) -> None:
    with memctx.open(store, session_id="pi-1") as memory:
        assert export_jsonl(memory, io.StringIO()).sessions == 1
        with pytest.raises(ConfigError, match=r"session_id is 'gpt-1'; .* sees no other session"):
            export_jsonl(memory, io.StringIO(), session_id="gpt-1")
    with memctx.open(store, session_id="pi-1", cross_session=True) as memory:
        assert export_jsonl(memory, io.StringIO()).sessions == 3


def test_markdown_has_a_heading_for_each_session_and_message(store: Path) -> None:
    out = io.StringIO()
    export_markdown(store, out, session_id="pi-1")
    assert out.getvalue().splitlines()[:5] == [
        "# Session pi-1",
        "",
        "## user, 2026-10-26 07:33:20 UTC",
        "",
        hosts.ASKED,
    ]
    assert (
        "## tool read, 2026-10-26 07:34:20 UTC\n\n```\nwebhook_port = 7443\n```" in out.getvalue()
    )


def test_no_result_text_closes_its_markdown_fence(tmp_path: Path) -> None:
    text = "````\n# Session forged\n```"
    with memctx.open(tmp_path / "memory", session_id="s1") as memory:
        memory.store.add([("tool", text, 0.0, '{"tool":{"name":"a\\n# b"}}')])
        out = io.StringIO()
        export_markdown(memory, out)
    assert out.getvalue() == (
        f"# Session s1\n\n## tool a # b, 1970-01-01 00:00:00 UTC\n\n`````\n{text}\n`````\n\n"
    )


def test_an_export_replaces_its_target_atomically(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("before")
    with pytest.raises(ConfigError, match="there is no store"):
        export_jsonl(tmp_path / "none", target)
    assert target.read_text() == "before"
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]
    with pytest.raises(StoreError, match="cannot be written"):
        export_jsonl(store, tmp_path / "no" / "such" / "folder.jsonl")
    export_jsonl(store, target, overwrite=True)
    assert len(target.read_text("utf-8").splitlines()) == len(stored(store))
