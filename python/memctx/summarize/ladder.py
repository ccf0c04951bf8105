"""`summarize_with_fallback`: a summary whatever happens, the best that can be had, and how it was come by."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx import _core
from memctx.compact.ask import latest_ask
from memctx.compact.chunk import DEFAULT_PARTS
from memctx.errors import ConfigError, SummaryError
from memctx.extractors.protocol import Usage
from memctx.messages import detect
from memctx.summarize.calls import Calls
from memctx.summarize.carried import carried
from memctx.summarize.meter import metered
from memctx.summarize.progress import shielded
from memctx.summarize.prompt import shortened_instructions
from memctx.summarize.protocol import SummaryRequest
from memctx.summarize.quality import check_quality, extract_identifiers
from memctx.summarize.reading import Reading
from memctx.summarize.sections import (
    SECTION_INSTRUCTIONS,
    SPLIT_TURN,
    TURN_CHARS,
    capped,
    middle_out,
    split_suffix,
)
from memctx.summarize.serialize import RESULT, serialize, serialize_each
from memctx.summarize.stages import NO_HISTORY, Stages, chunk_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memctx import Redactor
    from memctx.messages import Shape
    from memctx.summarize.protocol import Summarizer
    from memctx.summarize.stages import Partial

Mode: TypeAlias = Literal["default", "safeguard"]
"""How a history is summarised: in one call where it fits; or in stages, with required sections and a check of them."""

Rung: TypeAlias = Literal[
    "full", "without-oversized", "smaller-chunks", "simple", "partial", "fixed"
]
"""How far down a summary came from: each was tried because those before it failed."""

MOST_QUALITY_RETRIES = 3
SMALLER = (2, 4)
"""What chunks are divided by, one after the other, when larger ones failed."""
SIMPLE_RESULT_CHARS = 300
RECENT_MESSAGES = 40
"""Messages whose identifiers a summary is checked for, tools' results among them, which do not count."""

