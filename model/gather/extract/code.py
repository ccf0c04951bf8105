"""Functions with what is written about them."""

import ast
import re
from collections.abc import Iterator

from gather.extract.shape import Extractor, Opened, ends
from gather.items import CODE, Item, Pair
from gather.text import is_prose, normalize

_GO = re.compile(r"(?m)((?:^//(?!go:| \+build).*\n)+)(^func [^\n]*\{\n(?:.*\n)*?^\}\n)")
_LONGEST = 1000
_SHORTEST = 60
_SHORTEST_NOTE = 25


def python(prefix: str, *, but: str) -> Extractor:
    """Take Python functions and the first paragraph of what their docstring says."""
    skip = re.compile(but)

    def extract(opened: Opened) -> Iterator[Item]:
        for path, text in opened.here.texts(ends(prefix, ".py")):
            if skip.search(path):
                continue
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from _function(node)

    return extract


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Item]:
    """Yield a function without its docstring, and the first paragraph of that."""
    note = ast.get_docstring(node)
    if note is None or len(node.body) == 1:
        return
    node.body = node.body[1:]
    body = ast.unparse(node)
    yield from _pair(re.split(r"\n\s*\n|\n\s*>>>", note)[0], body)


def go(prefix: str) -> Extractor:
    """Take Go functions and the comments before them."""

    def extract(opened: Opened) -> Iterator[Item]:
        for path, text in opened.here.texts(ends(prefix, ".go")):
            if path.endswith("_test.go") or "/testdata/" in path or "/vendor/" in path:
                continue
            for comment, body in _GO.findall(text):
                note = re.sub(r"(?m)^// ?", "", comment)
                yield from _pair(re.split(r"\n\s*\n", note)[0], body)

    return extract


def _pair(note: str, body: str) -> Iterator[Item]:
    note = normalize(note)
    if len(note) >= _SHORTEST_NOTE and is_prose(note) and _SHORTEST <= len(body) <= _LONGEST:
        yield Pair(CODE, "en", "code", note, body)
