"""Read the file formats of catalogues and tables."""

import ast
import csv
import html
import io
import re
import zipfile
from collections.abc import Iterator

_FLUENT = re.compile(r"(?m)^(-?[a-zA-Z][\w-]*)[ \t]*=[ \t]*((?:.*)(?:\n(?:[ \t]+[^.\s\[*}].*)?)*)")
_TERM = re.compile(r"\{\s*(-brand-[\w-]+|-[\w-]+)(?:\([^)]*\))?\s*\}")
_ROW = re.compile(r"<row\b.*?</row>", re.DOTALL)
_CELL = re.compile(r"<c\b([^>]*?)(?:/>|>(.*?)</c>)", re.DOTALL)
_INNER = re.compile(r"<(?:v|t)(?:\s[^>]*)?>(.*?)</(?:v|t)>", re.DOTALL)
_SHARED = re.compile(r"<si>(.*?)</si>", re.DOTALL)
_COLUMN = re.compile(r'r="([A-Z]+)')
_TURN = re.compile(r"^- - (.*)$|^  - (.*)$")


def catalogue(text: str) -> Iterator[tuple[str, str]]:
    """Yield message and translation of a gettext catalogue, without the fuzzy ones."""
    for entry in re.split(r"\n\s*\n", text):
        fields: dict[str, list[str]] = {}
        field = ""
        fuzzy = False
        for line in entry.splitlines():
            if line.startswith("#"):
                fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
                continue
            name, _, rest = line.partition(" ")
            if not line.startswith('"'):
                field, line = name, rest  # noqa: PLW2901
            fields.setdefault(field, []).append(_literal(line.strip()))
        message = "".join(fields.get("msgid", []))
        translation = "".join(fields.get("msgstr", fields.get("msgstr[0]", [])))
        if message and translation and not fuzzy:
            yield message, translation


def _literal(text: str) -> str:
    """Read a quoted string; give nothing for what is none."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return ""
    return value if isinstance(value, str) else ""


def fluent(text: str, terms: dict[str, str]) -> dict[str, str]:
    """Read the simple messages of a Fluent file; those with variables are left out.

    Args:
        text: The file.
        terms: What the terms of the project stand for.
    """
    found: dict[str, str] = {}
    for match in _FLUENT.finditer(text):
        value = _TERM.sub(lambda term: terms.get(term.group(1), "{"), match.group(2))
        if "{" not in value and value.strip():
            found[match.group(1)] = " ".join(value.split())
    return found


def rows(text: str, delimiter: str = ",") -> Iterator[list[str]]:
    """Yield the rows of a table with quoted cells."""
    yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def lines(text: str) -> Iterator[list[str]]:
    """Yield the cells of a table with tabs, in which a quote is only a quote."""
    for line in text.split("\n"):
        if line:
            yield line.rstrip("\r").split("\t")


def sheet(content: bytes) -> Iterator[dict[str, str]]:
    """Yield the rows of the first sheet of an Office workbook, by the letters of the columns."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        shared: list[str] = []
        if "xl/sharedStrings.xml" in book.namelist():
            strings = book.read("xl/sharedStrings.xml").decode("utf-8")
            shared = ["".join(_INNER.findall(entry)) for entry in _SHARED.findall(strings)]
        page = book.read("xl/worksheets/sheet1.xml").decode("utf-8")
    for row in _ROW.findall(page):
        cells: dict[str, str] = {}
        for attributes, body in _CELL.findall(row):
            column = _COLUMN.search(attributes)
            value = "".join(_INNER.findall(body))
            if 't="s"' in attributes and value:
                value = shared[int(value)]
            if column is not None:
                cells[column.group(1)] = html.unescape(value)
        yield cells


def members(content: bytes, suffix: str) -> Iterator[str]:
    """Yield the texts of the members of an archive whose names end so."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(suffix) and not name.startswith("__MACOSX"):
                yield archive.read(name).decode("utf-8")


def conversations(text: str) -> Iterator[list[str]]:
    """Yield the conversations of a YAML file that is nothing but lists of lists of lines."""
    turns: list[str] = []
    for line in text.splitlines():
        match = _TURN.match(line)
        if match is None:
            continue
        if match.group(1) is not None:
            if turns:
                yield turns
            turns = []
        turns.append((match.group(1) or match.group(2) or "").strip(" '\""))
    if turns:
        yield turns
