"""Every example in a docstring runs, those of the stub against the compiled extension."""

from __future__ import annotations

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import memctx

PACKAGE = Path(memctx.__file__).parent
SOURCES = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]
FILES = sorted(path for path in SOURCES if ">>>" in path.read_text("utf-8"))


def test_docstring_examples_are_found() -> None:
    assert {"__init__.py", "_search.pyi", "fusion.py", "ingest.py", "memory.py", "vmem.py"} <= {
        path.name for path in FILES
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstring_examples_pass(path: Path) -> None:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    # The stubs in `_core` describe one module.
    name = "memctx._core" if "_core" in parts else ".".join(parts).removesuffix(".__init__")
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if not name.startswith("memctx.integrations."):
            raise
        pytest.skip(f"a framework: {error}")
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        name = getattr(node, "name", "module docstring")
        docstring = ast.get_docstring(node) or ""
        runner.run(parser.get_doctest(docstring, dict(vars(module)), name, str(path), 0))
    assert runner.summarize(verbose=False).failed == 0
