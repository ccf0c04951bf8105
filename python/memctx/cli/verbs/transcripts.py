"""Verbs on transcript files: `import`, `export`, `replay`, `report`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from memctx.cli.formatting import Table
from memctx.cli.import_export import (
    Limits,
    detect_format,
    export_jsonl,
    export_markdown,
    import_transcripts,
)
from memctx.cli.import_export.sessions import read_session
from memctx.cli.replay import Recording, replay, write_html
from memctx.cli.verbs.outcome import Outcome
from memctx.cli.verbs.request import ModelContext
from memctx.hosts.pi import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.cli.import_export import Format, Imported
    from memctx.cli.shell import ShellRequest
    from memctx.cli.verbs.request import LimitOptions

MIB = 1 << 20
PROGRESS_STEPS = 1000
COUNTS = (
    "messages",
    "added",
    "duplicates",
    "skipped",
    "damaged",
    "files",
    "unchanged",
    "sessions",
)


def import_files(
    request: ShellRequest,
    *,
    source: Path,
    format: Format | None = None,
    extract: bool = False,
    **limits: Unpack[LimitOptions],
) -> Outcome:
    """Import transcripts of other hosts."""
    with request.progress("Importing", PROGRESS_STEPS) as advance:
        done = import_transcripts(
            request.new_store_path(),
            source,
            format=format,
            extract=extract,
            limits=read_limits(**limits),
            on_progress=lambda at: advance(
                PROGRESS_STEPS * at.bytes_done // max(at.bytes, 1), PROGRESS_STEPS
            ),
        )
    rows = tuple(row for name in COUNTS for row in _count_rows(name, done))
    failed = tuple(f"not read: {words}" for words in done.failed)
    took = f"{done.messages:,} messages in {done.seconds:.1f} s"
    table = Table(("what", "count"), rows, right=("count",))
    return Outcome(asdict(done), (table, *failed, took), is_ok=not failed)


def export_store(
    request: ShellRequest, *, target: Path, is_markdown: bool = False, force: bool = False
) -> Outcome:
    """Write the archive, or one session of it, to a file."""
    write = export_markdown if is_markdown else export_jsonl
    with request.status("Writing"):
        done = write(request.store_path(), target, session_id=request.session, overwrite=force)
    words = f"{target}: {done.messages:,} messages, {done.sessions:,} sessions."
    return Outcome({**asdict(done), "path": str(target)}, (words,), is_ok=done.messages > 0)


def replay_transcript(
    request: ShellRequest,
    *,
    transcript: Path,
    window: int | None = None,
    page: Path | None = None,
    session: str | None = None,
    **limits: Unpack[LimitOptions],
) -> Outcome:
    """Replay a recorded session in a scratch store; write ``page`` if it is given."""
    with request.status("Replaying"):
        recording = Recording.read(transcript, session=session, limits=read_limits(**limits))
        done = replay(recording, config=request.config(), context_window=window)
        written = () if page is None else (f"Page: {write_html(done, page)}",)
    return Outcome(done.to_dict(), (str(done), *written), is_ok=not done.errors)


def write_report(
    request: ShellRequest,
    *,
    transcript: Path,
    page: Path | None = None,
    window: int | None = None,
    session: str | None = None,
    **limits: Unpack[LimitOptions],
) -> Outcome:
    """Write the page of a replay and name the file."""
    page = page or Path(f"{transcript.name.partition('.')[0]}.html")
    done = replay_transcript(
        request, transcript=transcript, window=window, page=page, session=session, **limits
    )
    return Outcome({"page": str(page)}, done.parts[1:], is_ok=done.is_ok)


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


def _count_rows(name: str, done: Imported) -> Iterator[tuple[str, str]]:
    """Yield the row of a count, and the reasons of skipped messages."""
    yield name, f"{getattr(done, name):,}"
    if name == "skipped":
        yield from ((f"  {reason}", f"{count:,}") for reason, count in done.skips.items())
