"""The messages that the model sees at the end of a transcript file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from memctx.cli.import_export import Limits, detect_format, read_session
from memctx.cli.verbs.request import ModelContext
from memctx.hosts.pi import Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from memctx.cli.verbs.request import LimitOptions

MIB = 1 << 20


def read_model_context(
    path: Path,
    *,
    session: str | None = None,
    default_session: str | None = None,
    **limits: Unpack[LimitOptions],
) -> ModelContext:
    """Return the messages that the model sees at the end of a transcript of any host.

    ``session`` names one of several sessions; ``default_session`` does so in files other than session files of Pi and
    OpenClaw, which hold only one.

    Raises:
        ConfigError: the file holds several sessions, or none of that name.
        StoreError: the file cannot be read.
        MessageFormatError: the file is no transcript, or holds no message.
    """
    if session is None and default_session is not None and detect_format(path) != "pi":
        session = default_session
    found = read_session(path, session=session, limits=read_limits(**limits))
    if found.format == "pi" and (transcript := Transcript.open(path)).found_version is not None:
        messages = list(transcript.context().messages)
        if messages:
            return ModelContext(messages, transcript.session_id, "pi", transcript, path, "pi")
    return ModelContext(found.visible(), found.id, found.message_format, None, path, found.format)


def read_limits(*, max_value: int | None = None, max_expanded: int | None = None) -> Limits:
    """Return the limits that options give in MiB."""
    default = Limits()
    return Limits(
        value=default.value if max_value is None else max_value * MIB,
        expanded=default.expanded if max_expanded is None else max_expanded * MIB,
    )
