"""Path guard: a test that reads beside the repository fails with its name and the path."""

from __future__ import annotations

import os
import shutil
import sys
import timeit
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import process
from guard.confined import Fence, Guard, OutsideError

if TYPE_CHECKING:
    import subprocess

TESTS = Path(__file__).parents[1]
PLANTED = """
import glob, os, subprocess, sys
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[2] / "beside"
LOOKS = {
    "open": lambda: (BESIDE / "data.txt").open(),
    "read": lambda: (BESIDE / "data.txt").read_text(),
    "list": lambda: os.listdir(BESIDE),
    "scan": lambda: list(os.scandir(str(BESIDE))),
    "iterate": lambda: list(BESIDE.iterdir()),
    "walk": lambda: list(os.walk(BESIDE, onerror=print)),
    "glob": lambda: list(BESIDE.glob("*.txt")),
    "glob by name": lambda: glob.glob(f"{BESIDE}/*.txt"),
    "exists": lambda: BESIDE.exists(),
    "is_dir": lambda: os.path.isdir(BESIDE),
    "is_file": lambda: (BESIDE / "data.txt").is_file(),
    "what is not there": lambda: (BESIDE / "none").exists(),
    "stat": lambda: os.stat(BESIDE),
    "parent": lambda: os.listdir(BESIDE.parent),
    "relative": lambda: open(os.path.join("..", "beside", "data.txt")),
    "dots": lambda: open(f"{Path(__file__).parent}/../../beside/data.txt"),
}

@pytest.mark.parametrize("name", LOOKS)
def test_look(name):
    LOOKS[name]()

@pytest.mark.parametrize("name", ["list", "exists"])
def test_look_that_is_caught(name):
    try:
        LOOKS[name]()
    except Exception:
        pass

def test_child():
    import process
    process.run([sys.executable, "-c", f"open({str(BESIDE / 'data.txt')!r})"])

def test_inside(tmp_path):
    (tmp_path / "a").write_text(Path(__file__).read_text())
    assert list(Path(__file__).parent.glob("*.py")) and Path(__file__).resolve().exists()
    assert os.path.isdir(sys.prefix) and os.path.exists(tmp_path / "a")
"""


def run_planted_test(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a test that reads beside its own clone, with this guard."""
    tests = folder / "clone" / "tests"
    for name in ("guard", "generated", "conftest.py", "process.py"):
        source = TESTS / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        tests.mkdir(parents=True, exist_ok=True)
        copy(source, tests / name)
    (folder / "beside").mkdir()
    (folder / "beside" / "data.txt").write_text("not in the clone")
    (tests / "test_planted.py").write_text(PLANTED)
    (tests.parent / "pyproject.toml").write_text(
        '[tool.pytest]\npythonpath = ["tests"]\nmarkers = ["data: x"]\n', "utf-8"
    )
    options = ["-q", "-rfE", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=short"]
    command = [sys.executable, "-m", "pytest", *options, *arguments, "tests"]
    return process.run(command, cwd=tests.parent, status=None, timeout=100)


@pytest.mark.slow
def test_a_planted_read_outside_fails_with_test_and_path(tmp_path: Path) -> None:
    done = run_planted_test(tmp_path)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    looks = PLANTED.count("lambda:") + 2
    assert len(failed) == looks + 1, done.stdout + done.stderr
    beside = tmp_path / "beside"
    message = f"test_look[open] reads outside the repository: open {beside / 'data.txt'}"
    assert message in done.stdout
    assert "test_look_that_is_caught[exists] reads outside the repository" in done.stdout
    assert f"OutsideError: open of {beside / 'data.txt'}" in done.stdout, "the child's stderr"
    assert done.stdout.rstrip().splitlines()[-1].startswith(f"{looks + 1} failed, 1 passed")


@pytest.mark.slow
def test_a_folder_that_is_named_explicitly_may_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCTX_DATA", str(tmp_path / "beside"))
    done = run_planted_test(tmp_path, "-k", "open or child or list")
    assert "4 passed" in done.stdout, done.stdout


def test_paths_that_the_fence_allows(tmp_path: Path) -> None:
    root = tmp_path / "home" / "clone"
    fence = Fence(root, [tmp_path, root.parent / "python"])
    inside = [
        root,
        root / "a",
        root / ".." / "clone" / "a",
        root.parent / "python" / "lib",
        tmp_path,
    ]
    assert not any(map(fence.outside, [*inside, "/", 3, b"/etc/passwd"]))
    beside = [root.parent / "b", f"{root}2/a", root / ".." / "b", os.fsencode(root.parent / "b")]
    assert all(map(fence.outside, beside))
    assert fence.outside(root.parent) is None
    assert fence.outside(root.parent, is_list=True) == str(root.parent)


def test_the_guard_costs_microseconds(tmp_path: Path) -> None:
    """A test checks some thousand paths at most."""
    guard = Guard(Fence(tmp_path / "clone", []))
    path = str(tmp_path / "clone" / "tests" / "conftest.py")
    assert timeit.timeit(lambda: guard.check("stat", path), number=10_000) / 10_000 < 50e-6
    with pytest.raises(OutsideError):
        guard.check("stat", tmp_path / "beside")
    assert guard.found == [f"stat {tmp_path / 'beside'}"]


def test_a_child_that_fails_shows_its_stderr() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('the disk is full')"]
    with pytest.raises(AssertionError, match="ended with 1, not 0\nIts stderr:\nthe disk is full"):
        process.run(command)
    process.run(command, status=1)
    command = [
        sys.executable,
        "-c",
        "import sys, time; print('slow', file=sys.stderr, flush=True); time.sleep(60)",
    ]
    with pytest.raises(AssertionError, match="did not end within 2 s\nIts stderr:\nslow"):
        process.run(command, timeout=2)
