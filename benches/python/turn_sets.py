"""Conversations with questions about them, for benchmarks that play sessions through `prepare`.

A set of chats or passages is read from `messages.jsonl.gz` and `queries.jsonl.gz`; agent sessions have facts planted in
them, or are asked for what their tools printed (`trajectory`). A conversation that would fit its window goes on with
others, so that what it said has left when it is asked for.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import needles
import sessions
from sessions import Assistant, Rendering, User

import memctx

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessions import Message, Script, Step

CHATS = ("locomo", "beam_100k", "madial_en", "madial_zh", "cmrc", "jsquad")
AGENTS = {"needles_dev": "needles", "agents": "planted", "trajectory": "printed"}
PRINTED = ("pi:before-compaction", "pi:large-session")
TRAJECTORY = Path(__file__).with_name("trajectory.toml")
SETS = (*CHATS, *AGENTS)
# Chats that a short conversation goes on with, in its language.
SEQUELS = {"madial_en": "locomo", "madial_zh": "cmrc", "locomo": "locomo", "jsquad": "jsquad"}
# Sets whose questions are about something else.
OTHER_SUBJECT = {
    "locomo": "beam_100k",
    "madial_en": "beam_100k",
    "madial_zh": "jsquad",
    "cmrc": "madial_zh",
    "jsquad": "madial_zh",
}
SMALL_TALK = (
    "thanks, looks good",
    "ok great",
    "hello, how are you today?",
    "yes please go ahead",
    "can you continue?",
    "nice work!",
    "what do you think?",
    "let's do that",
    "good morning",
    "please try again",
    "tell me a joke",
    "write a poem about autumn leaves",
    "谢谢，看起来不错",  # noqa: RUF001 - Chinese punctuation
    "好的，继续吧",  # noqa: RUF001 - as above
    "ありがとうございます",
    "감사합니다 좋아요",
)
ARITHMETIC = (
    "What is 2+2?",
    "What is 17 * 23?",
    "Is 97 a prime number?",
    "Round 3.14159 to two digits.",
    "二加二等于几？",  # noqa: RUF001 - Chinese punctuation
    "How many seconds are in a day?",
)
ACKNOWLEDGMENT = "Noted."
SEED = 7


@dataclass(frozen=True)
class Question:
    """A question and the texts of the messages that answer it."""

    text: str
    gold: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """A conversation as a host would send it, and questions to ask at its end."""

    set: str
    name: str
    rendering: Rendering
    questions: tuple[Question, ...]
    same_subject: tuple[str, ...] = ()
    """Questions of other conversations of the set, which nothing here answers."""
    other_subject: tuple[str, ...] = ()
    """Questions of another set."""


class Library:
    """The sets of a folder, read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._chats: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self._queries: dict[str, list[dict[str, Any]]] = {}

    def chats(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """Return the messages of a set by store."""
        if name not in self._chats:
            stores: dict[str, list[dict[str, Any]]] = {}
            for message in read(self.folder / name / "messages.jsonl.gz"):
                stores.setdefault(message["store"], []).append(message)
            self._chats[name] = stores
        return self._chats[name]

    def queries(self, name: str) -> list[dict[str, Any]]:
        """Return the questions of a set, in an order that does not depend on their stores."""
        if name not in self._queries:
            self._queries[name] = read(self.folder / name / "queries.jsonl.gz")
            random.Random(SEED).shuffle(self._queries[name])  # noqa: S311 - the same order every time
        return self._queries[name]

    def conversations(
        self, name: str, tokens: int, *, most: int, questions: int
    ) -> Iterator[Conversation]:
        """Yield conversations of a set that are at least so many tokens long."""
        if name in AGENTS:
            yield from itertools.islice(self._agents(name, questions), most)
            return
        for store in itertools.islice(self.chats(name), most):
            yield self._chat(name, store, tokens, questions)

    def count(self, name: str, most: int) -> int:
        """Return the number of conversations that a set offers."""
        if name not in AGENTS:
            return min(most, len(self.chats(name)))
        return min(most, len(needles.PLANTED if name == "agents" else sessions.transcripts.PI))

    def _chat(self, name: str, store: str, tokens: int, count: int) -> Conversation:
        chats = self.chats(name)
        texts = {message["id"]: message["content"] for message in chats[store]}
        questions = [
            Question(query["query"], tuple(texts[gold] for gold in query["gold"]))
            for query in self.queries(name)
            if query["store"] == store
        ]
        played = {store}
        steps = list(_steps(chats[store]))
        length = sum(_tokens(step) for step in steps)
        sequel = SEQUELS.get(name, name)
        for other, messages in self.chats(sequel).items():
            if length >= tokens:
                break
            if (sequel, other) != (name, store):
                added = list(_steps(messages))
                length += sum(_tokens(step) for step in added)
                steps += added
                played.add(other)
        same = [query["query"] for query in self.queries(name) if query["store"] not in played]
        if sequel != name:  # nothing of the set itself follows
            same = [query["query"] for query in self.queries(name) if query["store"] != store]
        other_subject = OTHER_SUBJECT.get(name, "locomo")
        return Conversation(
            name,
            store,
            Rendering(_ended(steps), "openai"),
            tuple(questions[:count]),
            tuple(same[:count]),
            tuple(query["query"] for query in self.queries(other_subject)[:count]),
        )

    def _agents(self, name: str, count: int) -> Iterator[Conversation]:
        others = tuple(query["query"] for query in self.queries("locomo")[:count])
        found: Iterable[tuple[str, tuple[Script, list[needles.Question]]]]
        if AGENTS[name] == "printed":
            found = ((session, printed(self.folder, session)) for session in PRINTED)
        elif AGENTS[name] == "needles":
            found = (
                (session, needles.hidden(self.folder, session))
                for session in sessions.transcripts.PI
            )
        else:
            found = (
                (session, needles.planted(self.folder, session)) for session in needles.PLANTED
            )
        for session, (script, asked) in found:
            chosen = random.Random(SEED).sample(asked, min(count, len(asked)))  # noqa: S311 - as above
            questions = tuple(Question(one.text, (one.fact,)) for one in chosen)
            rendering = Rendering(_ended(script), "openai")
            yield Conversation(name, session, rendering, questions, (), others)


def printed(folder: Path, session: str) -> tuple[Script, list[needles.Question]]:
    """Return a session with questions about what its tools printed."""
    asked = tomllib.loads(TRAJECTORY.read_text(encoding="utf-8"))["question"]
    questions = [
        needles.Question(one["answer"], one["text"], "en", "lex")
        for one in asked
        if one["session"] == session
    ]
    return sessions.load(folder, session), questions


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def asked(text: str) -> list[Message]:
    """Return a question as the newest messages of a conversation."""
    return Rendering((User((text,)),), "openai").whole()


def _steps(messages: Iterable[dict[str, Any]]) -> Iterator[Step]:
    """Yield what was said; an unanswered passage is acknowledged."""
    is_open = False
    for message in messages:
        if message["role"] == "assistant":
            yield Assistant((message["content"],))
            is_open = False
            continue
        if is_open:
            yield Assistant((ACKNOWLEDGMENT,))
        yield User((message["content"],))
        is_open = True
    if is_open:
        yield Assistant((ACKNOWLEDGMENT,))


def _ended(steps: Iterable[Step]) -> Script:
    script = tuple(steps)
    return script if isinstance(script[-1], Assistant) else (*script, Assistant(("Done.",)))


def _tokens(step: Step) -> int:
    texts = step.texts if isinstance(step, User | Assistant) else ()
    return sum(memctx.estimate_tokens(text, "script") for text in texts)
