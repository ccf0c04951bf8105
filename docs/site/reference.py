"""Pages of the reference: one for each public module, with every name of its ``__all__``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from docstrings import fenced

if TYPE_CHECKING:
    from pathlib import Path

MODULES = {
    "memctx": "Open a memory, and what its calls return",
    "memctx.context": "Parts of a turn and of its report",
    "memctx.config": "Settings and their groups",
    "memctx.errors": "Exceptions",
    "memctx.protocols": "Interfaces to implement",
    "memctx.tools": "Memory tools for the model",
    "memctx.testing": "Test doubles for agents with memory",
    "memctx.messages": "Read, validate and repair messages of every format",
    "memctx.registry": "Open memories of a process",
    "memctx.facts": "Facts and their planning",
    "memctx.facts.extractors": "Extract facts with a model, a function or rules",
    "memctx.facts.worker": "Extraction in the background",
    "memctx.compaction": "Compaction, hooks, notes and recovery",
    "memctx.compaction.plan": "Planning of compactions",
    "memctx.compaction.summary": "Summaries with fallbacks",
    "memctx.embeddings": "Embedders",
    "memctx.lowlevel": "Indexes, stores and readers by themselves",
    "memctx.lowlevel.fusion": "Blend, decay, threshold and variety of scores",
    "memctx.lowlevel.ingest": "Topics, entities and noise of text",
    "memctx.lowlevel.vmem": "VMEM vector files",
    "memctx.bridge": "Parts of adapters",
    "memctx.hosts": "Hooks of agent hosts",
    "memctx.hosts.pi": "Session transcripts of Pi",
    "memctx.hosts.openclaw": "Workspaces of OpenClaw",
    "memctx.mcp": "MCP server",
    "memctx.postgres": "Server side of memory on PostgreSQL",
    "memctx.ui": "Local page",
    "memctx.cli": "Entry point of the command",
    "memctx.cli.verbs": "Slash commands for chat hosts",
    "memctx.cli.import_export": "Import and export of transcripts",
    "memctx.cli.replay": "Replay of recorded sessions",
}
"""Public modules, in the order of the reference."""


INTRODUCTION = """# API reference

Every public name, from the docstrings of the code. Names are imported on first use, so that `import memctx` is cheap.
Every exception is a [`MemctxError`](memctx.md#memctx.MemctxError), or a `TypeError` for an argument of the wrong type;
errors of the operating system stay the `OSError` that `open()` would raise.
"""


def pages(root: Path) -> dict[str, str]:
    """Return the text of each page by its path in the site."""
    source, seen = Source(root), dict[str, str]()
    rows = [f"| [`{name}`]({name}.md) | {job} |" for name, job in MODULES.items()]
    head = (INTRODUCTION, "| module | what is in it |", "| --- | --- |", *rows, "")
    made = {"reference/index.md": "\n".join(head)}
    for name in MODULES:
        made[f"reference/{name}.md"] = _page(source, name, seen)
    return made


class Source:
    """The Python files of the package, parsed once."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "python"
        self._trees: dict[str, ast.Module] = {}

    def tree(self, module: str) -> ast.Module:
        """Return the syntax tree of a module."""
        if module not in self._trees:
            path = self._folder / module.replace(".", "/")
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            file = file if file.exists() else file.with_suffix(".pyi")
            self._trees[module] = ast.parse(file.read_text("utf-8"))
        return self._trees[module]

    def exported(self, module: str) -> list[str]:
        """Return the names in ``__all__`` of a module; without one, its public classes and functions."""
        body = self.tree(module).body
        for node in body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names: list[str] = ast.literal_eval(node.value)
                return names
        defined = (node for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef))
        return [node.name for node in defined if not node.name.startswith("_")]

    def origin(self, module: str, name: str) -> str:
        """Return the path of a name where it is defined."""
        for node in ast.walk(self.tree(module)):
            source = node.module if isinstance(node, ast.ImportFrom) else None
            if source is None or not source.startswith("memctx"):
                continue
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    is_origin = source == "memctx._core" or self._is_module(f"{source}.{name}")
                    return (
                        f"{source}.{alias.name}" if is_origin else self.origin(source, alias.name)
                    )
        return f"{module}.{name}"

    def _is_module(self, path: str) -> bool:
        file = self._folder / path.replace(".", "/")
        return file.is_dir() or file.with_suffix(".py").exists()


def _page(source: Source, module: str, seen: dict[str, str]) -> str:
    summary = ast.get_docstring(source.tree(module)) or ""
    lines = [f"# {module}", "", fenced(summary), ""]
    for name in source.exported(module):
        path, origin = f"{module}.{name}", source.origin(module, name)
        if path in MODULES or origin in MODULES:
            continue  # a page of its own
        home = seen.setdefault(origin, path)
        owner = home.rpartition(".")[0]
        if home == path:
            lines += [f"::: {path}", ""]
        else:
            lines += [f"## {name}", "", f"See [`{home}`]({owner}.md#{home}).", ""]
    return "\n".join(lines)
