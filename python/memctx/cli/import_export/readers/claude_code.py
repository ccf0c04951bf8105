"""Claude Code: a line for each entry of a tree; messages are Anthropic's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.readers import host_text
from memctx.cli.import_export.readers.tree import conversation
from memctx.cli.import_export.transcript_file import TranscriptMessage
from memctx.hosts.pi import as_object, milliseconds
from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.cli.import_export.transcript_file import SkipReason, TranscriptFile

SPEECH = frozenset({"user", "assistant"})
ENTRIES = SPEECH | {"system", "attachment", "progress"}
# Lines about a session, which may come before the first entry.
ABOUT = frozenset(
    {"summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title"}
)
TITLES = {"ai-title": "aiTitle", "custom-title": "customTitle"}
"""The field of each kind of line that titles a session; the user's own title counts more."""
AGENT_FILE = "agent-"
"""Prefix of a subagent's file name."""
SYNTHETIC = "<synthetic>"
"""The model of an answer that Claude Code wrote itself."""


def recognizes(line: dict[str, Any]) -> bool:
    """Return whether a line is one of Claude Code's."""
    if part.text(line, "type") in ENTRIES and isinstance(line.get("uuid"), str):
        return "sessionId" in line or "parentUuid" in line
    return part.text(line, "type") in ABOUT and ("leafUuid" in line or "sessionId" in line)


def read(transcript: TranscriptFile) -> Iterator[TranscriptMessage]:
    """Return every message in the order of the file, those of each subagent in a session of its own."""
    threads = _Threads.of(transcript)
    damaged, skips = transcript.damaged, transcript.skips.copy()
    session, seen = transcript.name, dict[str, int]()
    for number, line in enumerate(transcript.objects(), start=1):
        transcript.damaged, transcript.skips = damaged, skips  # counted when the tree was read
        if part.text(line, "type") not in SPEECH:
            continue
        session = part.text(line, "sessionId") or session
        message, uuid = as_object(line.get("message")), part.text(line, "uuid")
        if message is None:
            skips["line without a message"] += 1
            continue
        content = hash(repr(message))
        if uuid is not None and seen.get(uuid) == content:
            skips["repeated line"] += 1
            continue
        if uuid is not None:
            seen[uuid] = content
        agent = threads.agent_of(line)
        own = session if agent is None else f"{session}.agent-{agent}"
        summary = threads.summaries.get(uuid or "")
        transcript.describe(own, project=line.get("cwd"), title=summary)
        speech = host_text.user_speech(message) if line["type"] == "user" else message
        aside = _skip_reason(line, message, has_speech=speech is not None)
        if aside is None and uuid is not None and agent is None and uuid not in threads.main:
            aside = "abandoned branch"
        yield TranscriptMessage(
            own,
            uuid or f"line-{number}",
            message,
            "anthropic",
            milliseconds(line.get("timestamp")),
            parent=None if agent is None else session,
            skip_reason=aside,
            speech=None if speech is message else speech,
        )
    for kind in TITLES:
        for session, title in threads.titles.get(kind, {}).items():
            transcript.describe(session, title=title)


def _skip_reason(
    line: dict[str, Any], message: dict[str, Any], *, has_speech: bool
) -> SkipReason | None:
    if line.get("isCompactSummary") is True:
        return "compaction summary"
    is_host = line.get("isMeta") is True or line.get("isApiErrorMessage") is True
    is_host = is_host or part.text(message, "model") == SYNTHETIC
    return "host message" if is_host or not has_speech else None


LOST = ""
"""Stands for a parent that no line before has."""


@dataclass(slots=True)
class _Threads:
    """The entries of the conversation and those of its subagents."""

    parents: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    agents: dict[str, str] = field(default_factory=dict[str, str])
    """The agent's name for each entry of a subagent."""
    main: set[str] = field(default_factory=set[str])
    """The entries of the conversation; the rest are branches that were left."""
    titles: dict[str, dict[str, object]] = field(default_factory=dict[str, "dict[str, object]"])
    """The title of each session, by the kind of its line."""
    summaries: dict[str, object] = field(default_factory=dict[str, object])
    """A title of the conversation up to an entry, which may be one of another file."""
    last_agent: str | None = None
    file_agent: str | None = None
    """The subagent, if the file is a subagent's."""

    @classmethod
    def of(cls, transcript: TranscriptFile) -> _Threads:
        """Read the tree of a file."""
        threads = cls()
        if transcript.name.startswith(AGENT_FILE):
            threads.file_agent = transcript.name.removeprefix(AGENT_FILE)
        results: list[tuple[str, str | None]] = []
        parts: dict[str, list[str]] = {}
        leaf = None
        for line in transcript.objects():
            uuid = part.text(line, "uuid")
            if uuid is None:
                threads.take_title(line, transcript.name)
                continue
            parent = part.text(line, "parentUuid") or part.text(line, "logicalParentUuid")
            if line.get("isSidechain") is True or threads.file_agent is not None:
                agent = part.text(line, "agentId") or threads.file_agent
                threads.take_agent(uuid, parent, agent)
                continue
            threads.take_entry(uuid, parent)
            message = line.get("message")
            if part.text(line, "type") in SPEECH:
                leaf = uuid
            if (of := part.text(message, "id")) is not None:
                parts.setdefault(of, []).append(uuid)
            if _has_result(message):
                results.append((uuid, parent))
        threads.main = conversation(threads.parents, leaf)
        # An answer of the model may span several lines, and the results of parallel calls hang off different ones.
        for uuids in parts.values():
            if not threads.main.isdisjoint(uuids):
                threads.main.update(uuids)
        threads.main.update(uuid for uuid, parent in results if parent in threads.main)
        return threads

    def take_title(self, line: dict[str, Any], session: str) -> None:
        """Read a line that may title a session; ``session`` stands for one without an id."""
        kind = part.text(line, "type")
        if kind == "summary" and (leaf := part.text(line, "leafUuid")) is not None:
            self.summaries[leaf] = line.get("summary")
        elif kind in TITLES:
            named = self.titles.setdefault(kind, {})
            named[part.text(line, "sessionId") or session] = line.get(TITLES[kind])

    def take_entry(self, uuid: str, parent: str | None) -> None:
        """Add an entry of the conversation. A parent in a later line is as wrong as one that is lost."""
        is_lost = parent is not None and parent not in self.parents
        self.parents.setdefault(uuid, LOST if is_lost else parent)

    def take_agent(self, uuid: str, parent: str | None, agent: str | None) -> None:
        """Find the subagent of an entry: the one it names, its parent's, or a new one."""
        if agent is None and parent is not None:
            agent = self.agents.get(parent)
            if agent is None and parent not in self.parents:
                agent = self.last_agent  # the line of the parent is lost
        self.last_agent = self.agents[uuid] = agent or uuid[:8]

    def agent_of(self, line: dict[str, Any]) -> str | None:
        """Return the subagent that a line belongs to; None for the conversation itself."""
        if (uuid := part.text(line, "uuid")) is not None:
            return self.agents.get(uuid)
        named = part.text(line, "agentId") or self.file_agent
        return (named or self.last_agent) if line.get("isSidechain") is True else self.file_agent


def _has_result(message: object) -> bool:
    blocks = part.items(part.get(message, "content"))
    return any(part.text(block, "type") == "tool_result" for block in blocks)
