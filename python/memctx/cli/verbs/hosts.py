"""Verbs on agent hosts: `hook`, `install`, `uninstall`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memctx.cli.escaping import terminal
from memctx.cli.verbs.outcome import Outcome
from memctx.errors import ConfigError
from memctx.hosts.hooks import run_command
from memctx.hosts.settings import (
    default_place,
    has_mcp,
    install,
    plan_install,
    plan_uninstall,
    uninstall,
)

if TYPE_CHECKING:
    from memctx.cli.verbs.shell import ShellRequest
    from memctx.hosts.settings import Change, HostName, Scope

NO_MCP = "The MCP server is not registered: pip install 'memctx[mcp]', then install again."
TRUST = (
    "Codex runs new hooks only once they are trusted: call /hooks in Codex and trust those of memctx, or install with "
    "--trust. Hooks of a project also need a trusted project."
)
SCOPE = (
    "New conversations are told about earlier ones of the same project; to keep each by itself, set "
    "MEMCTX_CROSS_SESSION=false."
)


def run_hook(request: ShellRequest, *, event: str, host: str | None = None) -> Outcome:
    """Answer a hook of an agent host, whose payload is on stdin."""
    named = [] if host is None else ["--host", host]
    store = [] if request.store is None else ["--store", str(request.store)]
    run_command([event, *named, *store])
    return Outcome({}, ())


def install_host(  # noqa: PLR0913 - one for each flag
    request: ShellRequest,  # noqa: ARG001 - settings of hosts concern no store
    *,
    host: HostName,
    in_project: bool = False,
    in_home: bool = False,
    trust: bool = False,
    is_sure: bool = False,
) -> Outcome:
    """Add the hooks and the MCP server of memctx to the settings of a host."""
    place = default_place(_scope(in_project=in_project, in_home=in_home))
    if trust and host != "codex":
        raise ConfigError(f"--trust is given with {host}; only codex asks for it")
    changes = plan_install(host, place, with_mcp=has_mcp(), trust=trust)
    notes = [SCOPE, *([] if has_mcp() else [NO_MCP])]
    if host == "codex" and not trust:
        notes.append(TRUST)
    if not changes:
        return Outcome(_data(host, changes, is_done=False), (f"{host}: already installed.",))
    if not _is_confirmed(changes, is_sure=is_sure):
        return _undecided(host, changes)
    install(changes)
    words = [f"{host}: installed. {_files(changes)}", *notes]
    return Outcome(_data(host, changes, is_done=True), tuple(words))


def uninstall_host(
    request: ShellRequest,  # noqa: ARG001 - settings of hosts concern no store
    *,
    host: HostName,
    in_project: bool = False,
    in_home: bool = False,
    is_sure: bool = False,
) -> Outcome:
    """Remove the hooks and the MCP server of memctx from the settings of a host."""
    place = default_place(_scope(in_project=in_project, in_home=in_home))
    changes = plan_uninstall(host, place)
    if not changes:
        return Outcome(_data(host, changes, is_done=False), (f"{host}: not installed.",))
    if not _is_confirmed(changes, is_sure=is_sure):
        return _undecided(host, changes)
    uninstall(changes)
    words = f"{host}: uninstalled. {_files(changes)} The memory itself is kept."
    return Outcome(_data(host, changes, is_done=True), (words,))


def _scope(*, in_project: bool, in_home: bool) -> Scope:
    if in_project and in_home:
        raise ConfigError("--project and --user are given; expected one of them")
    return "project" if in_project else "user"


def _is_confirmed(changes: list[Change], *, is_sure: bool) -> bool:
    """Return whether to go on: with ``--yes``, or if a person at a terminal has seen the changes and agrees."""
    if is_sure or not sys.stdin.isatty():
        return is_sure
    click.echo(terminal(_diff(changes)))
    return click.confirm("Apply these changes?", default=False)


def _undecided(host: HostName, changes: list[Change]) -> Outcome:
    """Return the outcome of changes that are not made: the difference, unless the terminal has shown it."""
    shown = () if sys.stdin.isatty() else (_diff(changes),)
    return Outcome(_data(host, changes, is_done=False), shown, is_ok=False).unconfirmed()


def _diff(changes: list[Change]) -> str:
    return "\n".join(change.diff() for change in changes)


def _files(changes: list[Change]) -> str:
    return f"Changed: {', '.join(str(change.path) for change in changes)}."


def _data(host: HostName, changes: list[Change], *, is_done: bool) -> dict[str, object]:
    return {
        "host": host,
        "is_done": is_done,
        "changes": [{"path": str(each.path), "diff": each.diff()} for each in changes],
    }
