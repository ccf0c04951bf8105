from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DRIVER = Path(__file__).with_name("driver.py")

if sys.platform == "win32":
    collect_ignore_glob = ["test_*.py"]  # there are no Unix sockets in its Python


@pytest.fixture(autouse=True)
def runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of sockets for this test alone, which a short path must have."""
    folder = Path(tmp_path_factory.mktemp("r"))
    folder.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv("MEMCTX_SERVE", raising=False)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path / "store")


@pytest.fixture
def launch(root: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start helpers, wait until they serve, and end them with the test."""
    with ExitStack() as stack:

        def start(store: str = root, idle: float = 60.0) -> subprocess.Popen[str]:
            command = [sys.executable, str(DRIVER), store, str(idle)]
            child = process.start(command, stdout=subprocess.PIPE)
            stack.callback(process.finish, child, status=None)
            stack.callback(child.kill)
            assert child.stdout is not None
            vars(child)["said"] = child.stdout.readline().strip()
            return child

        yield start
