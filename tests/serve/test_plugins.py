"""The resident helper as the plugins of OpenClaw and Pi use it: Pi's messages, hooks, and tools for a project."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import process
from memctx.serve import client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FACT = "We decided: the payment webhook of the shop listens on port 8443."
QUESTION = "Which port has the payment webhook of the shop?"
HOSTS = ("openclaw", "pi")
PROMPTS = {"openclaw": "before_prompt_build", "pi": "before_agent_start"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    return folder


@pytest.fixture
def helper(root: str) -> Iterator[subprocess.Popen[str]]:
    code = (
        "import sys; from memctx.serve import Server; "
        "Server(sys.argv[1], idle_seconds=60).run(lambda: print('ready', flush=True))"
    )
    child = process.start([sys.executable, "-c", code, root], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "ready"
    yield child
    child.kill()
    process.finish(child, status=None)


def user(text: str) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "text", "text": text}],
        "timestamp": 1_794_980_908_558,
    }


def hook(root: str, host: str, event: str, **payload: Any) -> str:
    found = client.ask("hook", {"host": host, "event": event, "payload": payload}, root=root)
    assert found is not None
    return json.loads(found["stdout"])["context"] if found["stdout"] else ""


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.usefixtures("helper")
def test_the_next_conversation_is_told_what_was_decided(
    host: str, root: str, project: Path
) -> None:
    first = {"session_id": "c1", "cwd": str(project / "src")}
    assert hook(root, host, PROMPTS[host], **first, prompt=FACT) == ""
    hook(root, host, "agent_end", **first, messages=[user(FACT)], last_assistant_message="Noted.")
    second = {"session_id": "c2", "cwd": str(project)}
    told = hook(root, host, PROMPTS[host], **second, prompt="Good morning, let us go on.")
    assert "listens on port 8443" in told
    assert "The last answer: Noted." in told
    elsewhere = {"session_id": "c3", "cwd": str(project.parent)}
    assert hook(root, host, PROMPTS[host], **elsewhere, prompt=QUESTION) == ""


@pytest.mark.usefixtures("helper")
def test_openclaw_is_told_again_since_it_keeps_no_text(root: str, project: Path) -> None:
    own = {"session_id": "c1", "cwd": str(project)}
    hook(root, "openclaw", "before_compaction", **own, messages=[user(FACT)])
    hook(root, "openclaw", "after_compaction", **own)
    for _ in range(2):
        assert "8443" in hook(root, "openclaw", "before_prompt_build", **own, prompt=QUESTION)
    assert "8443" not in hook(root, "openclaw", "session_start", **own | {"cwd": "/"})


@pytest.mark.usefixtures("helper")
def test_prepare_recalls_for_pi_what_its_compaction_dropped(root: str, project: Path) -> None:
    own = {"session_id": "c1", "cwd": str(project / "src")}
    hook(root, "pi", "before_agent_start", **own, prompt="Let us begin.")
    hook(root, "pi", "session_before_compact", **own, messages=[user(FACT)])
    hook(root, "pi", "session_compact", **own)
    assert "8443" not in hook(root, "pi", "before_agent_start", **own, prompt=QUESTION)
    spoken = {"host": "pi", "project": str(project / "src"), "conversation": "c1"}
    summary = {"role": "compactionSummary", "summary": "A talk.", "tokensBefore": 9, "timestamp": 1}
    asked = {"messages": [summary, user(QUESTION)], "format": "pi", "window": 60_000}
    prepared = client.ask("prepare", spoken | asked, root=root)
    assert prepared is not None
    assert "8443" in json.dumps(prepared["messages"])
    assert prepared["messages"][0] == summary


@pytest.mark.usefixtures("helper")
def test_tools_read_the_project_if_they_are_asked_to(root: str, project: Path) -> None:
    first = {"host": "pi", "project": str(project), "conversation": "c1"}
    client.ask("archive", first | {"messages": [user(FACT)], "format": "pi"}, root=root)
    search = {"name": "memory_search", "arguments": {"query": QUESTION}}
    for scope, conversation, where, is_found in (
        ("project", "c2", project / "src", True),
        ("conversation", "c2", project, False),
        ("project", "c2", project.parent, False),
    ):
        asked = {"host": "openclaw", "project": str(where), "conversation": conversation}
        found = client.ask("tool", asked | search | {"scope": scope}, root=root)
        assert found is not None
        assert ("8443" in json.dumps(found["data"])) == is_found


@pytest.mark.parametrize(
    ("method", "wrong"),
    [("tool", {"name": "memory_status", "scope": "all"}), ("prepare", {"format": "xml"})],
)
@pytest.mark.usefixtures("helper")
def test_wrong_scopes_and_formats_are_refused(root: str, method: str, wrong: Any) -> None:
    params = {"host": "pi", "project": "/", "conversation": "c1", "messages": []}
    found = client.request(method, params | wrong, root=root)
    assert found is not None
    assert found["error"]["code"] == "invalid"


@pytest.mark.usefixtures("helper")
def test_a_helper_that_was_stopped_may_be_started_again_at_once(root: str) -> None:
    assert client.start(root)  # it finds the other one, and exits
    assert not client.start(root)
    assert client.ask("stop", root=root) is not None
    deadline = time.monotonic() + 20
    while not client.start(root):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    while client.ask("stop", root=root) is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
