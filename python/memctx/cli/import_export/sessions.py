"""`read_session`: one session of a transcript file, as a list of messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx.cli.import_export.formats import FORMATS, read_messages, recognize
from memctx.cli.import_export.naming import find_prompt, name_of
from memctx.cli.import_export.transcript_file import TOO_LONG, TranscriptFile
from memctx.cli.naming import SessionName
from memctx.errors import ConfigError, MessageFormatError
from memctx.hosts.pi import Context

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from memctx.cli.import_export.formats import Format
    from memctx.cli.import_export.streams import Limits
    from memctx.cli.import_export.transcript_file import TranscriptMessage
    from memctx.messages import FormatName

# Sessions that an error message names.
MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class TranscriptSession:
    """One session of a transcript file."""

    id: str
    """The session's id, as the host has it."""
    format: Format
    """The format of the file."""
    entries: tuple[TranscriptMessage, ...]
    """The messages, including skipped ones."""
    damaged: int = 0
    """Lines of the file that could not be read."""
    name: SessionName = field(default_factory=SessionName)
    """The session as people know it; secrets are not masked."""

    @property
    def message_format(self) -> FormatName | None:
        """The format of the messages; None to detect it."""
        return self.entries[0].message_format if self.entries else None

    def messages(self) -> list[Any]:
        """Return the messages as the model saw them, without compactions."""
        without = ("abandoned branch", "compaction summary")
        return self._for_model([each for each in self.entries if each.skip_reason not in without])

    def visible(self) -> list[Any]:
        """Return the messages that the model sees at the end, from the last compaction on."""
        kept = [each for each in self.entries if each.skip_reason != "abandoned branch"]
        summaries = [at for at, each in enumerate(kept) if each.skip_reason == "compaction summary"]
        return self._for_model(kept[summaries[-1] if summaries else 0 :])

    def _for_model(self, said: Sequence[TranscriptMessage]) -> list[Any]:
        if self.format == "memory":
            found = [_tool_segment_as_text(each.message) for each in said]
        elif self.message_format == "pi":
            found = [_orphan_result_as_text(each.message) for each in said]
        else:
            return [each.message for each in said]
        return Context(found, (), compaction=None, model=None, thinking_level="off").for_model()


def read_session(
    path: str | PathLike[str], *, session: str | None = None, limits: Limits | None = None
) -> TranscriptSession:
    r"""Read one session of a transcript: the one named, or the only one that is not a subagent.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "talk.jsonl"
    >>> _ = path.write_text('{"role": "user", "content": "Which port?"}\n')
    >>> read_session(path).messages()
    [{'role': 'user', 'content': 'Which port?'}]

    Raises:
        ConfigError: the file holds several sessions, or none of that name.
        MessageFormatError: the file is no transcript, or holds no message.
        StoreError: the file cannot be read, or is larger than the limits allow.
    """
    transcript = TranscriptFile(path, limits)
    host = recognize(transcript)
    if host is None:
        raise MessageFormatError(
            f"{path}: no message in it; expected a transcript of {', '.join(FORMATS)}"
        )
    sessions: dict[str, list[TranscriptMessage]] = {}
    for said in read_messages(transcript, host):
        sessions.setdefault(said.session, []).append(said)
    if not sessions:
        raise MessageFormatError(f"{path}: no message in it; expected some in a file of {host}")
    wanted = _choose_sessions(path, host, sessions, session)
    chosen = tuple(each for name in wanted for each in sessions[name])
    prompt = next((text for each in chosen if (text := find_prompt(each))), "")
    return TranscriptSession(
        wanted[-1],
        host,
        chosen,
        transcript.damaged + transcript.skips[TOO_LONG],
        name_of(transcript, host, wanted[-1], prompt),
    )


def _choose_sessions(
    path: str | PathLike[str],
    format: Format,
    sessions: dict[str, list[TranscriptMessage]],
    session: str | None,
) -> list[str]:
    if session is not None:
        if session not in sessions:
            raise ConfigError(f"session is {session!r}; {path} has {_list_names(sessions)}")
        return [session]
    mains = [name for name, said in sessions.items() if said[0].parent is None] or list(sessions)
    # A session that was resumed begins with the lines of the one before.
    if len(mains) > 1 and format != "claude-code":
        raise ConfigError(f"{path}: name a session with --session; it has {_list_names(mains)}")
    return mains


def _list_names(sessions: Sequence[str] | dict[str, list[TranscriptMessage]]) -> str:
    some = ", ".join(list(sessions)[:MAX_NAMED])
    more = f" and {len(sessions) - MAX_NAMED} more" if len(sessions) > MAX_NAMED else ""
    return f"{len(sessions)}: {some}{more}"


def _orphan_result_as_text(message: dict[str, Any]) -> dict[str, Any]:
    """Return a tool result without a call as a text message."""
    if message.get("role") != "toolResult" or message.get("toolCallId"):
        return message
    return {"role": "custom", "content": message.get("content")}


def _tool_segment_as_text(message: dict[str, Any]) -> dict[str, Any]:
    """Return a segment as a message; tool output becomes a text message."""
    if message["role"] != "tool":
        return message
    return {"role": "custom", "content": message["content"]}
