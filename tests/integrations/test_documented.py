"""The programs on the adapters' pages run, those of a page one after another, in a process of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .case import FRAMEWORK

pytestmark = pytest.mark.integrations

PAGES = Path(__file__).parents[2] / "docs" / "integrations"
PROGRAM = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROGRAMS = {page.stem: PROGRAM.findall(page.read_text("utf-8")) for page in PAGES.glob("*.md")}
OFFLINE = """
import socket
def refuse(self, address): raise OSError(f"a page connects to {address!r}")
socket.socket.connect = refuse
"""


def test_every_page_has_programs() -> None:
    assert len(PROGRAMS) > 14
    assert {page for page, found in PROGRAMS.items() if not found} == {"README"}


@pytest.mark.parametrize(
    "page", [page for page, found in PROGRAMS.items() if found and FRAMEWORK in {"", page}]
)
def test_the_programs_of_a_page_run(page: str, tmp_path: Path) -> None:
    """They make clients, models and agents; functions that would call a provider are only defined."""
    program = OFFLINE + "\n".join(PROGRAMS[page])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "ModuleNotFoundError" in done.stderr and not FRAMEWORK:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
