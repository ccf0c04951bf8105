"""Words and phrases with what they mean: dictionaries, wordnets, and names of things."""

import gzip
import json
import lzma
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from gather.extract.shape import Extractor, Opened, ends
from gather.formats import lines
from gather.items import PARAPHRASE, TRANSLATION, Item, Pair
from gather.snapshot import Files
from gather.text import language, may_translate, normalize

_GLOSSES = 5
_LONGEST_GLOSSES = 160
_SYNONYMS = 4

_ENTRY = re.compile(r"^(\S+) (\S+) \[([^\]]*)\] /(.*)/\s*$")
_READING = re.compile(r"\[[^\]]*\]|\b[A-Za-z]+\d\b")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NO_MEANING = re.compile(
    r"^(?:CL:|also |see |used in |surname |abbr\. |\w+ variant of|variant of|\(bound form\)$|"
    r"Taiwan pr|Japanese variant|classifier )|"
    r"\((?:[^()]*\b)?(?:archaic|old|obsolete|vulgar|dialect|literary|classical)\b[^()]*\)|"
    r"\b(?:radical|penis|vagina|fuck|cunt)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()]*\)")
_STALE = frozenset(
    {
        "archaism",
        "dated term",
        "derogatory",
        "full name of a particular person",
        "historical term",
        "manga slang",
        "obscure term",
        "obsolete term",
        "place name",
        "rare",
        "vulgar expression or word",
        "work of art, literature, music, etc. name",
    }
)
_KANA_ALONE = "word usually written using kana alone"
_PHRASE = "expressions (phrases, clauses, etc.)"
_PROPER = "7"
_CLEAR_FIELDS = ("cuisine", "sport", "clothes", "crop", "material", "healthcare/speciality")
_SYNSET = re.compile(r"(?m)^(\d{8}-[a-z]):\n((?:[ \n].*\n?)*)")


def _glosses(found: list[str]) -> str:
    """Join the first glosses, as many as are not too long."""
    kept: list[str] = []
    for gloss in found[:_GLOSSES]:
        if kept and len("; ".join([*kept, gloss])) > _LONGEST_GLOSSES:
            break
        kept.append(gloss)
    return "; ".join(kept)


def kengdic(path: str) -> Extractor:
    """Take the words of a database dump with Korean words in its second column, English in its fourth."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(path.__eq__):
            for row in lines(text):
                if len(row) < 5 or row[4] == _PROPER or not _HAN.match(row[1]):  # noqa: PLR2004 - columns of the file
                    continue
                english = normalize(row[3].replace("\\n", " ")).strip(" .")
                if english in {"", "\\N"} or english.startswith("Region") or _HAN.search(english):
                    continue
                for word in re.split(r"\s*[,/]\s*", re.sub(r"\([^)]*\)", "", row[1])):
                    yield Pair(TRANSLATION, "en", "ko", english, word)

    return extract


def cedict(suffix: str) -> Extractor:
    """Take the words of a compressed CEDICT file, in simplified characters; names have capitals."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, content in opened.here.read(ends(suffix=suffix)):
            for line in gzip.decompress(content).decode("utf-8").splitlines():
                entry = _ENTRY.match(line)
                if entry is None or entry.group(3)[:1].isupper():
                    continue
                glosses = [
                    normalize(_READING.sub("", gloss))
                    for gloss in entry.group(4).split("/")
                    if _NO_MEANING.search(gloss) is None and not _HAN.search(_ASIDE.sub("", gloss))
                ]
                plain = [normalize(_ASIDE.sub("", gloss)) for gloss in glosses]
                yield Pair(
                    TRANSLATION, "en", "zh", _glosses([g for g in plain if g]), entry.group(2)
                )

    return extract


