"""Programs in the README and in the documentation run."""

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
DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
NEEDING_MORE = ("docs/integrations/", "docs/guides/postgres.md")
"""Documents whose programs need a framework or a server: `tests/integrations` and `tests/postgres` run them."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
OTHER = re.compile(r"^ *(```py|```python3|~~~.*)$", re.MULTILINE)
PROGRAMS = {
    f"{document.relative_to(ROOT).with_suffix('').as_posix()}-{number}": program
    for document in DOCUMENTS
    if not document.relative_to(ROOT).as_posix().startswith(NEEDING_MORE)
    for number, program in enumerate(BLOCK.findall(document.read_text("utf-8")))
}


OUTPUT = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|(?<= #)[0-9a-f]{8}")
SHOWN = {
    document.stem: found
    for document in DOCUMENTS
    for found in OUTPUT.findall(document.read_text("utf-8"))
}


def run(program: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a temporary home, so that it leaves nothing behind."""
    command = [sys.executable, "-W", "error", "-c", program]
    environ = {"HOME": str(home), "USERPROFILE": str(home), "PYTHONUTF8": "1"}
    return process.run(command, cwd=home, env=environ)


@pytest.mark.parametrize("document", ["README", "tour"])
def test_an_example_prints_what_is_shown_below_it(document: str, tmp_path: Path) -> None:
    """Its output, except for times and ids, is the text below it, and has the answer that had left the window."""
    program, shown = SHOWN[document]
    done = run(program, tmp_path)
    assert TIME.sub("TIME", done.stdout) == TIME.sub("TIME", shown), done.stderr
    assert "port 8443" in shown
    assert list(tmp_path.iterdir()) == []


def test_every_block_of_python_is_one_that_runs() -> None:
    """A program is fenced as ``python``; a fence by another name would be skipped."""
    assert len(PROGRAMS) > 25
    others = {
        document.name: OTHER.findall(document.read_text("utf-8"))
        for document in DOCUMENTS
        if document.name != "README.md"
    }
    assert {name: found for name, found in others.items() if found} == {}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_documented_program_runs(name: str, tmp_path: Path) -> None:
    done = run(PROGRAMS[name], tmp_path)
    assert done.stderr == ""
    assert done.stdout
