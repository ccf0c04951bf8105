"""Dialogue."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from gather.extract.shape import Extractor, Opened, dialogue, ends
from gather.formats import conversations, members, rows
from gather.items import ANSWER, PARAPHRASE, REPLY, TRANSLATION, Item, Pair, Text
from gather.text import language, normalize

Turns = Callable[[Any], Iterator[list[str]]]

_NAMED = re.compile(r"^User \d+:\s*", re.MULTILINE)
_LONGEST_ANSWER = 400
_SHARE = 0.6


def json_dialogues(pattern: str, code: str, turns: Turns) -> Extractor:
    """Take dialogues out of JSON files, or archives of them.

    Args:
        pattern: The paths of the files.
        code: The language.
        turns: Find the turns of each dialogue in a file.
    """
    wanted = re.compile(pattern)

    def extract(opened: Opened) -> Iterator[Item]:
        for path, content in opened.here.read(lambda path: wanted.fullmatch(path) is not None):
            texts = (
                members(content, ".json") if path.endswith(".zip") else [content.decode("utf-8")]
            )
            for text in texts:
                for talk in turns(json.loads(text)):
                    yield from dialogue(
                        (normalize(turn.replace("\\r", " ")) for turn in talk), code
                    )

    return extract


def listed(field: str, said: str) -> Turns:
    """Find the turns in a list of dialogues, each with a list of turns."""

    def turns(file: Any) -> Iterator[list[str]]:
        for talk in file if isinstance(file, list) else file.values():
            found = [turn.get(said) for turn in talk.get(field, [])]
            yield [turn for turn in found if isinstance(turn, str) and turn.strip()]

    return turns


def both(asked: str, told: str) -> Turns:
    """Find the turns in a list of dialogues whose turns have what the one and the other says."""

    def turns(file: Any) -> Iterator[list[str]]:
        for talk in file:
            yield [turn[key] for turn in talk["turns"] for key in (asked, told) if turn.get(key)]

    return turns


def manuals(file: Any) -> Iterator[list[str]]:
    """Find the turns of dialogues about manuals."""
    for maker in file["dial_data"].values():
        for talk in maker:
            yield [turn["utterance"] for turn in talk["turns"] if turn.get("utterance")]


def rounds(file: Any) -> Iterator[list[str]]:
    """Find the turns of dialogues that are lists of a line and its reply."""
    for talk in file:
        lines = [line for pair in talk["dialogue"] for line in pair]
        yield [line for line in lines if "__SILENCE__" not in line]


def single(field: str | None, said: str) -> Turns:
    """Find the turns in a file that is one dialogue."""

    def turns(file: Any) -> Iterator[list[str]]:
        found = [turn.get(said) for turn in (file[field] if field is not None else file)]
        yield [turn for turn in found if isinstance(turn, str) and turn.strip()]

    return turns


def json_lines(prefix: str, code: str) -> Extractor:
    """Take dialogues out of files with one dialogue a line, and requests with their plain forms."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(ends(prefix, ".jsonl")):
            for line in text.splitlines():
                record = json.loads(line)
                turns = record.get("utterances") or record.get("context") or []
                yield from dialogue((turn["text"] for turn in turns if turn.get("text")), code)
                plain = [told.replace("【customer】", "私") for told in record.get("targets") or []]
                for request in record.get("sources") or []:
                    yield Text(code, request)
                    if len(plain) == 1 and record.get("correct", True) and _near(request, plain[0]):
                        yield Pair(PARAPHRASE, code, code, request, plain[0])

    return extract


def _near(request: str, plain: str) -> bool:
    """Say whether a plain form needs no context: it has most characters of the request."""
    return "【" not in plain and len(set(request) & set(plain)) >= _SHARE * len(set(request))


def bilingual(wanted: str, code: str) -> Extractor:
    """Take meetings that were translated sentence by sentence."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(ends(suffix=wanted)):
            for meeting in json.loads(text):
                spoken = meeting["conversation"]
                for turn in spoken:
                    other, english = turn[f"{code}_sentence"], turn["en_sentence"]
                    yield Pair(TRANSLATION, "en", code, english, other)

    return extract


def told_apart(wanted: str, column: int) -> Extractor:
    """Take dialogues out of a table, whose turns begin with the number of the speaker."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(ends(wanted, ".csv")):
            for row in list(rows(text))[1:]:
                turns = (line for line in row[column].splitlines() if line.strip())
                spoken = (_NAMED.sub("", turn) for turn in turns)
                yield from dialogue((turn for turn in spoken if "[" not in turn), "en")

    return extract


def replies(wanted: str, code: str) -> Extractor:
    """Take a table of a line and its reply."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(ends(wanted)):
            for row in list(rows(text))[1:]:
                yield Pair(REPLY, code, code, row[0], row[1])

    return extract


def lists(folders: dict[str, str]) -> Extractor:
    """Take short conversations out of YAML files; two lines are a question and its answer."""

    def extract(opened: Opened) -> Iterator[Item]:
        for code, folder in folders.items():
            for _, text in opened.here.texts(ends(folder, ".yml")):
                for turns in conversations(text):
                    if any(language(turn) != code for turn in turns):
                        continue
                    kind = ANSWER if turns[0].endswith(("?", "？")) else REPLY  # noqa: RUF001 - people write these marks
                    if len(turns) == 2 and len(turns[1]) <= _LONGEST_ANSWER:  # noqa: PLR2004 - question, answer
                        yield Pair(kind, code, code, turns[0], turns[1])
                    else:
                        yield from dialogue(turns, code)

    return extract
