"""Purity of the core crate: no dependency on Python."""

from __future__ import annotations

from pathlib import Path

import process

ROOT = Path(__file__).parents[2]


def dependencies(crate: str) -> set[str]:
    """Return the names of all crates that a crate is built or tested with, including its own."""
    command = ["cargo", "tree", "--locked", "--package", crate, "--edges", "normal,build,dev"]
    command += ["--prefix", "none", "--format", "{p}"]
    output = process.run(command, cwd=ROOT).stdout
    return {line.split()[0] for line in output.splitlines() if line}


def test_core_depends_on_neither_pyo3_nor_numpy() -> None:
    core = dependencies("memctx-core")
    assert {"memctx-core", "hashbrown", "proptest"} <= core
    assert not {name for name in core if name == "numpy" or name.startswith("pyo3")}


def test_the_binding_depends_on_pyo3_and_numpy() -> None:
    assert {"memctx-core", "numpy", "pyo3"} <= dependencies("memctx-py")
