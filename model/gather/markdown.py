"""Split Markdown into blocks."""

import re
from dataclasses import dataclass
from enum import Enum

from gather.text import normalize, plain

_FENCE = re.compile(r"(?ms)^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$")
_FRONT = re.compile(r"\A---\n(.*?)\n---\s*\n", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)|\n(?=#)")
_ITEM = re.compile(r"^(?:[-*+]|\d+[.)])\s+")
_MACRO = re.compile(r"\{\{<?[%\s]*/?\s*[\w/-]+\s*(?:\(([^}]*)\))?[^}]*\}\}")
_LIQUID = re.compile(r"\{%.*?%\}", re.DOTALL)
_QUOTED = re.compile(r"[\"']([^\"']*)[\"']")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|:::.*?:::")
_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_MARK = re.compile(
    r"\{[#:][^}]*\}|\[\^[^\]]*\]:?|\[![A-Za-z]+\]|^:::.*$|\{/\*.*?\*/\}", re.MULTILINE
)
_STRESS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_QUOTE = re.compile(r"^\s*>\s?", re.MULTILINE)
_LINK_SHARE = 0.7


class BlockKind(Enum):
    """What a block of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a document, as plain text."""

    kind: BlockKind
    text: str


def strip(text: str) -> str:
    """Turn inline Markdown into plain text."""
    text = _LIQUID.sub("", _MACRO.sub(_argument, text))
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = _MARK.sub("", _QUOTE.sub("", text))
    return normalize(_STRESS.sub("", plain(text))).strip(" -|:")


def blocks(document: str) -> list[Block]:
    """Split a document into its blocks; a title in the front matter is the first heading."""
    found: list[Block] = []
    front = _FRONT.match(document)
    if front is not None:
        document = document[front.end() :]
        title = _TITLE.search(front.group(1))
        if title is not None:
            _add(found, BlockKind.HEADING, strip(title.group(1)))
    parts = _FENCE.split(_COMMENT.sub("\n", document))
    for prose, code in zip(parts[::3], [*parts[2::3], ""], strict=True):
        for piece in _BREAK.split(prose):
            _add_prose(found, piece.strip())
        _add(found, BlockKind.CODE, code.strip())
    return found


def _add_prose(found: list[Block], piece: str) -> None:
    """Add a piece between blank lines; tables and lists of links are left out."""
    if piece.startswith("#"):
        head, _, rest = piece.partition("\n")
        _add(found, BlockKind.HEADING, strip(head.strip("# ")))
        if rest.strip():
            _add_prose(found, rest.strip())
        return
    if piece.startswith(("|", "import ", "export ")):
        return
    links = sum(len(match.group()) for match in _LINK.finditer(piece))
    if links > _LINK_SHARE * len(piece):
        return
    if _ITEM.match(piece):
        _add(found, BlockKind.ITEM, strip(_ITEM.sub("", piece)))
    else:
        _add(found, BlockKind.PARAGRAPH, strip(piece))


def _add(found: list[Block], kind: BlockKind, text: str) -> None:
    if text:
        found.append(Block(kind, text))


def _argument(macro: re.Match[str]) -> str:
    """Give the words that a page macro shows: its second argument, else the end of the first."""
    values = _QUOTED.findall(macro.group(1) or "")
    if len(values) > 1 and values[1]:
        return str(values[1])
    return values[0].rsplit("/", 1)[-1] if values else ""
