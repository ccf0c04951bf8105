"""Imported sessions go by names that people know: host, folder, and title or first prompt."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from cli.import_export import hosts
from memctx.cli import main
from memctx.cli.import_export import import_transcripts, importing
from memctx.hosts import HostSession
from memctx.hosts.hooks import find_records
from memctx.hosts.hooks.session import update_record

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("alone")
NAMES = {
    "claude-code": "claude-code · shop · Webhook port",
    "codex": f"codex · shop · {hosts.ASKED}",
    "pi": f"pi · shop · {hosts.ASKED}",
    "openclaw": f"openclaw · shop · {hosts.ASKED}",
    "gemini": "gemini · Move the webhook",
    "opencode": "opencode · shop · Port of the webhook",
    "aider": f"aider · source · {hosts.ASKED}",
    "chatgpt": "chatgpt · Ports",
    "memory": "",
    "plain": "",
}
SECRET = "AKIAIOSFODNN7EXAMPLQ"  # noqa: S105 - an example


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def statuses(store: Path) -> dict[str, dict[str, Any]]:
    found = json.loads(invoke("status", "--store", store, "--json"))["sessions"]
    return {each["id"]: each for each in found}


def names(store: Path) -> dict[str, str]:
    return {own: each["name"] for own, each in statuses(store).items()}


def claude_lines(*prompts: str, **fields: Any) -> list[dict[str, Any]]:
    return [
        {
            "type": "user",
            "uuid": f"u{at}",
            "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "s1",
            "timestamp": hosts.iso(at),
            "message": {"role": "user", "content": prompt},
            **fields,
        }
        for at, prompt in enumerate(prompts)
    ]


def claude(folder: Path, *lines: dict[str, Any]) -> Path:
    return hosts.write_lines(folder / "s1.jsonl", lines)


@pytest.mark.parametrize("host", sorted(hosts.HOSTS))
def test_status_names_the_sessions_of_every_host(host: str, tmp_path: Path) -> None:
    write, form, _ = hosts.HOSTS[host]
    invoke("import", write(tmp_path / "source"), "--store", tmp_path / "memory")
    (status,) = statuses(tmp_path / "memory").values()
    assert status["name"] == NAMES[form]
    if not NAMES[form]:
        assert (status["host"], status["project"], status["first_prompt"]) == (None, None, None)
        return
    assert (status["host"], status["first_prompt"]) == (form, hosts.ASKED)
    text = invoke("status", "--store", tmp_path / "memory")
    assert form in text
    assert status["id"][:20] in text


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([{"type": "summary", "summary": "Summed up", "leafUuid": "u0"}], "Summed up"),
        ([{"type": "summary", "summary": "Another file's", "leafUuid": "x9"}], None),
        ([{"type": "ai-title", "aiTitle": name, "sessionId": "s1"} for name in "ab"], "b"),
        (
            [
                {"type": "custom-title", "customTitle": "Mine", "sessionId": "s1"},
                {"type": "ai-title", "aiTitle": "Its own", "sessionId": "s1"},
                {"type": "summary", "summary": "Summed up", "leafUuid": "u0"},
            ],
            "Mine",
        ),
        ([{"type": "ai-title", "aiTitle": 7, "sessionId": "s1"}], None),
        ([{"type": "ai-title", "aiTitle": " ", "sessionId": "s1"}], None),
        ([{"type": "ai-title", "aiTitle": "Another's", "sessionId": "s2"}], None),
    ],
)
def test_the_title_of_claude_code_is_the_users_or_else_its_own(
    lines: list[dict[str, Any]], title: str | None, tmp_path: Path
) -> None:
    first, *rest = claude_lines("Which port?", "And now?")
    path = claude(tmp_path / "source", first, *lines, *rest)
    import_transcripts(tmp_path / "memory", path)
    assert statuses(tmp_path / "memory")["s1"]["title"] == title


def test_a_subagent_is_named_by_its_task(tmp_path: Path) -> None:
    task = {
        **claude_lines("Find all callers of the webhook")[0],
        "uuid": "a1",
        "isSidechain": True,
        "agentId": "x1",
    }
    titled = {"type": "custom-title", "customTitle": "Webhook", "sessionId": "s1"}
    path = claude(tmp_path / "source", *claude_lines("Which port?", cwd="/src/shop"), task, titled)
    import_transcripts(tmp_path / "memory", path)
    assert names(tmp_path / "memory") == {
        "s1": "claude-code · shop · Webhook",
        "s1.agent-x1": "claude-code · Find all callers of the webhook",
    }


def test_a_thread_of_codex_has_the_name_that_it_was_given(tmp_path: Path) -> None:
    path = hosts.codex(tmp_path / "source")
    renamed = {"type": "thread_name_updated", "thread_id": "codex-1", "thread_name": "Ports"}
    line = {"timestamp": hosts.iso(4), "type": "event_msg", "payload": renamed}
    path.write_text(f"{path.read_text('utf-8')}{json.dumps(line)}\n", "utf-8")
    import_transcripts(tmp_path / "memory", path)
    assert names(tmp_path / "memory") == {"codex-1": "codex · shop · Ports"}


def test_a_session_of_pi_has_its_last_name(tmp_path: Path) -> None:
    named = [
        {"type": "session_info", "id": own, "parentId": "a5", "timestamp": hosts.iso(4), "name": n}
        for own, n in (("i1", "Ports"), ("i2", "Webhooks"))
    ]
    path = hosts.write_lines(tmp_path / "source" / "pi.jsonl", [*hosts.pi_lines("pi-1"), *named])
    import_transcripts(tmp_path / "memory", path)
    assert names(tmp_path / "memory") == {"pi-1": "pi · shop · Webhooks"}


def test_gemini_tells_its_folder_in_its_first_message(tmp_path: Path) -> None:
    told = (
        "<session_context>\nThis is the Gemini CLI.\nThe project's temporary directory is: /tmp/p\n"
        "- **Workspace Directories:**\n  - /src/shop\n- **Directory Structure:**\n</session_context>"
    )
    head, *rest = hosts.gemini_lines(tmp_path / "source").read_text("utf-8").splitlines()
    first = {"id": "g", "timestamp": hosts.iso(0), "type": "user", "content": [{"text": told}]}
    lines = [head, json.dumps({"$set": {"messages": [first]}}), *rest]
    path = hosts.write_lines(tmp_path / "told" / "session.jsonl", lines)
    import_transcripts(tmp_path / "memory", path)
    assert names(tmp_path / "memory") == {"gemini-1": "gemini · shop · Move the webhook"}


def test_a_default_title_of_opencode_is_none(tmp_path: Path) -> None:
    storage = hosts.opencode_files(tmp_path / "source")
    path = storage / "session" / "p" / "ses_1.json"
    session = {**json.loads(path.read_text()), "title": "New session - 2026-10-26T07:33:20.000Z"}
    path.write_text(json.dumps(session))
    import_transcripts(tmp_path / "memory", storage)
    assert names(tmp_path / "memory") == {"ses_1": f"opencode · shop · {hosts.ASKED}"}


def test_a_folder_of_windows_is_named_by_its_last_part(tmp_path: Path) -> None:
    path = claude(tmp_path / "source", *claude_lines("Which port?", cwd="C:\\src\\shop"))
    import_transcripts(tmp_path / "memory", path)
    assert names(tmp_path / "memory") == {"s1": "claude-code · shop · Which port?"}


def test_a_prompt_is_named_without_what_the_host_adds(tmp_path: Path) -> None:
    added = "<system-reminder>Be brief.</system-reminder>\n"
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "7443"}]
    lines = claude_lines("", "<command-name>/clear</command-name>", f"{added}Which port?\n  Ours.")
    lines[0]["message"]["content"] = result
    import_transcripts(tmp_path / "memory", claude(tmp_path / "source", *lines))
    assert names(tmp_path / "memory") == {"s1": "claude-code · Which port? Ours."}


@pytest.mark.parametrize("length", range(270, 310))
def test_secrets_are_masked_before_texts_are_cut(length: int, tmp_path: Path) -> None:
    text = f"{'x' * length} {SECRET} is the key"
    title = {"type": "ai-title", "aiTitle": text, "sessionId": "s1"}
    lines = claude_lines(text, cwd=f"/src/{SECRET}")
    import_transcripts(tmp_path / "memory", claude(tmp_path / "source", title, *lines))
    (record,) = find_records(tmp_path / "memory").values()
    stored = "".join(path.read_text() for path in (tmp_path / "memory" / "hosts").iterdir())
    assert SECRET[:6] not in stored
    assert len(record.title) <= 300
    assert record.title == record.first_prompt
    assert "REDACTED" in record.project


def test_a_secret_behind_much_space_is_masked(tmp_path: Path) -> None:
    blank = "Hello" + "\n" * 65_520 + SECRET
    import_transcripts(tmp_path / "memory", claude(tmp_path / "source", *claude_lines(blank)))
    (record,) = find_records(tmp_path / "memory").values()
    assert record.first_prompt.startswith("Hello [REDACTED")


def test_the_settings_of_the_store_decide_what_is_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_PRIVACY_PII", "true")
    path = claude(tmp_path / "source", *claude_lines("Write to ann@example.com"))
    import_transcripts(tmp_path / "memory", path)
    assert "ann@" not in names(tmp_path / "memory")["s1"]


def test_any_script_may_be_in_a_name(tmp_path: Path) -> None:
    title = {"type": "ai-title", "aiTitle": "ポート \ud800 é", "sessionId": "s1"}
    lines = claude_lines("Welcher Port?", cwd="/src/Läden")
    path = claude(tmp_path / "source", title, *lines)
    import_transcripts(tmp_path / "memory", path)
    assert names(tmp_path / "memory") == {"s1": "claude-code · Läden · ポート \ufffd é"}
    assert "Läden · ポート" in invoke("status", "--store", tmp_path / "memory")


def test_a_file_that_tells_nothing_names_nothing(tmp_path: Path) -> None:
    (line,) = claude_lines("")
    answer = {**line, "type": "assistant", "message": {"role": "assistant", "content": "Port 7443"}}
    import_transcripts(tmp_path / "memory", claude(tmp_path / "source", answer))
    assert names(tmp_path / "memory") == {"s1": ""}
    assert find_records(tmp_path / "memory") == {}


def test_a_repeated_import_changes_no_record(tmp_path: Path) -> None:
    path, store = hosts.claude_code(tmp_path / "source"), tmp_path / "memory"
    import_transcripts(store, path)
    (file,) = (store / "hosts").iterdir()
    before = file.read_bytes(), file.stat().st_ino
    import_transcripts(store, path)
    path.write_bytes(path.read_bytes() + b"\n")
    import_transcripts(store, path)
    assert (file.read_bytes(), file.stat().st_ino) == before


def test_a_session_that_grew_gets_its_new_title(tmp_path: Path) -> None:
    store, lines = tmp_path / "memory", claude_lines("Which port?", cwd="/src/shop")
    import_transcripts(store, claude(tmp_path / "source", *lines))
    title = {"type": "custom-title", "customTitle": "Ports", "sessionId": "s1"}
    import_transcripts(store, claude(tmp_path / "source", *lines, title))
    assert names(store) == {"s1": "claude-code · shop · Ports"}
    import_transcripts(store, claude(tmp_path / "other", *claude_lines("Copied")))
    assert names(store) == {"s1": "claude-code · shop · Ports"}


def test_an_import_that_goes_on_names_sessions_by_their_first_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_MESSAGES", 1)
    prompts = [f"Prompt number {at} about the webhook" for at in range(5)]
    path, store = claude(tmp_path / "source", *claude_lines(*prompts)), tmp_path / "memory"

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            import_transcripts(store, path, on_progress=stop)
    assert names(store) == {"s1": ""}
    import_transcripts(store, path)
    assert names(store) == {"s1": f"claude-code · {prompts[0]}"}


def test_a_slash_command_is_no_name_of_a_session(tmp_path: Path) -> None:
    lines = claude_lines("/mode", "Which port?")
    import_transcripts(tmp_path / "memory", claude(tmp_path / "source", *lines))
    assert names(tmp_path / "memory") == {"s1": "claude-code · Which port?"}


def test_a_record_of_hooks_is_not_overwritten(tmp_path: Path) -> None:
    hooked = HostSession("claude-code", "/src/shop", "s1")
    update_record(tmp_path, hooked, lambda known: replace(known, title="Known", last_prompt="?"))
    before = find_records(tmp_path)
    lines = [{**line, "sessionId": hooked.session_id} for line in claude_lines("Which port?")]
    import_transcripts(tmp_path, claude(tmp_path.parent / "source", *lines))
    assert find_records(tmp_path) == before
    assert names(tmp_path) == {hooked.session_id: "claude-code · shop · Known"}


def test_an_import_is_no_last_conversation_of_a_project(tmp_path: Path) -> None:
    hooked = HostSession("claude-code", "/src/shop", "s1")
    lines = [
        {**line, "sessionId": hooked.session_id}
        for line in claude_lines("Which port?", cwd="/src/shop")
    ]
    import_transcripts(tmp_path, claude(tmp_path.parent / "source", *lines))
    assert list(find_records(tmp_path)) == [hooked.session_id]
    assert find_records(tmp_path, hooked.project_key) == {}
    # A hook that comes later keeps its own.
    update_record(tmp_path, hooked, lambda known: replace(known, title="Hooked"))
    assert names(tmp_path) == {hooked.session_id: "claude-code · shop · Hooked"}


def test_sessions_that_are_given_ids_are_not_recorded(tmp_path: Path) -> None:
    path = hosts.claude_code(tmp_path / "source")
    import_transcripts(tmp_path / "memory", path, name_session=lambda own: f"mine/{own}")
    assert find_records(tmp_path / "memory") == {}


def test_a_record_that_cannot_be_written_fails_no_import(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "memory"
    store.mkdir()
    (store / "hosts").write_text("in the way")
    with caplog.at_level(logging.WARNING, "memctx.cli.import_export"):
        imported = import_transcripts(store, hosts.claude_code(tmp_path / "source"))
    assert (imported.failed, imported.files) == ((), 1)
    assert "not named" in caplog.text
    assert names(store) == {"claude-1": ""}


def test_a_deleted_session_leaves_no_name(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    import_transcripts(store, hosts.claude_code(tmp_path / "source"))
    invoke("gc", "--store", store, "--session", "claude-1", "--yes")
    assert find_records(store) == {}
