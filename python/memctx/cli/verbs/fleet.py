"""Verbs for memory on a PostgreSQL server: `push`, `pull`, and the group `fleet`."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, cast

from memctx.cli.formatting import Table, format_count, format_size
from memctx.cli.verbs.outcome import Outcome, Part
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from memctx.cli.verbs.shell import ShellRequest
    from memctx.postgres import Administration, Server
    from memctx.replica import Transferred

SECONDS_TO_WAIT = 60.0
DEFAULT_NAMESPACE = "default"


def push(request: ShellRequest, *, address: str, namespace: str = DEFAULT_NAMESPACE) -> Outcome:
    """Send everything in the store to a server."""
    from memctx.replica import Transfer  # noqa: PLC0415 - with psycopg

    store = request.store_path()
    with _server(address, namespace) as server, request.status("Sending"):
        return _transferred(Transfer(store, server).push())


def pull(request: ShellRequest, *, address: str, namespace: str = DEFAULT_NAMESPACE) -> Outcome:
    """Fetch everything in a namespace into the store."""
    from memctx import files  # noqa: PLC0415 - as below
    from memctx.replica import Transfer  # noqa: PLC0415 - with psycopg

    store = request.new_store_path()
    files.make_folder(store)
    with _server(address, namespace) as server, request.status("Fetching"):
        return _transferred(Transfer(store, server).pull())


def migrate(request: ShellRequest, *, address: str) -> Outcome:  # noqa: ARG001 - as every verb
    """Create the schema, or bring it up to date."""
    from memctx.postgres import SCHEMA_VERSION  # noqa: PLC0415 - with psycopg

    with closing(_administration(address)) as admin:
        before = admin.migrate()
    data = {"version_before": before, "version": SCHEMA_VERSION}
    if before == SCHEMA_VERSION:
        return Outcome(data, (f"The schema has version {SCHEMA_VERSION} already.",))
    return Outcome(data, (f"The schema has version {SCHEMA_VERSION} now; before, {before}.",))


def add_namespace(
    request: ShellRequest,  # noqa: ARG001 - as every verb
    *,
    address: str,
    namespace: str,
    role: str | None = None,
    is_new: bool = False,
) -> Outcome:
    """Create a namespace, and on request its role."""
    role = role or namespace
    with closing(_administration(address)) as admin:
        if is_new:
            password = sys.stdin.readline().rstrip("\n")
            if not password:
                raise ConfigError("stdin has no password of the new role; expected one line")
            admin.create_role(role, password=password)
        else:
            admin.grant(role)
        number = admin.create_namespace(namespace, role=role)
    return Outcome(
        {"namespace": namespace, "role": role, "number": number},
        (f"Created namespace {namespace!r} of role {role!r}.",),
    )


def show_status(request: ShellRequest, *, address: str) -> Outcome:  # noqa: ARG001 - as every verb
    """Show versions, namespaces, sizes and lag."""
    with closing(_administration(address)) as admin:
        data = admin.status()
    simple = tuple(
        (name.replace("_", " "), format_size(value) if name.endswith("bytes") else str(value))
        for name, value in data.items()
        if not isinstance(value, dict | list)
    )
    parts: list[Part] = [Table(("what", "value"), simple, right=("value",))]
    for name, value in data.items():
        if isinstance(value, dict) and value:
            parts.append(_nested(name, cast("dict[str, object]", value)))
    return Outcome(data, tuple(parts))


def verify(request: ShellRequest, *, address: str, namespace: str = DEFAULT_NAMESPACE) -> Outcome:
    """Check every row of a namespace against its line."""
    with _server(address, namespace) as server, request.status("Checking"):
        found = server.verify()
    data = {
        "namespace": namespace,
        "is_ok": not found.problems,
        "sessions": found.sessions,
        "segments": found.segments,
        "facts": found.facts,
        "problems": found.problems,
    }
    read = (
        f"{found.sessions:,} sessions, {found.segments:,} segments, {found.facts:,} states of facts"
    )
    verdict = "All is well." if not found.problems else "\n".join(found.problems)
    return Outcome(data, (f"{namespace}: read {read}.", verdict), is_ok=not found.problems)


def collect_garbage(  # noqa: PLR0913 - one for each flag
    request: ShellRequest,
    *,
    address: str,
    older_than: float | None = None,
    namespace: str | None = None,
    rewrite: bool = False,
    is_sure: bool = False,
) -> Outcome:
    """Delete old segments and what belongs to nothing, and vacuum."""
    if not is_sure:
        what = "what belongs to nothing"
        if older_than is not None:
            whose = "every namespace" if namespace is None else f"namespace {namespace!r}"
            what = f"segments of {whose} older than {older_than:g} days, and {what}"
        return Outcome({"is_done": False}, (f"Would delete {what}.",)).unconfirmed()
    with closing(_administration(address)) as admin, request.status("Deleting"):
        deleted = admin.gc(older_than_days=older_than, namespace=namespace, rewrite=rewrite)
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in deleted.items())
    return Outcome({"is_done": True, **deleted}, (f"Deleted {counts}.",))


def erase(
    request: ShellRequest,
    *,
    address: str,
    namespace: str,
    session: str | None = None,
    is_sure: bool = False,
) -> Outcome:
    """Erase one session, or a whole namespace."""
    what = f"namespace {namespace!r} and everything in it"
    if session is not None:
        what = f"session {session!r} of namespace {namespace!r}"
    if not is_sure:
        return Outcome({"is_done": False}, (f"Would erase {what}.",)).unconfirmed()
    with closing(_administration(address)) as admin, request.status("Erasing"):
        if session is None:
            admin.drop_namespace(namespace)
            return Outcome({"is_done": True, "namespace": namespace}, (f"Erased {what}.",))
        erased = admin.erase(namespace, session)
    counts = {name: getattr(erased, name) for name in erased._fields}
    summary = f"Erased {what}: {format_count(erased.segments, 'segment')}, {erased.facts:,} states of facts."
    return Outcome({"is_done": True, **counts}, (summary,))


def _transferred(found: Transferred) -> Outcome:
    data = {
        "is_ok": not found.problems,
        "sessions": found.sessions,
        "segments": found.segments,
        "facts": found.facts,
        "problems": list(found.problems),
    }
    counts = f"{format_count(found.sessions, 'session')}, {format_count(found.segments, 'segment')}"
    verdict = f"Both sides have {counts} and {found.facts:,} states of facts."
    return Outcome(data, (verdict, *found.problems), is_ok=not found.problems)


def _nested(name: str, value: dict[str, object]) -> Table:
    rows = tuple((str(key), _words(each)) for key, each in value.items())
    return Table((name.replace("_", " "), "value"), rows)


def _words(value: object) -> str:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return ", ".join(f"{key.replace('_', ' ')} {each}" for key, each in items)
    return str(value)


def _server(address: str, namespace: str) -> Server:
    from memctx.postgres import Server  # noqa: PLC0415 - with psycopg

    return Server(address, namespace=namespace, timeout=SECONDS_TO_WAIT)


def _administration(address: str) -> Administration:
    from memctx.postgres import Administration  # noqa: PLC0415 - with psycopg

    return Administration(address)
