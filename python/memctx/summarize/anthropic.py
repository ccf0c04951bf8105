"""`AnthropicSummarizer`: summaries by the Messages API, streamed."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx.errors import ConfigError, SummaryError
from memctx.extractors import sdk
from memctx.extractors.protocol import Usage
from memctx.messages import part
from memctx.summarize.failure import failure_of
from memctx.summarize.meter import count_usage, note_problem
from memctx.summarize.progress import shielded
from memctx.summarize.prompt import build_prompt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from anthropic import AsyncAnthropic

    from memctx.summarize.prompt import Prompt
    from memctx.summarize.protocol import SummaryRequest

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 5.0
JITTER = 0.2
# Why an answer ends that is not complete, and is used for what it holds.
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})

# Tokens that were read, wherever from.
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

logger = logging.getLogger("memctx.summarize")


class AnthropicSummarizer:
    """Summarises with a model of Anthropic's, or of any server that speaks the same API.

    An overflow, a refusal, a time-out and a cancelled call are not tried again; anything else that may pass is, after
    half a second to five.

    >>> summarizer = AnthropicSummarizer("claude-sonnet-5-5", api_key="...")
    >>> summarizer.model, summarizer.timeout
    ('claude-sonnet-5-5', 180.0)

    Args:
        model: The model that is asked.
        client: An asynchronous client of your own, for a proxy, Bedrock or Vertex; it stays open, and must not be in
            use on another event loop. By default a client is made for each call and closed after it.
        api_key: By default whatever the SDK finds in the environment.
        base_url: Another server that speaks the Messages API.
        timeout: Seconds that an answer may take, from first to last.
        attempts: How often an answer is tried for.
        options: What goes into every request besides, such as ``temperature``.

    Raises:
        ConfigError: an argument has a value that cannot be used, or the SDK is not installed.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str,
        client: AsyncAnthropic | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 180.0,
        attempts: int = 3,
        options: dict[str, Any] | None = None,
    ) -> None:
        if not model.strip():
            raise ConfigError(f"model must be the name of a model, not {model!r}")
        if not timeout > 0:
            raise ConfigError(f"timeout must be a number of seconds above 0, not {timeout!r}")
        if attempts < 1:
            raise ConfigError(f"attempts must be 1 or more, not {attempts!r}")
        if client is None:
            sdk.require("anthropic", "AnthropicSummarizer")
        elif api_key is not None or base_url is not None:
            raise ConfigError("a client has its own api_key and base_url: give either it or them")
        elif not any(cls.__name__.startswith("Async") for cls in type(client).__mro__):
            expected = "asynchronous, such as anthropic.AsyncAnthropic"
            raise ConfigError(f"client must be {expected}, not {type(client).__name__}")
        self.model = model
        self.timeout = timeout
        self.attempts = attempts
        self.usage = Usage()
        """All that this summariser spent, for answers that could not be used too."""
        self._client = client
        self._api_key = api_key
        self._base_url = base_url
        self._options = dict(options or {})

    def __repr__(self) -> str:
        return f"AnthropicSummarizer({self.model!r})"  # and no key

    async def summarize(
        self, request: SummaryRequest, *, on_text: Callable[[str], None] | None = None
    ) -> str:
        """The model's summary, tried again where that may help.

        Raises:
            SummaryError: the model could not be reached, gave nothing usable, or did not take the request.
        """
        prompt, shown = build_prompt(request), shielded(on_text)
        async with self._opened() as client:
            for attempt in range(1, self.attempts + 1):
                try:
                    return await self._asked(client, prompt, request.max_tokens, shown)
                except SummaryError as error:
                    if error.is_final or attempt == self.attempts:
                        raise
                    logger.info("%s, asking again (attempt %d)", error, attempt + 1)
                    await asyncio.sleep(_pause(attempt, error.retry_after))
        raise AssertionError("the last attempt returns or raises")

    async def _asked(
        self,
        client: AsyncAnthropic,
        prompt: Prompt,
        max_tokens: int,
        on_text: Callable[[str], None] | None,
    ) -> str:
        """One attempt."""
        answer = _Answer()
        try:
            async with asyncio.timeout(self.timeout):
                with sdk.silenced("anthropic._base_client"):
                    await self._stream(client, prompt, max_tokens, answer, on_text)
        except SummaryError:
            raise
        except Exception as error:
            raise failure_of(error, self.model) from error
        finally:
            spent = Usage(1, answer.input_tokens, answer.output_tokens)
            self.usage += spent
            count_usage(spent)
        return self._judged(answer)

    async def _stream(
        self,
        client: AsyncAnthropic,
        prompt: Prompt,
        max_tokens: int,
        answer: _Answer,
        on_text: Callable[[str], None] | None,
    ) -> None:
        stream = await client.messages.create(
            model=self.model,
            max_tokens=max_tokens,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.user}],
            stream=True,
            timeout=self.timeout,
            **self._options,
        )
        async with stream:
            async for event in stream:
                text = answer.heard(event)
                if text and on_text is not None:
                    on_text(text)

    def _judged(self, answer: _Answer) -> str:
        """The text of an answer that can be used."""
        text = "".join(answer.pieces).strip()
        if answer.stop_reason == "refusal":
            raise SummaryError(f"{self.model} declined to summarise", is_final=True)
        if answer.stop_reason is None:
            raise SummaryError(f"the answer of {self.model} ended before it was complete")
        if not text:
            raise SummaryError(f"{self.model} gave an empty answer")
        if answer.stop_reason in CUT:
            note_problem(f"a summary was cut off by {self.model} ({answer.stop_reason})")
        return text

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[AsyncAnthropic]:
        """A client that does not try again by itself."""
        if self._client is not None:
            yield self._client.with_options(max_retries=0)
            return
        import anthropic  # noqa: PLC0415 - takes longer than all of memctx

        try:
            client = anthropic.AsyncAnthropic(
                api_key=self._api_key,
                base_url=self._base_url,
                max_retries=0,
                http_client=anthropic.DefaultAsyncHttpxClient(verify=sdk.ssl_context()),
            )
        except Exception as error:
            raise failure_of(error, self.model) from error
        async with client:
            yield client


@dataclass(slots=True)
class _Answer:
    """What has come of an answer so far."""

    pieces: list[str] = field(default_factory=list[str])
    stop_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    def heard(self, event: Any) -> str:  # noqa: ANN401 - one of the SDK's many events
        """Take in one event; the text that came with it."""
        match event.type:
            case "message_start":
                usage = part.get(event.message, "usage")
                self.input_tokens = sum(_count(usage, name) for name in INPUT)
                self.output_tokens = _count(usage, "output_tokens")
            case "content_block_delta":
                text = part.text(event.delta, "text") or ""
                self.pieces.append(text)
                return text
            case "message_delta":
                self.stop_reason = part.text(event.delta, "stop_reason") or self.stop_reason
                spent = _count(part.get(event, "usage"), "output_tokens")
                self.output_tokens = spent or self.output_tokens
            case _:
                pass
        return ""


def _count(usage: object, name: str) -> int:
    """A number of tokens; 0 where the server does not say."""
    value = part.get(usage, name)
    return value if isinstance(value, int) else 0


def _pause(attempt: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: twice as long each time, and as long as the server asks within the bounds."""
    pause = max(FIRST_PAUSE * 2.0 ** (attempt - 1), retry_after or 0.0)
    jittered = pause * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - no secret
    return min(max(jittered, FIRST_PAUSE), LONGEST_PAUSE)
