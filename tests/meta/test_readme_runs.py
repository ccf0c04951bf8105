"""Programs in the README and in the guides run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import process

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROGRAMS = {
    f"{document.stem}-{number}": program
    for document in DOCUMENTS
    for number, program in enumerate(BLOCK.findall(document.read_text("utf-8")))
}


OUTPUT = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|(?<= #)[0-9a-f]{8}")


def run(program: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a temporary home, so that it leaves nothing behind."""
    command = [sys.executable, "-W", "error", "-c", program]
    environ = {"HOME": str(home), "USERPROFILE": str(home), "PYTHONUTF8": "1"}
    return process.run(command, cwd=home, env=environ)


def test_quickstart_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """Its output, except for times and ids, is the text below it, and contains a recalled block."""
    [(program, shown)] = OUTPUT.findall((ROOT / "README.md").read_text("utf-8"))
    done = run(program, tmp_path)
    assert TIME.sub("TIME", done.stdout) == TIME.sub("TIME", shown), done.stderr
    assert "port 8443" in shown
    assert list(tmp_path.iterdir()) == []


def test_every_document_has_programs() -> None:
    assert {name.rpartition("-")[0] for name in PROGRAMS} == {
        document.stem for document in DOCUMENTS
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_documented_program_runs(name: str, tmp_path: Path) -> None:
    done = run(PROGRAMS[name], tmp_path)
    assert done.stderr == ""
    assert done.stdout
