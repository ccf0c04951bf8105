"""Summaries with fallbacks: `summarize_with_fallback` returns a summary even when the model fails."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx import _core
from memctx.compaction.plan.preserved import latest_ask
from memctx.compaction.summary.calls import Calls
from memctx.compaction.summary.quality import check_quality, extract_identifiers
from memctx.compaction.summary.reporting import collect_usage, shield_callback
from memctx.compaction.summary.sections import (
    SECTION_INSTRUCTIONS,
    SPLIT_TURN,
    TURN_CHARS,
    cap_summary,
    preserve_sections,
    split_preserved,
    truncate_middle,
)
from memctx.compaction.summary.serialize import (
    RESULT,
    SerializedMessages,
    serialize,
    serialize_each,
)
from memctx.compaction.summary.stages import NO_HISTORY, Stages, SummaryOptions, make_stages
from memctx.errors import SummaryError
from memctx.messages import detect
from memctx.protocols import SummaryRequest, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memctx._core import Redactor
    from memctx.compaction.summary.stages import Partial
    from memctx.protocols import Summarizer

FallbackLevel: TypeAlias = Literal[
    "full", "without-oversized", "smaller-chunks", "simple", "partial", "fixed"
]
"""Fallback level of a summary, best first: each was tried because those before it failed."""

CHUNK_DIVISORS = (2, 4)
"""Divisors of the chunk size, tried in turn when larger chunks failed."""
SIMPLE_RESULT_CHARS = 300
RECENT_MESSAGES = 40
"""Number of newest messages whose identifiers a summary is checked for; tool results do not count."""

logger = logging.getLogger("memctx.compaction.summary")


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, with its fallback level and cost.

    >>> Summary("The webhook listens on port 8443.", "full").fallback_level
    'full'
    """

    text: str
    """Summary followed by the sections preserved verbatim; never empty, at most 16,000 characters."""
    fallback_level: FallbackLevel
    attempts: int = 0
    """Number of calls of the summarizer."""
    problems: tuple[str, ...] = ()
    """Failures of better fallback levels, and faults of the summary."""
    usage: Usage = field(default_factory=Usage)

    @property
    def is_by_model(self) -> bool:
        """True if a model read everything that the summary covers, except what it names as left out."""
        return self.fallback_level not in {"partial", "fixed"}


