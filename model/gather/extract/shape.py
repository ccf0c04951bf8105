"""The shape of an extractor, and steps that many share."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gather.items import REPLY, Item, Pair, Text
from gather.snapshot import Files

_SHORTEST_TURN = {"en": 24, "zh": 9, "ja": 10, "ko": 9}


@dataclass(frozen=True, slots=True)
class Opened:
    """A source that is ready to be read, the one that it translates, and others that it needs."""

    here: Files
    original: Files | None = None
    others: Mapping[str, Files] = field(default_factory=dict)


Extractor = Callable[[Opened], Iterator[Item]]


def ends(prefix: str = "", suffix: str = "") -> Callable[[str], bool]:
    """Want the paths that begin and end so."""
    return lambda path: path.startswith(prefix) and path.endswith(suffix)


def dialogue(turns: Iterable[str], language: str) -> Iterator[Item]:
    """Yield every turn, and each with its reply if both say something."""
    least = _SHORTEST_TURN[language]
    before = ""
    for turn in turns:
        yield Text(language, turn)
        if len(before) >= least and len(turn) >= least:
            yield Pair(REPLY, language, language, before, turn)
        before = turn


def in_turn(*extractors: Extractor) -> Extractor:
    """Run one extractor after the other."""

    def extract(opened: Opened) -> Iterator[Item]:
        for extractor in extractors:
            yield from extractor(opened)

    return extract
