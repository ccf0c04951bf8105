"""The programs in the README and in the guides run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPERS = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROGRAMS = {
    f"{paper.stem}-{number}": program
    for paper in PAPERS
    for number, program in enumerate(BLOCK.findall(paper.read_text("utf-8")))
}


def test_every_paper_has_programs() -> None:
    assert {name.rpartition("-")[0] for name in PROGRAMS} == {paper.stem for paper in PAPERS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs(name: str, tmp_path: Path) -> None:
    """In a home of its own, so that it leaves nothing behind."""
    command = [sys.executable, "-W", "error", "-c", PROGRAMS[name]]
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
