"""Commands as a person types them: output, exit codes, and no unrequested changes."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import memctx
from cli.verbs.stocked import messages, opened
from memctx import registry
from memctx.cli import main, output
from memctx.cli.import_export import export_jsonl
from memctx.cli.verbs import shell
from memctx.hosts.pi import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert registry.memories() == []
    return result


def data(*arguments: object, code: int = 0) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    written = Transcript.open(tmp_path / "talk.jsonl", session_id="shop")
    written.append_messages(messages("shop") * 40)
    return written.path


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(file): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "index" not in file.parts and not file.name.startswith("vectors")
    }


READING_COMMANDS = [
    ("status",),
    ("search", "webhook", "port"),
    ("search", "webhook", "port", "--all"),
    ("sizes",),
    ("reindex",),
    ("reindex", "--rebuild"),
    ("notes",),
    ("facts", "search", "webhook"),
    ("facts", "list"),
    ("facts", "list", "--all", "--type", "config", "-n", "5"),
    ("verify",),
    ("gc",),
    ("gc", "--older-than", "1"),
    ("gc", "--session", "shop"),
    ("config", "show"),
    ("config", "check"),
    ("doctor",),
]


@pytest.mark.parametrize("command", READING_COMMANDS, ids=" ".join)
def test_reading_commands_print_text_and_json_and_change_nothing(
    store: Path, command: tuple[str, ...]
) -> None:
    before = files(store)
    place = () if command[0] == "config" else ("--store", store)
    plain = run(*command, *place)
    assert plain.exit_code == 0, plain.output
    assert plain.stdout.strip()
    assert "\x1b" not in plain.stdout
    assert isinstance(data(*command, *place), dict)
    assert files(store) == before


def test_search_filters_by_session_time_and_role(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(*options: object) -> list[str]:
        hits = data("search", "webhook port ledger theme", "--store", store, *options)["hits"]
        return sorted({hit["segment"]["session_id"] for hit in hits})

    assert found() == ["blog", "shop"]
    assert found("--session", "blog") == ["blog"]
    assert found("--since", "2026-01-01") == ["shop"]
    # As it is shown, whatever the time zone of the machine.
    assert found("--since", "2026-02-02T02:40", "--until", "2026-02-02T02:40") == ["shop"]
    monkeypatch.setenv("MEMCTX_CROSS_SESSION", "true")
    assert found("--session", "shop") == ["shop"]
    assert found("--until", "2026-01-01") == ["blog"]
    hits = data("search", "webhook", "--role", "assistant", "-n", 1, "--store", store)["hits"]
    assert [hit["segment"]["role"] for hit in hits] == ["assistant"]
    assert "bm25" in run("search", "webhook", "--explain", "--store", store).stdout


def test_search_finds_segments_that_agents_evict(store: Path) -> None:
    assert data("search", "dark theme", "--store", store)["hits"]


def test_search_all_finds_unindexed_segments(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "MIN_SEGMENTS", 1)
    monkeypatch.setenv("MEMCTX_DISK_MAX_SEGMENTS", "1")
    shutil.rmtree(store / "index", ignore_errors=True)
    found = data("search", "static", "generator", "--all", "--store", store)
    assert "static generator" in found["hits"][0]["segment"]["content"]
    assert (found["unsearched"], found["disk_index"]["state"]) == (0, "ready")
    again = data("search", "static", "generator", "--store", store)
    assert [hit["segment"] for hit in again["hits"]] == [hit["segment"] for hit in found["hits"]]
    assert data("search", "static", "--all", "--session", "shop", "--store", store, code=1)
    assert run("search", "zzzqqq", "--all", "--store", store).exit_code == 1


def test_reindex_logs_progress_to_stderr(store: Path) -> None:
    size = (store / "segments.jsonl").stat().st_size
    plain = run("reindex", "--rebuild", "--store", store)
    assert plain.exit_code == 0
    assert "6 segments in 6 passages" in plain.stdout
    assert plain.stderr.splitlines()[-1] == "Indexing: 100 %"
    assert len(set(plain.stderr.splitlines())) == len(plain.stderr.splitlines()) <= 11
    found = data("reindex", "--store", store)
    assert (found["is_ok"], found["state"], found["fault"]) == (True, "ready", None)
    assert (found["indexed_bytes"], found["log_bytes"]) == (size, size)


def test_a_disabled_index_is_exit_code_2(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTX_DISK_INDEX", "off")
    for command in (("reindex",), ("search", "webhook", "--all")):
        refused = run(*command, "--store", store)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "disk.index is False; expected the setting to be on" in refused.stderr
    assert run("search", "webhook", "--store", store).exit_code == 0
    assert data("sizes", "--store", store)["disk_index"] is None
    assert run("reindex", "--store", store / "none").exit_code == 2


def test_progress_is_a_bar_on_a_terminal_and_lines_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.log_progress("Indexing") as advance:
        for done in range(0, 1001, 7):
            advance(done, 1001)
        advance(1001, 1001)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"Indexing: {tenth}0 %" if tenth else "Indexing: 0 %" for tenth in range(11)]
    with output.log_progress("Nothing to do") as advance:
        advance(0, 0)
    assert capsys.readouterr().err == "Nothing to do: 100 %\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    with output.log_progress("Indexing") as advance:
        advance(300, 1000)
    assert "30%" in capsys.readouterr().err


def test_nothing_found_is_exit_code_1(store: Path) -> None:
    assert run("search", "zzzqqq", "--store", store).exit_code == 1
    assert data("search", "zzzqqq", "--store", store, code=1)["hits"] == []


def test_show_takes_the_id_that_search_prints(store: Path) -> None:
    listed = run("search", "ledger", "rounds", "-n", 1, "--store", store).stdout
    short = listed.splitlines()[1].split()[0]
    shown = run("show", short, "--store", store)
    assert shown.exit_code == 0
    assert "The ledger rounds half to even" in shown.stdout
    assert len(data("show", short, "--around", 1, "--store", store)["before"]) == 1


def test_memory_add_needs_one_session(store: Path, tmp_path: Path) -> None:
    refused = run("facts", "add", "The cache is Valkey", "--store", store)
    assert refused.exit_code == 2
    assert "--session; the store has 2 sessions: blog, shop" in refused.stderr
    found = data("facts", "add", "The cache is Valkey", "--session", "blog", "--store", store)
    assert found["fact"]["session_id"] == "blog"
    new = tmp_path / "new"
    assert run("facts", "add", "A fact", "--store", new).exit_code == 2
    assert not new.exists()
    assert run("facts", "add", "A fact of it", "--session", "s1", "--store", new).exit_code == 0
    assert data("facts", "list", "--store", new)["facts"][0]["content"] == "A fact of it"


def test_forget_does_nothing_without_yes(store: Path) -> None:
    fact = data("facts", "list", "--type", "decision", "--store", store)["facts"][0]
    asked = run("facts", "forget", fact["id"][:8], "--store", store)
    assert asked.exit_code == 0
    assert "add --yes" in asked.stdout
    assert data("facts", "list", "--type", "decision", "--store", store)["facts"]
    assert run("facts", "forget", fact["id"][:8], "--yes", "--store", store).exit_code == 0
    assert data("facts", "list", "--type", "decision", "--store", store, code=1)["facts"] == []
    states = data("facts", "history", fact["id"], "--store", store)["states"]
    assert [state["is_active"] for state in states] == [True, False]


def test_verify_repairs_with_yes_only(store: Path) -> None:
    log = store / "segments.jsonl"
    log.write_bytes(log.read_bytes().replace(b"8443", b"8444", 1))
    damaged = log.read_bytes()
    assert run("verify", "--store", store).exit_code == 1
    asked = run("verify", "--repair", "--store", store)
    assert (asked.exit_code, "add --yes" in asked.stdout) == (1, True)
    assert log.read_bytes() == damaged
    assert run("verify", "--repair", "--yes", "--store", store).exit_code == 0
    assert run("verify", "--store", store).exit_code == 0


def test_gc_deletes_with_yes(store: Path) -> None:
    assert data("gc", "--session", "blog", "--yes", "--store", store)["segments"] == 2
    assert [each["id"] for each in data("status", "--store", store)["sessions"]] == ["shop"]


def test_context_list_and_detail_report_token_costs(transcript: Path) -> None:
    listed = data("context", "list", transcript, "--window", 9_000)
    assert listed["context_window"] == 9_000
    assert {each["component"] for each in listed["components"]} == {"user", "assistant"}
    detail = run("context", "detail", transcript, "--window", 2_000)
    assert detail.exit_code == 0
    assert "left out" in detail.stdout


def test_compact_plans_and_with_yes_writes(store: Path, transcript: Path) -> None:
    before = transcript.read_bytes()
    planned = data("compact", transcript, "--window", 2_000, "--store", store)
    assert not planned["is_done"]
    assert transcript.read_bytes() == before
    done = data(
        "compact", transcript, "Keep", "ports", "--window", 2_000, "--yes", "--store", store
    )
    assert done["leaving"] == planned["leaving"]
    assert transcript.read_bytes().startswith(before)
    assert Transcript.open(transcript).compaction_count == 1
    shop = data("status", "--store", store)["sessions"][0]
    assert (shop["id"], shop["compactions"]) == ("shop", 1)


def test_compacting_a_plain_message_file_in_place_is_refused(store: Path, tmp_path: Path) -> None:
    document, lines = tmp_path / "talk.json", tmp_path / "talk.jsonl"
    said = messages("shop") * 40
    document.write_text(json.dumps(said))
    lines.write_text("".join(f"{json.dumps(message)}\n" for message in said))
    for file in (document, lines):
        before = file.read_bytes()
        assert run("compact", file, "--store", store).exit_code == 0
        refused = run("compact", file, "--yes", "--store", store)
        assert (refused.exit_code, "expected a session file" in refused.stderr) == (2, True)
        assert file.read_bytes() == before


def test_settings_come_from_a_file_and_the_environment(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_STORAGE_PATH", str(store))
    assert run("status").exit_code == 0
    file = tmp_path / "memctx.toml"
    file.write_text("context_window = 1234\n")
    assert data("status", "--config", file)["context_window"] == 1_234
    file.write_text("context_windo = 1234\n")
    for command in (("status",), ("config", "show")):
        refused = run(*command, "--config", file)
        assert (refused.exit_code, "did you mean context_window?" in refused.stderr) == (2, True)
    assert run("config", "check", file).exit_code == 1
    assert run("doctor", "--config", file).exit_code == 1


def test_a_missing_store_is_refused_and_not_created(tmp_path: Path) -> None:
    for command in (("status",), ("search", "x"), ("verify",), ("gc", "--yes"), ("facts", "list")):
        refused = run(*command, "--store", tmp_path / "none")
        assert refused.exit_code == 2
        assert refused.stderr.startswith(f"memctx: {tmp_path / 'none'}: there is no store")
        assert refused.stdout == ""
    assert not (tmp_path / "none").exists()


def test_the_address_of_a_server_is_refused_as_a_store_without_showing_its_password() -> None:
    refused = run("search", "--store", "postgresql://team:hunter2@db.internal/agents", "port")
    assert refused.exit_code == 2
    assert "memctx pull ADDRESS --store DIRECTORY" in refused.stderr
    assert "hunter2" not in refused.stderr


READING = [
    ("status",), ("search", "x"), ("show", "abcd"), ("sizes",), ("notes",), ("facts", "search", "x"),
    ("facts", "list"), ("facts", "history", "abcd"), ("verify",), ("gc",), ("reindex",),
]  # fmt: skip


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_folder_without_a_store_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in (None, "notes.txt"):
        if name is not None:
            (folder / name).write_text("mine")
        before = sorted(folder.iterdir())
        refused = run(*command, "--store", folder)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"memctx: {folder}: there is no store")
        assert "--store" in refused.stderr
        assert sorted(folder.iterdir()) == before
    target = tmp_path / "all.jsonl"
    refused = run("export", target, "--store", folder)
    assert (refused.exit_code, target.exists()) == (2, False)
    with pytest.raises(memctx.ConfigError, match="there is no store"):
        export_jsonl(folder, target)


def test_a_store_without_messages_is_empty(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as memory:
        memory.facts.add("config", "The webhook listens on port 8443")
    assert data("sizes", "--store", tmp_path / "store")["segments"] == 0


def test_an_unknown_session_is_refused(store: Path) -> None:
    before = files(store)
    for command in (("status",), ("search", "x"), ("facts", "list"), ("gc", "--yes")):
        refused = run(*command, "--session", "shp", "--store", store)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "shp" in refused.stderr
    assert files(store) == before


def test_archived_text_cannot_control_the_terminal(store: Path) -> None:
    with opened(store) as memory:
        memory.archive([{"role": "user", "content": "a bell \x07 and \x1b[31mred\x1b[0m paint"}])
        memory.facts.add("config", "paint is \x1b[31mred\x1b[0m\nand rings \x07")
    for command in (
        ("search", "paint"),
        ("notes",),
        ("facts", "list"),
        ("facts", "search", "paint"),
    ):
        shown = run(*command, "--store", store)
        assert "paint" in shown.stdout
        assert not {"\x07", "\x1b"} & set(shown.stdout)


def test_unreadable_files_are_exit_code_3(store: Path, tmp_path: Path) -> None:
    document = tmp_path / "talk.json"
    document.write_text("{")
    refused = run("context", "list", document)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "cannot be read" in refused.stderr
    with opened(store), opened(store):
        pass
    (store / "LOCK").write_text('{"format":9,"min_reader":9,"min_writer":9}\n')
    assert run("sizes", "--store", store).exit_code == 3


def test_bench_counts_its_messages() -> None:
    found = data("bench", "--messages", 200)
    assert found["messages"] == 200
    assert run("bench", "--messages", 1).exit_code == 2


def test_commands_work_on_a_memory_that_is_disabled(tmp_path: Path) -> None:
    """The switch is for agents; what a person asks for is done."""
    config = tmp_path / "openclaw.json"
    config.write_text("{agents: {defaults: {memoryContext: {enabled: false}}}}  // not yet")
    session = tmp_path / "talk.jsonl"
    session.write_text('{"role": "user", "content": "The webhook listens on port 8443."}\n')
    options = ("--store", tmp_path / "store", "--config", config)
    assert run("import", session, *options).exit_code == 0
    assert "8443" in run("search", "webhook port", *options).stdout


def test_no_command_extracts_facts(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTX_KNOWLEDGE_EXTRACTION", "rules")
    assert run("status", "--session", "shop", "--store", store).exit_code == 0
    assert not (store / "extraction").exists()


def test_version_is_that_of_the_package() -> None:
    assert run("--version").stdout == f"memctx {memctx.__version__}\n"
