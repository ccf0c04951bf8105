"""Summaries in stages: `summarize_in_stages` splits a long history into parts that fit, and merges their summaries."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx import _core
from memctx.compaction.plan.chunks import (
    DEFAULT_PARTS,
    SAFETY_MARGIN,
    SUMMARIZATION_OVERHEAD_TOKENS,
    chunk_messages_by_max_tokens,
    compute_adaptive_chunk_ratio,
    is_oversized,
    split_messages_by_token_share,
)
from memctx.compaction.summary.calls import Calls
from memctx.compaction.summary.prompt import shorten_instructions
from memctx.compaction.summary.sections import number_parts
from memctx.compaction.summary.serialize import NOTE, SerializedMessages
from memctx.errors import ConfigError, SummaryError
from memctx.messages import detect
from memctx.protocols import SummaryRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx._core import Redactor
    from memctx.messages import FormatName
    from memctx.protocols import Summarizer, SummaryKind

Mode: TypeAlias = Literal["default", "safeguard"]
"""Way of summarizing: one call where the history fits; or stages, with required sections that are checked."""

NO_HISTORY = "No prior history."
"""Summary of an empty history."""
ANSWER_SHARE = 0.8
"""Share of the reserve that an answer may take."""
MAX_ANSWER_TOKENS = 16_000
MAX_QUALITY_RETRIES = 3


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """Options of `summarize_with_fallback` and `summarize_in_stages`.

    >>> SummaryOptions(mode="default", window=128_000).time_limit
    600.0

    Raises:
        ConfigError: a number is out of range, or the mode is unknown.
    """

    window: int = 200_000
    """Context window of the summarizer's model, in tokens."""
    reserve_tokens: int = 20_000
    """Tokens kept free for the answer and the prompt around it."""
    max_chunk_tokens: int | None = None
    """Tokens of one chunk; None derives them from the window and the size of the messages."""
    parts: int = DEFAULT_PARTS
    """Number of parts that a history longer than one chunk is split into."""
    min_messages: int = 4
    """Number of messages below which a history is not split into parts."""
    instructions: str | None = None
    """Instructions of the host, added to the prompt."""
    format: FormatName | None = None
    """Message format; None detects it."""
    redactor: Redactor | None = None
    """Masks secrets in everything that the summarizer reads."""
    mode: Mode = "safeguard"
    """Way of summarizing; `summarize_with_fallback` only."""
    quality_retries: int = 1
    """Number of retries for a summary that lacks sections or identifiers; `summarize_with_fallback` only."""
    time_limit: float = 600.0
    """Seconds that all calls together may take; `summarize_with_fallback` only."""

    def __post_init__(self) -> None:
        for name in ("window", "max_chunk_tokens", "reserve_tokens", "parts", "min_messages"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}; expected at least 1")
        if self.mode not in {"default", "safeguard"}:
            raise ConfigError(f"mode must be 'default' or 'safeguard', not {self.mode!r}")
        if not 0 <= self.quality_retries <= MAX_QUALITY_RETRIES:
            limits = f"0 to {MAX_QUALITY_RETRIES}"
            raise ConfigError(f"quality_retries must be {limits}, not {self.quality_retries!r}")
        if not self.time_limit > 0:
            raise ConfigError(
                f"time_limit must be a number of seconds above 0, not {self.time_limit!r}"
            )


