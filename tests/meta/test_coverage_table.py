"""OpenClaw compatibility tables name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "openclaw-coverage.md"
NAMED = re.compile(r"`((?:tests|rust)/[\w./-]+)::(\w+)`")


def functions_of(path: str) -> set[str]:
    """Return the names of the functions of a test file."""
    file = ROOT / path
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return set(re.findall(r"^\s*(?:async )?(?:def|fn) (\w+)\(", text, re.MULTILINE))


def rows() -> list[tuple[str, ...]]:
    """Return the rows of all tables, without their headers."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [
        tuple(cell.strip() for cell in line.strip("|").split("|"))
        for line in lines
        if line[:1] == "|"
    ]
    return [row for row in cells if row[0] != "In the document" and not set(row[0]) <= set("- ")]


def test_every_named_test_exists() -> None:
    named = NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 80
    assert [f"{path}::{name}" for path, name in named if name not in functions_of(path)] == []


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_every_row_has_a_test_or_a_reason(row: tuple[str, ...]) -> None:
    assert len(row) == 3
    _, here, test = row
    assert NAMED.fullmatch(test) or (
        not test and ("not here" in here or "no test of its own" in here)
    )
