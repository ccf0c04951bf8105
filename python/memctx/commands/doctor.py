"""The verb `doctor`: whether everything is in place, from the interpreter to the disk."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import memctx
from memctx.commands import wording
from memctx.commands.outcome import Outcome, Table
from memctx.commands.upkeep import LOCK, verify
from memctx.config import Config
from memctx.durable import held
from memctx.errors import MemctxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

State: TypeAlias = Literal["ok", "note", "bad"]

LITTLE_SPACE = 100 * 1024 * 1024
OTHERS = 0o077
EXTRAS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "remote": "httpx2",
    "static": "wordllama",
    "transformer": "onnxruntime",
}
"""What each extra brings."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    words: str


def doctor(
    path: str | PathLike[str] | None = None, *, file: str | PathLike[str] | None = None
) -> Outcome:
    """Look at everything that memory needs; what is bad names what helps."""
    found = list(_checks(path, file))
    bad = [check for check in found if check.state == "bad"]
    rows = tuple((check.state, check.name, check.words) for check in found)
    verdict = "All is well." if not bad else f"{wording.counted(len(bad), 'thing')} to mend."
    data = {"is_ok": not bad, "checks": [asdict(check) for check in found]}
    return Outcome(data, (Table(("", "what", "how it is"), rows), verdict), is_ok=not bad)


def _checks(path: str | PathLike[str] | None, file: str | PathLike[str] | None) -> Iterator[Check]:
    yield Check("memctx", "ok", f"{memctx.__version__}, {Path(memctx.__file__).parent}")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield Check("python", "ok", f"{python}, {sys.platform} {platform.machine()}")
    for extra, module in EXTRAS.items():
        is_there = importlib.util.find_spec(module) is not None
        words = "installed" if is_there else f"not installed: pip install 'memctx[{extra}]'"
        yield Check(extra, "ok" if is_there else "note", words)
    try:
        config = Config.load(file=file)
    except (MemctxError, OSError) as error:
        yield Check("settings", "bad", str(error))
        return
    yield Check("settings", "ok", ", ".join(sorted(config.given())) or "all defaults")
    if config.context_window is None:
        yield Check("window", "note", "context_window is not set: turns are never trimmed")
    if config.workspace is not None:
        yield _check("workspace", lambda: _workspace(Path(config.workspace or "")))
    yield from _store_checks(Path(config.storage_path if path is None else path).expanduser())


def _store_checks(store: Path) -> Iterator[Check]:
    if not store.is_dir():
        yield Check("store", "note", f"{store} is not there yet; the first opening makes it")
        return
    mode = store.stat().st_mode
    if sys.platform != "win32" and mode & OTHERS:
        words = f"{store} is open to others ({mode & 0o777:o}): chmod 700"
        yield Check("store", "note", words)
    else:
        yield Check("store", "ok", str(store))
    is_writable = os.access(store, os.W_OK | os.X_OK)
    yield Check("writable", "ok" if is_writable else "bad", "yes" if is_writable else "no")
    free = shutil.disk_usage(store).free
    yield Check("space", "ok" if free > LITTLE_SPACE else "bad", f"{wording.size(free)} free")
    if not (store / LOCK).exists():
        yield Check("archive", "note", "nothing was archived here yet")
        return
    if is_writable:
        yield _check("lock", lambda: _lock(store))
    yield _check("integrity", lambda: _integrity(store))


def _check(name: str, look: Callable[[], tuple[State, str]]) -> Check:
    try:
        return Check(name, *look())
    except (MemctxError, OSError) as error:
        return Check(name, "bad", str(error))


def _workspace(path: Path) -> tuple[State, str]:
    path = path.expanduser()
    return ("ok", str(path)) if path.is_dir() else ("bad", f"{path}: there is no such folder")


def _lock(store: Path) -> tuple[State, str]:
    with held(store / LOCK, timeout=1.0):
        return "ok", "free"


def _integrity(store: Path) -> tuple[State, str]:
    outcome = verify(store)
    faults = len(outcome.data["findings"])
    if outcome.is_ok:
        return "ok", "all can be read"
    return "bad", f"{wording.counted(faults, 'fault')}: memctx verify"
