"""Extraction by a completion model: requests, retries, the fallback to a larger model, and usage accounting."""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from memctx.errors import ExtractionError
from memctx.facts.extractors.prompt import build_prompt, spoken_messages
from memctx.facts.extractors.reply import read_reply
from memctx.protocols import ExtractionResult, Usage
from memctx.providers import sdk
from memctx.providers.failures import Failure, classify
from memctx.providers.options import ClientOptions, check_model_name
from memctx.providers.pricing import Tokens, usage_of_call
from memctx.providers.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memctx.facts.extractors.prompt import Prompt
    from memctx.protocols import Request
    from memctx.providers.pricing import Price

TIMEOUT = 60.0
MAX_RETRIES = 3
# A longer wait is left to the worker that keeps the queue.
MAX_RETRY_AFTER = 15.0

logger = logging.getLogger("memctx.facts.worker")

Client = TypeVar("Client")


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The content of one call."""

    model: str
    prompt: Prompt
    is_plain: bool
    """True if the request has neither schema nor settings, which some servers reject."""


@dataclass(frozen=True, slots=True)
class CompletionResponse:
    """The response to one call."""

    text: str
    tokens: Tokens
    is_truncated: bool = False
    refusal: str | None = None
    """The category of the model's refusal; None if it did not refuse."""


class CompletionExtractor(ABC, Generic[Client]):
    """Base of the extractors that ask a completion model through an SDK.

    Args:
        model: The model that is asked.
        small_model: A cheaper model that is asked first; ``model`` is asked only if its response is unusable.
        client: An SDK client; by default one is created for each call and closed after it.
        options: Connection settings; they cannot name a key or an address if there is a client.
        price: The price of tokens, for all models or by name.
    """

    SDK: str
    """The package of the SDK, which is also the name of the extra that installs it."""
    API: str
    """The module of the SDK that is imported before the first call."""

    def __init__(
        self,
        model: str,
        *,
        small_model: str | None,
        client: Client | None,
        options: ClientOptions | None,
        price: Price | Mapping[str, Price] | None,
    ) -> None:
        options = options or ClientOptions()
        if client is None:
            sdk.require_packages(type(self).__name__, self.SDK, self.SDK)
        options.check_client(client)
        check_model_name("model", model)
        if small_model is not None:
            check_model_name("small_model", small_model)
        self.model = model
        """The model that is asked."""
        self.usage = Usage()
        """The usage of all calls so far, unusable responses included."""
        self._small_model = small_model
        self._client = client
        self._options = options
        self._timeout = options.timeout_or(TIMEOUT)
        self._retries = RetryPolicy(
            options.max_retries_or(MAX_RETRIES), max_retry_after=MAX_RETRY_AFTER
        )
        self._price = price
        self._lock = threading.Lock()  # event loops of several threads may share an extractor
        self._plain_models: set[str] = set()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"  # without the key

    @abstractmethod
    async def _send(self, request: CompletionRequest) -> CompletionResponse:
        """Send one request, without retries."""

    async def extract(self, request: Request) -> ExtractionResult:
        """Return the facts stated in the messages."""
        if request.most < 1 or not any(
            message.text.strip() for message in spoken_messages(request)
        ):
            return ExtractionResult(())
        try:
            await sdk.import_sdk(self.API)
        except ImportError as error:
            message = f"{self.SDK} cannot be imported: {error}"
            raise ExtractionError(message, is_permanent=True) from error
        prompt = build_prompt(request)
        spent = Usage()
        with sdk.silence_loggers(f"{self.SDK}._base_client"):
            if self._small_model is not None:
                response = await self._complete(self._small_model, prompt)
                spent += self._account(response, self._small_model)
                try:
                    return _read(response, request, self._small_model, spent)
                except ExtractionError as error:
                    logger.info("%s; asking %s", error, self.model)
            response = await self._complete(self.model, prompt)
            spent += self._account(response, self.model)
            return _read(response, request, self.model, spent)

    async def _complete(self, model: str, prompt: Prompt) -> CompletionResponse:
        """Return the model's response, retried after transient failures."""

        async def attempt() -> CompletionResponse | Failure:
            request = CompletionRequest(model, prompt, is_plain=model in self._plain_models)
            outcome = await self._attempt(request)
            if isinstance(outcome, Failure) and outcome.is_bad_request and not request.is_plain:
                outcome = await self._attempt(replace(request, is_plain=True))
                if isinstance(outcome, CompletionResponse):
                    self._plain_models.add(model)
                    logger.info("%s takes no schema or settings; they are no longer sent", model)
            return outcome

        outcome = await self._retries.run_async(attempt)
        if isinstance(outcome, Failure):
            raise ExtractionError(
                outcome.message,
                is_retryable=outcome.kind not in {"rejected", "overflow"},
                is_permanent=outcome.kind == "permanent",
                retry_after=outcome.retry_after,
            )
        return outcome

    async def _attempt(self, request: CompletionRequest) -> CompletionResponse | Failure:
        """Send one request. Exceptions of an SDK hold the request, so they are not passed on."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._send(request)
        except Exception as error:  # noqa: BLE001 - an SDK may raise anything, and none may stop the worker
            return classify(error, request.model)

    def _account(self, response: CompletionResponse, model: str) -> Usage:
        """Return the usage of a response, added to the total."""
        usage = usage_of_call(response.tokens, model, self._price)
        with self._lock:
            self.usage += usage
        return usage


def _read(
    response: CompletionResponse, request: Request, model: str, spent: Usage
) -> ExtractionResult:
    """Return the extraction in a response."""
    if response.refusal is not None:
        raise ExtractionError(
            f"{model} declined to answer ({response.refusal})", is_retryable=False
        )
    candidates, problems = read_reply(response.text, request, is_cut=response.is_truncated)
    return ExtractionResult(candidates, spent, problems)


# Readers of response documents, which the SDKs do not validate.


def document_of(response: object) -> dict[str, Any]:
    """Return the fields of an SDK's response; SDKs return a response that is no JSON object as text."""
    to_dict = getattr(response, "to_dict", None)
    if to_dict is None:
        raise ValueError(type(response).__name__)
    return fields_of(to_dict(warnings=False))


def fields_of(value: object) -> dict[str, Any]:
    """Return an object's fields; none if the value is no object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: object) -> list[object]:
    """Return a list's items; none if the value is no list."""
    return cast("list[object]", value) if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text; an empty one if the value is none."""
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int:
    """Return a number of tokens; 0 if the value is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
