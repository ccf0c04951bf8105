"""The core crate has never heard of Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def dependencies(crate: str) -> set[str]:
    """The names of all crates that a crate is built or tested with, its own among them."""
    command = ["cargo", "tree", "--locked", "--package", crate, "--edges", "normal,build,dev"]
    command += ["--prefix", "none", "--format", "{p}"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in output.splitlines() if line}


def test_core_depends_on_neither_pyo3_nor_numpy() -> None:
    core = dependencies("memctx-core")
    assert {"memctx-core", "hashbrown", "proptest"} <= core
    assert not {name for name in core if name == "numpy" or name.startswith("pyo3")}


def test_the_same_look_finds_them_in_the_binding() -> None:
    assert {"memctx-core", "numpy", "pyo3"} <= dependencies("memctx-py")
