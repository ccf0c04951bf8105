"""Imports inside the package: no cycles of files, and packages used through the names they export."""

from __future__ import annotations

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import memctx

ROOT = Path(memctx.__file__).parent

OPEN_PACKAGES = {
    # Tools of which some load asyncio or tenacity: the package itself exports nothing.
    "memctx.providers",
}
"""Packages whose modules others may import."""

OPEN_MODULES = {
    # Read without the settings, which the names that `memctx.config` exports load.
    "memctx.config.embedder_names",
    "memctx.config.environment",
    # The types of keyword arguments, for type checkers only.
    "memctx.config.settings",
    # Records of sessions, for imports too: the hooks that `memctx.hosts.hooks` exports import transcripts themselves.
    "memctx.hosts.hooks.session",
}
"""Modules that others may import beside the names that their package exports."""


class Import(NamedTuple):
    """A name that a module imports from the package."""

    importer: str
    module: str
    """The module that the statement names."""
    name: str | None
    target: str
    """The file that it leads to: a submodule, or the module itself."""


def module_of(path: Path) -> str:
    parts = ("memctx", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}
PACKAGES = {name for name, path in FILES.items() if path.name == "__init__.py"}


def imports_of(importer: str) -> list[Import]:
    """Return what a file imports from memctx anywhere in it, for type checkers too."""
    found: list[Import] = []
    for node in ast.walk(ast.parse(FILES[importer].read_bytes())):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
            found += [Import(importer, name, None, name) for name in names if name in FILES]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{importer}: a relative import"
            module = node.module or ""
            if module not in FILES:
                continue  # the extension among them
            for each in node.names:
                submodule = f"{module}.{each.name}"
                if submodule != "memctx._core":
                    target = submodule if submodule in FILES else module
                    found.append(Import(importer, module, each.name, target))
    return found


IMPORTS = [found for name in FILES for found in imports_of(name)]


def exports_of(package: str) -> set[str]:
    """Return the names that a package exports: in ``__all__``, or imported as themselves."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(FILES[package].read_bytes())):
        if isinstance(node, ast.ImportFrom):
            names |= {each.name for each in node.names if each.asname == each.name}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names |= set(ast.literal_eval(node.value))
    return names


def is_open(module: str) -> bool:
    return module in OPEN_MODULES or module.rpartition(".")[0] in OPEN_PACKAGES


def is_exported(found: Import) -> bool:
    """Return whether a name is imported from a package that exports it, unless it is a package itself."""
    if found.module not in PACKAGES:
        return False
    return found.target in PACKAGES or found.name in exports_of(found.module)


def crosses(found: Import) -> bool:
    """Return whether an import goes from one room into another, which is a package."""
    rooms = [each.split(".")[1:2] for each in (found.importer, found.target)]
    return rooms[0] != rooms[1] and ".".join(["memctx", *rooms[1]]) in PACKAGES - {"memctx"}


def test_no_files_import_each_other() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for found in IMPORTS:
        if found.importer != found.target:
            graph[found.importer].add(found.target)
    assert len(graph) > 100
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" <- ".join(error.args[1])) from None


def test_packages_are_used_through_the_names_they_export() -> None:
    crossing = [found for found in IMPORTS if crosses(found)]
    assert len(crossing) > 100
    wrong = {
        f"{found.importer}: from {found.module} import {found.name}"
        for found in crossing
        if not is_open(found.target) and not is_exported(found)
    }
    assert not wrong, "\n".join(sorted(wrong))


def test_exceptions_of_these_rules_are_needed() -> None:
    used = {found.target for found in IMPORTS if crosses(found)}
    assert used >= OPEN_MODULES
    assert {module.rpartition(".")[0] for module in used} >= OPEN_PACKAGES
