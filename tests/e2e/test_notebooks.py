"""The notebooks in `examples` run from top to bottom, and print what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.notebooks

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
CHANGING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|(?<= #)[0-9a-f]{8}|\d+\.\d+")
"""Times, ids and scores."""
MOST_BYTES = 20_000


def outputs(notebook: dict[str, Any]) -> list[str]:
    """Return what each cell prints, except for what changes."""
    shown = []
    for cell in notebook["cells"]:
        texts = (output.get("text", output.get("data")) for output in cell.get("outputs", ()))
        shown.append(CHANGING.sub("…", "".join("".join(text) for text in texts)))
    return shown


def test_notebooks_are_found_and_small() -> None:
    assert len(NOTEBOOKS) >= 3
    assert {
        path.name: path.stat().st_size for path in NOTEBOOKS if path.stat().st_size > MOST_BYTES
    } == {}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_prints_what_it_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = json.loads(path.read_text("utf-8"))
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=100, resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert outputs(notebook) == outputs(shown)
    assert any(outputs(shown))