async def summarize_in_stages(
    messages: Sequence[Any],
    summarizer: Summarizer,
    options: SummaryOptions | None = None,
    *,
    previous_summary: str | None = None,
    on_text: Callable[[str], None] | None = None,
) -> str:
    """Summarize any number of messages.

    A history of at most ``max_chunk_tokens``, or of fewer than ``min_messages``, is summarized chunk by chunk, each
    call with the summary so far. A longer history is first split into ``parts`` of about the same cost, whose summaries
    are merged. If that fails, messages that take more than half of the window are left out and named at the end.
    `summarize_with_fallback` continues where this function raises.

    >>> import asyncio
    >>> from memctx.compaction.summary import FunctionSummarizer
    >>> counting = FunctionSummarizer(lambda request: f"{request.kind}: {request.conversation_text.count('[User]')}")
    >>> messages = [{"role": "user", "content": f"{number} " * 300} for number in range(6)]
    >>> options = SummaryOptions(window=4_000, max_chunk_tokens=1_000, reserve_tokens=500)
    >>> asyncio.run(summarize_in_stages(messages, counting, options))
    'merge: 0'
    >>> asyncio.run(summarize_in_stages(messages[:1], counting, options))
    'chunk: 1'

    Raises:
        SummaryError: the summarizer failed, also without the oversized messages.
        MessageFormatError: ``messages`` is no list, or a message has an unknown format.
        ConfigError: the message format is unknown.
    """
    options = options or SummaryOptions()
    messages = list(messages)
    message_format = options.format or detect(messages)
    stages = make_stages(
        messages,
        SerializedMessages(messages, message_format, options.redactor),
        Calls(summarizer, on_text, redactor=options.redactor),
        replace(options, format=message_format),
    )
    try:
        return await stages.summarize(messages, previous_summary)
    except SummaryError as error:
        if error.is_permanent or not stages.oversized(messages):
            raise
    return await replace(stages, leaves_out=True).summarize(messages, previous_summary)


def make_stages(
    messages: Sequence[Any],
    serialized: SerializedMessages,
    calls: Calls,
    options: SummaryOptions,
) -> Stages:
    """Make the stages for messages whose format the options name."""
    message_format = options.format or detect(messages)
    chunk = options.max_chunk_tokens or chunk_tokens(
        messages, options.window, message_format, estimate=serialized.tokens
    )
    return Stages(
        calls,
        serialized,
        message_format,
        window=options.window,
        max_chunk_tokens=chunk,
        reserve_tokens=options.reserve_tokens,
        instructions=shorten_instructions(options.instructions, options.redactor),
        parts=options.parts,
        min_messages=options.min_messages,
    )


