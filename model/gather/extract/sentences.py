"""Sentences, questions and paraphrases."""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from gather.extract.shape import Extractor, Opened, ends
from gather.formats import lines, rows
from gather.items import ANSWER, PARAPHRASE, TRANSLATION, Item, Pair, Text
from gather.text import is_prose, language, may_translate, normalize, plain

_QUESTION = re.compile(r"<Question[^>]*>(.*?)</Question>\s*<Answer>(.*?)</Answer>", re.DOTALL)
_ASKED = re.compile(r"^What is \(are\) ")
_BEFORE_MARK = re.compile(r"\s+([.,?!:;'’])")  # noqa: RUF001 - people write these marks
_GROUP = 10


def tatoeba(wanted: str, code: str) -> Extractor:
    """Take rows of an English sentence, its translation, and where they come from."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(ends(wanted)):
            for row in lines(text):
                if len(row) > 1 and language(row[1]) == code:
                    yield Pair(TRANSLATION, "en", code, row[0], row[1])

    return extract


def line_by_line(english: str, others: Mapping[str, str], *, tokens: bool = False) -> Extractor:
    """Take files whose lines are translations of each other.

    Args:
        english: The English file.
        others: The file of each other language.
        tokens: The files have spaces between all words and marks.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        origin = _only(opened, english).split("\n")
        for code, path in others.items():
            for a, b in zip(origin, _only(opened, path).split("\n"), strict=True):
                one, two = (_join(a), b.replace(" ", "")) if tokens else (a, b)
                if may_translate(one, two, code):
                    yield Pair(TRANSLATION, "en", code, one, two)

    return extract


def _only(opened: Opened, path: str) -> str:
    """Read one file."""
    return next(text for _, text in opened.here.texts(path.__eq__)).strip("\n")


def _join(tokens: str) -> str:
    """Put marks back to the words before them, and begin with a capital letter."""
    text = _BEFORE_MARK.sub(r"\1", tokens)
    return text[:1].upper() + text[1:]


def cells(
    pattern: str, column: int, code: str, *, delimiter: str | None = None, skip: int = 0
) -> Extractor:
    """Take one column of tables.

    Args:
        pattern: The paths of the files.
        column: The column, from zero.
        code: The language.
        delimiter: What stands between cells, which may be quoted; none for tabs without quotes.
        skip: How many rows come before the first.
    """
    wanted = re.compile(pattern)

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(lambda path: wanted.fullmatch(path) is not None):
            for number, row in enumerate(rows(text, delimiter) if delimiter else lines(text)):
                if number >= skip and len(row) > column and language(row[column]) == code:
                    yield Text(code, row[column])

    return extract


def plain_lines(folders: Mapping[str, str], *, but: str) -> Extractor:
    """Take every line of text files.

    Args:
        folders: The folder of each language.
        but: A pattern of paths that are left out.
    """
    skip = re.compile(but)

    def extract(opened: Opened) -> Iterator[Item]:
        for code, folder in folders.items():
            for path, text in opened.here.texts(ends(folder, ".txt")):
                if skip.search(path):
                    continue
                for line in text.splitlines():
                    if language(line) == code:
                        yield Text(code, line)

    return extract


def field(prefix: str, name: str, code: str, accept: Callable[[str], bool]) -> Extractor:
    """Take one field of the records of JSON files.

    Args:
        prefix: The folder.
        name: The field.
        code: The language.
        accept: Say whether a text is good enough.
    """

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(ends(prefix, ".json")):
            for record in json.loads(text):
                value = normalize(plain(record[name] or ""))
                if language(value) == code and accept(value):
                    yield Text(code, value)

    return extract


def scored(
    files: str, columns: tuple[int, int, int], code: str, least: float, *, comma: bool = False
) -> Extractor:
    """Take the pairs of a table whose score is high enough; the sentences of the others are texts.

    Args:
        files: A pattern of the paths of the tables.
        columns: The columns of the two sentences and of the score.
        code: The language.
        least: The least score of a paraphrase.
        comma: The cells are quoted and stand between commas, not tabs.
    """
    wanted = re.compile(files)
    one, two, score = columns

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(lambda path: wanted.fullmatch(path) is not None):
            for row in list(rows(text) if comma else lines(text))[1:]:
                if len(row) <= max(columns):
                    continue
                if float(row[score]) >= least:
                    yield Pair(PARAPHRASE, code, code, row[one], row[two])
                else:
                    yield from (Text(code, row[one]), Text(code, row[two]))

    return extract


