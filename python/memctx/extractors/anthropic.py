"""`AnthropicExtractor`: facts found by a Claude model."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx.errors import ConfigError
from memctx.extractors import sdk
from memctx.extractors.asking import Answer, Asking
from memctx.extractors.failure import CODE
from memctx.extractors.price import Tokens
from memctx.extractors.prompt import SCHEMA
from memctx.extractors.wire import count_of, document_of, fields_of, items_of, text_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.types import OutputConfigParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    from memctx.extractors.asking import Question
    from memctx.extractors.price import Price
    from memctx.extractors.protocol import Extraction, Request, Usage

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
DEFAULT_MODEL = "claude-haiku-5-5"
CUT = ("max_tokens", "model_context_window_exceeded")


class AnthropicExtractor:
    """Finds facts with a Claude model, through the anthropic SDK (``pip install 'memctx[anthropic]'``).

    >>> extractor = AnthropicExtractor("claude-sonnet-5-5", small_model="claude-haiku-5-5", api_key="...")
    >>> extractor.model
    'claude-sonnet-5-5'

    Args:
        model: The model that is asked.
        small_model: A cheaper one to ask first; ``model`` is then asked only where its answer cannot be used.
        client: Your own client, for a proxy, Bedrock or Vertex. A blocking one is called in threads; an asynchronous
            one must not be in use on another event loop. By default a client is made for each call and closed after
            it.
        api_key: By default whatever the SDK finds in the environment.
        base_url: Another server that speaks the Messages API.
        timeout: Seconds for one call.
        retries: How often a call is repeated that failed for a reason that may pass. Where the server says when to
            come back, that is kept to.
        max_tokens: The longest answer, thinking included.
        effort: How much the model is to think, where it can be told.
        price: What tokens cost, for all models or by name, to have costs in `Usage`.
    """

    def __init__(  # noqa: PLR0913 - each is one decision of the user's
        self,
        model: str = DEFAULT_MODEL,
        *,
        small_model: str | None = None,
        client: Anthropic | AsyncAnthropic | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        max_tokens: int = 8192,
        effort: Effort | None = None,
        price: Price | Mapping[str, Price] | None = None,
    ) -> None:
        if client is None:
            sdk.require("anthropic", "AnthropicExtractor")
        elif api_key is not None or base_url is not None:
            raise ConfigError("a client has its own api_key and base_url: give either it or them")
        if max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, not {max_tokens!r}")
        self._asking = Asking(model, small_model, timeout, retries, price)
        self._client = client
        self._api_key = api_key
        self._base_url = base_url
        self._max_tokens = max_tokens
        self._effort: Effort | None = effort

    def __repr__(self) -> str:
        return f"AnthropicExtractor({self.model!r})"  # and no key

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
        await sdk.ready("anthropic.resources")
        with sdk.silenced("anthropic._base_client"):
            return await self._asking.extract(request, self._send)

    @asynccontextmanager
    async def _session(self) -> AsyncGenerator[Anthropic | AsyncAnthropic]:
        """A client that neither waits nor repeats on its own: we do."""
        if self._client is not None:
            yield self._client.with_options(max_retries=0, timeout=self._asking.timeout)
            return
        import anthropic  # noqa: PLC0415 - takes longer than all of memctx

        http_client = anthropic.DefaultAsyncHttpxClient(verify=sdk.ssl_context())
        async with anthropic.AsyncAnthropic(
            api_key=self._api_key,
            base_url=self._base_url,
            timeout=self._asking.timeout,
            max_retries=0,
            http_client=http_client,
        ) as client:
            yield client

    async def _send(self, question: Question) -> Answer:
        from anthropic.resources import AsyncMessages  # noqa: PLC0415 - as above

        arguments: MessageCreateParamsNonStreaming = {
            "model": question.model,
            "max_tokens": self._max_tokens,
            "system": question.prompt.system,
            "messages": [{"role": "user", "content": question.prompt.user}],
        }
        if not question.is_plain:
            output: OutputConfigParam = {"format": {"type": "json_schema", "schema": SCHEMA}}
            if self._effort is not None:
                output["effort"] = self._effort
            arguments["output_config"] = output
        async with self._session() as client:
            api = client.messages
            message: object = (
                await api.create(**arguments)
                if isinstance(api, AsyncMessages)
                else await asyncio.to_thread(lambda: api.create(**arguments))
            )
        return answer_of(document_of(message, question.model))


def answer_of(document: dict[str, Any]) -> Answer:
    """What a message of the API says."""
    blocks = [fields_of(block) for block in items_of(document.get("content"))]
    usage = fields_of(document.get("usage"))
    stop = document.get("stop_reason")
    category = text_of(fields_of(document.get("stop_details")).get("category"))
    return Answer(
        text="".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text"),
        tokens=Tokens(
            input=count_of(usage.get("input_tokens")),
            output=count_of(usage.get("output_tokens")),
            cache_write=count_of(usage.get("cache_creation_input_tokens")),
            cache_read=count_of(usage.get("cache_read_input_tokens")),
        ),
        is_cut=stop in CUT,
        refusal=(category if CODE.fullmatch(category) else "refusal")
        if stop == "refusal"
        else None,
    )
