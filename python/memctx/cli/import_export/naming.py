"""`find_prompt` and `name_of`: the name by which people know a session of a transcript."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memctx import _core
from memctx.cli.naming import SessionName
from memctx.errors import MessageFormatError

if TYPE_CHECKING:
    from memctx.cli.import_export.formats import Format
    from memctx.cli.import_export.transcript_file import TranscriptFile, TranscriptMessage

NAMELESS = frozenset[str]({"memory", "plain"})
"""Formats that are not those of a host."""
COMMAND = re.compile(r"\s*(/[\w:-]+)?\s*")
"""Nothing, or a slash command without arguments: no name for a session."""


def find_prompt(said: TranscriptMessage) -> str:
    """Return the words of the user in a message; empty if it has none but a command, or is no part of the conversation.

    >>> from memctx.cli.import_export import TranscriptMessage
    >>> find_prompt(TranscriptMessage("s1", "m1", {"role": "user", "content": "Which port?"}))
    'Which port?'
    """
    if said.skip_reason is not None or said.message.get("role") != "user":
        return ""
    try:
        read = _core.MessageReader(capacity=0).read(
            [said.speech or said.message], said.message_format
        )
    except MessageFormatError:
        return ""
    texts = (text for role, text, *_ in read.records()[0] if role == "user")
    return next((text for text in texts if not COMMAND.fullmatch(text)), "")


def name_of(
    transcript: TranscriptFile, format: Format, session: str, first_prompt: str
) -> SessionName:
    """Return the name of a session, as far as its file has told it; none in a file that is no host's."""
    if format in NAMELESS:
        return SessionName()
    return SessionName(
        format,
        transcript.projects.get(session, ""),
        transcript.titles.get(session, ""),
        first_prompt,
    )
