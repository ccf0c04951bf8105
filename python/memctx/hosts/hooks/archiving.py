"""Archiving of conversations: transcripts of hosts, messages of plugins, and what passes through hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx.hosts.hooks.opening import load_config, open_writer
from memctx.hosts.hooks.session import HostSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memctx.cli.import_export import Format
    from memctx.config import Config
    from memctx.context import Archived
    from memctx.messages import FormatName


def archive_messages(
    session: HostSession,
    messages: Sequence[Any],
    *,
    format: FormatName | None = None,
    root: Path | None = None,
    seconds: float = 0.0,
) -> Archived:
    """Archive messages of a conversation; those that it has already are not stored again.

    Wait for the facts in them for some ``seconds``; later calls extract the rest.

    >>> import pathlib, tempfile
    >>> session = HostSession("openclaw", "/src/shop", "main")
    >>> said = [{"role": "user", "content": "The webhook listens on port 8443"}]
    >>> archive_messages(session, said, root=pathlib.Path(tempfile.mkdtemp())).added
    1
    """
    return store_messages(load_config(root), session, messages, format=format, seconds=seconds)


def store_messages(
    config: Config,
    session: HostSession,
    messages: Sequence[Any],
    *,
    format: FormatName | None = None,
    seconds: float = 0.0,
) -> Archived:
    """Archive messages with some settings, and wait for facts."""
    with open_writer(config, session) as memory:
        archived = memory.archive(messages, format=format)
        if seconds:
            memory.wait_for_facts(seconds).result(seconds + 1)
        return archived


def store_transcript(
    config: Config, session: HostSession, path: Path, format: Format, *, seconds: float
) -> int:
    """Archive what is new in a transcript file, and wait for facts; return the number of new segments.

    The file may have grown since it was archived, or be the same: the store keeps no message of a session twice.
    """
    from memctx.cli.import_export import import_transcripts  # noqa: PLC0415 - loads all readers

    with open_writer(config, session) as memory:
        imported = import_transcripts(
            memory,
            path,
            format=format,
            extract=True,
            name_session=lambda own: HostSession(session.host, session.project, own).session_id,
        )
        if seconds:
            memory.wait_for_facts(seconds).result(seconds + 1)
        return imported.added