def chunk_tokens(
    messages: Sequence[Any],
    window: int,
    format: FormatName | None = None,
    *,
    estimate: Callable[[Any], int] | None = None,
) -> int:
    """Return the chunk size for a history: smaller where its messages are large.

    ``estimate`` returns the cost of a message; by default it is what a model is billed for it.

    >>> chunk_tokens([{"role": "user", "content": "Which port?"}], 200_000)
    75904
    """
    ratio = compute_adaptive_chunk_ratio(messages, window, format=format, estimate=estimate)
    share = int(window * ratio)
    # In a small window the overhead must not use up the chunk.
    return max(share - SUMMARIZATION_OVERHEAD_TOKENS, share // 2, 1)


@dataclass(frozen=True, slots=True)
class Partial:
    """The part of a summary that was finished before it failed."""

    text: str
    messages: int
    """Number of messages that it covers, counted from the first."""
    has_previous: bool
    """True if it includes the previous summary."""


@dataclass(slots=True)
class Stages:
    """One variant of summarizing: chunk size, messages left out, and instructions."""

    calls: Calls
    serialized: SerializedMessages
    format: FormatName
    window: int
    max_chunk_tokens: int
    reserve_tokens: int
    instructions: str | None = None
    parts: int = DEFAULT_PARTS
    min_messages: int = 4
    leaves_out: bool = False
    """True to name oversized messages instead of reading them."""
    is_one_call: bool = False
    """True to read a history that fits the window in one call."""
    kind: SummaryKind = "chunk"
    feedback: str | None = None
    """Faults of the last summary, added to the instructions of the call that writes the final one."""
    note: str | None = None
    """Text at the end of what that call reads. Unlike the feedback, it may quote the conversation."""
    partials: list[Partial] = field(default_factory=list[Partial])

    async def summarize(self, messages: Sequence[Any], previous: str | None = None) -> str:
        """Summarize the messages, updating the previous summary."""
        left_out = self.oversized(messages) if self.leaves_out else {}
        read = [message for index, message in enumerate(messages) if index not in left_out]
        if messages and not read:
            raise SummaryError("every message is too large to be summarized", is_overflow=True)
        parts = self._split(read)
        if len(parts) > 1:
            text = await self._merge_parts(parts, previous)
        else:
            text = await self._summarize_chunks(read, previous, is_last=True)
        return "\n\n".join([text, *left_out.values()])

    def oversized(self, messages: Sequence[Any]) -> dict[int, str]:
        """Return the oversized messages by index, each with the note that replaces it."""
        costs = [self.serialized.tokens(message) for message in messages]
        large = [index for index, cost in enumerate(costs) if is_oversized(cost, self.window)]
        if not large:
            return {}
        roles = _core.MessageReader(capacity=0).read(messages, self.format).roles
        return {
            index: f"[Large {roles[index]} (~{round(costs[index] / 1_000)}K tokens) omitted from summary]"
            for index in large
        }

    @property
    def answer_tokens(self) -> int:
        """Token limit of an answer."""
        most = min(int(self.reserve_tokens * ANSWER_SHARE), self.window // 4, MAX_ANSWER_TOKENS)
        return max(most, 1)

    def _split(self, messages: Sequence[Any]) -> list[list[Any]]:
        """Split the messages into parts that are summarized separately."""
        if self.is_one_call or self.parts < 2 or len(messages) < max(self.min_messages, 2):  # noqa: PLR2004
            return [list(messages)]
        if sum(map(self.serialized.tokens, messages)) <= self.max_chunk_tokens:
            return [list(messages)]
        return split_messages_by_token_share(
            messages, self.parts, format=self.format, estimate=self.serialized.tokens
        )

    async def _merge_parts(self, parts: Sequence[Sequence[Any]], previous: str | None) -> str:
        """Summarize the parts one by one, and merge their summaries."""
        summaries: list[str] = []
        covered = 0
        for part in parts:
            summaries.append(
                await self._summarize_chunks(part, None, before=summaries, covered=covered)
            )
            covered += len(part)
        return await self._ask(number_parts(summaries), previous, kind="merge", is_last=True)

    async def _summarize_chunks(
        self,
        messages: Sequence[Any],
        previous: str | None,
        *,
        before: Sequence[str] = (),
        covered: int = 0,
        is_last: bool = False,
    ) -> str:
        """Summarize chunk by chunk, updating one summary with each."""
        texts = self._chunk_texts(messages)
        running = previous
        for number, (text, read) in enumerate(texts, 1):
            is_final = is_last and number == len(texts)
            running = await self._ask(text, running, kind=self.kind, is_last=is_final)
            finished = "\n\n".join([*before, running])
            self.partials.append(Partial(finished, covered + read, previous is not None))
        return running or NO_HISTORY

    def _chunk_texts(self, messages: Sequence[Any]) -> list[tuple[str, int]]:
        """Return the text of each call, with the number of messages read by then."""
        if self.is_one_call:
            tokens = sum(map(self.serialized.tokens, messages)) * SAFETY_MARGIN
            if tokens + self.answer_tokens + SUMMARIZATION_OVERHEAD_TOKENS <= self.window:
                whole = self.serialized.text(messages)
                return [(whole, len(messages))] if whole else []
        chunks = chunk_messages_by_max_tokens(
            messages, self.max_chunk_tokens, format=self.format, estimate=self.serialized.tokens
        )
        read = accumulate(map(len, chunks))
        texts = zip(map(self.serialized.text, chunks), read, strict=True)
        return [(text, count) for text, count in texts if text]

    async def _ask(
        self, text: str, previous: str | None, *, kind: SummaryKind, is_last: bool
    ) -> str:
        """Request one summary from the model."""
        instructions, texts = [self.instructions], [text]
        if is_last:
            instructions.append(self.feedback)
            texts += [f"[{NOTE}]: {self.note}"] if self.note else []
        return await self.calls.ask(
            SummaryRequest(
                "\n\n".join(texts),
                "\n\n".join(filter(None, instructions)) or None,
                previous,
                self.answer_tokens,
                kind,
            )
        )