async def summarize_with_fallback(  # noqa: PLR0913 - each has a default
    messages: Sequence[Any],
    summarizer: Summarizer,
    options: SummaryOptions | None = None,
    *,
    previous_summary: str | None = None,
    prefix: Sequence[Any] = (),
    ask: str | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Summary:
    """Summarize the messages, with fallbacks for a summarizer that fails.

    The fallbacks leave out oversized messages, then use smaller chunks, then a simpler prompt. If all fail, the
    finished part of a summary is used with a note, or else a fixed text that counts the messages. Every level keeps
    ``previous_summary``. ``prefix`` holds the first messages of a turn that continues; they are summarized separately.
    Tool failures, files and the latest ask (``ask``, or that of the messages) are preserved verbatim behind the
    summary.

    >>> import asyncio
    >>> from memctx.compaction.summary import FunctionSummarizer
    >>> def broken(request):
    ...     raise OSError("no route to host")
    >>> messages = [{"role": "user", "content": "Move the webhook to port 8443"}]
    >>> summary = asyncio.run(summarize_with_fallback(messages, FunctionSummarizer(broken)))
    >>> summary.fallback_level, "Move the webhook to port 8443" in summary.text
    ('fixed', True)

    Raises:
        MessageFormatError: ``messages`` is no list, or a message has an unknown format.
        ConfigError: the message format is unknown.
    """
    options = options or SummaryOptions()
    redactor, is_safeguard = options.redactor, options.mode == "safeguard"
    messages, prefix = list(messages), list(prefix)
    message_format = options.format or detect([*messages, *prefix])
    calls = Calls(summarizer, shield_callback(on_text), monotonic() + options.time_limit, redactor)
    serialized = SerializedMessages([*messages, *prefix], message_format, redactor)
    stages = make_stages(messages, serialized, calls, replace(options, format=message_format))
    if is_safeguard:
        instructions = [SECTION_INSTRUCTIONS, stages.instructions]
        stages = replace(stages, instructions="\n\n".join(filter(None, instructions)))
    else:
        stages = replace(stages, parts=1, is_one_call=True)
    previous, earlier = split_preserved(previous_summary or "")
    preserved = preserve_sections([*messages, *prefix], message_format, ask=ask, redactor=redactor)
    with collect_usage() as meter:
        fallbacks = _Fallbacks(stages, messages, previous or None, redactor)
        body, level = await fallbacks.run()
        if is_safeguard and fallbacks.succeeded is not None:
            body = await fallbacks.improve(body, options.quality_retries)
        behind = [await _summarize_prefix(fallbacks, prefix), preserved.merge(earlier).text()]
    text = cap_summary(body, "\n\n".join(filter(None, behind)))
    problems = tuple(dict.fromkeys([*fallbacks.problems, *meter.problems]))
    if problems:
        logger.info("summary has fallback level %s: %s", level, "; ".join(problems))
    return Summary(text, level, calls.made, problems, meter.usage)


async def _summarize_prefix(whole: _Fallbacks, prefix: Sequence[Any]) -> str:
    """Summarize the first messages of a turn that continues."""
    if not prefix:
        return ""
    stages = replace(
        whole.stages, kind="prefix", instructions=None, is_one_call=True, parts=1, partials=[]
    )
    fallbacks = _Fallbacks(stages, prefix, None, whole.redactor)
    text, level = await fallbacks.run()
    whole.problems += [f"turn context ({level}): {problem}" for problem in fallbacks.problems]
    return f"{SPLIT_TURN}\n\n{truncate_middle(text, TURN_CHARS)}"


@dataclass(slots=True)
class _Fallbacks:
    """The fallback levels for one list of messages, tried best first."""

    stages: Stages
    messages: Sequence[Any]
    previous: str | None
    redactor: Redactor | None
    problems: list[str] = field(default_factory=list[str])
    succeeded: Stages | None = None
    """Variant that produced a regular summary."""

    async def run(self) -> tuple[str, FallbackLevel]:
        """Return the text of the first level that succeeds, and the level."""
        if not self.messages:
            return self.previous or NO_HISTORY, "full"
        for level, variant in self._variants():
            try:
                text = await variant.summarize(self.messages, self.previous)
            except SummaryError as error:
                self.problems.append(f"{level}: {error}")
                if error.is_permanent:
                    return self._summarize_without_model()
            else:
                self.succeeded = variant
                return text, level
        try:
            return await self._summarize_simply(), "simple"
        except SummaryError as error:
            self.problems.append(f"simple: {error}")
        return self._summarize_without_model()

    async def improve(self, body: str, retries: int) -> str:
        """Return the summary, or a better one from a retry that names its faults."""
        message_format, redactor = self.stages.format, self.redactor
        ask = latest_ask(self.messages, message_format)
        if ask is not None and redactor is not None:
            ask = redactor.mask(ask).text
        entries = serialize_each(
            self.messages[-RECENT_MESSAGES:], message_format, redactor=redactor
        )
        identifiers = extract_identifiers(
            [entry for entry in entries if not entry.startswith(f"[{RESULT}]")]
        )
        quality = check_quality(body, identifiers=identifiers, ask=ask)
        for _ in range(retries):
            if quality.is_good or self.succeeded is None:
                break
            try:
                variant = replace(self.succeeded, feedback=quality.feedback(), note=quality.note())
                other = await variant.summarize(self.messages, self.previous)
            except SummaryError as error:
                self.problems.append(f"second version: {error}")
                break
            found = check_quality(other, identifiers=identifiers, ask=ask)
            if found.faults < quality.faults:
                body, quality = other, found
        self.problems += quality.problems()
        return body

    def _variants(self) -> Iterator[tuple[FallbackLevel, Stages]]:
        """Yield the variants that produce a regular summary, best first."""
        yield "full", self.stages
        lean = replace(self.stages, leaves_out=True)
        if lean.oversized(self.messages):
            yield "without-oversized", lean
        for divisor in CHUNK_DIVISORS:
            smaller = replace(
                lean,
                window=max(self.stages.window // divisor, 1),
                max_chunk_tokens=max(self.stages.max_chunk_tokens // divisor, 1),
                is_one_call=False,
            )
            yield "smaller-chunks", smaller

    async def _summarize_simply(self) -> str:
        """Request a short summary of a shortened text in one call."""
        stages = self.stages
        text = serialize(
            self.messages, stages.format, redactor=self.redactor, result_chars=SIMPLE_RESULT_CHARS
        )
        if not text:
            return self.previous or NO_HISTORY
        # A character is at most a token, so this cannot overflow.
        shown = truncate_middle(text, max(stages.window // CHUNK_DIVISORS[-1], 1))
        tokens = min(stages.answer_tokens, 1_024)
        return await stages.calls.ask(SummaryRequest(shown, None, self.previous, tokens, "simple"))

    def _summarize_without_model(self) -> tuple[str, FallbackLevel]:
        """Return the finished part of a summary, or else the fixed text."""
        best = max(self.stages.partials, key=lambda partial: partial.messages, default=None)
        return (self._partial_text(best), "partial") if best else (self._fixed_text(), "fixed")

    def _partial_text(self, best: Partial) -> str:
        covered = f"the first {best.messages} of {len(self.messages)} messages"
        note = (
            f"[Partial summary of {covered}; the rest could not be summarized ({self._reason()}).]"
        )
        if best.messages == len(self.messages):
            note = f"[Summaries of the parts, which could not be merged ({self._reason()}).]"
        # The parts of a staged summary are made without the previous one, which must not be lost.
        before = [self.previous] if self.previous and not best.has_previous else []
        return "\n\n".join([*before, best.text, note])

    def _fixed_text(self) -> str:
        conversation = _core.MessageReader(capacity=0).read(self.messages, self.stages.format)
        counts = [
            f"{conversation.roles.count(role)} {role}" for role in ("user", "assistant", "tool")
        ]
        note = (
            f"[Summary unavailable ({self._reason()}). {len(conversation)} messages"
            f" ({', '.join(counts)}; ~{conversation.tokens} tokens) are no longer in the context.]"
        )
        return f"{self.previous}\n\n{note}" if self.previous else note

    def _reason(self) -> str:
        return self.problems[-1].partition(": ")[2] if self.problems else "unknown"
