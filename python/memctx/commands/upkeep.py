"""Verbs on what is on disk: `verify`, with repair, and `gc`, the one thing that deletes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memctx import _core, disk, durable, session_file
from memctx.commands import vectors, wording
from memctx.commands.outcome import Outcome, Part, Table
from memctx.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator
    from os import PathLike

SEGMENTS, FACTS = "segments.jsonl", "knowledge.jsonl"
VECTORS = "vectors.bin"
COLD = "index/cold"
"""The folder of the index on disk."""
LOCK = "LOCK"
FOLDERS = ("sessions", "extraction")
"""Where the small files of sessions are."""
VISITOR = "memctx-verify"
DAY_MS = 86_400_000
TRIES = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that cannot be read."""

    file: str
    line: int | None
    offset: int | None
    fault: str
    remedy: str


def verify(path: str | PathLike[str], *, repair: bool = False, is_sure: bool = False) -> Outcome:
    """Read all of a store, and say what cannot be read; on request, repair it.

    Lines that hold nothing are moved to a file beside the log, so that nothing is lost. What is derived is removed,
    and made anew when the store is opened next; of the vectors, only what cannot be read.
    """
    store = _existing(path)
    checked, findings = _checked(store)
    is_done = repair and is_sure and bool(findings)
    left = _repair(store) if is_done else findings
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
    the talk. Without either, only snapshots and leftovers go, which nobody misses.
    """
    store = _existing(path)
    if older_than_days is not None and not older_than_days > 0:
        raise ConfigError(f"older_than_days is {older_than_days}; expected more than 0")
    before = None if older_than_days is None else time.time() * 1000 - older_than_days * DAY_MS
    wanted = frozenset(sessions)
    whole = wanted if before is None else frozenset[str]()

    def is_old(line: dict[str, Any]) -> bool:
        at = line.get("timestamp")
        is_wanted = not wanted or line.get("sessionId") in wanted
        return is_wanted and (before is None or (isinstance(at, int | float) and at < before))

    def is_of_whole(line: dict[str, Any]) -> bool:
        return line.get("sessionId") in whole

    goes = is_old if wanted or before is not None else None
    logs = {SEGMENTS: goes, FACTS: is_of_whole if whole else None}
    lost = {name: _counted(store / name, test) for name, test in logs.items() if test is not None}
    segments, bytes_lost = lost.get(SEGMENTS, (0, 0))
    facts, fact_bytes = lost.get(FACTS, (0, 0))
    files = [*_leftovers(store), *_files_of(store, whole)]
    derived = _indexes(store) if segments else _snapshots(store) if goes is None else []
    if whole and not (segments or facts or files):
        raise ConfigError(f"sessions is {sorted(whole)}; nothing of that is in {store}")
    freed = bytes_lost + fact_bytes + sum(map(disk.size, (*files, *derived)))
    if is_sure and freed:
        with _written_by_nobody(store):
            # They go first: a crash may leave a segment without its vector, but no vector of what is gone.
            if goes is not None and segments:
                vectors.forget(store, _only_in(store / SEGMENTS, goes))
            for name, test in logs.items():
                if test is not None and lost[name][0]:
                    _rewrite(store / name, partial(_stays, test))
            _remove((*files, *derived))
    data = {
        "store": str(store),
        "is_done": is_sure,
        "segments": segments,
        "fact_lines": facts,
        "files": [str(file.relative_to(store)) for file in (*files, *derived)],
        "bytes": freed,
    }
    told = f"{wording.counted(segments, 'segment')}, {wording.counted(facts, 'line')} of facts and "
    told += f"{wording.counted(len(files) + len(derived), 'file')}: {wording.size(freed)}"
    return Outcome(data, (f"Deleted {told}." if is_sure else f"Would delete {told}.",))


def _checked(store: Path) -> tuple[dict[str, int], list[Finding]]:
    """How much was read, and what cannot be."""
    cold = _core.ColdStore(store)
    segments = sum(1 for _ in cold.scan())
    findings = [*_skipped(SEGMENTS, cold.health())]
    facts = _core.FactStore(store, session_id=VISITOR, cross_session=True)
    try:
        states = facts.stats()["states"]
        findings += _skipped(FACTS, facts.health())
    finally:
        facts.close()
    readable, fault = vectors.fault(store / VECTORS)
    if fault is not None:
        findings.append(Finding(VECTORS, None, None, fault, "keep what can be read"))
    small = 0
    for file in _small_files(store):
        small += 1
        try:
            session_file.read(file)
        except (OSError, ValueError) as error:
            name = str(file.relative_to(store))
            findings.append(Finding(name, None, None, str(error), "remove; it starts anew"))
    counts = {"segments": segments, "states of facts": states, "vectors": readable}
    return counts | {"session files": small}, findings


def _skipped(name: str, health: dict[str, Any]) -> Iterator[Finding]:
    remedy = f"move to {_aside(name)}"
    for each in health["skipped"]:
        yield Finding(name, each["line"], each["offset"], each["fault"], remedy)
    more = health["skipped_lines"] - len(health["skipped"])
    if more > 0:
        yield Finding(name, None, None, f"{more:,} more lines like these", remedy)


def _repair(store: Path) -> list[Finding]:
    """Move what cannot be read out of the way; what is left. Of many lines only the first are named, so look again."""
    before: list[Finding] = []
    while True:
        logs = _identities(store)
        findings = _checked(store)[1]
        if not findings or findings == before:
            return findings
        with _written_by_nobody(store):
            # A log that was replaced meanwhile has other lines in these places.
            if _identities(store) == logs:
                _move_aside(store, findings)
                before = findings


def _move_aside(store: Path, findings: list[Finding]) -> None:
    named = {name: _offsets(findings, name) for name in (SEGMENTS, FACTS)}
    for name, offsets in named.items():
        if offsets:
            _rewrite(store / name, partial(_is_whole, offsets), store / _aside(name))
    _remove(store / each.file for each in findings if each.file not in (*named, VECTORS))
    is_damaged = any(each.file == VECTORS for each in findings)
    if is_damaged:
        vectors.mend(store / VECTORS)
    if is_damaged or any(named.values()):
        _remove(_indexes(store))


def _identities(store: Path) -> list[durable.Identity | None]:
    """Which files the logs are."""
    paths = (store / SEGMENTS, store / FACTS)
    return [durable.Identity.of(path.stat()) if path.exists() else None for path in paths]


@contextlib.contextmanager
def _written_by_nobody(store: Path) -> Generator[None, None, None]:
    """Keep other processes from writing to a store."""
    if sys.platform == "win32":
        raise StoreError(f"{store}: logs that may be in use cannot be replaced on Windows")
    with durable.held(store / LOCK):
        yield


def _rewrite(path: Path, stays: Callable[[int, bytes], bool], aside: Path | None = None) -> None:
    """Replace a log by one that has only some of its lines; stores that have it open notice.

    The lines that go are appended to ``aside``, on disk before the log changes.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    gone: list[bytes] = []
    try:
        with fresh.open("wb") as file:
            fresh.chmod(durable.PRIVATE)
            for at, line in _lines(path):
                if stays(at, line):
                    file.write(line)
                elif aside is not None:
                    gone.append(line if line.endswith(b"\n") else line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if aside is not None and gone:
            durable.append(aside, b"".join(gone))
        fresh.replace(path)
        durable.sync_folder(path.parent)
    except OSError as error:
        raise StoreError(f"{path}: not replaced: {error}") from error
    finally:
        fresh.unlink(missing_ok=True)


def _stays(goes: Callable[[dict[str, Any]], bool], _: int, line: bytes) -> bool:
    return not _holds(line, goes)


def _is_whole(damaged: Collection[int], at: int, _: bytes) -> bool:
    return at not in damaged


def _offsets(findings: list[Finding], name: str) -> set[int]:
    return {each.offset for each in findings if each.file == name and each.offset is not None}


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir():
            _remove_folder(path)
        else:
            path.unlink(missing_ok=True)


def _remove_folder(path: Path) -> None:
    """Delete a folder, in which another process may be making and deleting files."""
    for _ in range(TRIES):
        with contextlib.suppress(OSError):
            shutil.rmtree(path)
        if not path.exists():
            return
    raise StoreError(f"{path}: not deleted")


def _counted(path: Path, test: Callable[[dict[str, Any]], bool]) -> tuple[int, int]:
    """How many lines of a log pass a test, and their bytes."""
    sizes = [len(line) for _, line in _lines(path) if _holds(line, test)]
    return len(sizes), sum(sizes)


def _holds(line: bytes, test: Callable[[dict[str, Any]], bool]) -> bool:
    """Whether a line passes; one that cannot be read never does, and stays for `verify`."""
    found = _parsed(line)
    return found is not None and test(found)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a log, each with the offset it begins at."""
    at = 0
    try:
        with path.open("rb") as file:
            for line in file:
                yield at, line
                at += len(line)
    except FileNotFoundError:
        return


def _only_in(path: Path, goes: Callable[[dict[str, Any]], bool]) -> set[str]:
    """The ids of the lines of a log that pass a test, and of no others."""
    ids: dict[bool, set[str]] = {True: set(), False: set()}
    for _, line in _lines(path):
        if (found := _parsed(line)) is not None:
            ids[goes(found)].add(str(found.get("id")))
    return ids[True] - ids[False]


def _indexes(store: Path) -> list[Path]:
    """What is made anew from the log and its vectors."""
    cold = store / COLD
    return [*_snapshots(store), *([cold] if cold.exists() else [])]


def _snapshots(store: Path) -> list[Path]:
    """What makes opening quick, one for each session and one for all of them; the next opening writes its own."""
    return sorted((store / "index").glob("*.snapshot"))


def _leftovers(store: Path) -> list[Path]:
    """What a process that died left of a file it was writing, a day ago at least."""
    found = [*store.glob(".*.tmp"), *(store / "sessions").glob(".*")]
    limit = time.time() - DAY_MS / 1000
    return sorted(file for file in found if file.is_file() and file.stat().st_mtime < limit)


def _files_of(store: Path, sessions: Collection[str]) -> list[Path]:
    """The small files of sessions that go."""
    endings = (".json", ".counters.json", ".lock")
    paths = (
        session_file.path_of(store, folder, session, ending)
        for session in sessions
        for folder in FOLDERS
        for ending in endings
    )
    return sorted(path for path in paths if path.exists())


def _small_files(store: Path) -> list[Path]:
    return sorted(file for folder in FOLDERS for file in (store / folder).glob("[!.]*.json"))


def _existing(path: str | PathLike[str]) -> Path:
    store = Path(path).expanduser()
    if not (store / SEGMENTS).exists() and not (store / FACTS).exists():
        raise ConfigError(f"{store}: there is no store; expected {SEGMENTS} in it")
    return store


def _aside(name: str) -> str:
    return f"{name}.damaged"


def _verdict(findings: list[Finding], left: list[Finding], *, is_done: bool, repair: bool) -> str:
    if not findings:
        return "All is well."
    if is_done:
        done = f"Repaired {wording.counted(len(findings) - len(left), 'fault')}"
        return f"{done}." if not left else f"{done}; {len(left)} are left."
    found = wording.counted(len(findings), "fault")
    if repair:
        return f"{found}."
    return f"{found}. What could be read is used; the rest stays where it is."
