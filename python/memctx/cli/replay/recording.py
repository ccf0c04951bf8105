"""`Recording`: a recorded session, with excerpts of its messages and the cost of plain truncation."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memctx.cli.import_export import read_session
from memctx.cli.naming import SessionName
from memctx.providers import pricing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from memctx._core import Redactor
    from memctx.cli.import_export import Limits
    from memctx.messages import FormatName

    Piece = tuple[str, str, float | None, str | None]
    from memctx._core import Conversation

ENDINGS = (".gz", ".zst", ".jsonl", ".json")


@dataclass(frozen=True, slots=True)
class Recording:
    """A session as it was recorded, without compactions.

    >>> Recording("s1", [{"role": "user", "content": "Which port?"}]).skipped
    0
    """

    name: str
    """The file name, with the id of the session if that is not in it."""
    messages: Sequence[Any]
    skipped: int = 0
    """Lines of the file that could not be read."""
    format: FormatName | None = None
    """The format of the messages; None to detect it."""
    session: SessionName = field(default_factory=SessionName)
    """The session as people know it, where the file tells; secrets are not masked."""

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        session: str | None = None,
        limits: Limits | None = None,
    ) -> Self:
        r"""Read a transcript of any known host, lines of messages, or a JSON list of them.

        Of a file with several sessions, ``session`` names the one.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "said.jsonl"
        >>> _ = path.write_text('{"role":"user","content":"Which port?"}\n')
        >>> Recording.read(path).messages
        [{'role': 'user', 'content': 'Which port?'}]

        Raises:
            ConfigError: the file holds several sessions, or none of that name.
            StoreError: there is no such file, or it cannot be read.
            MessageFormatError: it is no transcript, or holds no message.
        """
        found = read_session(path, session=session, limits=limits)
        name = Path(path).name
        for ending in ENDINGS:
            name = name.removesuffix(ending)
        if found.name and found.id not in name:
            name = f"{name} · {found.id}"
        return cls(name, found.messages(), found.damaged, found.message_format, found.name)


EXCERPT_LENGTH, NAME_LENGTH = 280, 100


class Excerpts:
    """The texts of one session, masked before they are cut: half a secret would not be detected."""

    def __init__(self, redactor: Redactor, records: Sequence[Sequence[Piece]]) -> None:
        self._redactor = redactor
        self._texts = [[redactor.mask(piece[1]).text for piece in pieces] for pieces in records]
        self._indices: dict[str, int] = {}
        for index, texts in enumerate(self._texts):
            for text in texts:
                self._indices.setdefault(text.strip(), index)

    def of_message(self, index: int) -> str:
        """Return the beginning of a message."""
        return _first_line(" · ".join(self._texts[index]))

    def of_messages(self, indices: Sequence[int]) -> str:
        """Return the beginning of several messages, concatenated."""
        return _first_line(" · ".join(text for index in indices for text in self._texts[index]))

    def of_name(self, session: SessionName) -> str:
        """Return the name of a session."""
        return str(session.masked(self._redactor, NAME_LENGTH)) if session else ""

    def of_text(self, text: str) -> str:
        """Return the beginning of a text."""
        return _first_line(self._redactor.mask(text).text)

    def index_of(self, content: str) -> int | None:
        """Return the index of the first message with a text, or None."""
        return self._indices.get(content.strip())


def passage_excerpt(content: str, span: tuple[int, int] | None) -> str:
    """Return the beginning of a passage, or of the whole text without a span.

    >>> passage_excerpt("Nothing yet. The port is 8443.", (13, 30))
    '… The port is 8443.'
    """
    if span is None or span[0] == 0:
        return _first_line(content)
    return f"… {_first_line(content[slice(*span)])}"


def _first_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: EXCERPT_LENGTH * 4].split())
    return line if len(line) <= EXCERPT_LENGTH else f"{line[: EXCERPT_LENGTH - 1]}…"


class Truncation:
    """Plain truncation as the baseline: on every call, the oldest messages are cut until the rest fits.

    No tool call is parted from its results. Whatever is cut, the prompt begins otherwise than the one before and
    nothing of it is read from the cache.

    >>> from memctx._core import MessageReader
    >>> said = [{"role": "user", "content": f"Remark {n}"} for n in range(9)]
    >>> truncation = Truncation(MessageReader().read(said), limit=30)
    >>> [truncation.cost(length) > 0 for length in (1, 9)]
    [True, True]
    """

    def __init__(self, conversation: Conversation, limit: int | None) -> None:
        self._sums = [0, *accumulate(conversation.message_tokens)]
        self._starts = _starts(conversation.units, len(conversation))
        self._limit = limit
        self._start = 0
        self._sent = 0
        self.tokens = 0
        """Tokens of all prompts so far."""

    def cost(self, length: int) -> float:
        """Return the cost of the next call with ``length`` messages."""
        start = self._start
        if self._limit is not None:
            while start < length and self._sums[length] - self._sums[start] > self._limit:
                start = min(self._starts[start + 1], length)
        sent = self._sums[length] - self._sums[start]
        cached = min(self._sent, sent) if start == self._start else 0
        self._start, self._sent = start, sent
        self.tokens += sent
        return pricing.turn_cost(sent, sent - cached)


SUMMARY_TOKENS, KEPT_SHARE, OUTPUT_PRICE = 1_000, 0.3, 5.0
"""Plain compaction as a baseline: tokens of a summary, share of the limit that stays beside it, price of its tokens."""


class Compaction:
    """Plain compaction as a baseline: at the limit, a model reads the prompt and all but its newest part is a summary.

    The summary costs a call that reads the cached prompt and writes the summary, at the price of output.

    >>> compaction = Compaction([500] * 9, limit=2_000)
    >>> [compaction.cost(length) > 0 for length in (1, 9)], compaction.count
    ([True, True], 1)
    """

    def __init__(self, tokens: Sequence[int], limit: int | None) -> None:
        self._sums = [0, *accumulate(tokens)]
        self._limit = limit
        self._start = self._sent = self._summary = 0
        self.count = 0
        """Compactions so far."""
        self.tokens = 0
        """Tokens of all prompts so far, without those of summarizing."""

    def cost(self, length: int) -> float:
        """Return the cost of the next call with ``length`` messages, a compaction before it included."""
        sums, extra, cached = self._sums, 0.0, self._sent
        sent = self._summary + sums[length] - sums[self._start]
        if self._limit is not None and sent > self._limit:
            keep = int(self._limit * KEPT_SHARE)
            while self._start < length - 1 and sums[length] - sums[self._start] > keep:
                self._start += 1
            extra = (
                pricing.turn_cost(sent, sent - min(cached, sent)) + OUTPUT_PRICE * SUMMARY_TOKENS
            )
            self._summary, cached = SUMMARY_TOKENS, 0
            self.count += 1
            sent = self._summary + sums[length] - sums[self._start]
        self._sent = sent
        self.tokens += sent
        return extra + pricing.turn_cost(sent, sent - min(cached, sent))


def _starts(units: Sequence[Sequence[int]], length: int) -> list[int]:
    """Return, for every index, the first index from there on that splits no unit."""
    inside = {index for unit in units for index in range(unit[0] + 1, unit[-1] + 1)}
    starts = [length] * (length + 1)
    for index in range(length - 1, -1, -1):
        starts[index] = starts[index + 1] if index in inside else index
    return starts
