"""`AnthropicExtractor`: fact extraction by a Claude model."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx.errors import ConfigError
from memctx.facts.extractors.completion import (
    CompletionExtractor,
    CompletionResponse,
    count_of,
    document_of,
    fields_of,
    items_of,
    text_of,
)
from memctx.facts.extractors.prompt import SCHEMA
from memctx.providers import sdk
from memctx.providers.failures import CODE
from memctx.providers.pricing import Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager

    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.types import OutputConfigParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    from memctx.facts.extractors.completion import CompletionRequest
    from memctx.providers.options import ClientOptions
    from memctx.providers.pricing import Price

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
DEFAULT_MODEL = "claude-haiku-5-5"
TRUNCATED = ("max_tokens", "model_context_window_exceeded")


class AnthropicExtractor(CompletionExtractor["Anthropic | AsyncAnthropic"]):
    """Extracts facts with a Claude model, through the anthropic SDK (``pip install 'memctx[anthropic]'``).

    >>> extractor = AnthropicExtractor("claude-sonnet-5-5", small_model="claude-haiku-5-5")
    >>> extractor.model
    'claude-sonnet-5-5'

    Args:
        model: The model that is asked.
        small_model: A cheaper model that is asked first; ``model`` is asked only if its response is unusable.
        client: Your own client, for a proxy, Bedrock or Vertex. A blocking one is called in threads; an asynchronous
            one must not be in use on another event loop. By default a client is created for each call and closed
            after it.
        options: Key, address, timeout (60 s) and retries (3) of the default client.
        max_tokens: The longest response, thinking included.
        effort: The model's thinking effort, where it has the setting.
        price: The price of tokens, for all models or by name, which adds costs to `Usage`.
    """

    SDK = "anthropic"
    API = "anthropic.resources"

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = DEFAULT_MODEL,
        *,
        small_model: str | None = None,
        client: Anthropic | AsyncAnthropic | None = None,
        options: ClientOptions | None = None,
        max_tokens: int = 8192,
        effort: Effort | None = None,
        price: Price | Mapping[str, Price] | None = None,
    ) -> None:
        if max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, not {max_tokens!r}")
        super().__init__(
            model, small_model=small_model, client=client, options=options, price=price
        )
        self._max_tokens = max_tokens
        self._effort: Effort | None = effort

    def _open_client(self) -> AbstractAsyncContextManager[Anthropic | AsyncAnthropic]:
        """Open a client without retries of its own."""
        if self._client is not None:
            return nullcontext(self._client.with_options(max_retries=0, timeout=self._timeout))
        return sdk.new_anthropic_client(self._options, self._timeout)

    async def _send(self, request: CompletionRequest) -> CompletionResponse:
        from anthropic.resources import AsyncMessages  # noqa: PLC0415 - slow to import

        arguments: MessageCreateParamsNonStreaming = {
            "model": request.model,
            "max_tokens": self._max_tokens,
            "system": request.prompt.system,
            "messages": [{"role": "user", "content": request.prompt.user}],
        }
        if not request.is_plain:
            output: OutputConfigParam = {"format": {"type": "json_schema", "schema": SCHEMA}}
            if self._effort is not None:
                output["effort"] = self._effort
            arguments["output_config"] = output
        async with self._open_client() as client:
            api = client.messages
            message: object = (
                await api.create(**arguments)
                if isinstance(api, AsyncMessages)
                else await asyncio.to_thread(lambda: api.create(**arguments))
            )
        return parse_message(document_of(message))


def parse_message(document: dict[str, Any]) -> CompletionResponse:
    """Return the response in a message of the Messages API."""
    blocks = [fields_of(block) for block in items_of(document.get("content"))]
    usage = fields_of(document.get("usage"))
    stop = document.get("stop_reason")
    category = text_of(fields_of(document.get("stop_details")).get("category"))
    refusal = category if CODE.fullmatch(category) else "refusal"
    return CompletionResponse(
        text="".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text"),
        tokens=Tokens(
            input=count_of(usage.get("input_tokens")),
            output=count_of(usage.get("output_tokens")),
            cache_write=count_of(usage.get("cache_creation_input_tokens")),
            cache_read=count_of(usage.get("cache_read_input_tokens")),
        ),
        is_truncated=stop in TRUNCATED,
        refusal=refusal if stop == "refusal" else None,
    )
