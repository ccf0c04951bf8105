"""The examples run as they are, without a key, and the model is told what has left the window."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .case import FRAMEWORK, framework_of

pytestmark = pytest.mark.integrations

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").glob("*.py")
    if path.name != "loopback.py" and FRAMEWORK in {"", framework_of(path.stem)}
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_recalls_the_decision(path: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, str(path)],
        env=kept | {"TMPDIR": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "ModuleNotFoundError" in done.stderr and not FRAMEWORK:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Port 8443."
