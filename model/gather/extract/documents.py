"""Documentation in Markdown, with or without translations."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from gather.align import align
from gather.extract.shape import Extractor, Opened
from gather.items import ANSWER, BODY, CODE, Item, Pair, Text
from gather.markdown import Block, BlockKind, blocks
from gather.snapshot import Files
from gather.text import is_long_enough, is_prose, language

Wanted = Callable[[str], str | None]

_QUESTION = re.compile(
    r"[?？]$|(?:까|나요|는가|가요)[.?]?$|^(?:how|what|why|when|where|who|can|does|do|is|are) .{12}",  # noqa: RUF001 - people write these marks
    re.IGNORECASE,
)
_MACHINE = re.compile(r"^\s*ms\.translationtype:\s*MT", re.MULTILINE)
_STATED = re.compile(r"machine[- ]translated", re.IGNORECASE)
_HEAD = 3000
_OFTEN = 3
_LONGEST_CODE = 1000
_SHORTEST_CODE = 15
_LONGEST_BODY = 900
_SHORTEST_HEADING = 6
_FEWEST_TRANSLATED = 3


def under(prefix: str, suffix: str = ".md", *, but: str | None = None) -> Wanted:
    """Key the documents of a folder by their path in it.

    Args:
        prefix: The folder.
        suffix: How the names end.
        but: A pattern of paths that are left out.
    """
    skip = re.compile(but) if but is not None else None

    def key(path: str) -> str | None:
        if not (path.startswith(prefix) and path.endswith(suffix)):
            return None
        if skip is not None and skip.search(path):
            return None
        return path[len(prefix) : len(path) - len(suffix)]

    return key


def documents(wanted: Wanted) -> Extractor:
    """Take the texts of documents in one language."""

    def extract(opened: Opened) -> Iterator[Item]:
        headings: Counter[str] = Counter()
        for document in _read(opened.here, wanted).values():
            yield from _single(document, headings)

    return extract


def translated(english: Wanted, others: Mapping[str, Wanted]) -> Extractor:
    """Take the texts of translated documents, and align them with the English ones.

    The English documents are those of the original if there is one; then their own texts are left to it.

    Args:
        english: The English documents.
        others: The documents of each other language, with the same keys.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        headings: Counter[str] = Counter()
        origin = _read(opened.original or opened.here, english)
        if opened.original is None:
            for document in origin.values():
                yield from _single(document, headings)
        for code, wanted in others.items():
            for key, document in _read(opened.here, wanted).items():
                prose = [block for block in document if block.kind is not BlockKind.CODE]
                if sum(language(block.text) == code for block in prose) < _FEWEST_TRANSLATED:
                    continue
                for item in _single(document, headings):
                    if not isinstance(item, Text) or item.language == code:
                        yield item
                if key in origin:
                    yield from align(origin[key], document, code)

    return extract


def _read(snapshot: Files, wanted: Wanted) -> dict[str, list[Block]]:
    """Read documents by key, without those that say that a machine translated them."""
    found: dict[str, list[Block]] = {}
    for path, text in snapshot.texts(lambda path: wanted(path) is not None):
        if path.endswith(".ipynb"):
            found[str(wanted(path))] = blocks(_notebook(text))
        elif path.endswith((".md", ".mdx")) and not _by_machine(text):
            found[str(wanted(path))] = blocks(text)
    return found


def _by_machine(text: str) -> bool:
    """Say whether a document says that a machine translated it."""
    return _MACHINE.search(text) is not None or _STATED.search(text[:_HEAD]) is not None


def _notebook(text: str) -> str:
    """Write the cells of a notebook as Markdown."""
    parts: list[str] = []
    for cell in json.loads(text).get("cells", []):
        body = "".join(cell.get("source", []))
        parts.append(body if cell.get("cell_type") == "markdown" else f"```\n{body}\n```")
    return "\n\n".join(parts)


def _single(document: list[Block], headings: Counter[str]) -> Iterator[Item]:
    """Take the texts of one document, headings with what follows, and code with what explains it."""
    heading = ""
    body: list[str] = []
    before = ""
    for block in document:
        if block.kind is BlockKind.HEADING:
            yield from _section(heading, body, headings)
            heading, body, before = block.text, [], ""
        elif block.kind is BlockKind.CODE:
            long = len(block.text)
            if before and _SHORTEST_CODE <= long <= _LONGEST_CODE and "{{#" not in block.text:
                yield Pair(CODE, language(before), "code", before, block.text)
            before = ""
        else:
            before = ""
            if is_prose(block.text):
                body.append(block.text)
                if is_long_enough(block.text):
                    yield Text(language(block.text), block.text)
                    before = block.text
    yield from _section(heading, body, headings)


def _section(heading: str, body: list[str], headings: Counter[str]) -> Iterator[Item]:
    """Pair a heading with the beginning of its section, unless many sections have that heading."""
    text = ""
    for part in body:
        if text and len(text) + len(part) > _LONGEST_BODY:
            break
        text = f"{text} {part}".strip()
    if len(heading) < _SHORTEST_HEADING or not is_prose(heading) or not is_long_enough(text):
        return
    headings[heading.casefold()] += 1
    code = language(text)
    if headings[heading.casefold()] <= _OFTEN and language(heading) == code:
        yield Pair(ANSWER if _QUESTION.search(heading) else BODY, code, code, heading, text)
