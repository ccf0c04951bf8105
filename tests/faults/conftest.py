"""Fixtures: default settings, and mounts that are undone after each test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _alone(alone: None) -> None:
    """Apply `alone` to every test of this folder."""


@pytest.fixture
def mount() -> Iterator[Callable[..., None]]:
    """Return ``mount(*arguments, point)``, undone after the test; skip where mounting is not allowed."""
    points: list[str] = []
    command = shutil.which("mount")

    def mounted(*arguments: str | Path) -> None:
        if sys.platform != "linux" or command is None or os.geteuid() != 0:
            pytest.skip("mounting needs Linux and root")
        done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"mount: {done.stderr.strip()}")
        points.append(str(arguments[-1]))

    yield mounted
    for point in dict.fromkeys(reversed(points)):
        subprocess.run([shutil.which("umount") or "umount", "-l", point], check=True)
