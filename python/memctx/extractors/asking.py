"""Asking a model: again when it is busy, the larger one when the small one fails, and counting what it costs."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memctx.errors import ConfigError, ExtractionError
from memctx.extractors.failure import Failure, failure_of
from memctx.extractors.price import Tokens, usage_of
from memctx.extractors.prompt import prompt_of, spoken
from memctx.extractors.protocol import Extraction, Usage
from memctx.extractors.reply import read_reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from memctx.extractors.price import Price
    from memctx.extractors.prompt import Prompt
    from memctx.extractors.protocol import Request
    from memctx.knowledge import Draft

# Seconds between two tries, where the server does not say.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
# Who is to be left alone for longer is asked again by whoever keeps the queue, not from here.
LONGEST_WAIT = 15.0

logger = logging.getLogger("memctx.extraction")


@dataclass(frozen=True, slots=True)
class Question:
    """What one call sends."""

    model: str
    prompt: Prompt
    is_plain: bool
    """Whether to send nothing but what every server takes: no schema and no settings."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call brought back."""

    text: str
    tokens: Tokens
    is_cut: bool = False
    refusal: str | None = None
    """Why the model declined, in a word; None if it did not."""


@dataclass(slots=True)
class Asking:
    """How a model is asked, whoever serves it."""

    model: str
    small_model: str | None
    timeout: float
    retries: int
    price: Price | Mapping[str, Price] | None
    usage: Usage = field(default_factory=Usage)
    """All that was spent, for answers that could not be used too."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """For event loops in several threads."""
    plain: set[str] = field(default_factory=set[str])
    """The models that turned out to take neither schema nor settings."""

    def __post_init__(self) -> None:
        check_name("model", self.model)
        if self.small_model is not None:
            check_name("small_model", self.small_model)
        if not self.timeout > 0:
            raise ConfigError(f"timeout must be a number of seconds above 0, not {self.timeout!r}")
        if self.retries < 0:
            raise ConfigError(f"retries must be 0 or more, not {self.retries!r}")

    async def extract(
        self, request: Request, send: Callable[[Question], Awaitable[Answer]]
    ) -> Extraction:
        """Ask, and read the answer."""
        if request.most < 1 or not any(message.text.strip() for message in spoken(request)):
            return Extraction(())
        prompt = prompt_of(request)
        spent = Usage()
        if self.small_model is not None:
            answer = await self.ask(self.small_model, prompt, send)
            spent += self.account(answer, self.small_model)
            try:
                return Extraction(*usable(answer, request, self.small_model, spent))
            except ExtractionError as error:
                logger.info("%s; asking %s", error, self.model)
        answer = await self.ask(self.model, prompt, send)
        spent += self.account(answer, self.model)
        return Extraction(*usable(answer, request, self.model, spent))

    async def ask(
        self, model: str, prompt: Prompt, send: Callable[[Question], Awaitable[Answer]]
    ) -> Answer:
        """The answer of a model, after as many tries as it takes or as there are."""
        tries = 0
        while True:
            question = Question(model, prompt, is_plain=model in self.plain)
            outcome = await self.attempt(question, send)
            if isinstance(outcome, Failure) and outcome.is_refused and not question.is_plain:
                outcome = await self.attempt(replace(question, is_plain=True), send)
                if isinstance(outcome, Answer):
                    self.plain.add(model)
                    logger.info(
                        "%s takes no schema or settings; it is asked without from now on", model
                    )
            if isinstance(outcome, Answer):
                return outcome
            pause = self.pause_after(outcome, tries)
            if pause is None:
                raise outcome.error
            tries += 1
            await asyncio.sleep(pause)

    async def attempt(
        self, question: Question, send: Callable[[Question], Awaitable[Answer]]
    ) -> Answer | Failure:
        """One call. What an SDK raises holds the request, so it goes no further than here."""
        try:
            async with asyncio.timeout(self.timeout):
                return await send(question)
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything, and none of it may stop the worker
            return failure_of(error, question.model)

    def pause_after(self, failure: Failure, tries: int) -> float | None:
        """Seconds to wait before the next try; None if there is to be none."""
        wanted = failure.error.retry_after
        if not failure.is_transient or tries >= self.retries or (wanted or 0) > LONGEST_WAIT:
            return None
        pause = min(FIRST_PAUSE * 2**tries, LONGEST_PAUSE)
        spread = random.uniform(0.5, 1.0)  # noqa: S311 - so that many do not come back at once
        return pause * spread if wanted is None else wanted + FIRST_PAUSE * (1 - spread)

    def account(self, answer: Answer, model: str) -> Usage:
        """What an answer cost, also added to all that was spent."""
        usage = usage_of(answer.tokens, model, self.price)
        with self.lock:
            self.usage += usage
        return usage


def check_name(setting: str, value: object) -> None:
    """Complain about what cannot be the name of a model."""
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{setting} must be the name of a model, not {value!r}")


def usable(
    answer: Answer, request: Request, model: str, spent: Usage
) -> tuple[tuple[Draft, ...], Usage, tuple[str, ...]]:
    """What an extraction is made of; an error if there is nothing to make it of."""
    if answer.refusal is not None:
        raise ExtractionError(f"{model} declined to answer ({answer.refusal})", is_final=True)
    drafts, problems = read_reply(answer.text, request, is_cut=answer.is_cut)
    return drafts, spent, problems
