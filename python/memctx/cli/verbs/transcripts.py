"""Verbs on transcript files: `import`, `export`, `replay`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack

import click

from memctx.cli.escaping import terminal
from memctx.cli.formatting import Table, format_count
from memctx.cli.import_export import export_jsonl, export_markdown, import_transcripts
from memctx.cli.replay import Recording, comparison_html, html, replay, write_page
from memctx.cli.verbs.model_context import read_limits
from memctx.cli.verbs.outcome import Outcome
from memctx.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memctx.cli.import_export import Format, Imported
    from memctx.cli.verbs.request import LimitOptions
    from memctx.cli.verbs.shell import ShellRequest

PROGRESS_STEPS = 1000
COUNTS = {
    "messages": "messages read",
    "added": "segments added",
    "duplicates": "segments already stored",
    "skipped": "skipped",
    "damaged": "damaged lines",
    "files": "files read",
    "unchanged": "files unchanged",
    "sessions": "sessions",
}
"""Counts of an import, and what each is called."""
EMBED_HINT = "They are found by their words; `memctx reembed` computes vectors, as agents do in the background."


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
    took = f"{format_count(done.messages, 'message')} in {done.seconds:.1f} s."
    table = Table(("what", "count"), rows, right=("count",))
    words = f"{took} {EMBED_HINT}" if done.added else took
    return Outcome(asdict(done), (table, *failed, words), is_ok=not failed)


def export_store(
    request: ShellRequest, *, target: Path, is_markdown: bool = False, force: bool = False
) -> Outcome:
    """Write the archive, or one session of it, to a file; ask before one is replaced."""
    if target.exists() and not force and sys.stdin.isatty():
        force = click.confirm(f"{terminal(str(target))} exists. Replace it?", default=False)
    write = export_markdown if is_markdown else export_jsonl
    with request.status("Writing"):
        done = write(request.store_path(), target, session_id=request.session, overwrite=force)
    counts = f"{format_count(done.messages, 'message')}, {format_count(done.sessions, 'session')}"
    words = f"{target}: {counts}."
    return Outcome({**asdict(done), "path": str(target)}, (words,), is_ok=done.messages > 0)


def replay_transcript(  # noqa: PLR0913 - one for each flag
    request: ShellRequest,
    *,
    transcript: Path,
    window: int | None = None,
    page: Path | None = None,
    price: float = 1.0,
    beside: Path | None = None,
    session: str | None = None,
    **limits: Unpack[LimitOptions],
) -> Outcome:
    """Replay a recorded session in a scratch store; write ``page`` if it is given.

    With the settings file ``beside`` it is replayed again, and the page compares both.
    """
    with request.status("Replaying"):
        recording = Recording.read(transcript, session=session, limits=read_limits(**limits))
        done = replay(recording, config=request.config(), context_window=window)
        shown: tuple[str, ...] = (str(done),)
        if beside is not None:
            config = Config.load(file=beside)
            other = replay(recording, config=config, context_window=window)
            first = request.config_file
            named = [
                ("defaults", "", done)
                if first is None
                else (first.name, first.read_text("utf-8"), done),
                (beside.name, beside.read_text("utf-8"), other),
            ]
            text = comparison_html(named)
            shown += (f"{beside.name}:", str(other))
        else:
            text = html(done, price=price)
        written = () if page is None else (f"Page: {write_page(text, page)}",)
    return Outcome(done.to_dict(), (*shown, *written), is_ok=not done.errors)


def _count_rows(name: str, done: Imported) -> Iterator[tuple[str, str]]:
    """Yield the row of a count, and the reasons of skipped messages."""
    yield COUNTS[name], f"{getattr(done, name):,}"
    if name == "skipped":
        yield from ((f"  {reason}", f"{count:,}") for reason, count in done.skips.items())
