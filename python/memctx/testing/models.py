"""Fake models: one that gives scripted replies, one that quotes what it was sent."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.errors import ConfigError, MemctxError
from memctx.messages import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memctx.messages import FormatName

# Keys under which messages of all formats have text.
TEXT_KEYS = frozenset({"content", "output", "parts", "text"})
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")  # noqa: RUF001 - people write full-width punctuation
# What a recalled block writes before a passage.
HEADING = re.compile(r"^(\[[^\]]*\]|-|>)\s*")
QUESTION_MARKS = ("?", "？")  # noqa: RUF001 - as above


class RequestRefusedError(MemctxError):
    """A request that a provider would have answered with status 400."""


class FakeModel:
    """A model that gives scripted replies and refuses what a provider would refuse.

    It raises `RequestRefusedError` for messages that break a rule of their provider, and for more tokens than
    ``window`` with the words that providers use, which `memctx.compaction.run_with_recovery` understands. The last
    reply is repeated. A reply may be a function of the messages, such as a `QuotingModel`.

    >>> FakeModel("8443")([{"role": "user", "content": ""}])
    Traceback (most recent call last):
    memctx.testing.models.RequestRefusedError: message 0: empty-content: a message or a text block without content
    """

    def __init__(
        self,
        *replies: str | Callable[[Sequence[Any]], str],
        window: int | None = None,
        format: FormatName | None = None,
    ) -> None:
        """Create a model; ``window`` is in tokens; ``format`` is detected where it is None."""
        if not replies:
            raise ConfigError("FakeModel() needs at least one reply")
        self._replies = deque(replies)
        self._window = window
        self._format: FormatName | None = format
        self.requests: list[list[Any]] = []
        """The messages of each call, refused ones included."""

    def __call__(self, messages: Sequence[Any]) -> str:
        """Check the messages and return the next reply."""
        self.requests.append(list(messages))
        problems = validate(messages, self._format)
        if problems:
            found = problems[0]
            raise RequestRefusedError(f"message {found.index}: {found.code}: {found.message}")
        tokens = _core.MessageReader("script", capacity=0).read(list(messages), self._format).tokens
        if self._window is not None and tokens > self._window:
            raise RequestRefusedError(
                f"prompt is too long: {tokens} tokens > {self._window} maximum"
            )
        reply = self._replies.popleft() if len(self._replies) > 1 else self._replies[0]
        return reply if isinstance(reply, str) else reply(messages)


class QuotingModel:
    """A model that knows nothing: it quotes the sentence of the messages that is closest to the newest question.

    Closeness is measured by the encoder that comes with memctx, so that a question may use other words than its answer.
    Of sentences that are about as close, the newest counts. Questions are not quoted. Anything but a question is
    answered with "Noted.", and a question without an answer with "I do not know."

    >>> said = [{"role": "user", "content": "Invoices are kept for ten years."}]
    >>> model = QuotingModel()
    >>> model(said), model([*said, {"role": "user", "content": "How long are bills stored?"}])
    ('Noted.', 'Invoices are kept for ten years.')
    """

    def __init__(self, *, least: float = 0.4, tie: float = 0.25) -> None:
        """Create a model; ``least`` is the lowest cosine of a quote, ``tie`` the difference that does not count."""
        self._least = least
        self._tie = tie

    def __call__(self, messages: Sequence[Any]) -> str:
        """Return the quote."""
        from memctx.embeddings import packaged_encoder  # noqa: PLC0415 - numpy is slow to import

        *_, question = _sentences(messages[-1:]) or [""]
        if not question.endswith(QUESTION_MARKS):
            return "Noted."
        known = dict.fromkeys(
            each for each in _sentences(messages) if not each.endswith(QUESTION_MARKS)
        )
        if not known:
            return "I do not know."
        encoder = packaged_encoder()
        cosines = (encoder.embed_many(known) @ encoder.embed(question)).tolist()
        best = max(cosines)
        if best < self._least:
            return "I do not know."
        close = max(best - self._tie, self._least)
        pairs = zip(known, cosines, strict=True)
        return [sentence for sentence, cosine in pairs if cosine >= close][-1]


def _sentences(messages: Sequence[Any]) -> list[str]:
    """Return the sentences of messages of any format, without the headings of recalled passages."""
    texts = (text for message in messages for text in _texts(message))
    parts = (HEADING.sub("", part.strip()) for text in texts for part in SENTENCE.split(text))
    return [part for part in parts if any(map(str.isalnum, part)) and not part.startswith("<")]


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _texts(each)
    elif isinstance(value, dict):
        for key in TEXT_KEYS & value.keys():
            yield from _texts(value[key])
