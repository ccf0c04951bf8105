"""Documentation names commands, paths and versions that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import memctx

ROOT = Path(__file__).parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def cargo_version() -> str:
    version = tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"]
    assert isinstance(version, str)
    return version


def commands(document: str) -> set[str]:
    """Return the make targets that a document names."""
    return set(re.findall(r"(?:`|^|\$ )make ([a-z-]+)", read(document), re.MULTILINE))


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_commands_named_in_a_document_exist(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    assert {"test"} <= commands(document) <= targets


def test_readme_names_demo_and_test() -> None:
    assert {"demo", "test"} <= commands("README.md")


def test_paths_in_the_code_map_exist() -> None:
    """Paths are in backticks under the heading "Code map", relative to the root of the repository."""
    heading, _, rest = read("ARCHITECTURE.md").partition("Code map\n")
    assert heading.endswith("# ")
    section = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    paths = [path for path in re.findall(r"`([\w./-]+)`", section) if "/" in path]
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_changelog_has_the_current_version() -> None:
    assert re.search(rf"^## \[?{re.escape(cargo_version())}\b", read("CHANGELOG.md"), re.MULTILINE)


def test_the_package_has_the_version_of_the_workspace() -> None:
    assert memctx.__version__ == cargo_version()


def constant(path: str, name: str) -> Any:
    """Return the value of a constant at the top of a Python file, which is not imported."""
    for node in ast.parse(read(path)).body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if [ast.unparse(target) for target in targets] == [name]:
            return ast.literal_eval(node.value)  # type: ignore[attr-defined]
    raise AssertionError(f"{path} has no {name}")


def test_the_reference_has_every_public_module() -> None:
    reference = constant("docs/site/reference.py", "MODULES")
    public = constant("tests/meta/test_public_names.py", "PUBLIC")
    assert len(public) > 25
    assert sorted(public.keys() - reference.keys()) == []
