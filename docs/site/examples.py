"""Pages of the programs and notebooks in `examples`."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

INTRODUCTION = """# Examples

Notebooks, run by the tests, and one program for each framework. Programs run without a key, against a scripted model on
this machine: `python examples/langchain_agent.py` in a clone, once memctx and the framework are installed.
"""


def pages(root: Path) -> dict[str, str]:
    """Return the text of each page by its path in the site."""
    folder = root / "examples"
    made = {f"examples/{path.stem}.md": _notebook(path) for path in sorted(folder.glob("*.ipynb"))}
    made |= {f"examples/{path.stem}.md": _program(path) for path in sorted(folder.glob("*.py"))}
    lines = [
        f"- [{text.splitlines()[0][2:]}]({page.removeprefix('examples/')})"
        for page, text in made.items()
    ]
    return {"examples/index.md": "\n".join([INTRODUCTION, *lines, ""]), **made}


def _program(path: Path) -> str:
    source = path.read_text("utf-8")
    summary = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
    return f"# {path.stem}.py\n\n{summary}\n\n```python\n{source}```\n"


def _notebook(path: Path) -> str:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    shown = "".join(_output(output) for output in cell["outputs"])
    return [f"```python\n{source}\n```", *([f"```text\n{shown.rstrip()}\n```"] if shown else [])]


def _output(output: dict[str, Any]) -> str:
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return "".join(text).rstrip("\n") + "\n"
