"""`AnthropicSummarizer`: summaries by the Messages API, streamed."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx.compaction.summary.prompt import build_prompt
from memctx.compaction.summary.reporting import count_usage, note_problem, shield_callback
from memctx.errors import ConfigError, SummaryError
from memctx.messages import part
from memctx.protocols import Usage
from memctx.providers import sdk
from memctx.providers.failures import Failure, classify
from memctx.providers.options import ClientOptions, check_model_name
from memctx.providers.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from anthropic import AsyncAnthropic

    from memctx.compaction.summary.prompt import Prompt
    from memctx.protocols import SummaryRequest

TIMEOUT = 180.0
MAX_RETRIES = 2
MAX_DELAY = 5.0
# Stop reasons of a response that is incomplete but usable.
TRUNCATED = frozenset({"max_tokens", "model_context_window_exceeded"})
INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicSummarizer:
    """Summarizes with a model of Anthropic, or of any server of the same API.

    Transient failures are retried, with at most five seconds between attempts. Overflows, refusals, timeouts and
    cancelled calls are not.

    >>> summarizer = AnthropicSummarizer("claude-sonnet-5-5")
    >>> summarizer.model, summarizer.timeout
    ('claude-sonnet-5-5', 180.0)

    Args:
        model: The model that is asked.
        client: Your own asynchronous client, for a proxy, Bedrock or Vertex; it stays open, and must not be in use on
            another event loop. By default a client is created for each call and closed after it.
        options: Key, address, timeout of a whole response (180 s) and retries (2) of the default client.
        parameters: Additional parameters of every request, such as ``temperature``.

    Raises:
        ConfigError: An argument has a value that cannot be used, or the SDK is not installed.
    """

    def __init__(
        self,
        model: str,
        client: AsyncAnthropic | None = None,
        *,
        options: ClientOptions | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        options = options or ClientOptions()
        check_model_name("model", model)
        options.check_client(client)
        if client is None:
            sdk.require_packages("AnthropicSummarizer", "anthropic", "anthropic")
        elif not any(cls.__name__.startswith("Async") for cls in type(client).__mro__):
            expected = "asynchronous, such as anthropic.AsyncAnthropic"
            raise ConfigError(f"client must be {expected}, not {type(client).__name__}")
        self.model = model
        self.timeout = options.timeout_or(TIMEOUT)
        self.usage = Usage()
        """The usage of all calls so far, unusable responses included."""
        self._client = client
        self._options = options
        self._retries = RetryPolicy(
            options.max_retries_or(MAX_RETRIES),
            MAX_DELAY,
            max_retry_after=None,
            retries_timeouts=False,
        )
        self._parameters = dict(parameters or {})

    def __repr__(self) -> str:
        return f"AnthropicSummarizer({self.model!r})"  # without the key

    async def summarize(
        self, request: SummaryRequest, *, on_text: Callable[[str], None] | None = None
    ) -> str:
        """Return the model's summary, retried after transient failures.

        Raises:
            SummaryError: The model could not be reached, rejected the request or returned nothing usable.
        """
        prompt, listener = build_prompt(request), shield_callback(on_text)
        outcome: str | Failure
        try:
            async with self._open_client() as client:
                outcome = await self._retries.run_async(
                    lambda: self._attempt(client, prompt, request.max_tokens, listener)
                )
        except Exception as error:  # noqa: BLE001 - it may hold the request
            outcome = classify(error, self.model)
        if isinstance(outcome, Failure):
            raise _to_error(outcome)
        return outcome

    async def _attempt(
        self,
        client: AsyncAnthropic,
        prompt: Prompt,
        max_tokens: int,
        on_text: Callable[[str], None] | None,
    ) -> str | Failure:
        """Send one request. Exceptions of the SDK hold the request, so they are not passed on."""
        response = _Response()
        try:
            async with asyncio.timeout(self.timeout):
                with sdk.silence_loggers("anthropic._base_client"):
                    await self._stream(client, prompt, max_tokens, response, on_text)
        except Exception as error:  # noqa: BLE001 - as above
            return classify(error, self.model)
        finally:
            spent = Usage(1, response.input_tokens, response.output_tokens)
            self.usage += spent
            count_usage(spent)
        return self._check(response)

    async def _stream(
        self,
        client: AsyncAnthropic,
        prompt: Prompt,
        max_tokens: int,
        response: _Response,
        on_text: Callable[[str], None] | None,
    ) -> None:
        stream = await client.messages.create(
            model=self.model,
            max_tokens=max_tokens,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.user}],
            stream=True,
            timeout=self.timeout,
            **self._parameters,
        )
        async with stream:
            async for event in stream:
                text = response.add(event)
                if text and on_text is not None:
                    on_text(text)

    def _check(self, response: _Response) -> str | Failure:
        """Return the text of a usable response."""
        text = "".join(response.pieces).strip()
        if response.stop_reason == "refusal":
            return Failure(f"{self.model} declined to summarize", "rejected")
        if response.stop_reason is None:
            return Failure(f"the response of {self.model} ended early", "transient")
        if not text:
            return Failure(f"{self.model} returned an empty response", "transient")
        if response.stop_reason in TRUNCATED:
            note_problem(f"a summary was cut off by {self.model} ({response.stop_reason})")
        return text

    def _open_client(self) -> AbstractAsyncContextManager[AsyncAnthropic]:
        """Open a client without retries of its own."""
        if self._client is not None:
            return nullcontext(self._client.with_options(max_retries=0))
        return sdk.new_anthropic_client(self._options, self.timeout)


@dataclass(slots=True)
class _Response:
    """The part of a streamed response that has arrived."""

    pieces: list[str] = field(default_factory=list[str])
    stop_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, event: Any) -> str:  # noqa: ANN401 - one of the SDK's many events
        """Add one event and return its text."""
        match event.type:
            case "message_start":
                usage = part.get(event.message, "usage")
                self.input_tokens = sum(_count(usage, name) for name in INPUT_TOKENS)
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
    """Return a number of tokens; 0 if the server does not report it."""
    value = part.get(usage, name)
    return value if isinstance(value, int) else 0


def _to_error(failure: Failure) -> SummaryError:
    return SummaryError(
        failure.message,
        is_overflow=failure.kind == "overflow",
        is_retryable=failure.is_retryable,
        is_permanent=failure.kind == "permanent",
        is_timeout=failure.kind == "timeout",
        retry_after=failure.retry_after,
    )
