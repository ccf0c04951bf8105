"""Get a repository at a commit or a package at a version, and read files out of it."""

import hashlib
import subprocess
import sys
import tarfile
import threading
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from gather.sources import Source

_HOST = "https://github.com/"


class Files(ABC):
    """The files of a source."""

    @abstractmethod
    def read(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
        """Yield path and content of the wanted files, in the order of their paths."""

    def texts(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
        """Yield path and text of the wanted files; bytes that are no UTF-8 are replaced."""
        for path, content in self.read(wanted):
            yield path, content.decode("utf-8-sig", "replace").replace("\r\n", "\n")


class Snapshot(Files):
    """The files of one commit, read without a work tree.

    Args:
        folder: The git directory.
        commit: The commit.
    """

    def __init__(self, folder: Path, commit: str) -> None:
        self._git = ["git", "--git-dir", str(folder)]
        self._commit = commit
        self._paths: dict[str, str] | None = None

    @property
    def paths(self) -> dict[str, str]:
        """Every path of the commit with the object that it names, sorted."""
        if self._paths is None:
            command = [*self._git, "ls-tree", "-r", "-z", self._commit]
            listing = subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603 - the arguments are of sources.toml
            rows = (row.partition("\t") for row in listing.decode("utf-8").split("\0") if row)
            self._paths = dict(sorted((path, head.split()[2]) for head, _, path in rows))
        return self._paths

    def read(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
        """Yield path and content of the wanted files, in the order of their paths.

        One git process serves all files. A file whose object the directory lacks is left out.
        """
        chosen = [(path, name) for path, name in self.paths.items() if wanted(path)]
        command = [*self._git, "cat-file", "--batch"]
        with subprocess.Popen(  # noqa: S603 - the arguments are of sources.toml
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            if process.stdin is None or process.stdout is None:
                raise RuntimeError("git gave no pipes")
            names = [name for _, name in chosen]
            threading.Thread(target=_feed, args=(process.stdin, names), daemon=True).start()
            for path, _ in chosen:
                head = process.stdout.readline().split()
                if len(head) == 3:  # noqa: PLR2004 - object, kind and size; otherwise it is missing
                    content = process.stdout.read(int(head[2]))
                    process.stdout.read(1)
                    yield path, content


class Package(Files):
    """The files of one package, read without unpacking it.

    Args:
        path: The wheel or the source archive.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
        """Yield path and content of the wanted files, in the order of their paths."""
        if zipfile.is_zipfile(self._path):
            with zipfile.ZipFile(self._path) as wheel:
                for name in sorted(filter(wanted, wheel.namelist())):
                    yield name, wheel.read(name)
            return
        with tarfile.open(self._path) as archive:
            for name in sorted(filter(wanted, archive.getnames())):
                content = archive.extractfile(name)
                if content is not None:
                    yield name, content.read()


def _feed(pipe: IO[bytes], names: list[str]) -> None:
    """Write the object names, and close the pipe; a reader that stops early ends it."""
    try:
        pipe.write("".join(f"{name}\n" for name in names).encode())
        pipe.close()
    except (BrokenPipeError, ValueError):
        return


def open_source(source: Source, mirror: Path | None, clones: Path) -> Files:
    """Find a source in the mirror folder, else clone the commit or download the package.

    Args:
        source: The source.
        mirror: A folder with one folder a repository, named owner+name, or none.
        clones: The folder for clones and packages.

    Raises:
        subprocess.CalledProcessError: The repository, the commit or the package cannot be had.
        ValueError: The package is not the one that was read.
    """
    if source.package:
        return _package(source, clones)
    if mirror is not None:
        base = mirror / source.repository.replace("/", "+") / "repo"
        for folder in (base / ".git", base):
            if (folder / "HEAD").exists():
                return Snapshot(folder, source.commit)
    folder = clones / f"{source.repository.replace('/', '+')}@{source.commit[:12]}"
    if not folder.exists():
        _run("init", "--bare", "--quiet", str(folder))
        url = _HOST + source.repository
        _run("--git-dir", str(folder), "fetch", "--quiet", "--depth=1", url, source.commit)
    return Snapshot(folder, source.commit)


def _package(source: Source, clones: Path) -> Package:
    """Download the package of a source unless it is there, and check its digest."""
    folder = clones / source.package
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        subprocess.run([*pip, "--dest", str(folder), source.package], check=True)  # noqa: S603 - the arguments are of sources.toml
    for path in sorted(folder.iterdir()):
        if hashlib.sha256(path.read_bytes()).hexdigest() == source.digest:
            return Package(path)
    raise ValueError(f"{source.name}: no file of {source.package} has the digest")


def _run(*arguments: str) -> None:
    """Run git."""
    subprocess.run(["git", *arguments], check=True)  # noqa: S603, S607
