"""Synthetic conversations: made-up words with the frequencies of real ones, in several languages, code and tool calls.

>>> [message["role"] for message in make_messages(0, 3)]
['user', 'assistant', 'user']
>>> make_messages(5, 2) == make_messages(0, 7)[5:]
True
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Message: TypeAlias = "dict[str, Any]"

FUNCTION_WORDS = "the to of and a in is it for we on that this not are if at by was can".split()  # noqa: SIM905 - reads best
ONSETS = "b c d f g h k l m n p r s t v br cl gr pr sh st tr".split()  # noqa: SIM905
ENDINGS = "a e i o u an er in on us ack ell ing ort".split()  # noqa: SIM905
VOCABULARY = 40_000
"""Number of distinct words of a language."""
ROUND = 20
"""Number of messages after which kinds of messages come again in the same order."""
TOOL_PLACES = (9, 10)
"""Places in a round of a tool call and its result."""
CODE_PLACES = (3, 7, 15)
EAST_ASIAN = {
    4: "chinese",
    5: "chinese",
    12: "japanese",
    13: "japanese",
    16: "korean",
    17: "korean",
}
# First character, number of characters, and characters of a word.
SCRIPTS = {
    "chinese": (0x4E00, 6_000, 2),
    "japanese": (0x30A2, 70, 4),
    "korean": (0xAC00, 11_000, 3),
}


def make_messages(start: int, count: int) -> list[Message]:
    """Return messages of an endless conversation in OpenAI's format, which is the same every time."""
    return [_make_message(number) for number in range(start, start + count)]


def _make_message(number: int) -> Message:
    place = number % ROUND
    random = Random(number)  # noqa: S311 - the same everywhere
    role = "assistant" if place % 2 else "user"
    if place in TOOL_PLACES:
        call = f"call_{number - place + TOOL_PLACES[0]}"
        return _make_call(random, call) if place == TOOL_PLACES[0] else _make_result(random, call)
    if place in CODE_PLACES:
        return {"role": role, "content": _make_code(random)}
    if place in EAST_ASIAN:
        return {"role": role, "content": _make_east_asian(random, EAST_ASIAN[place])}
    return {"role": role, "content": _make_english(random, random.randint(8, 40))}


def _make_call(random: Random, call: str) -> Message:
    arguments = f'{{"path": "src/{_english_word(random)}.py", "line": {random.randint(1, 900)}}}'
    function = {"name": "read_file", "arguments": arguments}
    return {
        "role": "assistant",
        "content": _make_english(random, 6),
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }


def _make_result(random: Random, call: str) -> Message:
    lines = "\n".join(_make_code(random) for _ in range(random.randint(2, 8)))
    return {"role": "tool", "tool_call_id": call, "content": lines}


def _rank(random: Random) -> int:
    """Return the rank of a word by Zipf's law: a rank half as large is drawn twice as often."""
    return int(VOCABULARY ** random.random())


def _english_word(random: Random) -> str:
    rank = _rank(random)
    if rank <= len(FUNCTION_WORDS):
        return FUNCTION_WORDS[rank - 1]
    word = ""
    while rank:
        rank, syllable = divmod(rank, len(ONSETS) * len(ENDINGS))
        onset, ending = divmod(syllable, len(ENDINGS))
        word += ONSETS[onset] + ENDINGS[ending]
    return word


def _make_english(random: Random, words: int) -> str:
    said = [_english_word(random) for _ in range(words)]
    said.insert(random.randrange(words), str(random.randint(1_000, 9_999)))
    return f"{' '.join(said).capitalize()}."


def _make_east_asian(random: Random, language: str) -> str:
    first, size, length = SCRIPTS[language]
    seeds = (f"{language} {_rank(random)}" for _ in range(14))
    words = (_draw_word(Random(seed), first, size, length) for seed in seeds)  # noqa: S311 - as above
    separator = " " if language == "korean" else ""
    return f"{separator.join(words)} {random.randint(1_000, 9_999)}。"


def _draw_word(random: Random, first: int, size: int, length: int) -> str:
    return "".join(chr(first + random.randrange(size)) for _ in range(length))


def _make_code(random: Random) -> str:
    word: Callable[[], str] = lambda: _english_word(random)  # noqa: E731 - four uses in one template
    name, value = f"{word()}_{word()}", random.randint(1, 9_999)
    return (
        f"def {name}(self, {word()}: int) -> str:\n"
        f"    if self.{word()}Count > {value}:\n"
        f'        raise ValueError("{word()} {word()} is limited to {value}")\n'
        f"    return self.{name}_{word()}({value})"
    )
