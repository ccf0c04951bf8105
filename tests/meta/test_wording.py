"""Wording that no single-word spelling check finds: phrases, and docstrings that open with a question."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ("tests/golden/", "tests/redaction/", "rust/memctx-core/src/redact/data/")

PHRASES = {
    r"the originals?": "OpenClaw's plugin, or the thing itself",
    r"(?:as|by|in|like) the seed|the seed (?:as|does|has|keeps)|the seed's": "OpenClaw's plugin",
    r"in so many words": "explicitly",
    r"at birth": "before the first send",
    r"cold tier": "disk index",
    r"in(?:to)? the race": "candidates",
    r"not to be had": "unavailable",
    r"polite threads?": "low-priority thread",
}
"""Phrases that are not used, each with the words to use instead."""

QUESTION = re.compile(r"(?:How|What|Whether|Which|Who|Whom|Whose|Why)\b")
RUST_DOC = re.compile(r"^\s*//[/!] ?(.*)$")
VAGUE_NAME = re.compile(
    r"(?:def test_|#\[test\]\s+fn )((?:how|it|nobody|they|what|which|who|whoever)_\w+)"
)


@cache
def texts(*endings: str) -> dict[str, str]:
    """Return the project's texts by path, data and this file aside."""
    folders = (ROOT / name for name in ("benches", "docs", "python", "rust", "tests"))
    paths = [*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*"))]
    named = {path.relative_to(ROOT).as_posix(): path for path in paths if path != Path(__file__)}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in named.items()
        if name.endswith(endings) and not name.startswith(DATA)
    }


def docstrings(source: str) -> list[str]:
    """Return every docstring of a Python file, those of attributes included."""
    values = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    constants = (value.value for value in values if isinstance(value, ast.Constant))
    return [value for value in constants if isinstance(value, str)]


def doc_comments(source: str) -> list[str]:
    """Return the first line of every doc comment of a Rust file."""
    found = [RUST_DOC.match(line) for line in source.splitlines()]
    return [match[1] for before, match in pairwise([None, *found]) if match and not before]


@pytest.mark.parametrize("phrase", PHRASES)
def test_banned_phrases_are_not_used(phrase: str) -> None:
    banned = re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE)
    sources = texts(".md", ".py", ".pyi", ".rs", ".toml")
    assert len(sources) > 500
    used = [
        f"{name}:{number}: {line.strip()}"
        for name, text in sources.items()
        if banned.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if banned.search(line)
    ]
    assert used == [], f"write {PHRASES[phrase]}"


def test_docstrings_open_with_no_question() -> None:
    found = [(name, docstrings(text)) for name, text in texts(".py", ".pyi").items()]
    found += [(name, doc_comments(text)) for name, text in texts(".rs").items()]
    assert sum(len(docs) for _, docs in found) > 5_000
    asking = [
        f"{name}: {text.splitlines()[0]}"
        for name, docs in found
        for text in docs
        if QUESTION.match(text.lstrip())
    ]
    assert asking == [], "say what it does (Return …) or is (Number of …, True if …)"


def test_test_names_carry_their_subject() -> None:
    sources = texts(".py", ".rs").items()
    vague = [f"{name}: {found}" for name, text in sources for found in VAGUE_NAME.findall(text)]
    assert vague == []