def jmdict(suffix: str) -> Extractor:
    """Take the common words and the phrases of a compressed JMdict database, sense by sense.

    A common word also goes with its reading.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        for _, content in opened.here.read(ends(suffix=suffix)):
            with sqlite3.connect(":memory:") as database:
                database.deserialize(lzma.decompress(content))
                yield from _japanese(database)

    return extract


def _japanese(database: sqlite3.Connection) -> Iterator[Item]:
    """Yield the pairs of a JMdict database."""
    kanji = _lists(database, "SELECT idseq, text FROM Kanji ORDER BY ID")
    kana = _lists(database, "SELECT idseq, text FROM Kana ORDER BY ID")
    common = {
        row[0]
        for row in database.execute(
            "SELECT idseq FROM Kanji JOIN KJP ON kid = ID UNION SELECT idseq FROM Kana JOIN KNP ON kid = ID"
        )
    }
    tags = _lists(database, "SELECT sid, text FROM misc")
    kinds = _lists(database, "SELECT sid, text FROM pos")
    meanings = _lists(database, "SELECT sid, text FROM SenseGloss WHERE lang IN ('eng', 'en', '')")
    for sense, entry in database.execute("SELECT ID, idseq FROM Sense ORDER BY ID").fetchall():
        phrase = _PHRASE in kinds[sense]
        if _STALE.intersection(tags[sense]) or not (entry in common or phrase):
            continue
        spelled = kanji[entry][0] if kanji[entry] else ""
        read = kana[entry][0]
        glosses = [normalize(_ASIDE.sub("", gloss)) for gloss in meanings[sense]]
        word = read if not spelled or _KANA_ALONE in tags[sense] else spelled
        yield Pair(TRANSLATION, "en", "ja", _glosses([gloss for gloss in glosses if gloss]), word)
        if spelled:
            yield Pair(PARAPHRASE, "ja", "ja", spelled, read)


def _lists(database: sqlite3.Connection, query: str) -> defaultdict[int, list[str]]:
    """Gather the texts of a query by the number before them."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for number, text in database.execute(query):
        found[number].append(text)
    return found


@dataclass(frozen=True, slots=True)
class _Synset:
    """Words of one meaning."""

    index: str
    members: list[str]
    definition: str


def _synsets(files: Files) -> Iterator[_Synset]:
    """Read the meanings of the Open English WordNet that are no names."""
    for _, text in files.texts(
        lambda path: re.search(r"src/yaml/(?:adj|adv|noun|verb)\.", path) is not None
    ):
        for _, body in _SYNSET.findall(text):
            fields = _fields(body)
            members = fields.get("members", [])
            definitions = fields.get("definition", [])
            members = [word for word in members if word.islower()]
            if members and definitions:
                index = next(iter(fields.get("ili", [])), "")
                yield _Synset(index, members, definitions[0])


def _fields(body: str) -> dict[str, list[str]]:
    """Read the lists and the scalars of one YAML entry; a line that is indented further goes on."""
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for line in body.splitlines():
        name, colon, rest = line.strip().partition(":")
        if line.startswith("  - "):
            values.append(line[4:])
        elif line.startswith("    ") and values:
            values[-1] += " " + line.strip()
        elif colon and line.startswith("  "):
            values = found.setdefault(name, [])
            values.extend([rest.strip()] if rest.strip() else [])
    return {name: [_scalar(value) for value in texts] for name, texts in found.items()}


def _scalar(text: str) -> str:
    """Undo the quotes of YAML."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace("\\ ", " ").replace('\\"', '"').replace("\\", "")
    return text


def _words(synset: _Synset) -> str:
    """Join the words of a meaning."""
    return ", ".join(synset.members[:_SYNONYMS])


def english_wordnet(opened: Opened) -> Iterator[Item]:
    """Take English words with their definitions, and words of the same meaning."""
    for synset in _synsets(opened.here):
        yield Pair(PARAPHRASE, "en", "en", _words(synset), synset.definition)
        for one, two in combinations(synset.members[:3], 2):
            yield Pair(PARAPHRASE, "en", "en", one, two)


def nothing(opened: Opened) -> Iterator[Item]:  # noqa: ARG001 - extractors are called so
    """Take nothing: another source reads this one."""
    yield from ()


def wordnet(tables: Mapping[str, str], english: str, index: str, pairs_of: int = 3) -> Extractor:
    """Take words of meanings that English has too, with the English words and the definition.

    Words of the same meaning are paraphrases.

    Args:
        tables: The table of each language.
        english: The name of the source with the English words.
        index: The name of the source with the numbers of the meanings.
        pairs_of: How many words of one meaning are paired with each other.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        numbers = {
            row[1].replace("-s", "-a"): row[0]
            for _, text in opened.others[index].texts("ili-map-pwn30.tab".__eq__)
            for row in lines(text)
        }
        meanings = {synset.index: synset for synset in _synsets(opened.others[english])}
        for code, path in tables.items():
            for number, words in _lemmas(opened.here, path, code).items():
                synset = meanings.get(numbers.get(number.replace("-s", "-a"), ""))
                if synset is None:
                    continue
                for word in words:
                    yield Pair(TRANSLATION, "en", code, _words(synset), word)
                    yield Pair(TRANSLATION, "en", code, synset.definition, word)
                for one, two in combinations(words[:pairs_of], 2):
                    yield Pair(PARAPHRASE, code, code, one, two)

    return extract


