"""Faults really caused: whatever is wrong with memory, a hook prints nothing, exits with 0, and the host goes on."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memctx
import process
from hosts.hooks.story import Conversation
from memctx.hosts.hooks import find_records
from memctx.hosts.hooks.log import MAX_BYTES, log_error, log_path

if TYPE_CHECKING:
    import subprocess

ROLLOUT = "To which region does the first rollout of the shop go?"
CLIENT = """
import sys, types
client = types.ModuleType("memctx.serve.client")
client.ask = lambda method, params, timeout, *, root: {"stdout": params["event"], "exit_code": 0}
sys.modules["memctx.serve"] = types.ModuleType("memctx.serve")
sys.modules["memctx.serve.client"] = client
from memctx.__main__ import main
main()
print("", *sorted(sys.modules), sep="\\n")
"""
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
LIMIT = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from memctx.__main__ import main
main()
"""

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    """Return a conversation after one that said something."""
    first = Conversation("claude-code", tmp_path / "store", tmp_path / "shop")
    first.call("UserPromptSubmit", prompt="Hello, let us begin.")
    first.write_transcript()
    first.call("Stop", last_assistant_message="Noted.")
    second = replace(first, id="second")
    second.write_transcript()
    return second


def run_hook(
    talk: Conversation,
    event: str,
    *,
    code: str | None = None,
    text: str | None = None,
    **fields: Any,
) -> subprocess.CompletedProcess[str]:
    """Run `memctx hook` as a host does."""
    payload = {
        "session_id": talk.id,
        "transcript_path": str(talk.transcript),
        "cwd": str(talk.project),
        "hook_event_name": event,
        "prompt": ROLLOUT,
        "source": "startup",
        **fields,
    }
    start = ["-m", "memctx"] if code is None else ["-c", code]
    command = [sys.executable, *start, "hook", "--host", "claude-code", event]
    environ = {
        **os.environ,
        "PYTHONPATH": str(Path(memctx.__file__).parents[1]),
        "MEMCTX_STORAGE_PATH": str(talk.root),
        "MEMCTX_SERVE": "off",
    }
    return process.run(command, env=environ, input=json.dumps(payload) if text is None else text)


def test_a_hook_as_a_process_answers_on_stdout(talk: Conversation) -> None:
    done = run_hook(talk, "UserPromptSubmit")
    assert "eu-west-9" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert done.stderr == ""


def test_a_hook_that_a_helper_answers_imports_no_memory(talk: Conversation) -> None:
    """It runs at every prompt."""
    answer, *modules = run_hook(talk, "UserPromptSubmit", code=CLIENT).stdout.splitlines()
    assert answer == "UserPromptSubmit"
    assert "memctx.hosts.hooks.command" in modules
    slow = {"click", "numpy", "pydantic", "memctx.memory", "memctx.config", "memctx.store_files"}
    assert not slow.intersection(modules)


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[1, 2]", "null", '{"session_id": 7}', '{"session_id']
)
def test_a_payload_that_is_none_is_answered_by_nothing(talk: Conversation, text: str) -> None:
    done = run_hook(talk, "UserPromptSubmit", text=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_wrong_arguments_do_not_exit_with_2(talk: Conversation) -> None:
    """Exit code 2 erases the prompt."""
    for arguments in (["hook"], ["hook", "Stop", "--nothing"], ["hook", "a", "b"]):
        environ = {**os.environ, "MEMCTX_STORAGE_PATH": str(talk.root)}
        environ["PYTHONPATH"] = str(Path(memctx.__file__).parents[1])
        done = process.run([sys.executable, "-m", "memctx", *arguments], env=environ, input="{}")
        assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("event", EVENTS)
def test_a_missing_store_is_answered_by_nothing(
    talk: Conversation, event: str, tmp_path: Path
) -> None:
    elsewhere = replace(talk, root=tmp_path / "none" / "deep")
    assert elsewhere.call(event, source="startup", prompt=ROLLOUT).stdout == ""
    assert not log_path(elsewhere.root).exists()


@pytest.mark.parametrize("event", EVENTS)
def test_a_file_in_place_of_the_store_is_answered_by_nothing(
    talk: Conversation, event: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    found = replace(talk, root=tmp_path / "file").call(event, source="startup", prompt=ROLLOUT)
    assert (found.stdout, found.exit_code) == ("", 0)


@pytest.mark.parametrize("event", EVENTS)
def test_a_damaged_store_is_no_fault_of_the_host(talk: Conversation, event: str) -> None:
    for name in ("segments.jsonl", "knowledge.jsonl", "LOCK"):
        path = talk.root / name
        if path.exists():
            path.write_bytes(b"\x00\xff{{{" + path.read_bytes()[40:])
    for path in talk.root.glob("index/*"):
        path.write_bytes(b"damaged")
    for path in (talk.root / "hosts").glob("*.json"):
        path.write_bytes(b"\xff")
    done = run_hook(talk, event)
    assert done.returncode == 0
    assert not done.stdout or json.loads(done.stdout)


@pytest.mark.timing
def test_a_locked_store_delays_no_prompt_and_only_briefly_an_archive(talk: Conversation) -> None:
    with process.holding(talk.root / "LOCK"):
        began = time.monotonic()
        assert "eu-west-9" in talk.context("UserPromptSubmit", prompt=ROLLOUT)
        assert time.monotonic() - began < 2
        found = talk.call("Stop")
        assert (found.stdout, found.exit_code) == ("", 0)
        assert time.monotonic() - began < 10
    assert "StoreLockedError" in log_path(talk.root).read_text()
    assert talk.call("Stop").exit_code == 0  # nothing is lost: the next one archives it


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere"
)
@pytest.mark.parametrize("event", EVENTS)
def test_a_folder_that_cannot_be_written_is_no_fault_of_the_host(
    talk: Conversation, event: str
) -> None:
    folders = [talk.root, *(each for each in talk.root.rglob("*") if each.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert run_hook(talk, event).returncode == 0
    finally:
        for folder in folders:
            folder.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
@pytest.mark.parametrize("event", EVENTS)
def test_a_full_disk_is_no_fault_of_the_host(talk: Conversation, event: str) -> None:
    """No file can grow: what is read is still recalled, what would be written is lost."""
    done = run_hook(talk, event, code=LIMIT)
    assert done.returncode == 0
    if event == "UserPromptSubmit":
        assert "eu-west-9" in done.stdout
    assert all(each.conversation != "second" for each in find_records(talk.root).values())


def test_wrong_settings_are_logged(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTX_RECALL__MIN_SCORE", "7")
    monkeypatch.setenv("MEMCTX_CROSS_SESSION", "perhaps")
    assert talk.call("UserPromptSubmit", prompt=ROLLOUT).stdout == ""
    assert "ConfigError" in log_path(talk.root).read_text()


def test_the_log_is_bounded(tmp_path: Path) -> None:
    error = OSError("No space left on device " + "x" * 3_000)
    for _ in range(200):
        log_error(tmp_path, "claude-code Stop", error)
    sizes = [each.stat().st_size for each in (tmp_path / "hosts").iterdir()]
    assert len(sizes) == 2
    assert max(sizes) < MAX_BYTES + 16 * 1024
