"""Translations that stand message by message: gettext, Fluent, properties, scripts, short pages."""

import re
from collections.abc import Iterator, Mapping

from gather.align import translations
from gather.extract.shape import Extractor, Opened, ends
from gather.formats import catalogue, fluent
from gather.items import CODE, Item, Pair, Text
from gather.markdown import strip
from gather.snapshot import Files
from gather.text import is_long_enough, is_prose, language, may_translate

_ROLE = re.compile(r":[\w:+-]+:`[~!]?([^`<]*?)(?:\s*<[^`>]*>)?`")
_REFERENCE = re.compile(r"`([^`<]*?)\s*<[^`>]*>`_*|``|\|(\w+)\|")
_PLACEHOLDER = re.compile(r"\[[^\]]*\]|\{[^}]*\}|%\(?\w+\)?[sd]?|<[^>]*>")
_SAY = re.compile(r'^\s*(?:\w+\s+){0,3}"((?:[^"\\]|\\.)+)"')
_SHOWN = re.compile(r"\{/?\w+(?:=[^}]*)?\}|\[[^\]]*\]")
_LONGEST_MESSAGE = 3000


def gettext(folders: Mapping[str, str]) -> Extractor:
    """Take gettext catalogues with English messages.

    Args:
        folders: The beginning of the paths of each language.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        for code, folder in folders.items():
            for _, text in opened.here.texts(ends(folder, ".po")):
                for message, translation in catalogue(text):
                    if len(message) <= _LONGEST_MESSAGE:
                        yield from _message(_plain(message), _plain(translation), code)

    return extract


def _plain(text: str) -> str:
    """Drop the marks of reStructuredText and Markdown."""
    return strip(_REFERENCE.sub(r"\1\2", _ROLE.sub(r"\1", text)))


def _message(english: str, other: str, code: str) -> Iterator[Item]:
    """Yield a message with its translation, and both as texts if they say something."""
    yield from translations(english, other, code)
    for text, expected in ((english, "en"), (other, code)):
        if is_prose(text) and is_long_enough(text) and language(text) == expected:
            yield Text(expected, text)


def fluent_files(english: str, folders: Mapping[str, str]) -> Extractor:
    """Take Fluent files; the English ones are those of the original if there is one.

    Args:
        english: The folder of the English files.
        folders: The folder of each other language.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        origin = _fluent_folder(opened.original or opened.here, english)
        for code, folder in folders.items():
            for key, other in _fluent_folder(opened.here, folder).items():
                if key in origin:
                    yield from _message(strip(origin[key]), strip(other), code)

    return extract


def _fluent_folder(snapshot: Files, folder: str) -> dict[tuple[str, str], str]:
    """Read the messages of a folder by file and name."""
    files = dict(snapshot.texts(ends(folder, ".ftl")))
    terms: dict[str, str] = {}
    for path, text in files.items():
        if "brand" in path:
            terms |= {name: value for name, value in fluent(text, {}).items() if name[0] == "-"}
    return {
        (path[len(folder) :], name): value
        for path, text in files.items()
        for name, value in fluent(text, terms).items()
        if name[0] != "-"
    }


def properties(files: Mapping[str, str]) -> Extractor:
    """Take files of lines with an English text, an equals sign and its translation."""

    def extract(opened: Opened) -> Iterator[Item]:
        for code, file in files.items():
            for _, text in opened.here.texts(ends(suffix=file)):
                for line in text.splitlines():
                    english, found, other = line.partition(" = ")
                    if found and not line.startswith((" #", "#")):
                        a, b = (part.replace("\\n", " ").strip() for part in (english, other))
                        if not _PLACEHOLDER.search(a) and not _PLACEHOLDER.search(b):
                            yield from translations(a, b, code)

    return extract


def scripts(folders: Mapping[str, str]) -> Extractor:
    """Take the translated scripts of visual novels.

    Each line stands after the English one, which is a comment; a menu entry is `old` and `new`.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        for code, part in folders.items():
            wanted = (path for path in opened.here.paths if part in path and path.endswith(".rpy"))
            chosen = frozenset(wanted)
            for _, text in opened.here.texts(chosen.__contains__):
                english = ""
                for line in text.splitlines():
                    said = _SAY.match(line.strip().removeprefix("# "))
                    if said is None:
                        continue
                    words = _SHOWN.sub("", said.group(1).replace('\\"', '"').replace("\\n", " "))
                    if line.strip().startswith(("#", "old ")):
                        english = words
                    elif english:
                        yield from translations(english, words, code)
                        english = ""

    return extract


def short_pages(folders: Mapping[str, str]) -> Extractor:
    """Take pages on commands: what each example does, its command, and both in other languages."""

    def extract(opened: Opened) -> Iterator[Item]:
        english: dict[str, list[tuple[str, str]]] = {}
        for code, folder in folders.items():
            for path, text in opened.here.texts(ends(f"{folder}/", ".md")):
                key = path[len(folder) :]
                own = _page(text)
                for does, command in own:
                    yield Pair(CODE, code, "code", does, command)
                if code == "en":
                    english[key] = own
                    continue
                origin = english.get(key, [])
                if len(origin) == len(own):
                    for (a, _), (b, _) in zip(origin, own, strict=True):
                        if may_translate(a, b, code):
                            yield from translations(a, b, code)

    return extract


def _page(text: str) -> list[tuple[str, str]]:
    """Read what the examples of a page do, and their commands."""
    found: list[tuple[str, str]] = []
    does = ""
    for line in text.splitlines():
        if line.startswith("- "):
            does = line[2:].rstrip(":：").replace("`", "").strip()  # noqa: RUF001 - people write these marks
        elif line.startswith("`") and does:
            found.append((does, re.sub(r"\{\{|\}\}", "", line.strip("`"))))
            does = ""
    return found
