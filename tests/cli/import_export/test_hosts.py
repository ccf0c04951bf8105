"""Every host's transcript says the same things, under its own ids and at its own times."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import memctx
from cli.import_export import hosts
from memctx import ConfigError, StoreError
from memctx.cli.import_export import (
    FORMATS,
    detect_format,
    import_transcripts,
    importing,
    read_transcript,
)
from memctx.cli.import_export.sources import find_sources
from memctx.lowlevel import LogReader

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("alone")
EVERY = pytest.mark.parametrize("host", sorted(hosts.HOSTS))


def stored(path: Path) -> list[tuple[str, str, str, float]]:
    return [
        (each.session_id, each.role, each.content, each.timestamp)
        for each in LogReader(path).scan()
    ]


@EVERY
def test_each_host_is_detected_by_its_content(host: str, tmp_path: Path) -> None:
    write, expected, _ = hosts.HOSTS[host]
    assert {each.format for each in find_sources(write(tmp_path), None)} == {expected}


def test_every_format_has_a_transcript_here() -> None:
    assert {form for _, form, _ in hosts.HOSTS.values()} == set(FORMATS)


@EVERY
def test_messages_are_stored_with_session_and_time(host: str, tmp_path: Path) -> None:
    write, form, session = hosts.HOSTS[host]
    imported = import_transcripts(tmp_path / "memory", write(tmp_path / "source"))
    rows = stored(tmp_path / "memory")
    speech = [(role, text) for _, role, text, _ in rows if role != "tool"]
    assert speech == [("user", hosts.ASKED), ("assistant", hosts.ANSWERED), ("user", hosts.LATER)]
    if host != "memory-context":  # which never stored tools
        assert hosts.FOUND in [text for _, role, text, _ in rows if role == "tool"]
    names = {name for name, *_ in rows}
    assert names == {session} if session else len(names) == 1
    if form != "aider":  # which only says when a session began
        times = {text: at for _, _, text, at in rows}
        assert times[hosts.ASKED] == hosts.AT
        assert times[hosts.LATER] == hosts.AT + 180_000
    assert (imported.added, imported.duplicates, imported.failed) == (len(rows), 0, ())
    assert imported.damaged == int(host == "claude-code")


@EVERY
def test_the_ids_of_the_host_are_kept(host: str, tmp_path: Path) -> None:
    write, form, _ = hosts.HOSTS[host]
    path = write(tmp_path / "source")
    import_transcripts(tmp_path / "memory", path)
    sources = [each.metadata["source"] for each in LogReader(tmp_path / "memory").scan()]
    assert {each["format"] for each in sources} == {form}
    said = {
        one.id
        for file in find_sources(path, None)
        for one in read_transcript(file.path, format=file.format)
    }
    assert {each["id"] for each in sources} <= said


@EVERY
def test_importing_again_adds_nothing(host: str, tmp_path: Path) -> None:
    path = hosts.HOSTS[host][0](tmp_path / "source")
    first = import_transcripts(tmp_path / "memory", path)
    before = stored(tmp_path / "memory")
    again = import_transcripts(tmp_path / "memory", path)
    assert (again.messages, again.added, again.unchanged) == (0, 0, first.files)
    for journal in (tmp_path / "memory" / "imports").glob("*.jsonl"):
        journal.unlink()
    again = import_transcripts(tmp_path / "memory", path)
    assert (again.messages, again.added, again.duplicates) == (first.messages, 0, first.added)
    assert stored(tmp_path / "memory") == before


def test_one_folder_with_all_hosts_is_imported(tmp_path: Path) -> None:
    for host, (write, _, _) in hosts.HOSTS.items():
        write(tmp_path / "home" / host)
    (tmp_path / "home" / "notes.json").write_text('{"color": "blue"}')
    (tmp_path / "home" / "empty.jsonl").touch()
    imported = import_transcripts(tmp_path / "memory", tmp_path / "home")
    assert imported.files == len(hosts.HOSTS)
    assert imported.failed == ()
    named = {session for *_, session in hosts.HOSTS.values() if session}
    assert imported.sessions == len(named) + 1
    # Two forms of one session say the same; it is stored once.
    assert [row[:3] for row in stored(tmp_path / "memory")].count(
        ("gpt-1", "user", hosts.ASKED)
    ) == 1


def test_a_store_inside_the_source_folder_is_not_imported(tmp_path: Path) -> None:
    hosts.pi(tmp_path)
    assert import_transcripts(tmp_path / "memory", tmp_path).files == 1
    hosts.codex(tmp_path)
    assert import_transcripts(tmp_path / "memory", tmp_path).files == 1


def test_results_keep_the_names_of_their_calls_across_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_MESSAGES", 1)
    for host, name in (("claude-code", "Read"), ("codex", "shell"), ("plain", "read")):
        import_transcripts(tmp_path / host, hosts.HOSTS[host][0](tmp_path / "source" / host))
        tools = [each for each in LogReader(tmp_path / host).scan() if each.content == hosts.FOUND]
        assert [each.metadata["tool"]["name"] for each in tools] == [name]


def test_tools_are_stored_as_the_settings_say(tmp_path: Path) -> None:
    for tools, expected in ((False, set[str]()), (("Gl*",), {"Glob"}), (True, {"Glob", "Read"})):
        store = tmp_path / str(tools)
        with memctx.open(store, session_id="s1", privacy={"archive_tools": tools}) as memory:
            imported = import_transcripts(memory, hosts.claude_code(tmp_path / "source"))
        pieces = [each for each in LogReader(store).scan() if each.role == "tool"]
        assert {each.metadata["tool"]["name"] for each in pieces} == expected
        assert imported.added == 3 + len(pieces)


def test_active_facts_of_another_memory_are_imported(tmp_path: Path) -> None:
    source = hosts.memory_context(tmp_path)
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    assert import_transcripts(tmp_path / "memory", source).facts == 1
    assert import_transcripts(tmp_path / "memory", source).facts == 0
    with memctx.open(tmp_path / "memory", session_id="memory-1", cross_session=True) as memory:
        assert [hit.fact.content for hit in memory.facts.search("webhook port")] == [
            "The webhook listens on port 8443"
        ]
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before


@pytest.mark.parametrize("host", ["claude-code", "codex", "pi", "gemini", "plain"])
def test_compressed_files_are_read_as_they_are(host: str, tmp_path: Path) -> None:
    write, form, _ = hosts.HOSTS[host]
    path = write(tmp_path / "source")
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert detect_format(packed) == form
    assert import_transcripts(tmp_path / "memory", packed).failed == ()
    assert hosts.LATER in [text for _, _, text, _ in stored(tmp_path / "memory")]


def test_compressed_events_of_openclaw_are_read(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    path = hosts.openclaw(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT seq, event_json FROM transcript_events").fetchall()
        for seq, text in rows:
            packed = zstandard.ZstdCompressor().compress(text.encode())
            connection.execute(
                "UPDATE transcript_events SET event_json = NULL, event_zstd = ? WHERE seq = ?",
                (packed, seq),
            )
        connection.execute("UPDATE transcript_events SET event_zstd = x'00' WHERE seq = 5")
        connection.commit()
    imported = import_transcripts(tmp_path / "memory", path)
    assert [text for _, role, text, _ in stored(tmp_path / "memory") if role == "user"] == [
        hosts.ASKED,
        hosts.LATER,
    ]
    assert imported.damaged == 1


def test_a_file_that_is_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    whole = hosts.chatgpt(source)
    text = whole.read_text("utf-8")
    whole.write_text(f"{text[:-1]}, {text[1:200]}")
    hosts.plain(source)
    imported = import_transcripts(tmp_path / "memory", source)
    assert len(imported.failed) == 1
    assert imported.failed[0].startswith("conversations.json: ")
    assert imported.files == 1
    assert imported.sessions == 2
    # It is read again, because it may have been repaired.
    whole.write_text(text)
    assert import_transcripts(tmp_path / "memory", source).failed == ()


def test_secrets_are_masked_and_noise_is_dropped(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 12
    lines = [
        {"role": "user", "content": f"The key is {secret}, keep it."},
        {"role": "assistant", "content": "NO_REPLY"},
    ]
    imported = import_transcripts(
        tmp_path / "memory", hosts.write_lines(tmp_path / "talk.jsonl", lines)
    )
    assert (imported.added, imported.skipped) == (1, 1)
    everything = b"".join(
        path.read_bytes() for path in (tmp_path / "memory").rglob("*") if path.is_file()
    )
    assert secret.encode() not in everything


def test_invalid_import_arguments_name_the_expected_value(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="which does not exist; expected a file or a folder"):
        import_transcripts(tmp_path / "memory", tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        ConfigError, match="no transcripts in 0 files; expected those of claude-code"
    ):
        import_transcripts(tmp_path / "memory", tmp_path / "empty")
    path = hosts.plain(tmp_path)
    with pytest.raises(ConfigError, match="format is 'word'; expected one of claude-code"):
        import_transcripts(tmp_path / "memory", path, format="word")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the memory itself"):
        import_transcripts(tmp_path, tmp_path)
    with pytest.raises(ConfigError, match="no transcript"):
        list(read_transcript(hosts.write_lines(tmp_path / "x.jsonl", ["what is this"])))
    with pytest.raises(StoreError, match="expected JSON"):
        list(read_transcript(tmp_path / "x.jsonl", format="gemini"))


@pytest.mark.parametrize("parent", [None, "lost"])
def test_a_torn_pi_tree_keeps_all_messages(parent: str | None, tmp_path: Path) -> None:
    lines = hosts.pi_lines("pi-1")
    lines[-1]["parentId"] = parent
    path = hosts.write_lines(tmp_path / "pi-1.jsonl", lines)
    imported = import_transcripts(tmp_path / "memory", path)
    users = [text for _, role, text, _ in stored(tmp_path / "memory") if role == "user"]
    assert users == [hosts.ASKED, hosts.LEFT, hosts.LATER]
    assert imported.skipped == 0


@pytest.mark.parametrize("tear", ["no leaf", "lost parent", "circle", "second root"])
def test_a_torn_chatgpt_tree_keeps_all_messages(tear: str, tmp_path: Path) -> None:
    path = hosts.chatgpt(tmp_path)
    conversations = json.loads(path.read_text("utf-8"))
    (conversation,) = conversations
    nodes = conversation["mapping"]
    match tear:
        case "no leaf":
            conversation["current_node"] = "lost"
            nodes["n4"]["parent"] = None
        case "lost parent":
            del nodes["n0"]
            nodes["n5"]["parent"] = "lost"
        case "circle":
            nodes["n4"]["parent"] = "n5"
        case _:
            nodes["n5"]["parent"] = None
    path.write_text(json.dumps(conversations))
    import_transcripts(tmp_path / "memory", path)
    found = [text for _, role, text, _ in stored(tmp_path / "memory") if role != "tool"]
    assert found == [hosts.ASKED, hosts.ANSWERED, hosts.LATER, hosts.LEFT]


def test_subagents_of_opencode_are_sessions_of_their_own(tmp_path: Path) -> None:
    path = hosts.opencode(tmp_path)
    text = json.dumps({"type": "text", "text": "Count the tests of the ledger."})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO part VALUES ('prt_9', 'msg_9', 'ses_2', ?)", (text,))
        connection.commit()
    imported = import_transcripts(tmp_path / "memory", path)
    (found,) = LogReader(tmp_path / "memory").scan(memctx.SearchFilter(session_id="ses_2"))
    assert found.content == "Count the tests of the ledger."
    assert found.metadata["source"]["parent"] == "ses_1"
    assert imported.sessions == 2
    assert imported.skips == {"taken back by the user": 1}


def test_calls_and_results_of_chatgpt_are_paired(tmp_path: Path) -> None:
    path = hosts.chatgpt(tmp_path)
    conversations = json.loads(path.read_text("utf-8"))
    nodes = conversations[0]["mapping"]
    code = {"content_type": "code", "text": "open('settings.toml').read()"}
    call = {"id": "m-call", "author": {"role": "assistant"}, "recipient": "python", "content": code}
    nodes["c1"] = {"id": "c1", "parent": "n2", "children": ["n3"], "message": call}
    nodes["n3"]["parent"] = "c1"
    path.write_text(json.dumps(conversations))
    said = [each.message for each in read_transcript(path)]
    assert said[1]["content"][0]["id"] == said[2]["toolCallId"] == "m-call"
    assert memctx.validate(said, format="pi") == []
