"""Conversations from a random seed: the first n messages are the same however many follow.

Messages come in episodes of some eighty that have two topics, names of their own, and one language: two in ten Chinese,
Japanese or Korean. A tenth of the messages repeats an earlier one of its episode with a few changes. Some episodes in a
row are a session.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice
from random import Random
from typing import TYPE_CHECKING

from cold import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cold.lexicon import Language

SEED = 7
TOPICS = 300
SESSIONS = 250
EPISODE = (40, 120)
"""Least and most messages of an episode."""
LENGTH = {"en": 330, "zh": 165, "ja": 190, "ko": 210}
"""Characters of a message, about; a Chinese one says as much in half of them."""
WORD = {"en": 8, "zh": 3, "ja": 4, "ko": 5}
"""Characters of a word, with what stands behind it and with a share of the names and paths."""
SPREAD = 0.45
KINDS = ("common", "first", "second", "own", "thing")
SHARES = (60, 73, 84, 94, 100)
REPEATED = 0.1
SPACE = {"en": " ", "zh": "", "ja": "", "ko": " "}
STOP = {"en": ". ", "zh": "。", "ja": "。", "ko": ". "}
COMMA = {"en": ", ", "zh": "，", "ja": "、", "ko": ", "}  # noqa: RUF001 - people write it so
ENDINGS = ("rs", "py", "ts", "toml", "json", "md", "sql", "yaml")
LEVELS = ("INFO", "WARN", "ERROR", "DEBUG")
YEAR = 365 * 24 * 3600 * 1000
BEGAN = 1_762_000_000_000
"""Time of the first message, in milliseconds since 1970; the last one is a year later."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message; its episode tells its session once the number of all messages is known."""

    episode: int
    role: str
    text: str


class Episode:
    """Common parts of the messages of one episode."""

    def __init__(self, number: int, seed: int = SEED) -> None:
        self.number = number
        self._chance = chance = Random(f"{seed} episode {number}")
        self.language: Language = chance.choices(("en", "zh", "ja", "ko"), (78, 12, 5, 5))[0]
        self._general = lexicon.general(self.language, seed)
        first, second = chance.sample(range(TOPICS), 2)
        self._topics = [lexicon.topic(self.language, seed, which) for which in (first, second)]
        self._own = lexicon.Words.of(lexicon.some(self.language, chance, 14))
        self._names = [self._name(chance) for _ in range(10)]
        self._paths = [self._path(chance) for _ in range(6)]

    def messages(self) -> Iterator[Said]:
        """Yield the messages of the episode."""
        chance = self._chance
        said: list[str] = []
        for _ in range(chance.randint(*EPISODE)):
            role = chance.choices(("user", "assistant", "tool"), (30, 42, 28))[0]
            if said and chance.random() < REPEATED:
                text = self._changed(chance.choice(said[-40:]), chance)
            elif role == "tool":
                text = self._output(chance)
            else:
                text = self.prose(chance, self._length(chance))
            said.append(text)
            yield Said(self.number, role, text)

    def prose(self, chance: Random, length: int) -> str:
        """Return sentences of about ``size`` characters."""
        language = self.language
        space, stop, comma = SPACE[language], STOP[language], COMMA[language]
        kinds = chance.choices(KINDS, cum_weights=SHARES, k=length // WORD[language] + 1)
        count = len(kinds)
        drawn = {
            "common": self._general.draw(chance, count),
            "first": self._topics[0].draw(chance, count),
            "second": self._topics[1].draw(chance, count),
            "own": self._own.draw(chance, count),
        }
        pieces, left = [], chance.randint(6, 14)
        for at, kind in enumerate(kinds):
            if kind == "thing":
                word = self._thing(chance) if space else f" {self._thing(chance)} "
            else:
                word = drawn[kind][at]
            left -= 1
            pieces += word, stop if left == 0 else comma if left == 5 else space
            left = left or chance.randint(6, 14)
        return "".join(pieces).strip()

    def words(self, chance: Random, count: int) -> str:
        """Return a few words about the topic."""
        about = [word for topic in self._topics for word in topic.draw(chance, count)]
        found = [
            *chance.sample(about, count - 3),
            *self._general.draw(chance, 2),
            *self._own.draw(chance, 1),
        ]
        chance.shuffle(found)
        return " ".join(found)

    def _length(self, chance: Random) -> int:
        middle = LENGTH[self.language]
        return min(1_500, max(40, int(chance.lognormvariate(0, SPREAD) * middle * 0.82)))

    def _output(self, chance: Random) -> str:
        """Return tool output: a log, or the lines of a search."""
        length = int(self._length(chance) * (1 if self.language == "en" else 1.3))
        lines, size = [], 0
        is_log = chance.random() < 0.5
        while size < length:
            words = SPACE[self.language].join(
                self._general.draw(chance, 3) + self._topics[0].draw(chance, 2)
            )
            place = f"{chance.choice(self._paths)}:{chance.randint(1, 900)}"
            if is_log:
                clock = f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"
                line = f"{clock} {chance.choice(LEVELS)} {words} {self._thing(chance)} {chance.randint(1, 9000)} ms"
            else:
                line = f"{place}: {words} {self._thing(chance)}"
            lines.append(line)
            size += len(line) + 1
        return "\n".join(lines)

    def _thing(self, chance: Random) -> str:
        kind = chance.random()
        if kind < 0.45:
            return chance.choice(self._names)
        if kind < 0.75:
            return chance.choice(self._paths)
        if kind < 0.9:
            return f"port {chance.randint(1024, 65535)}"
        return f"#{chance.randint(1, 99_999)}"

    def _changed(self, text: str, chance: Random) -> str:
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text))
            word = self._general.draw(chance, 1)[0]
            text = f"{text[:at]}{SPACE[self.language]}{word}{SPACE[self.language]}{text[at + len(word) :]}"
        return f"{text.strip()} {chance.randint(1, 999_999)}"

    @staticmethod
    def _name(chance: Random) -> str:
        words = [lexicon.english(chance) for _ in range(chance.choice((2, 2, 3)))]
        return "_".join(words) if chance.random() < 0.5 else "".join(word.title() for word in words)

    @staticmethod
    def _path(chance: Random) -> str:
        words = [lexicon.english(chance) for _ in range(chance.choice((2, 3)))]
        return f"{'/'.join(words)}.{chance.choice(ENDINGS)}"


def messages(size: int) -> Iterator[Said]:
    """Yield the first messages, no two of them equal."""
    seen: set[int] = set()
    endless = (said for number in count() for said in Episode(number).messages())
    for number, said in enumerate(islice(endless, size)):
        key = hash(said.text)
        yield Said(said.episode, said.role, f"{said.text} {number}") if key in seen else said
        seen.add(key)


def session(episode: int, size: int) -> str:
    """Return the session of an episode: about `SESSIONS` in all."""
    return f"s{episode // max(1, round(size / (sum(EPISODE) / 2) / SESSIONS)):04}"


def moment(number: int, size: int) -> int:
    """Return the time of a message, in milliseconds since 1970."""
    return BEGAN + number * YEAR // size


def questions(number: int, among: int) -> list[tuple[str, str]]:
    """Return queries about the first messages, alternately short and long, each with its kind.

    No message is equal to a query. A long one is like the last messages of an episode that continues.
    """
    last = among // EPISODE[1]
    found = []
    for each in range(number):
        episode = Episode(each * last // number)
        chance = Random(f"{SEED} question {each}")
        if each % 2:
            found.append((episode.prose(chance, int(LENGTH[episode.language] * 1.1)), "long"))
        else:
            found.append((episode.words(chance, 8), "short"))
    return found
