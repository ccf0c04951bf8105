"""Sentences in ten styles, and their translations, which lie in two places in different order."""

import re
from collections.abc import Iterator, Mapping

from gather.extract.shape import Extractor, Opened
from gather.formats import lines, sheet
from gather.items import PARAPHRASE, TRANSLATION, Item, Pair
from gather.match import Block, match, pieces, words
from gather.snapshot import Files

_STYLES = 10
_BLOCK = 125
_ACTS = 4
_SHEETS = re.compile(r"split/stylekqc_\w+\.xlsx")


def styled(seeds: Mapping[str, Extractor]) -> Extractor:
    """Take English sentences that say the same, with the Korean ones that they translate.

    A block is a topic and an act of speech. Within a group the sentences stand in the same order in both languages.
    Each English sentence also goes with a Korean one of the other manner, formal or not, for that says the same too.

    Args:
        seeds: The sources of known translations.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        english = _english(opened.here)
        if opened.original is None:
            raise ValueError("the Korean sentences are missing")
        korean = _korean(opened.original)
        known = [
            (words([item.a]), pieces([item.b]))
            for name, extractor in seeds.items()
            for item in extractor(Opened(opened.others[name]))
            if isinstance(item, Pair) and item.kind == TRANSLATION and item.language_b == "ko"
        ]
        blocks = [
            Block([words(group) for group in a], [pieces(group) for group in b])
            for a, b in zip(english, korean, strict=True)
        ]
        for (block, one), two in sorted(match(blocks, known).items()):
            a, b = english[block][one], korean[block][two]
            for number in range(_STYLES):
                other = (number + _STYLES // 2) % _STYLES
                yield Pair(TRANSLATION, "en", "ko", a[number], b[number])
                yield Pair(TRANSLATION, "en", "ko", a[number], b[other])
        for group in (group for block in english for group in block):
            for step in (1, 2):
                for said, again in zip(group, group[step:], strict=False):
                    yield Pair(PARAPHRASE, "en", "en", said, again)

    return extract


def _english(snapshot: Files) -> list[list[list[str]]]:
    """Read the English groups, block by block; their numbers are those of the collection."""
    found: dict[int, dict[int, str]] = {}
    for _, content in snapshot.read(lambda path: _SHEETS.fullmatch(path) is not None):
        for row in list(sheet(content))[1:]:
            group, _, style = row["B"].partition("_")
            found.setdefault(int(group), {})[int(style)] = row.get("C", "")
    groups = [[found[number][style] for style in range(_STYLES)] for number in sorted(found)]
    return [groups[start : start + _BLOCK] for start in range(0, len(groups), _BLOCK)]


def _korean(snapshot: Files) -> list[list[list[str]]]:
    """Read the Korean groups, block by block; topic and act stand in two tables with the same rows."""
    tables = dict(snapshot.texts(lambda path: path.startswith(("topic/", "act/"))))
    found: dict[int, list[list[str]]] = {}
    for part in ("train", "dev", "test"):
        topics = list(lines(tables[f"topic/{part}.tsv"]))[1:]
        acts = list(lines(tables[f"act/{part}.tsv"]))[1:]
        for start in range(0, len(topics), _STYLES):
            block = int(topics[start][0]) * _ACTS + int(acts[start][0])
            group = [row[1] for row in topics[start : start + _STYLES]]
            found.setdefault(block, []).append(group)
    return [found[block] for block in sorted(found)]
