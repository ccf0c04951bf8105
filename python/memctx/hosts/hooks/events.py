"""The events of each host: the job of each, the fields of its payload, and the form of its answer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memctx.hosts.hooks.session import HostSession, find_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memctx.cli.import_export import Format

Job: TypeAlias = Literal[
    "start", "prompt", "archive", "compacted", "stop", "end", "subagent", "response", "tool"
]

EVENTS: dict[str, dict[str, Job]] = {
    "claude-code": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreCompact": "archive",
        "Stop": "stop",
        "SubagentStop": "subagent",
        "SessionEnd": "end",
    },
    "codex": {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "PreCompact": "archive",
        "Stop": "stop",
        "SubagentStop": "subagent",
        "SessionEnd": "end",
    },
    # SessionStart would put its text in front of the first prompt, which is then lost when the session is resumed;
    # PreCompress comes with every prompt, whether anything is compressed or not.
    "gemini": {"BeforeAgent": "prompt", "AfterAgent": "stop", "SessionEnd": "end"},
    # No event has a transcript, so what passes is archived.
    "cursor": {
        "sessionStart": "start",
        "beforeSubmitPrompt": "prompt",
        "afterAgentResponse": "response",
        "postToolUse": "tool",
        "preCompact": "compacted",
        "stop": "stop",
        "sessionEnd": "end",
    },
    # Sent by the plugin that `memctx install opencode` writes, with the messages of the session.
    "opencode": {
        "chat.message": "prompt",
        "experimental.session.compacting": "archive",
        "session.compacted": "compacted",
        "session.idle": "stop",
    },
    # Sent by the plugins in `plugins/`, with messages in Pi's format.
    "openclaw": {
        "session_start": "start",
        "before_prompt_build": "prompt",
        "before_compaction": "archive",
        "after_compaction": "compacted",
        "agent_end": "stop",
        "before_reset": "end",
    },
    "pi": {
        "before_agent_start": "prompt",
        "session_before_compact": "archive",
        "session_compact": "compacted",
        "agent_end": "stop",
    },
}
"""Events that do something, by host. All others are answered by nothing."""

CURSOR_NAMES = {
    "SessionStart": "sessionStart",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "PreCompact": "preCompact",
    "PostToolUse": "postToolUse",
    "Stop": "stop",
    "SessionEnd": "sessionEnd",
}
"""Cursor's own names of the events of Claude Code's hooks, which it also runs."""

FORMATS: dict[str, Format] = {"claude-code": "claude-code", "codex": "codex", "gemini": "gemini"}
"""Format of the transcript that a host names in its payloads."""
PI_HOSTS = frozenset({"openclaw", "pi"})
"""Hosts whose plugins send messages in Pi's format."""
CONVERSATIONS = ("session_id", "conversation_id", "sessionID")
FOLDERS = ("project_dir", "cwd", "directory", "worktree")
HOOK_CONTEXT = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call of a hook, in the same terms for every host."""

    host: str
    event: str
    job: Job
    session: HostSession
    fields: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a field that is a text; empty if there is none."""
        found = self.fields.get(name)
        return found if isinstance(found, str) else ""

    @property
    def prompt(self) -> str:
        """The words of the user, without what the host or a hook has added."""
        prompt = self.text("prompt")
        if self.host == "gemini":
            return HOOK_CONTEXT.sub("", prompt)
        if self.host == "opencode" and len(prompt) > 1 and prompt[0] == prompt[-1] == '"':
            return prompt[1:-1]
        return prompt

    @property
    def answer(self) -> str:
        """The last answer of the model, where the event has it."""
        return (
            self.text("last_assistant_message") or self.text("prompt_response") or self.text("text")
        )

    @property
    def title(self) -> str:
        """The title of the conversation, where the event has it."""
        return self.text("session_title") or self.text("title")

    @property
    def source(self) -> str:
        """Reason of a start: startup, resume, clear, compact."""
        return self.text("source")

    @property
    def transcript(self) -> Path | None:
        """The transcript file: a subagent's for the end of one."""
        name = "agent_transcript_path" if self.job == "subagent" else "transcript_path"
        found = self.text(name)
        return Path(found).expanduser() if found and self.host in FORMATS else None

    @property
    def is_summarizer(self) -> bool:
        """True for the end of a subagent without a type, which is the one that summarizes for a compaction."""
        return self.job == "subagent" and not self.text("agent_type")


def detect_host(
    named: str | None, payload: Mapping[str, Any], environ: Mapping[str, str]
) -> str | None:
    """Return the host that runs a hook; None if nothing tells.

    Cursor also runs the hooks of Claude Code, so its mark counts more than the name that a hook was installed with.

    >>> detect_host("claude-code", {}, {"CURSOR_VERSION": "3.20"})
    'cursor'
    """
    if environ.get("CURSOR_VERSION") and named in {None, "claude-code"}:
        return "cursor"
    if named is not None:
        return named
    if environ.get("GEMINI_SESSION_ID"):
        return "gemini"
    if environ.get("CLAUDECODE"):
        return "claude-code"
    path = str(payload.get("transcript_path") or "")
    if "turn_id" in payload or "rollout-" in path:
        return "codex"
    event = payload.get("hook_event_name")
    known = [host for host, events in EVENTS.items() if event in events]
    return known[0] if known else None


def read_call(host: str, event: str, payload: Mapping[str, Any]) -> HookCall | None:
    """Return a call in common terms; None if the event does nothing, or names no conversation."""
    if host == "cursor":
        named = payload.get("hook_event_name")
        event = str(named) if named in EVENTS["cursor"] else CURSOR_NAMES.get(event, event)
    job = EVENTS.get(host, {}).get(event)
    conversation = _first(payload, CONVERSATIONS)
    if job is None or not conversation:
        return None
    folder = _first(payload, FOLDERS)
    roots = payload.get("workspace_roots")
    if host == "cursor" and isinstance(roots, list) and roots:
        folder = str(cast("list[object]", roots)[0])
    session = HostSession(host, find_project(folder or "."), conversation)
    return HookCall(host, event, job, session, payload)


def write_answer(call: HookCall, text: str) -> str:
    """Return what a host reads: its own JSON with a text for the model, or nothing."""
    if not text:
        return ""
    document: dict[str, Any]
    if call.host == "cursor":
        document = {"additional_context": text}
        if call.job == "prompt":
            document = {"continue": True, **document}
    elif call.host == "opencode" or call.host in PI_HOSTS:
        document = {"context": text}
    else:
        added = {"hookEventName": call.event, "additionalContext": text}
        document = {"hookSpecificOutput": added}
    return json.dumps(document, ensure_ascii=False)


def _first(payload: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = (payload.get(name) for name in names)
    return next((each for each in found if isinstance(each, str) and each), "")
