"""Maintenance verbs: `verify`, with repair, and `gc`, which deletes."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import _core, store_files
from memctx.cli.formatting import Table, format_count, format_size
from memctx.cli.verbs.outcome import Outcome, Part
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from os import PathLike

LOCK = "LOCK"
LOCK_TIMEOUT = 5.0
FOLDERS = ("sessions", "extraction", "hosts")
"""Folders of the small files of sessions."""
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that cannot be read."""

    file: str
    line: int | None
    offset: int | None
    fault: str
    remedy: str


def verify(path: str | PathLike[str], *, repair: bool = False, is_sure: bool = False) -> Outcome:
    """Read all of a store, and report what cannot be read; on request, repair it.

    Damaged lines are moved to a file beside the log, so that nothing is lost. Derived files are removed, and made again
    when the store is opened next; of the vectors, only what cannot be read.
    """
    store = _existing(path)
    editor = _core.LogEditor(store, lock_timeout=LOCK_TIMEOUT)
    checked, findings = _check(store, editor)
    is_done = repair and is_sure and bool(findings)
    left = _repair(store, editor, findings) if is_done else findings
    data = {
        "store": str(store),
        "is_ok": not left,
        "checked": checked,
        "findings": [asdict(each) for each in findings],
        "is_repaired": is_done,
        "left": len(left),
    }
    read = ", ".join(f"{count:,} {what}" for what, count in checked.items())
    parts: list[Part] = [f"{store}: read {read}."]
    if findings:
        rows = tuple(
            (each.file, "" if each.line is None else str(each.line), each.fault, each.remedy)
            for each in findings
        )
        parts.append(Table(("file", "line", "fault", "repair"), rows, right=("line",)))
    parts.append(_verdict(findings, left, is_done=is_done, repair=repair))
    return Outcome(data, tuple(parts), is_ok=not left)


def gc(
    path: str | PathLike[str],
    *,
    older_than_days: float | None = None,
    sessions: Collection[str] = (),
    is_sure: bool = False,
) -> Outcome:
    """Delete what is old, or all of some sessions, from disk; without ``is_sure``, say what that would be.

    Both given, only what is old of those sessions goes. Facts go with a whole session only: they are what outlasts
    the talk. Without either, only snapshots, which are rebuilt, and leftovers are removed.
    """
    store = _existing(path)
    if older_than_days is not None and not older_than_days > 0:
        raise ConfigError(f"older_than_days is {older_than_days}; expected more than 0")
    before = None if older_than_days is None else time.time() * 1000 - older_than_days * DAY_MS
    wanted = frozenset(sessions)
    whole = wanted if before is None else frozenset[str]()
    editor = _core.LogEditor(store, lock_timeout=LOCK_TIMEOUT)
    found = editor.find(sessions=wanted, before=before)
    files = [*_leftovers(store), *_files_of(store, whole)]
    if whole and not (found.segments or found.facts or files):
        raise ConfigError(f"sessions is {sorted(whole)}; {store} has none of them")
    freed = found.bytes + sum(map(store_files.size, files))
    if is_sure and freed:
        editor.remove(sessions=wanted, before=before)
        _remove(files)
    names = [*(str(file.relative_to(store)) for file in files), *found.files]
    data = {
        "store": str(store),
        "is_done": is_sure,
        "segments": found.segments,
        "fact_lines": found.facts,
        "files": names,
        "bytes": freed,
    }
    lines = (
        f"{format_count(found.segments, 'segment')}, {format_count(found.facts, 'line')} of facts"
    )
    summary = f"{lines} and {format_count(len(names), 'file')}: {format_size(freed)}"
    return Outcome(data, (f"Deleted {summary}." if is_sure else f"Would delete {summary}.",))


def _check(store: Path, editor: _core.LogEditor) -> tuple[dict[str, int], list[Finding]]:
    """Return the number of things that can be read, and what cannot be."""
    verified = editor.verify()
    findings = [
        Finding(file, line, offset, fault, _remedy(file))
        for file, line, offset, fault in verified.problems
    ]
    small = _small_files(store)
    for file in small:
        try:
            store_files.read(file)
        except (OSError, ValueError) as error:
            name = str(file.relative_to(store))
            findings.append(Finding(name, None, None, str(error), _remedy(name)))
    counts = {
        "segments": verified.segments,
        "states of facts": verified.facts,
        "vectors": verified.vectors,
        "session files": len(small),
    }
    return counts, findings


def _remedy(file: str) -> str:
    if file == store_files.VECTORS:
        return "keep what can be read"
    return "remove; it is rebuilt" if file.endswith(".json") else f"move to {file}.damaged"


def _repair(store: Path, editor: _core.LogEditor, findings: list[Finding]) -> list[Finding]:
    """Move damaged lines aside and remove damaged session files, and return what is left."""
    editor.repair()
    _remove(store / each.file for each in findings if each.file.endswith(".json"))
    return _check(store, editor)[1]


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _leftovers(store: Path) -> list[Path]:
    """Find temporary files, at least a day old, of processes that died while writing."""
    found = [*store.glob(".*.tmp"), *(store / "sessions").glob(".*")]
    limit = time.time() - DAY_MS / 1000
    return sorted(file for file in found if file.is_file() and file.stat().st_mtime < limit)


def _files_of(store: Path, sessions: Collection[str]) -> list[Path]:
    """Find the small files of removed sessions."""
    endings = (".json", ".counters.json", ".blocks", ".lock")
    paths = (
        store_files.path_of(store, folder, session, ending)
        for session in sessions
        for folder in FOLDERS
        for ending in endings
    )
    return sorted(path for path in paths if path.exists())


def _small_files(store: Path) -> list[Path]:
    return sorted(file for folder in FOLDERS for file in (store / folder).glob("[!.]*.json"))


def _existing(path: str | PathLike[str]) -> Path:
    store = Path(path).expanduser()
    if not store_files.is_store(store):
        raise ConfigError(f"{store}: there is no store; expected {store_files.SEGMENTS} in it")
    return store


def _verdict(findings: list[Finding], left: list[Finding], *, is_done: bool, repair: bool) -> str:
    if not findings:
        return "No damage found."
    if is_done:
        done = f"Repaired {format_count(len(findings) - len(left), 'fault')}"
        return f"{done}." if not left else f"{done}; {len(left)} are left."
    found = format_count(len(findings), "fault")
    if repair:
        return f"{found}."
    return f"{found}. Readable records are used; --repair moves the others out of the way."
