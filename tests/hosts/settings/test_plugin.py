"""The plugin of opencode under Node: calls of `memctx hook`, text beside a prompt, and no exception whatever fails."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

import process
from memctx.hosts.settings.hosts import PLUGIN

if TYPE_CHECKING:
    from pathlib import Path

NODE = shutil.which("node")
HOOK = """
import json, sys
event, payload = sys.argv[2], json.load(sys.stdin)
with open(sys.argv[0] + ".log", "a") as log:
    log.write(json.dumps([sys.argv[1:], payload]) + "\\n")
if event == "chat.message":
    print(json.dumps({"context": "recalled text"}))
"""
DRIVER = """
import { Memctx } from "./plugin.mjs";
const client = { session: {
  get: async () => ({ data: { title: "The shop" } }),
  messages: async () => ({ data: [{ info: { id: "msg_1", role: "user" }, parts: [] }] }),
} };
const hooks = await Memctx({ client, directory: "/src/shop/inner", worktree: "/src/shop" });
const output = { message: { id: "msg_2" }, parts: [{ id: "prt_b", type: "text", text: "Which port?" }] };
await hooks["chat.message"]({ sessionID: "ses_1" }, output);
await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, { context: [] });
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } });
hooks.event({ event: { type: "session.compacted", properties: { sessionID: "ses_1" } } });
await hooks.event({ event: { type: "message.updated", properties: {} } });
await hooks.dispose(); // waits for the calls that opencode did not wait for
console.log(JSON.stringify(output.parts));
"""


def run_plugin(folder: Path, command: list[str]) -> list[dict[str, Any]]:
    written = PLUGIN.read_text("utf-8").replace("__COMMAND__", json.dumps(command))
    (folder / "plugin.mjs").write_text(written, "utf-8")
    (folder / "driver.mjs").write_text(DRIVER, "utf-8")
    done = process.run([NODE or "node", folder / "driver.mjs"], cwd=folder)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(NODE is None, reason="no Node here")
def test_the_plugin_sends_messages_and_adds_the_context_behind_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(HOOK, "utf-8")
    parts = run_plugin(tmp_path, [sys.executable, str(tmp_path / "hook.py")])
    assert [part["text"] for part in sorted(parts, key=lambda part: part["id"])] == [
        "Which port?",
        "recalled text",
    ]
    assert parts[1]["synthetic"] is True
    log = (tmp_path / "hook.py.log").read_text("utf-8").splitlines()
    calls = [(arguments, payload) for arguments, payload in map(json.loads, log)]
    assert [arguments[:2] for arguments, _ in calls] == [
        ["hook", "chat.message"],
        ["hook", "experimental.session.compacting"],
        ["hook", "session.idle"],
        ["hook", "session.compacted"],
    ]
    assert all(arguments[2:] == ["--host", "opencode"] for arguments, _ in calls)
    assert all(payload["directory"] == "/src/shop" for _, payload in calls)
    assert calls[0][1]["prompt"] == "Which port?"
    assert calls[2][1]["messages"][0]["info"]["id"] == "msg_1"
    assert calls[2][1]["title"] == "The shop"


@pytest.mark.skipif(NODE is None, reason="no Node here")
@pytest.mark.parametrize(
    "command", [["/nowhere/memctx"], [sys.executable, "-c", "print('no JSON')"]]
)
def test_the_plugin_goes_on_without_memory(tmp_path: Path, command: list[str]) -> None:
    assert [part["text"] for part in run_plugin(tmp_path, command)] == ["Which port?"]
