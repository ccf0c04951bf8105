"""The programs in the README run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_programs_were_found() -> None:
    assert len(PROGRAMS) >= 2


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_of_the_readme_runs(number: int, tmp_path: Path) -> None:
    """In a home of its own, so that it leaves nothing behind."""
    command = [sys.executable, "-W", "error", "-c", PROGRAMS[number]]
    environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PYTHONUTF8": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
