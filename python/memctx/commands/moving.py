"""Moving what was said: into a store from other hosts, out of it into files, and through the turn once more."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, TypeAlias

from memctx.commands.outcome import Outcome, Table
from memctx.replay import replay, write_html
from memctx.transfer import export_jsonl, export_markdown, import_transcripts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memctx.config import Config
    from memctx.transfer import Format, ImportProgress

Form: TypeAlias = Literal["jsonl", "markdown"]
COUNTED = (
    "messages",
    "added",
    "duplicates",
    "skipped",
    "damaged",
    "files",
    "unchanged",
    "sessions",
)


def imported(
    store: Path,
    source: Path,
    *,
    format: Format | None = None,
    extract: bool = False,
    on_progress: Callable[[ImportProgress], object] | None = None,
) -> Outcome:
    """Bring transcripts of other hosts into a store."""
    done = import_transcripts(
        store, source, format=format, extract=extract, on_progress=on_progress
    )
    data = asdict(done)
    rows = tuple((name, f"{data[name]:,}") for name in COUNTED)
    failed = tuple(f"not read: {words}" for words in done.failed)
    took = f"{done.messages:,} messages in {done.seconds:.1f} s"
    return Outcome(
        data, (Table(("what", "count"), rows, right=("count",)), *failed, took), is_ok=not failed
    )


def exported(store: Path, target: Path, *, form: Form, session: str | None = None) -> Outcome:
    """Write what is stored into a file."""
    write = export_jsonl if form == "jsonl" else export_markdown
    done = write(store, target, session_id=session)
    words = f"In {target}: {done.messages:,} messages, sessions: {done.sessions:,}."
    return Outcome({**asdict(done), "path": str(target)}, (words,), is_ok=done.messages > 0)


def replayed(
    transcript: Path,
    *,
    config: Config,
    window: int | None = None,
    page: Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Run a recorded session through the turn, in a scratch store, and show what would be done."""
    done = replay(transcript, config=config, context_window=window, on_progress=on_progress)
    written = () if page is None else (f"The page: {write_html(done, page)}",)
    return Outcome(done.to_dict(), (str(done), *written), is_ok=not done.errors)


def reported(transcript: Path, page: Path, *, config: Config, window: int | None = None) -> Outcome:
    """Write the page of a recorded session, and say no more than where it is."""
    done = replayed(transcript, config=config, window=window, page=page)
    return Outcome({"page": str(page)}, done.parts[1:], is_ok=done.is_ok)
