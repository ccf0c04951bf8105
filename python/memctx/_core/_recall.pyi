"""The recalled block."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, final

from memctx._core._messages import Conversation
from memctx._core._store import SearchHit, Segment
from memctx._core._text import Estimator

Verdict: TypeAlias = Literal[
    "shown", "marked", "duplicate", "replaced", "past question", "adds little"
]

@final
class Block:
    """A block of recalled context and its contents.

    >>> block = build_block([("config", "port 3000", 1.0)], [], cap=200)  # doctest: +SKIP
    >>> block.facts, block.tokens  # doctest: +SKIP
    ([0], 36)
    """

    @property
    def text(self) -> str:
        """The text; empty when nothing fits."""

    @property
    def tokens(self) -> int:
        """Token cost; 0 when nothing fits."""

    @property
    def facts(self) -> list[int]:
        """Indices of the facts in it, in order."""

    @property
    def details(self) -> list[int]:
        """Indices of the details in it, in the order they stand in."""

    @property
    def cut(self) -> list[int]:
        """Indices of the details that were cut to an excerpt."""

    @property
    def companions(self) -> list[tuple[int, bool]]:
        """Indices of the companions in it, each with True if it was cut to an excerpt."""

def build_block(
    facts: Sequence[tuple[str, str, float]],
    details: Sequence[tuple[str, float, str, str, int, int, float] | SearchHit],
    *,
    cap: int,
    query: str | None = None,
    excerpt: int | None = None,
    estimator: Estimator = "script",
    annotate: bool = False,
    companions: Sequence[tuple[int, Segment, bool]] | None = None,
    replaced: Mapping[int, float | None] | None = None,
    last: Sequence[int] | None = None,
) -> Block:
    """Build the best block of at most ``cap`` tokens.

    ``facts`` are ``(type, content, score)``, ``details`` are ``(id, timestamp, role, content, start, end, score)``,
    where start and end are those of the passage that matched, or what a search found. Details longer than ``excerpt``
    tokens (150) are cut to where the words of ``query`` stand, and grow in the end. With ``annotate`` a note tells the
    model what the block is, each detail has the beginning of its id, and details grow to some hundred tokens at most
    unless the query asks for many. They stand oldest first, those of ``last`` behind the others. ``companions``, as
    `Store.companions` returns them, stand
    beside their details, short and as far as all else leaves room. ``replaced`` are the indices of details that are
    marked as replaced, with the time; None where that is not known.

    >>> build_block([], [("a", 0.0, "user", "port 3000", 0, 9, 1.0)], cap=100).details  # doctest: +SKIP
    [0]
    """

def select_passages(
    query: str, hits: Sequence[SearchHit], taken_back: Mapping[int, bool], seen: Sequence[int]
) -> list[tuple[Verdict, int | None]]:
    """Return what becomes of each hit of a search, given oldest first.

    Each gets a word for it, and the index of the hit that it gives way to or that replaced it, if there is one.
    ``taken_back`` has the indices of hits that the conversation takes back, with True for those of which nothing holds,
    ``seen`` those that the model sees.
    """

def asks_for_many(query: str) -> bool:
    """Return True if a question asks for many texts: a list, an order of events, a summary.

    >>> asks_for_many("List all ports"), asks_for_many("Which port is it?")  # doctest: +SKIP
    (True, False)
    """

def parse_block(text: str) -> tuple[list[tuple[str, str]], list[tuple[float, str, str]]] | None:
    """Return the facts ``(type, content)`` and details ``(timestamp, role, content)`` of a block, as they were given.

    None when the text, white space around it aside, is not just one block.

    >>> parse_block("<detail>not ours</detail>") is None  # doctest: +SKIP
    True
    """

def visible(
    conversation: Conversation, hidden: Sequence[int], contents: Sequence[str | SearchHit]
) -> list[bool]:
    """Return for each stored content whether the model still sees it, messages ``hidden`` aside."""

@final
class Corrections:
    """Finds the facts that a conversation corrects, at next to no cost while it only gets longer."""

    def __new__(cls) -> Corrections: ...
    def find(
        self, conversation: Conversation, facts: Sequence[tuple[str, Sequence[str]]]
    ) -> list[bool]:
        """Return for each fact whether the conversation contradicts it after the messages that state it.

        A fact is its content and the contents of the messages that it was taken from. The latest sentence about it
        decides; a model's sentences count where they announce a change.
        """

    def take_back(self, conversation: Conversation, contents: Sequence[str]) -> list[bool | None]:
        """Return for each stored content whether the conversation takes back something it says, later on.

        True if that is all of it, None if it is nothing.
        """

def drop_facts(text: str, contents: Sequence[str]) -> str | None:
    """Return a block without the facts of some contents: "" if nothing is left, None if the text is no block.

    >>> block = build_block([("config", "port 3000", 1.0)], [], cap=200).text  # doctest: +SKIP
    >>> drop_facts(block, ["port 3000"])  # doctest: +SKIP
    ''
    """

def is_block(text: str) -> bool:
    """Return True if a text, white space around it aside, is just one block.

    >>> is_block(build_block([("config", "port 3000", 1.0)], [], cap=200).text)  # doctest: +SKIP
    True
    """