logger = logging.getLogger("memctx.summarize")


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, and how it was come by.

    >>> Summary("The webhook listens on port 8443.", "full").rung
    'full'
    """

    text: str
    """The summary with what is carried over behind it; never empty, 16,000 characters at most."""
    rung: Rung
    attempts: int = 0
    """How often the summariser was asked."""
    problems: tuple[str, ...] = ()
    """Why it is not from a higher rung, and what is wrong with it."""
    usage: Usage = field(default_factory=Usage)

    @property
    def is_by_model(self) -> bool:
        """Whether a model read all of what it stands for, but for what it says was left out."""
        return self.rung not in {"partial", "fixed"}


async def summarize_with_fallback(  # noqa: PLR0913 - each has a default
    messages: Sequence[Any],
    summarizer: Summarizer,
    *,
    window: int = 200_000,
    reserve_tokens: int = 20_000,
    mode: Mode = "safeguard",
    instructions: str | None = None,
    previous_summary: str | None = None,
    prefix: Sequence[Any] = (),
    ask: str | None = None,
    max_chunk_tokens: int | None = None,
    parts: int = DEFAULT_PARTS,
    min_messages: int = 4,
    quality_retries: int = 1,
    time_limit: float = 600.0,
    shape: Shape | None = None,
    redactor: Redactor | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Summary:
    """A summary of the messages, whatever the summariser does.

    If it fails at all of them, it gets them without those that are too large, then in smaller chunks, then with a
    simpler prompt. If it fails at that too, what it finished is used, with a note; and if that is nothing, a text that
    says what there was. ``previous_summary`` is carried on in every case. ``prefix`` are the messages with which a turn
    began that goes on; they are summarised apart. Tools that failed, files, and what the person asked last (``ask``, or
    what the messages say) stand behind the summary, untouched by any model. All calls together take no longer than
    ``time_limit`` seconds.

    >>> import asyncio
    >>> from memctx.summarize import FunctionSummarizer
    >>> def broken(request):
    ...     raise OSError("no route to host")
    >>> said = [{"role": "user", "content": "Move the webhook to port 8443"}]
    >>> summary = asyncio.run(summarize_with_fallback(said, FunctionSummarizer(broken)))
    >>> summary.rung, "Move the webhook to port 8443" in summary.text
    ('fixed', True)

    Raises:
        MessageShapeError: it is no list, or something in it is no message.
        ConfigError: a number is out of range, or the mode or the shape is unknown.
    """
    if mode not in {"default", "safeguard"}:
        raise ConfigError(f"mode must be 'default' or 'safeguard', not {mode!r}")
    if not 0 <= quality_retries <= MOST_QUALITY_RETRIES:
        limits = f"0 to {MOST_QUALITY_RETRIES}"
        raise ConfigError(f"quality_retries must be {limits}, not {quality_retries!r}")
    if not time_limit > 0:
        raise ConfigError(f"time_limit must be a number of seconds above 0, not {time_limit!r}")
    messages, prefix = list(messages), list(prefix)
    shape = shape or detect([*messages, *prefix])
    reading = Reading([*messages, *prefix], shape, redactor)
    previous, earlier = split_suffix(previous_summary or "")
    is_safe = mode == "safeguard"
    told = [SECTION_INSTRUCTIONS if is_safe else None, shortened_instructions(instructions)]
    stages = Stages(
        Calls(summarizer, shielded(on_text), monotonic() + time_limit),
        reading,
        shape,
        window=window,
        max_chunk_tokens=max_chunk_tokens
        or chunk_tokens(messages, window, shape, estimate=reading.tokens),
        reserve_tokens=reserve_tokens,
        instructions="\n\n".join(filter(None, told)) or None,
        parts=parts if is_safe else 1,
        min_messages=min_messages,
        is_one_call=not is_safe,
    )
    suffix = carried([*messages, *prefix], shape, ask=ask, redactor=redactor).joined(earlier)
    with metered() as meter:
        climb = _Climb(stages, messages, previous or None, redactor)
        body, rung = await climb.down()
        if is_safe and climb.taken is not None:
            body = await climb.improved(body, quality_retries)
        behind = [await _turn(climb, prefix), suffix.text()]
    text = capped(body, "\n\n".join(filter(None, behind)))
    problems = tuple(dict.fromkeys([*climb.problems, *meter.problems]))
    if problems:
        logger.info("a summary came from rung %s: %s", rung, "; ".join(problems))
    return Summary(text, rung, stages.calls.made, problems, meter.usage)


async def _turn(whole: _Climb, prefix: Sequence[Any]) -> str:
    """How the turn began that goes on."""
    if not prefix:
        return ""
    apart = replace(
        whole.stages, kind="prefix", instructions=None, is_one_call=True, parts=1, partials=[]
    )
    climb = _Climb(apart, prefix, None, whole.redactor)
    text, rung = await climb.down()
    whole.problems += [f"turn context ({rung}): {problem}" for problem in climb.problems]
    return f"{SPLIT_TURN}\n\n{middle_out(text, TURN_CHARS)}"


@dataclass(slots=True)
class _Climb:
    """One way down the ladder."""

    stages: Stages
    messages: Sequence[Any]
    previous: str | None
    redactor: Redactor | None
    problems: list[str] = field(default_factory=list[str])
    taken: Stages | None = None
    """The way that led to a summary of the usual kind."""

    async def down(self) -> tuple[str, Rung]:
        """The text of the first rung that holds, and which that is."""
        if not self.messages:
            return self.previous or NO_HISTORY, "full"
        for rung, way in self._ways():
            try:
                text = await way.summary(self.messages, self.previous)
            except SummaryError as error:
                self.problems.append(f"{rung}: {error}")
                if error.is_dead:
                    return self._without_model()
            else:
                self.taken = way
                return text, rung
        try:
            return await self._simple(), "simple"
        except SummaryError as error:
            self.problems.append(f"simple: {error}")
        return self._without_model()

    async def improved(self, body: str, retries: int) -> str:
        """The summary, or a better one if the model can be told what it lacks."""
        shape, redactor = self.stages.shape, self.redactor
        ask = latest_ask(self.messages, shape)
        if ask is not None and redactor is not None:
            ask = redactor.mask(ask).text
        entries = serialize_each(self.messages[-RECENT_MESSAGES:], shape, redactor=redactor)
        spoken = [entry for entry in entries if not entry.startswith(f"[{RESULT}]")]
        identifiers = extract_identifiers(spoken)
        quality = check_quality(body, identifiers=identifiers, ask=ask)
        for _ in range(retries):
            if quality.is_good or self.taken is None:
                break
            try:
                way = replace(self.taken, feedback=quality.feedback(), note=quality.note())
                other = await way.summary(self.messages, self.previous)
            except SummaryError as error:
                self.problems.append(f"second version: {error}")
                break
            found = check_quality(other, identifiers=identifiers, ask=ask)
            if found.faults < quality.faults:
                body, quality = other, found
        self.problems += quality.problems()
        return body

    def _ways(self) -> Iterator[tuple[Rung, Stages]]:
        """The ways to have a summary of the usual kind, the best first."""
        yield "full", self.stages
        lean = replace(self.stages, leaves_out=True)
        if lean.oversized(self.messages):
            yield "without-oversized", lean
        for divisor in SMALLER:
            yield (
                "smaller-chunks",
                replace(
                    lean,
                    window=max(self.stages.window // divisor, 1),
                    max_chunk_tokens=max(self.stages.max_chunk_tokens // divisor, 1),
                    is_one_call=False,
                ),
            )

    async def _simple(self) -> str:
        """One call that asks for little and gives little to read."""
        stages = self.stages
        text = serialize(
            self.messages,
            stages.shape,
            redactor=self.redactor,
            result_chars=SIMPLE_RESULT_CHARS,
        )
        if not text:
            return self.previous or NO_HISTORY
        # A character is a token at most, so that this cannot overflow.
        shown = middle_out(text, max(stages.window // SMALLER[-1], 1))
        request = SummaryRequest(
            shown, None, self.previous, min(stages.answer_tokens, 1_024), "simple"
        )
        return await stages.calls.ask(request)

    def _without_model(self) -> tuple[str, Rung]:
        """What was finished, or else what there was."""
        best = max(self.stages.partials, key=lambda partial: partial.messages, default=None)
        return (self._partial(best), "partial") if best else (self._fixed(), "fixed")

    def _partial(self, best: Partial) -> str:
        covered = f"the first {best.messages} of {len(self.messages)} messages"
        note = (
            f"[Partial summary of {covered}; the rest could not be summarised ({self._reason()}).]"
        )
        if best.messages == len(self.messages):
            note = f"[Summaries of the parts, which could not be made one ({self._reason()}).]"
        # The parts of a staged summary are made without the previous one, which must not be lost.
        before = [self.previous] if self.previous and not best.has_previous else []
        return "\n\n".join([*before, best.text, note])

    def _fixed(self) -> str:
        conversation = _core.Scanner(capacity=0).scan(self.messages, self.stages.shape)
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
