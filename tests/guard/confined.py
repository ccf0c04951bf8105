"""Path guard: refuses access to the folder that holds the repository, except to the repository itself.

A clone must pass its tests with nothing beside it. Opening, listing, globbing or testing a path there raises
`OutsideError` and is recorded in `found`, so that a test that catches the error still fails. Temporary
folders, the interpreter, what it imports from and the folder that ``MEMCTX_DATA`` names are fine. Uses nothing but the
standard library: `sitecustomize` loads it at the start of child processes.
"""

from __future__ import annotations

import functools
import os
import site
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parents[2]
DATA = "MEMCTX_DATA"
# Audit events whose first argument is a path that is opened, listed, entered or changed.
EVENTS = frozenset(
    {
        "open",
        "os.chdir",
        "os.chmod",
        "os.link",
        "os.listdir",
        "os.listxattr",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.scandir",
        "os.symlink",
        "os.truncate",
        "os.utime",
        "shutil.rmtree",
        "sqlite3.connect",
    }
)
GLOBS = frozenset({"glob.glob", "glob.glob/2", "pathlib.Path.glob", "pathlib.Path.rglob"})
QUESTIONS = ("stat", "lstat", "access", "readlink")
"""Functions of `os` that have no audit event; `exists` and its kin are built on them."""


class OutsideError(Exception):
    """A path beside the repository was accessed."""


class Fence:
    """Paths that no test may access: below ``parent``, but not below any of the ``open`` folders."""

    def __init__(self, root: Path, allowed: Iterable[str | Path]) -> None:
        self.parent = str(root.parent)
        self._inside = f"{root}{os.sep}"
        self._below = os.path.join(self.parent, "")  # noqa: PTH118 - of "/" as of others
        # A folder that holds the repository opens nothing: all of its contents would be free.
        folders = (os.path.abspath(path) for path in allowed)  # noqa: PTH100 - links are not followed
        self._open = tuple(
            os.path.join(folder, "")  # noqa: PTH118 - as above
            for folder in folders
            if folder.startswith(self._below)
        )
        self._root = str(root)

    def outside(self, path: object, *, is_list: bool = False) -> str | None:
        """Return the path if it lies outside, or None. The parent itself may be tested, but not listed."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return None
        text = os.fsdecode(path)
        # Nearly every path in a test begins in the repository or far from it, and neither needs a second look.
        if text.startswith(self._inside) and ".." not in text:
            return None
        found = os.path.abspath(text)  # noqa: PTH100 - links are not followed
        if found == self.parent:
            return found if is_list else None
        if not found.startswith(self._below) or found == self._root:
            return None
        whole = os.path.join(found, "")  # noqa: PTH118 - a folder as its own content
        if whole.startswith((self._inside, *self._open)):
            return None
        return found


def default_fence() -> Fence:
    """Return the fence around this repository."""
    allowed: list[str | Path] = [
        tempfile.gettempdir(),
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        *site.getsitepackages(),
        *filter(None, sys.path),
    ]
    allowed += [site.getusersitepackages(), Path(sys.executable).resolve().parent]
    allowed += [os.environ[DATA]] if os.environ.get(DATA) else []
    if ROOT.parent == Path.home():  # what tools keep there is not data
        allowed += [entry.path for entry in os.scandir(ROOT.parent) if entry.name.startswith(".")]
    return Fence(ROOT, allowed)


class Guard:
    """Watches this process; `found` has one line for every access outside."""

    def __init__(self, fence: Fence) -> None:
        self.is_on = False
        self.found: list[str] = []
        self._fence = fence

    def install(self) -> None:
        """Install the hooks; they cannot be removed, but `is_on` switches them."""
        sys.addaudithook(self._hear)
        for name in QUESTIONS:
            setattr(os, name, self._asking(getattr(os, name)))
        self.is_on = True

    def check(self, event: str, path: object) -> None:
        """Raise if a path lies outside."""
        outside = self._fence.outside(path, is_list=event not in QUESTIONS)
        if outside is not None:
            self.found.append(f"{event} {outside}")
            raise OutsideError(f"{event} of {outside}, which lies outside the repository")

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on or (event not in EVENTS and event not in GLOBS) or not arguments:
            return
        first = arguments[0]
        if event in GLOBS and isinstance(first, str):
            first = first.partition("*")[0] or "."
        self.check(event, first)

    def _asking(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(ask)
        def asking(path: Any, *rest: Any, **options: Any) -> Any:
            if self.is_on and not options.get("dir_fd"):
                self.check(ask.__name__, path)
            return ask(path, *rest, **options)

        return asking