def judged(files: str, code: str, least: float) -> Extractor:
    """Take sentence pairs out of files of JSON records.

    Those whose label is a score that is high enough, or entailment, are paraphrases. Records that came from a machine
    translation there and back are left out.
    """
    wanted = re.compile(files)

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(lambda path: wanted.fullmatch(path) is not None):
            whole = text.lstrip().startswith("[")
            records = (
                json.loads(text) if whole else [json.loads(line) for line in text.splitlines()]
            )
            for record in records:
                if str(record.get("source", "")).endswith("-rtt"):
                    continue
                a = record.get("sentence1") or record["premise"]
                b = record.get("sentence2") or record["hypothesis"]
                yield from (Text(code, a), Text(code, b))
                label = record.get("label", record.get("gold_label"))
                score = record.get("labels", {}).get("label", label)
                if score == "entailment" or (isinstance(score, float | int) and score >= least):
                    yield Pair(PARAPHRASE, code, code, a, b)

    return extract


def intents(path: str) -> Extractor:
    """Take the requests of a JSON file of lists of requests with what they want."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(path.__eq__):
            for requests in json.loads(text).values():
                yield from (Text("en", request) for request, _ in requests)

    return extract


def choices(files: str, code: str) -> Extractor:
    """Take questions with the right one of their choices."""
    wanted = re.compile(files)

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(lambda path: wanted.fullmatch(path) is not None):
            for record in map(json.loads, text.splitlines()):
                right = record[f"choice{record['label']}"]
                yield Pair(ANSWER, code, code, record["question"], right)

    return extract


def groups(pattern: str, column: int, code: str, *, skip: int = 0) -> Extractor:
    """Take tables in which every ten rows say the same; pair each row with the two after it."""
    wanted = re.compile(pattern)

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(lambda path: wanted.fullmatch(path) is not None):
            said = [row[column] for row in list(lines(text))[skip:]]
            for start in range(0, len(said), _GROUP):
                yield from _group(said[start : start + _GROUP], code)

    return extract


def _group(said: list[str], code: str) -> Iterator[Item]:
    """Pair each text of a group with the two after it."""
    for a, b in [*pairwise(said), *zip(said, said[2:], strict=False)]:
        yield Pair(PARAPHRASE, code, code, a, b)


def answers(folder: str) -> Extractor:
    """Take questions and answers out of XML files."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(ends(folder, ".xml")):
            for question, answer in _QUESTION.findall(text):
                asked = _ASKED.sub("What is ", html.unescape(question).replace(" ?", "?"))
                told = normalize(plain(html.unescape(answer)))
                if is_prose(told):
                    yield Pair(ANSWER, "en", "en", normalize(asked), told)

    return extract


def reduced(path: str, code: str) -> Extractor:
    """Take requests with what they come down to."""

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(path.__eq__):
            for row in lines(text):
                if len(row) > 1:
                    yield Pair(PARAPHRASE, code, code, row[0], row[1])

    return extract


def splits(pattern: str) -> Extractor:
    """Take long sentences with the two shorter ones that say the same."""
    wanted = re.compile(pattern)

    def extract(opened: Opened) -> Iterator[Item]:
        for _, text in opened.here.texts(lambda path: wanted.fullmatch(path) is not None):
            for row in lines(text):
                if len(row) == 2:  # noqa: PLR2004 - columns of the file
                    whole, parts = (_untoken(cell) for cell in row)
                    yield Pair(PARAPHRASE, "en", "en", whole, parts)

    return extract


def _untoken(text: str) -> str:
    """Undo the spaces and marks of tokens."""
    text = text.replace("<::::>", " ").replace("''", '"').replace("( ", "(").replace(" )", ")")
    return _BEFORE_MARK.sub(r"\1", text)
