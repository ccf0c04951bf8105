"""Hooks end to end, with recorded payloads: what one conversation decides reaches the next, also over a compaction."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from hosts.hooks.story import Conversation, recorded_payloads
from memctx import store_files
from memctx.cli.import_export import read_parts
from memctx.hosts import HostSession, answer
from memctx.hosts.hooks import find_records
from memctx.hosts.hooks.command import Arguments, answer_payload
from memctx.hosts.hooks.events import EVENTS, detect_host
from memctx.hosts.hooks.recall import MAX_CHARS

if TYPE_CHECKING:
    from pathlib import Path

WEBHOOK = "Which port does the payment webhook of the shop listen on?"
ROLLOUT = "To which region does the first rollout of the shop go?"
HOSTS = ("claude-code", "codex", "gemini")
PROMPTS = {"claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
STOPS = {"claude-code": "Stop", "codex": "Stop", "gemini": "AfterAgent"}

pytestmark = pytest.mark.usefixtures("alone")


def contents(root: Path, session_id: str) -> list[tuple[str, str]]:
    with memctx.open(root, session_id=session_id) as memory:
        return [(each.role, each.content) for each in memory.store.segments()]


def first_session(host: str, tmp_path: Path) -> Conversation:
    """Return a conversation that decided something, and ended."""
    first = Conversation(host, tmp_path / "store", tmp_path / "shop")
    first.call("SessionStart", source="startup")
    first.call(
        PROMPTS[host], prompt="We decided: the payment webhook of the shop listens on port 7443."
    )
    first.write_transcript()
    first.call(STOPS[host], last_assistant_message="Noted.", prompt_response="Noted.")
    first.call("SessionEnd")
    return first


@pytest.mark.parametrize("host", HOSTS)
def test_the_next_session_is_told_the_decisions_of_the_last(host: str, tmp_path: Path) -> None:
    first = first_session(host, tmp_path)
    second = replace(first, id="second")
    told = second.context("SessionStart", source="startup")
    if (
        host == "gemini"
    ):  # text at its start would cost the first prompt when the session is resumed
        assert told == ""
        told = second.context("BeforeAgent", prompt="Hello, let us go on.")
    assert "[decision] We decided: the payment webhook of the shop listens on port 7443" in told
    assert "The last request: We decided" in told
    assert "The last answer: Noted." in told


@pytest.mark.parametrize("host", HOSTS)
def test_a_prompt_recalls_what_an_earlier_session_said(host: str, tmp_path: Path) -> None:
    second = replace(first_session(host, tmp_path), id="second")
    second.call("SessionStart", source="startup")
    assert "eu-west-9" in second.context(PROMPTS[host], prompt=ROLLOUT)
    # The host keeps it in the conversation, so that it is not told twice.
    assert "eu-west-9" not in second.context(PROMPTS[host], prompt=ROLLOUT)


@pytest.mark.parametrize("host", HOSTS)
def test_a_control_without_memory_is_told_nothing(host: str, tmp_path: Path) -> None:
    first = first_session(host, tmp_path)
    second = replace(first, id="second", root=tmp_path / "other")
    assert second.context("SessionStart", source="startup") == ""
    assert second.context(PROMPTS[host], prompt=ROLLOUT) == ""


@pytest.mark.parametrize("host", HOSTS)
def test_another_project_is_told_nothing(host: str, tmp_path: Path) -> None:
    first = first_session(host, tmp_path)
    other = replace(first, id="second", project=tmp_path / "blog")
    assert other.context("SessionStart", source="startup") == ""
    assert other.context(PROMPTS[host], prompt=WEBHOOK) == ""


@pytest.mark.parametrize("host", HOSTS)
def test_sessions_are_kept_apart_if_the_user_says_so(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_CROSS_SESSION", "false")
    second = replace(first_session(host, tmp_path), id="second")
    assert second.context("SessionStart", source="startup") == ""
    assert second.context(PROMPTS[host], prompt=WEBHOOK) == ""


def test_a_start_tells_what_the_newest_session_decided(tmp_path: Path) -> None:
    root, project = tmp_path / "store", tmp_path / "shop"
    for number, port in enumerate((3000, 8443)):
        session = HostSession("codex", str(project), f"c{number}")
        with memctx.open(root, session_id=session.session_id) as memory:
            memory.facts.add("config", f"The payment webhook listens on port {port}")
    told = Conversation("codex", root, project, id="new").context("SessionStart", source="startup")
    assert "port 8443" in told
    assert "port 3000" not in told


def test_a_session_of_another_host_in_the_project_is_recalled(tmp_path: Path) -> None:
    first = first_session("codex", tmp_path)
    second = Conversation("claude-code", first.root, first.project, id="second")
    told = second.context("SessionStart", source="startup")
    assert "port 7443" in told
    assert "(Codex, " in told


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_messages_that_a_compaction_dropped_are_recalled_after_it(
    host: str, tmp_path: Path
) -> None:
    talk = Conversation(host, tmp_path / "store", tmp_path / "shop")
    talk.call("SessionStart", source="startup")
    talk.call("UserPromptSubmit", prompt=ROLLOUT)
    talk.write_transcript()
    talk.call("Stop", last_assistant_message="Noted.")
    assert talk.context("UserPromptSubmit", prompt=ROLLOUT) == ""  # the model still sees it
    assert talk.context("PreCompact", trigger="auto") == ""  # text would become instructions
    told = talk.context("SessionStart", source="compact")
    assert "The conversation was compacted" in told
    assert "eu-west-9" in told
    assert talk.context("UserPromptSubmit", prompt=ROLLOUT) == ""  # it was told just now


def test_a_prompt_after_a_compaction_recalls_what_came_before_it(tmp_path: Path) -> None:
    talk = Conversation("claude-code", tmp_path / "store", tmp_path / "shop")
    talk.call("UserPromptSubmit", prompt="Let us talk about the paint of the office.")
    talk.write_transcript()
    talk.call("PreCompact", trigger="auto")
    talk.call("SessionStart", source="compact")
    assert "7443" in talk.context("UserPromptSubmit", prompt=WEBHOOK)


def test_a_compression_of_gemini_is_found_in_its_file(tmp_path: Path) -> None:
    talk = Conversation("gemini", tmp_path / "store", tmp_path / "shop")
    talk.call("BeforeAgent", prompt="Hello, let us begin.")
    talk.write_transcript()
    talk.call("AfterAgent")
    [record] = find_records(talk.root).values()
    assert record.compactions == 2
    assert "eu-west-9" in talk.context("BeforeAgent", prompt=ROLLOUT)


@pytest.mark.parametrize("host", HOSTS)
def test_a_transcript_is_archived_once_however_often_it_is_read(host: str, tmp_path: Path) -> None:
    talk = Conversation(host, tmp_path / "store", tmp_path / "shop")
    talk.write_transcript()
    whole = talk.transcript.read_text("utf-8")
    lines = whole.splitlines(keepends=True)
    session = HostSession(host, str(talk.project), talk.id).session_id
    for end in (len(lines) // 2, len(lines), len(lines)):
        talk.transcript.write_text("".join(lines[:end]), "utf-8")
        talk.call(STOPS[host])
    said = contents(talk.root, session)
    assert len(said) == len(set(said))
    assert ("user", "We decided: the payment webhook of the shop listens on port 7443.") in said
    assert ("assistant", "Noted. The first rollout of the shop goes to region eu-west-9.") in said
    texts = "\n".join(text for _, text in said)
    for own in (
        "INJECTED",
        "session is being continued",
        "<session_context>",
        "Got it.",
        "Summary:",
    ):
        assert own not in texts


def test_calls_and_results_of_tools_are_archived_together(tmp_path: Path) -> None:
    talk = Conversation("codex", tmp_path / "store", tmp_path / "shop")
    talk.write_transcript()
    talk.call("Stop")
    session = HostSession("codex", str(talk.project), talk.id).session_id
    tools = [text for role, text in contents(talk.root, session) if role == "tool"]
    assert any("exec_command" in text and "echo hi" in text for text in tools)
    assert any("Output:\nhi" in text for text in tools)


@pytest.mark.parametrize("host", HOSTS)
def test_every_recorded_payload_is_answered(host: str, tmp_path: Path) -> None:
    for payload in recorded_payloads(host):
        fields = {**payload, "cwd": str(tmp_path), "transcript_path": str(tmp_path / "none.jsonl")}
        found = answer(host, payload["hook_event_name"], fields, root=tmp_path / "store")
        assert (found.stdout, found.exit_code) == ("", 0)
    assert not (tmp_path / "store" / "hosts" / "hooks.log").exists()


def test_the_subagent_that_summarizes_is_not_archived(tmp_path: Path) -> None:
    talk = Conversation("claude-code", tmp_path / "store", tmp_path / "shop")
    talk.write_transcript()
    agent = talk.transcript.with_name("agent-a1.jsonl")
    agent.write_text(talk.transcript.read_text("utf-8"), "utf-8")
    talk.call("SubagentStop", agent_transcript_path=str(agent))
    assert not store_files.is_store(talk.root)
    talk.call("SubagentStop", agent_type="Explore", agent_transcript_path=str(agent))
    session = HostSession("claude-code", str(talk.project), f"{talk.id}.agent-a1").session_id
    assert contents(talk.root, session)


def test_a_resumed_session_is_not_told_again(tmp_path: Path) -> None:
    second = replace(first_session("claude-code", tmp_path), id="second")
    assert second.context("SessionStart", source="startup")
    assert second.context("SessionStart", source="resume") == ""


@pytest.mark.parametrize("host", HOSTS)
def test_a_text_stays_below_the_limit_of_the_host(host: str, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    session = HostSession(host, str(project), "first")
    many = [
        {
            "role": "user",
            "content": f"We decided: the payment webhook {each} of the shop is {'x' * 900}.",
        }
        for each in range(60)
    ]
    with memctx.open(tmp_path / "store", session_id=session.session_id) as memory:
        memory.archive(many)
        for each in range(60):
            memory.facts.add("decision", f"The payment webhook {each} of the shop is {'y' * 900}")
    second = Conversation(host, tmp_path / "store", project, id="second")
    texts = [
        second.context("SessionStart", source="startup"),
        second.context(PROMPTS[host], prompt="What is the payment webhook 7 of the shop?"),
    ]
    assert any(texts)
    assert all(len(text) <= MAX_CHARS for text in texts)


def test_other_projects_do_not_crowd_out_the_own_one(tmp_path: Path) -> None:
    root = tmp_path / "store"
    for number, folder in enumerate(["shop", *(f"p{each}" for each in range(4))]):
        session = HostSession("codex", str(tmp_path / folder), "c")
        said = [
            {
                "role": "user",
                "content": f"The payment webhook number {each} listens on port {number}{each:03}.",
            }
            for each in range(1 if folder == "shop" else 40)
        ]
        with memctx.open(root, session_id=session.session_id) as memory:
            memory.archive(said)
    talk = Conversation("codex", root, tmp_path / "shop", id="second")
    told = talk.context("UserPromptSubmit", prompt="Which port has the payment webhook number 0?")
    assert "port 0000" in told
    assert "port 1000" not in told


def test_secrets_are_masked_in_the_record(tmp_path: Path) -> None:
    talk = Conversation("claude-code", tmp_path / "store", tmp_path / "shop")
    talk.call("UserPromptSubmit", prompt="The db password is k3jf9slw-Qp0, keep it.")
    [record] = find_records(talk.root).values()
    assert "k3jf9slw" not in record.first_prompt
    assert "[REDACTED:password]" in record.first_prompt


def test_a_repository_is_one_project_whatever_folder_the_host_is_in(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    inner = tmp_path / "shop" / "src"
    talk = Conversation("claude-code", tmp_path / "store", inner)
    talk.call("UserPromptSubmit", prompt="Hello, let us begin.")
    [record] = find_records(talk.root).values()
    assert record.project == str(tmp_path / "shop")


CURSOR = {
    "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
    "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
    "model": "auto",
    "cursor_version": "3.20.17",
}


def call_cursor(event: str, tmp_path: Path, **fields: Any) -> dict[str, Any]:
    payload = {**CURSOR, "hook_event_name": event, "workspace_roots": [str(tmp_path)], **fields}
    found = answer("cursor", event, payload, root=tmp_path / "store")
    return json.loads(found.stdout) if found.stdout else {}


def test_cursor_archives_what_passes_and_is_told_in_its_own_form(tmp_path: Path) -> None:
    decided = "We decided: the payment webhook of the shop listens on port 7443."
    call_cursor("beforeSubmitPrompt", tmp_path, prompt=decided, attachments=[])
    call_cursor(
        "afterAgentResponse",
        tmp_path,
        text="The first rollout of the shop goes to region eu-west-9.",
    )
    tool = {
        "tool_name": "Shell",
        "tool_input": {"command": "make"},
        "tool_output": '{"output":"built 17 files"}',
    }
    call_cursor("postToolUse", tmp_path, **tool, tool_use_id="t1", duration=5, cwd=str(tmp_path))
    call_cursor("stop", tmp_path, status="completed", loop_count=0)
    said = contents(
        tmp_path / "store",
        HostSession("cursor", str(tmp_path), CURSOR["conversation_id"]).session_id,
    )
    assert [role for role, _ in said] == ["user", "assistant", "tool", "tool"]
    later = {"conversation_id": "second"}
    start = call_cursor("sessionStart", tmp_path, **later)
    assert set(start) == {"additional_context"}
    assert "port 7443" in start["additional_context"]
    found = call_cursor("beforeSubmitPrompt", tmp_path, prompt=ROLLOUT, **later)
    assert found["continue"] is True
    assert "eu-west-9" in found["additional_context"]


def test_a_host_is_detected_by_its_environment_and_its_payload() -> None:
    rollout = {"transcript_path": "/x/sessions/rollout-1.jsonl"}
    for expected, payload, environ in (
        ("gemini", {}, {"GEMINI_SESSION_ID": "1", "CLAUDECODE": "1"}),
        ("claude-code", {}, {"CLAUDECODE": "1"}),
        ("codex", rollout, {}),
        ("cursor", {"hook_event_name": "beforeSubmitPrompt"}, {}),
        (None, {"hook_event_name": "unknown"}, {}),
    ):
        assert detect_host(None, payload, environ) == expected
    assert detect_host("codex", {}, {"CURSOR_VERSION": "3.20.17"}) == "codex"


def test_the_project_is_the_one_that_the_host_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_SERVE", "off")
    store = str(tmp_path / "store")
    payload = {"session_id": "c1", "cwd": str(tmp_path / "shop" / "deep"), "prompt": "Hello there"}
    environ = {"CLAUDE_PROJECT_DIR": str(tmp_path / "shop")}
    for host in ("claude-code", "codex"):
        answer_payload(Arguments("UserPromptSubmit", host, store), dict(payload), environ)
    found = {each.host: each.project for each in find_records(tmp_path / "store").values()}
    assert found == {
        "claude-code": str(tmp_path / "shop"),
        "codex": str(tmp_path / "shop" / "deep"),
    }


def test_cursor_that_runs_the_hooks_of_claude_code_gets_its_own_form(tmp_path: Path) -> None:
    host = detect_host("claude-code", {}, {"CURSOR_VERSION": "3.20.17"})
    assert host == "cursor"
    payload = {
        **CURSOR,
        "workspace_roots": [str(tmp_path)],
        "prompt": "We decided: port 7443 is used.",
    }
    answer(host, "UserPromptSubmit", payload, root=tmp_path / "store")
    later = {**payload, "conversation_id": "second"}
    found = answer(host, "SessionStart", later, root=tmp_path / "store")
    assert "additional_context" in json.loads(found.stdout)


OPENCODE_MESSAGES = [
    {
        "info": {"id": "msg_1", "role": "user", "time": {"created": 1794980000000}},
        "parts": [
            {
                "type": "text",
                "text": "We decided: the payment webhook of the shop listens on port 7443.",
            },
            {"type": "text", "text": "recalled text", "synthetic": True},
        ],
    },
    {
        "info": {"id": "msg_2", "role": "assistant", "time": {"created": 1794980001000}},
        "parts": [
            {
                "type": "tool",
                "callID": "c1",
                "tool": "bash",
                "state": {"input": {"command": "make"}, "output": "built 17 files"},
            },
            {"type": "text", "text": "The first rollout of the shop goes to region eu-west-9."},
            {"reason": "stop", "type": "step-finish"},
        ],
    },
]


def test_opencode_sends_its_messages_and_gets_a_context(tmp_path: Path) -> None:
    root, project = tmp_path / "store", tmp_path / "shop"
    project.mkdir()
    base = {"sessionID": "ses_1", "directory": str(project)}
    answer(
        "opencode", "chat.message", {**base, "prompt": '"Let us begin with the shop."'}, root=root
    )
    for _ in range(2):
        done = {**base, "messages": OPENCODE_MESSAGES, "title": "The shop"}
        assert answer("opencode", "session.idle", done, root=root).stdout == ""
    said = contents(root, HostSession("opencode", str(project), "ses_1").session_id)
    assert [role for role, _ in said].count("user") == 1
    assert all("recalled text" not in text for _, text in said)
    later = {**base, "sessionID": "ses_2", "prompt": ROLLOUT}
    found = json.loads(answer("opencode", "chat.message", later, root=root).stdout)
    assert "eu-west-9" in found["context"]
    assert '"The shop"' in found["context"]


def test_opencode_puts_prompts_in_quotes_that_are_no_part_of_them(tmp_path: Path) -> None:
    """As `opencode run` does; a decision in quotes would be no fact. The last answer is told from the messages."""
    root, project = tmp_path / "store", tmp_path / "shop"
    project.mkdir()
    base = {"sessionID": "ses_1", "directory": str(project)}
    prompt = '"We decided that the payment webhook listens on \\"8443\\". Please note it."'
    answer("opencode", "chat.message", {**base, "prompt": prompt}, root=root)
    messages = [
        {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": prompt}]},
        {
            "info": {"id": "msg_2", "role": "assistant"},
            "parts": [{"type": "text", "text": "Noted, the webhook is settled."}],
        },
    ]
    answer("opencode", "session.idle", {**base, "messages": messages}, root=root)
    said = contents(root, HostSession("opencode", str(project), "ses_1").session_id)
    assert said[0] == (
        "user",
        'We decided that the payment webhook listens on "8443". Please note it.',
    )
    later = {**base, "sessionID": "ses_2", "prompt": "Good morning."}
    told = json.loads(answer("opencode", "chat.message", later, root=root).stdout)["context"]
    assert "[decision] We decided" in told
    assert "- The last answer: Noted, the webhook is settled." in told


def test_quotes_of_an_opencode_user_stay() -> None:
    typed = '"one" and "two"'
    parts = [{"info": {"id": "m", "role": "user"}, "parts": [{"type": "text", "text": typed}]}]
    [message] = read_parts(parts)
    assert message["content"] == [{"type": "text", "text": typed}]


@pytest.mark.parametrize("host", EVENTS)
def test_unknown_events_and_payloads_without_a_conversation_do_nothing(
    host: str, tmp_path: Path
) -> None:
    for event in ("Nothing", *EVENTS[host]):
        assert answer(host, event, {"cwd": str(tmp_path)}, root=tmp_path / "store").stdout == ""
    assert answer("unknown", "Stop", {"session_id": "c1"}, root=tmp_path / "store").stdout == ""
    assert not (tmp_path / "store").exists()


def test_a_switched_off_memory_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_ENABLED", "false")
    talk = Conversation("claude-code", tmp_path / "store", tmp_path / "shop")
    talk.write_transcript()
    for event in EVENTS["claude-code"]:
        assert talk.context(event) == ""
    assert not talk.root.exists()


def test_an_excerpt_shows_no_part_of_a_secret(tmp_path: Path) -> None:
    """Masking makes the text shorter, so that the excerpt reaches far into the prompt."""
    token = f"ghp_{'aB3x' * 9}"
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *["Q2F0" * 16] * 17])
    prompt = f"{key}\n-----END RSA PRIVATE KEY-----\n{'.' * 12} {token}"
    assert prompt.index(token) < 1_200 < len(prompt)
    payload = {"session_id": "c1", "cwd": str(tmp_path), "prompt": prompt}
    answer("claude-code", "UserPromptSubmit", payload, root=tmp_path / "store")
    [record] = find_records(tmp_path / "store").values()
    assert "REDACTED" in record.first_prompt
    assert "ghp_aB3x" not in record.first_prompt


def test_secrets_are_masked_in_the_title(tmp_path: Path) -> None:
    token = f"ghp_{'aB3x' * 9}"
    titled = {"session_id": "c1", "cwd": str(tmp_path), "session_title": f"Use {token}"}
    for event in ("UserPromptSubmit", "Stop"):
        answer("claude-code", event, {**titled, "prompt": "Which port?"}, root=tmp_path / "store")
        [record] = find_records(tmp_path / "store").values()
        assert record.title.startswith("Use [REDACTED")
