"""`OpenAIExtractor`: facts found by any model that is served as chat completions."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from memctx.errors import ConfigError
from memctx.extractors import sdk
from memctx.extractors.asking import Answer, Asking
from memctx.extractors.price import Tokens
from memctx.extractors.prompt import SCHEMA
from memctx.extractors.wire import count_of, document_of, fields_of, items_of, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from openai import AsyncOpenAI, OpenAI
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    from memctx.extractors.asking import Question
    from memctx.extractors.price import Price
    from memctx.extractors.protocol import Extraction, Request, Usage

# The SDK wants a key; servers on one's own machine want none.
NO_KEY = "none"


class OpenAIExtractor:
    """Finds facts with a model of OpenAI or of any server that speaks chat completions.

    It goes through the openai SDK (``pip install 'memctx[openai]'``). The form of the answer is enforced by a JSON
    schema; a server that refuses that, or a setting, is asked for plain JSON and without settings instead.

    >>> extractor = OpenAIExtractor("qwen3-coder", base_url="http://127.0.0.1:11434/v1")
    >>> extractor.model
    'qwen3-coder'

    Args:
        model: The model that is asked.
        small_model: A cheaper one to ask first; ``model`` is then asked only where its answer cannot be used.
        client: Your own client. A blocking one is called in threads; an asynchronous one must not be in use on another
            event loop. By default a client is made for each call and closed after it.
        api_key: By default whatever the SDK finds in the environment.
        base_url: Another server than OpenAI's, with the ``/v1`` that most have at the end.
        timeout: Seconds for one call.
        retries: How often a call is repeated that failed for a reason that may pass. Where the server says when to
            come back, that is kept to.
        max_tokens: The longest answer, reasoning included; the model's own limit if None.
        temperature: As the API has it; the model's own if None, and not every model takes another.
        price: What tokens cost, for all models or by name, to have costs in `Usage`.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str,
        *,
        small_model: str | None = None,
        client: OpenAI | AsyncOpenAI | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        max_tokens: int | None = None,
        temperature: float | None = None,
        price: Price | Mapping[str, Price] | None = None,
    ) -> None:
        if client is None:
            sdk.require("openai", "OpenAIExtractor")
        elif api_key is not None or base_url is not None:
            raise ConfigError("a client has its own api_key and base_url: give either it or them")
        if max_tokens is not None and max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, not {max_tokens!r}")
        self._asking = Asking(model, small_model, timeout, retries, price)
        self._client = client
        self._api_key = api_key
        self._base_url = base_url
        self._max_tokens = max_tokens
        self._temperature = temperature

    def __repr__(self) -> str:
        return f"OpenAIExtractor({self.model!r})"  # and no key

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._asking.model

    @property
    def usage(self) -> Usage:
        """All that was spent so far, on answers that could not be used too."""
        return self._asking.usage

    async def extract(self, request: Request) -> Extraction:
        """The facts that the messages state."""
        await sdk.ready("openai.resources.chat")
        with sdk.silenced("openai._base_client"):
            return await self._asking.extract(request, self._send)

    @asynccontextmanager
    async def _session(self) -> AsyncGenerator[OpenAI | AsyncOpenAI]:
        """A client that neither waits nor repeats on its own: we do."""
        if self._client is not None:
            yield self._client.with_options(max_retries=0, timeout=self._asking.timeout)
            return
        import openai  # noqa: PLC0415 - takes longer than all of memctx

        is_keyless = self._base_url is not None and "OPENAI_API_KEY" not in os.environ
        async with openai.AsyncOpenAI(
            api_key=self._api_key or (NO_KEY if is_keyless else None),
            base_url=self._base_url,
            timeout=self._asking.timeout,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(verify=sdk.ssl_context()),
        ) as client:
            yield client

    async def _send(self, question: Question) -> Answer:
        from openai.resources.chat import AsyncCompletions  # noqa: PLC0415 - as above

        arguments: CompletionCreateParamsNonStreaming = {
            "model": question.model,
            "messages": [
                {"role": "system", "content": question.prompt.system},
                {"role": "user", "content": question.prompt.user},
            ],
        }
        if not question.is_plain:
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "facts", "strict": True, "schema": SCHEMA},
            }
            if self._max_tokens is not None:
                arguments["max_completion_tokens"] = self._max_tokens
            if self._temperature is not None:
                arguments["temperature"] = self._temperature
        async with self._session() as client:
            api = client.chat.completions
            completion: object = (
                await api.create(**arguments)
                if isinstance(api, AsyncCompletions)
                else await asyncio.to_thread(lambda: api.create(**arguments))
            )
        return answer_of(document_of(completion, question.model))


def answer_of(document: dict[str, Any]) -> Answer:
    """What a chat completion says."""
    choice = fields_of(next(iter(items_of(document.get("choices"))), None))
    message = fields_of(choice.get("message"))
    usage = fields_of(document.get("usage"))
    details = fields_of(usage.get("prompt_tokens_details"))
    cache_read = count_of(details.get("cached_tokens"))
    cache_write = count_of(details.get("cache_write_tokens"))
    stop = choice.get("finish_reason")
    refusal = "content_filter" if stop == "content_filter" else None
    return Answer(
        text=text_of(message.get("content")),
        tokens=Tokens(
            input=max(0, count_of(usage.get("prompt_tokens")) - cache_read - cache_write),
            output=count_of(usage.get("completion_tokens")),
            cache_write=cache_write,
            cache_read=cache_read,
        ),
        is_cut=stop == "length",
        refusal="refusal" if message.get("refusal") else refusal,
    )
