"""`OpenAIExtractor`: fact extraction by a model that is served as chat completions."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

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
from memctx.providers.pricing import Tokens

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from openai import AsyncOpenAI, OpenAI
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    from memctx.facts.extractors.completion import CompletionRequest
    from memctx.providers.options import ClientOptions
    from memctx.providers.pricing import Price

# The SDK requires a key; local servers need none.
NO_KEY = "none"


class OpenAIExtractor(CompletionExtractor["OpenAI | AsyncOpenAI"]):
    """Extracts facts with a model of OpenAI or of any server of the chat completions API.

    It uses the openai SDK (``pip install 'memctx[openai]'``). A JSON schema enforces the format of the response; a
    server that rejects the schema or a setting is asked for plain JSON without settings instead.

    >>> from memctx.facts.extractors import ClientOptions
    >>> local = ClientOptions(base_url="http://127.0.0.1:11434/v1")
    >>> OpenAIExtractor("qwen3-coder", options=local)
    OpenAIExtractor('qwen3-coder')

    Args:
        model: The model that is asked.
        small_model: A cheaper model that is asked first; ``model`` is asked only if its response is unusable.
        client: Your own client. A blocking one is called in threads; an asynchronous one must not be in use on another
            event loop. By default a client is created for each call and closed after it.
        options: Key, address (with the ``/v1`` that most servers have at the end), timeout (60 s) and retries (3) of
            the default client.
        max_tokens: The longest response, reasoning included; the model's own limit if None.
        temperature: The sampling temperature; the model's own if None, and not every model takes another.
        price: The price of tokens, for all models or by name, which adds costs to `Usage`.
    """

    SDK = "openai"
    API = "openai.resources.chat"

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str,
        *,
        small_model: str | None = None,
        client: OpenAI | AsyncOpenAI | None = None,
        options: ClientOptions | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        price: Price | Mapping[str, Price] | None = None,
    ) -> None:
        if max_tokens is not None and max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, not {max_tokens!r}")
        super().__init__(
            model, small_model=small_model, client=client, options=options, price=price
        )
        self._max_tokens = max_tokens
        self._temperature = temperature

    @asynccontextmanager
    async def _open_client(self) -> AsyncGenerator[OpenAI | AsyncOpenAI]:
        """Open a client without retries of its own."""
        if self._client is not None:
            yield self._client.with_options(max_retries=0, timeout=self._timeout)
            return
        import openai  # noqa: PLC0415 - slow to import

        options = self._options
        is_keyless = options.base_url is not None and "OPENAI_API_KEY" not in os.environ
        async with openai.AsyncOpenAI(
            api_key=options.api_key or (NO_KEY if is_keyless else None),
            base_url=options.base_url,
            timeout=self._timeout,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(verify=sdk.ssl_context()),
        ) as client:
            yield client

    async def _send(self, request: CompletionRequest) -> CompletionResponse:
        from openai.resources.chat import AsyncCompletions  # noqa: PLC0415 - as above

        arguments: CompletionCreateParamsNonStreaming = {
            "model": request.model,
            "messages": [
                {"role": "system", "content": request.prompt.system},
                {"role": "user", "content": request.prompt.user},
            ],
        }
        if not request.is_plain:
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "facts", "strict": True, "schema": SCHEMA},
            }
            if self._max_tokens is not None:
                arguments["max_completion_tokens"] = self._max_tokens
            if self._temperature is not None:
                arguments["temperature"] = self._temperature
        async with self._open_client() as client:
            api = client.chat.completions
            completion: object = (
                await api.create(**arguments)
                if isinstance(api, AsyncCompletions)
                else await asyncio.to_thread(lambda: api.create(**arguments))
            )
        return parse_completion(document_of(completion))


def parse_completion(document: dict[str, Any]) -> CompletionResponse:
    """Return the response in a chat completion."""
    choice = fields_of(next(iter(items_of(document.get("choices"))), None))
    message = fields_of(choice.get("message"))
    usage = fields_of(document.get("usage"))
    details = fields_of(usage.get("prompt_tokens_details"))
    cache_read = count_of(details.get("cached_tokens"))
    cache_write = count_of(details.get("cache_write_tokens"))
    stop = choice.get("finish_reason")
    refusal = "content_filter" if stop == "content_filter" else None
    return CompletionResponse(
        text=text_of(message.get("content")),
        tokens=Tokens(
            input=max(0, count_of(usage.get("prompt_tokens")) - cache_read - cache_write),
            output=count_of(usage.get("completion_tokens")),
            cache_write=cache_write,
            cache_read=cache_read,
        ),
        is_truncated=stop == "length",
        refusal="refusal" if message.get("refusal") else refusal,
    )
