"""The extension declares that it needs the GIL: its caches of messages are not sound without one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_module_declares_that_it_uses_the_gil() -> None:
    """Without the declaration PyO3 declares the opposite."""
    source = (ROOT / "rust/memctx-py/src/lib.rs").read_text("utf-8")
    modules = re.findall(r"#\[(?:pyo3::)?pymodule(?:\([^\]]*\))?\]", source)
    assert modules == ["#[pyo3::pymodule(gil_used = true)]"]


@pytest.mark.skipif(
    not hasattr(sys, "_is_gil_enabled"), reason="no interpreter without a GIL before 3.13"
)
def test_importing_the_extension_keeps_the_gil() -> None:
    code = "import sys, memctx; print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
