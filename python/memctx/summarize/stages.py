"""`summarize_in_stages`: a long history summarised in parts that fit, and the parts merged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.compact.chunk import (
    DEFAULT_PARTS,
    SAFETY_MARGIN,
    SUMMARIZATION_OVERHEAD_TOKENS,
    chunk_messages_by_max_tokens,
    compute_adaptive_chunk_ratio,
    is_oversized,
    split_messages_by_token_share,
)
from memctx.errors import ConfigError, SummaryError
from memctx.messages import detect
from memctx.summarize.calls import Calls
from memctx.summarize.prompt import shortened_instructions
from memctx.summarize.protocol import SummaryRequest
from memctx.summarize.reading import Reading
from memctx.summarize.sections import numbered
from memctx.summarize.serialize import NOTE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx import Redactor
    from memctx.messages import Shape
    from memctx.summarize.protocol import Summarizer, SummaryKind

NO_HISTORY = "No prior history."
"""The summary of nothing."""
ANSWER_SHARE = 0.8
"""The share of the reserve that an answer may take."""
MOST_ANSWER_TOKENS = 16_000


async def summarize_in_stages(  # noqa: PLR0913 - every one is the caller's to decide
    messages: Sequence[Any],
    summarizer: Summarizer,
    *,
    window: int,
    max_chunk_tokens: int,
    reserve_tokens: int,
    instructions: str | None = None,
    previous_summary: str | None = None,
    parts: int = DEFAULT_PARTS,
    min_messages: int = 4,
    shape: Shape | None = None,
    redactor: Redactor | None = None,
    on_text: Callable[[str], None] | None = None,
) -> str:
    """A summary of any number of messages.

    What takes no more than ``max_chunk_tokens``, or is fewer than ``min_messages``, is summarised chunk by chunk, each
    with the summary so far. A longer history is first split into ``parts`` of about the same cost, and their summaries
    are merged. If that fails, messages that take more than half of the ``window`` are left out and named at the end.
    `summarize_with_fallback` goes on where this one raises.

    >>> import asyncio
    >>> from memctx.summarize import FunctionSummarizer
    >>> counting = FunctionSummarizer(lambda request: f"{request.kind}: {request.conversation_text.count('[User]')}")
    >>> said = [{"role": "user", "content": f"{number} " * 300} for number in range(6)]
    >>> asyncio.run(summarize_in_stages(
    ...     said, counting, window=4_000, max_chunk_tokens=1_000, reserve_tokens=500))
    'merge: 0'
    >>> asyncio.run(summarize_in_stages(
    ...     said[:1], counting, window=4_000, max_chunk_tokens=1_000, reserve_tokens=500))
    'chunk: 1'

    Raises:
        SummaryError: the summariser failed, without the messages that are too large too.
        MessageShapeError: it is no list, or something in it is no message.
        ConfigError: a number is out of range, or the shape is unknown.
    """
    messages = list(messages)
    shape = shape or detect(messages)
    stages = Stages(
        Calls(summarizer, on_text),
        Reading(messages, shape, redactor),
        shape,
        window=window,
        max_chunk_tokens=max_chunk_tokens,
        reserve_tokens=reserve_tokens,
        instructions=shortened_instructions(instructions),
        parts=parts,
        min_messages=min_messages,
    )
    try:
        return await stages.summary(messages, previous_summary)
    except SummaryError as error:
        if error.is_dead or not stages.oversized(messages):
            raise
    return await replace(stages, leaves_out=True).summary(messages, previous_summary)


def chunk_tokens(
    messages: Sequence[Any],
    window: int,
    shape: Shape | None = None,
    *,
    estimate: Callable[[Any], int] | None = None,
) -> int:
    """How large the chunks of a history should be: less where its messages are large.

    ``estimate`` says what a message costs; by default it is what a model is billed for it.

    >>> chunk_tokens([{"role": "user", "content": "Which port?"}], 200_000)
    75904
    """
    ratio = compute_adaptive_chunk_ratio(messages, window, shape=shape, estimate=estimate)
    share = int(window * ratio)
    # In a small window the overhead must not eat up the chunk.
    return max(share - SUMMARIZATION_OVERHEAD_TOKENS, share // 2, 1)


@dataclass(frozen=True, slots=True)
class Partial:
    """What was finished before a summary failed."""

    text: str
    messages: int
    """How many of the messages it covers, counted from the first."""
    has_previous: bool
    """Whether the previous summary went into it."""


@dataclass(slots=True)
class Stages:
    """One way to summarise: how large chunks are, what is left out, and what the model is told."""

    calls: Calls
    reading: Reading
    shape: Shape
    window: int
    max_chunk_tokens: int
    reserve_tokens: int
    instructions: str | None = None
    parts: int = DEFAULT_PARTS
    min_messages: int = 4
    leaves_out: bool = False
    """Whether messages that are too large are named instead of read."""
    is_one_call: bool = False
    """Whether all that fits the window is read at once."""
    kind: SummaryKind = "chunk"
    feedback: str | None = None
    """What was wrong with the last summary, said to the model in the call that writes the final one."""
    note: str | None = None
    """What stands at the end of what that call reads. Unlike the feedback, it may quote the conversation."""
    partials: list[Partial] = field(default_factory=list[Partial])

    def __post_init__(self) -> None:
        for name in ("window", "max_chunk_tokens", "reserve_tokens", "parts", "min_messages"):
            value = getattr(self, name)
            if value < 1:
                raise ConfigError(f"{name} is {value}; expected at least 1")

    async def summary(self, messages: Sequence[Any], previous: str | None = None) -> str:
        """The summary of the messages, carrying on the previous one."""
        left_out = self.oversized(messages) if self.leaves_out else {}
        read = [message for place, message in enumerate(messages) if place not in left_out]
        if messages and not read:
            raise SummaryError("every message is too large to be summarised", is_overflow=True)
        parts = self._parts(read)
        if len(parts) > 1:
            text = await self._merged(parts, previous)
        else:
            text = await self._running(read, previous, is_last=True)
        return "\n\n".join([text, *left_out.values()])

    def oversized(self, messages: Sequence[Any]) -> dict[int, str]:
        """The messages that are too large by their places, each with the note that stands for it."""
        costs = [self.reading.tokens(message) for message in messages]
        large = [place for place, cost in enumerate(costs) if is_oversized(cost, self.window)]
        if not large:
            return {}
        roles = _core.Scanner(capacity=0).scan(messages, self.shape).roles
        return {
            place: f"[Large {roles[place]} (~{round(costs[place] / 1_000)}K tokens) omitted from summary]"
            for place in large
        }

    @property
    def answer_tokens(self) -> int:
        """How long an answer may be."""
        most = min(int(self.reserve_tokens * ANSWER_SHARE), self.window // 4, MOST_ANSWER_TOKENS)
        return max(most, 1)

    def _parts(self, messages: Sequence[Any]) -> list[list[Any]]:
        """What is summarised apart from the rest."""
        if self.is_one_call or self.parts < 2 or len(messages) < max(self.min_messages, 2):  # noqa: PLR2004
            return [list(messages)]
        if sum(map(self.reading.tokens, messages)) <= self.max_chunk_tokens:
            return [list(messages)]
        return split_messages_by_token_share(
            messages, self.parts, shape=self.shape, estimate=self.reading.tokens
        )

    async def _merged(self, parts: Sequence[Sequence[Any]], previous: str | None) -> str:
        """The parts summarised one by one, and their summaries made one."""
        summaries: list[str] = []
        covered = 0
        for part in parts:
            summaries.append(await self._running(part, None, before=summaries, covered=covered))
            covered += len(part)
        return await self._ask(numbered(summaries), previous, kind="merge", is_last=True)

    async def _running(
        self,
        messages: Sequence[Any],
        previous: str | None,
        *,
        before: Sequence[str] = (),
        covered: int = 0,
        is_last: bool = False,
    ) -> str:
        """One summary that grows with every chunk."""
        texts = self._texts(messages)
        running = previous
        for number, (text, read) in enumerate(texts, 1):
            is_final = is_last and number == len(texts)
            running = await self._ask(text, running, kind=self.kind, is_last=is_final)
            finished = "\n\n".join([*before, running])
            self.partials.append(Partial(finished, covered + read, previous is not None))
        return running or NO_HISTORY

    def _texts(self, messages: Sequence[Any]) -> list[tuple[str, int]]:
        """What each call reads, and how many messages are read by then."""
        if self.is_one_call:
            tokens = sum(map(self.reading.tokens, messages)) * SAFETY_MARGIN
            if tokens + self.answer_tokens + SUMMARIZATION_OVERHEAD_TOKENS <= self.window:
                whole = self.reading.text(messages)
                return [(whole, len(messages))] if whole else []
        chunks = chunk_messages_by_max_tokens(
            messages, self.max_chunk_tokens, shape=self.shape, estimate=self.reading.tokens
        )
        read = accumulate(map(len, chunks))
        texts = zip(map(self.reading.text, chunks), read, strict=True)
        return [(text, count) for text, count in texts if text]

    async def _ask(
        self, text: str, previous: str | None, *, kind: SummaryKind, is_last: bool
    ) -> str:
        told, read = [self.instructions], [text]
        if is_last:
            told.append(self.feedback)
            read += [f"[{NOTE}]: {self.note}"] if self.note else []
        instructions = "\n\n".join(filter(None, told)) or None
        text = "\n\n".join(read)
        return await self.calls.ask(
            SummaryRequest(text, instructions, previous, self.answer_tokens, kind)
        )
