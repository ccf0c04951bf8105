"""Docstrings of the stubs and of the compiled extension."""

from __future__ import annotations

import ast
from pathlib import Path

import memctx
from memctx import _core

STUBS = sorted(Path(memctx.__file__).with_name("_core").glob("*.pyi"))
Documented = ast.ClassDef | ast.FunctionDef


def public_members() -> dict[str, Documented]:
    """Return what a user reaches through `memctx`: classes, their public members, functions."""
    members: dict[str, Documented] = {}
    for node in (node for stub in STUBS for node in ast.parse(stub.read_text("utf-8")).body):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            continue
        if node.name in {
            *memctx.__all__,
            *memctx.lowlevel.ingest.__all__,
            *memctx.lowlevel.vmem.__all__,
        }:
            members[node.name] = node
        if isinstance(node, ast.ClassDef):
            methods = (item for item in node.body if isinstance(item, ast.FunctionDef))
            members |= {f"{node.name}.{m.name}": m for m in methods if not m.name.startswith("_")}
    return members


def test_every_public_member_of_the_stubs_is_documented() -> None:
    members = public_members()
    assert {
        "Hit.score",
        "Bm25Index.search",
        "VmemReport.ok",
        "is_noise",
        "tokenize",
    } <= members.keys()
    assert [name for name, node in members.items() if not ast.get_docstring(node)] == []


def test_every_public_member_has_help_text() -> None:
    """`help()` reads the binary, not the stub."""
    silent = []
    for name in public_members():
        owner, _, member = name.rpartition(".")
        value = getattr(getattr(_core, owner) if owner else _core, member)
        if not value.__doc__:
            silent.append(name)
    assert silent == []