def _lemmas(files: Files, path: str, code: str) -> dict[str, list[str]]:
    """Read the words of each meaning of a table."""
    found: dict[str, list[str]] = {}
    for _, text in files.texts(path.__eq__):
        for row in lines(text):
            if len(row) == 3 and row[1].endswith("lemma") and _HAN.search(row[2]):  # noqa: PLR2004 - columns of the file
                word = normalize(row[2].replace("_", " ").replace("+", ""))
                words = found.setdefault(row[0], [])
                if word not in words and (code != "ko" or language(word) == "ko"):
                    words.append(word)
    return found


def annotations(folder: str, codes: tuple[str, ...]) -> Extractor:
    """Take the names and the keywords of emoji out of the CLDR.

    Args:
        folder: The folder that has a folder for each language.
        codes: The languages besides English.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        origin = _emoji(opened.here, folder, "en")
        for code in codes:
            for sign, (name, keywords) in _emoji(opened.here, folder, code).items():
                if sign in origin:
                    yield Pair(TRANSLATION, "en", code, origin[sign][0], name)
                    yield Pair(TRANSLATION, "en", code, origin[sign][1], keywords)
                    yield Pair(PARAPHRASE, code, code, name, keywords)

    return extract


def _emoji(files: Files, folder: str, code: str) -> dict[str, tuple[str, str]]:
    """Read the name and the keywords of each emoji."""
    text = next(text for _, text in files.texts(f"{folder}{code}/annotations.json".__eq__))
    found = json.loads(text)["annotations"]["annotations"]
    return {
        sign: (
            entry["tts"][0],
            ", ".join([w for w in entry["default"] if w != entry["tts"][0]][:8]),
        )
        for sign, entry in found.items()
        if "tts" in entry and "default" in entry
    }


def presets(folder: str, files: Mapping[str, str]) -> Extractor:
    """Take the names of things on maps; their other terms only go near them.

    Args:
        folder: The folder of the translations.
        files: The file of each language besides English.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        origin = _named(opened.here, folder + "en.json")
        for code, name in files.items():
            for key, label in _named(opened.here, folder + name).items():
                if key in origin and language(label) == code:
                    yield Pair(TRANSLATION, "en", code, origin[key], label)

    return extract


def _named(files: Files, path: str) -> dict[str, str]:
    """Read the name of each preset, and the options of the fields that are clear alone."""
    text = next(text for _, text in files.texts(path.__eq__))
    tables = next(iter(json.loads(text).values()))["presets"]
    found = {key: entry["name"] for key, entry in tables["presets"].items() if "name" in entry}
    for field in _CLEAR_FIELDS:
        for option, value in tables["fields"].get(field, {}).get("options", {}).items():
            found[f"{field}:{option}"] = value["title"] if isinstance(value, dict) else value
    return found


def context(folder: str, *, but: str) -> Extractor:
    """Take Korean words with English ones, explanations in both languages, and conversations.

    Most examples and some explanations are the same sentence with another word; they are left out.

    Args:
        folder: The folder of the entries and the conversations.
        but: A pattern of the entries that are left out.
    """
    skip = re.compile(but)

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts((folder + "conversations.json").__eq__):
            for line in (line for talk in json.loads(text) for line in talk["dialogue"]):
                yield Pair(TRANSLATION, "en", "ko", line["en"], line["ko"])
        explained: list[tuple[str, str, str]] = []
        for path, text in opened.here.texts(ends(folder + "entries/", ".json")):
            for entry in json.loads(text) if skip.search(path) is None else ():
                english, korean = (entry["translations"].get(code, {}) for code in ("en", "ko"))
                for word in entry["korean"].split(" / "):
                    yield Pair(
                        TRANSLATION, "en", "ko", _ASIDE.sub("", english["word"]), word.strip("~")
                    )
                a, b = english.get("explanation", ""), korean.get("explanation", "")
                if may_translate(a, b, "ko") and not _HAN.search(a):
                    explained.append((a, b, b.replace(entry["korean"], "")))
        frames = Counter(frame for _, _, frame in explained)
        for a, b, frame in explained:
            if frames[frame] == 1:
                yield Pair(TRANSLATION, "en", "ko", a, b)

    return extract
