"""Translations that stand message by message: gettext, Fluent, Android, JSON, scripts, short pages."""

import json
import re
from collections.abc import Iterator, Mapping

from gather.align import translations
from gather.extract.shape import Extractor, Opened, ends
from gather.formats import catalogue, fluent
from gather.items import CODE, TRANSLATION, Item, Pair, Text
from gather.markdown import strip
from gather.snapshot import Files
from gather.text import is_long_enough, is_prose, language, may_translate, normalize, plain

_ROLE = re.compile(r":[\w:+-]+:`[~!]?([^`<]*?)(?:\s*<[^`>]*>)?`")
_REFERENCE = re.compile(r"`([^`<]*?)\s*<[^`>]*>`_*|``|\|(\w+)\|")
_PLACEHOLDER = re.compile(r"\[[^\]]*\]|\{[^}]*\}|%\(?\w+\)?[sd]?|<[^>]*>")
_SAY = re.compile(r'^\s*(?:\w+\s+){0,3}"((?:[^"\\]|\\.)+)"')
_SHOWN = re.compile(r"\{/?\w+(?:=[^}]*)?\}|\[[^\]]*\]")
_LONGEST_MESSAGE = 3000
_CODES = frozenset({"en", "zh", "ja", "ko"})
_RESOURCE = re.compile(r'<string\b[^>]*\bname="(\w+)"[^>]*>(.*?)</string>', re.DOTALL)
_RESOURCES = re.compile(r"(.*res[\w-]*/values)(-[a-zA-Z-]+)?/strings\w*\.xml")
_VARIABLE = re.compile(r"%\w|\{|<xliff|https?:|\^\d")


_Keyed = Mapping[tuple[str, ...], str]


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


def android(folders: Mapping[str, str]) -> Extractor:
    """Take the string resources of Android applications; those with variables are left out.

    Args:
        folders: The end of the name of the `values` folder of each language besides English.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        found: dict[str, dict[tuple[str, ...], str]] = {}
        for path, text in opened.here.texts(lambda path: _RESOURCES.fullmatch(path) is not None):
            place = _RESOURCES.fullmatch(path)
            if place is not None:
                table = found.setdefault(place.group(2) or "", {})
                for name, value in _RESOURCE.findall(text):
                    if not _VARIABLE.search(value):
                        table[place.group(1), name] = _resource(value)
        for code, folder in folders.items():
            yield from _keyed(found.get("", {}), found.get(folder, {}), code)

    return extract


def _resource(value: str) -> str:
    """Undo the quotes and escapes of a string resource; its tags may be escaped too."""
    value = plain(plain(value)).strip().strip('"')
    value = re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape.group(1), 16)), value)
    return normalize(value.replace('" "', " ").replace("\\n", " ").replace("\\", ""))


def _keyed(english: _Keyed, other: _Keyed, code: str) -> Iterator[Item]:
    """Pair the texts that have the same key."""
    for key, text in other.items():
        if key in english and may_translate(english[key], text, code):
            yield Pair(TRANSLATION, "en", code, english[key], text)


def json_files(english: str, files: Mapping[str, str]) -> Extractor:
    """Take the texts of JSON files that stand at the same place; those with variables are left out.

    Args:
        english: The English file.
        files: The file of each other language.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        origin = _leaves(opened, english)
        for code, file in files.items():
            yield from _keyed(origin, _leaves(opened, file), code)

    return extract


def _leaves(opened: Opened, file: str) -> dict[tuple[str, ...], str]:
    """Read the texts of a JSON file by place; the name of the language is no part of a place."""
    found: dict[tuple[str, ...], str] = {}

    def walk(node: object, place: tuple[str, ...]) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, place if key in _CODES else (*place, key))
        elif isinstance(node, str) and not _VARIABLE.search(node) and not re.search(r"%\d", node):
            found[place] = normalize(plain(node))

    for _, text in opened.here.texts(file.__eq__):
        walk(json.loads(text), ())
    return found


def scripts(folders: Mapping[str, str]) -> Extractor:
    """Take the translated scripts of visual novels.

    Each line stands after the English one, which is a comment; a menu entry is `old` and `new`.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        for code, part in folders.items():
            for path, text in opened.here.texts(ends(suffix=".rpy")):
                if part not in path:
                    continue
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
