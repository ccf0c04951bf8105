"""Detection of context overflows among real errors of providers, servers and gateways."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import httpx2
import pytest

from memctx.providers.overflow import is_context_overflow

OVERFLOWS = [
    # Anthropic
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
    '413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    "model_context_window_exceeded: the prompt exceeded the context window",
    # OpenAI, Azure, and what speaks like them
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Your input exceeds the model's context window.",
    "Error code: 400 - {'error': {'code': 'context_length_exceeded'}}",
    # Google
    "400 INVALID_ARGUMENT. The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
    "INVALID_ARGUMENT: input exceeds the maximum number of tokens",
    # Bedrock
    "ValidationException: Input is too long for requested model.",
    # xAI, Groq, Mistral, Cohere, Copilot, Kimi, MiniMax, DashScope, SiliconFlow
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "Prompt contains 45000 tokens, too large for model with 32768 maximum context length",
    "too many tokens: size limit exceeded by 11326 tokens",
    "prompt token count of 140005 exceeds the limit of 128000",
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
    "invalid params, context window exceeds limit (2013)",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 202752]",
    "Exceeded limit on max bytes to request body : 6291456",
    "number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.",
    # vLLM, SGLang, llama.cpp, LM Studio, Ollama, proxies
    "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens",
    "The input (263000 tokens) is longer than the model's context length (262144 tokens).",
    "Requested token count exceeds the model's maximum context length of 202752 tokens.",
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
    "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
    "the request exceeds the available context size, try increasing it",
    "tokens to keep from the initial prompt is greater than the context length",
    "ollama error: context length exceeded",
    "prompt too long; exceeded max context length by 123 tokens",
    "Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)",
    "Prompt has 9,210 tokens, but the configured context size is 8,192 tokens",
    "the engine was given 5152 tokens exceeding max_model_len 2048",
    "Too many input tokens. Max input tokens: 128000",
    "the server closed the stream: request_too_large",
    "Request exceeds the maximum size",
    "Payload Too Large",
    "413 status code (no body)",
    "HTTP 413 Request Entity Too Large",
    # in Chinese
    "上下文过长",
    "错误：上下文过长，请减少输入",
    "上下文超出限制",
    "上下文长度超出模型最大限制",
    "超出最大上下文长度",
    "请压缩上下文后重试",
    "Prompt 超长",
    "Prompt超长",
    "输入长度超限，请减少输入内容",
    "输入内容过长，请缩短后重试",
    "输入 tokens 数量超过限制",
    "超过模型最大上下文长度",
    "超过最大长度",
]
OTHERS = [
    "",
    "connection reset by peer",
    "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after",
    "messages: roles must alternate between user and assistant",
    "max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.",
    "max_tokens: expected a value <= 32768, but got 65536 instead",
    "Exceeding the limiting length: [max_tokens should be less or equal to 131072]",
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
    "API key not valid. Please pass a valid API key.",
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000.",
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40221.",
    "413 Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7102",
    "This request would exceed your organization's rate limit of 80,000 input tokens per minute",
    "ThrottlingException: Too many tokens, please wait before trying again.",
    "This request exceeds the limit of 30000 tokens per minute",
    "429 Extra usage is required for long context requests.",
    "429 RESOURCE_EXHAUSTED. You exceeded your current quota, input token count exceeds the limit",
    "rate_limit: the input tokens exceed what your tier allows",
    "Too many requests: the input tokens exceed what is allowed",
    "Throttled: too many input tokens, please wait",
    "The input tokens exceed 40000 tokens per minute",
    "The input tokens exceed your TPM",
    "The input tokens exceed your quota",
    "RESOURCE_EXHAUSTED: the input token count exceeds what is left",
    "status code: 429, the input tokens exceed what is left",
    "Overloaded",
    "输出长度超限，请降低 max_tokens",
    "请求过于频繁，请稍后再试",
    "请求频率超过限制：输入 token 超过每分钟配额",
    "The server had an error while processing your request. Your context window is 128000 tokens.",
]


@pytest.mark.parametrize("text", OVERFLOWS)
def test_an_overflow_is_recognized_by_its_text(text: str) -> None:
    assert is_context_overflow(text)
    assert is_context_overflow(RuntimeError(text))


@pytest.mark.parametrize("text", OTHERS)
def test_other_error_texts_are_no_overflows(text: str) -> None:
    assert not is_context_overflow(text)
    assert not is_context_overflow(RuntimeError(text))


def of_anthropic(status: int, kind: str, message: str, **more: Any) -> anthropic.APIStatusError:
    """Return the error that the SDK makes of a response."""
    body = {"type": "error", "error": {"type": kind, "message": message, **more}}
    request = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    response = httpx2.Response(status, request=request, json=body)
    client = anthropic.Anthropic(api_key="none")
    return client._make_status_error_from_response(response)  # noqa: SLF001 - it is how the SDK makes them


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
        ),
        (413, "request_too_large", "Request exceeds the maximum size"),
        (413, "request_too_large", ""),
    ],
)
def test_overflows_of_the_anthropic_sdk(status: int, kind: str, message: str) -> None:
    error = of_anthropic(status, kind, message)
    assert type(error) in {anthropic.BadRequestError, anthropic.RequestTooLargeError}
    assert is_context_overflow(error)


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (400, "invalid_request_error", "messages: at least one message is required"),
        (400, "invalid_request_error", "messages.0.content.0.image: image exceeds 5 MB maximum"),
        (400, "billing_error", "prompt is too long for your plan"),
        (401, "authentication_error", "invalid x-api-key"),
        (402, "billing_error", "Your credit balance is too low"),
        (403, "permission_error", "The long context beta is not available: prompt is too long"),
        (404, "not_found_error", "model: nothing"),
        (429, "rate_limit_error", "Number of input tokens has exceeded your per-minute limit"),
        (500, "api_error", "Internal server error"),
        (529, "overloaded_error", "Overloaded"),
    ],
)
def test_other_errors_of_the_anthropic_sdk_are_no_overflows(
    status: int, kind: str, message: str
) -> None:
    assert not is_context_overflow(of_anthropic(status, kind, message))


def test_an_overflow_response_may_have_no_json_body() -> None:
    """A proxy responds instead of the provider."""
    request = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    response = httpx2.Response(413, request=request, text="<html>nginx</html>")
    client = anthropic.Anthropic(api_key="none")
    error = client._make_status_error_from_response(response)  # noqa: SLF001 - as above
    assert is_context_overflow(error)


class OpenAIStatusError(Exception):
    """As `openai.APIStatusError` has it: the inner error is the body."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"Error code: {status} - {{'error': {body}}}")
        self.status_code, self.body = status, body
        self.code, self.type, self.param = body.get("code"), body.get("type"), body.get("param")


class GoogleAPIError(Exception):
    """As `google.genai.errors.APIError` has it: the status is the code."""

    def __init__(self, code: int, details: dict[str, Any]) -> None:
        self.code, self.details = code, details
        self.status, self.message = details["error"]["status"], details["error"]["message"]
        super().__init__(f"{code} {self.status}. {details}")


class BotoClientError(Exception):
    """As `botocore.exceptions.ClientError` has it: the response is a dictionary."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.response = {
            "Error": {"Code": code, "Message": message},
            "ResponseMetadata": {"HTTPStatusCode": status},
        }
        super().__init__(
            f"An error occurred ({code}) when calling the Converse operation: {message}"
        )


def google(code: int, status: str, message: str) -> GoogleAPIError:
    return GoogleAPIError(code, {"error": {"code": code, "message": message, "status": status}})


ERRORS = {
    "openai, by its code": (OpenAIStatusError(400, {"code": "context_length_exceeded"}), True),
    "openai, a string too long": (
        OpenAIStatusError(400, {"code": "string_above_max_length"}),
        True,
    ),
    "openai, another 400": (
        OpenAIStatusError(400, {"code": "invalid_value", "message": "x"}),
        False,
    ),
    "openai, no such model": (OpenAIStatusError(404, {"message": "prompt is too long"}), False),
    "openai, tokens per minute": (
        OpenAIStatusError(429, {"code": "rate_limit_exceeded", "message": "Request too large"}),
        False,
    ),
    "groq, tokens per minute as a 413": (
        OpenAIStatusError(413, {"code": "rate_limit_exceeded", "message": "Request too large"}),
        False,
    ),
    "google, too many tokens": (
        google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum"),
        True,
    ),
    "google, another 400": (google(400, "INVALID_ARGUMENT", "Unknown field"), False),
    "google, quota": (google(429, "RESOURCE_EXHAUSTED", "input token count exceeds"), False),
    "bedrock, too long": (
        BotoClientError(400, "ValidationException", "Input is too long for requested model."),
        True,
    ),
    "bedrock, throttled": (
        BotoClientError(429, "ThrottlingException", "Too many input tokens"),
        False,
    ),
}


@pytest.mark.parametrize(("error", "is_overflow"), ERRORS.values(), ids=ERRORS)
def test_errors_of_other_sdks_are_classified(error: Exception, *, is_overflow: bool) -> None:
    """By their attributes: these SDKs are not installed here."""
    assert is_context_overflow(error) is is_overflow


def raised(
    error: BaseException, cause: BaseException, *, is_explicit: bool = True
) -> BaseException:
    """Return an error that was raised while another one was handled."""
    error.__context__ = cause
    if is_explicit:
        error.__cause__ = cause
    return error


TOO_LONG = "prompt is too long: 9 tokens > 8 maximum"


@pytest.mark.parametrize("is_explicit", [True, False])
def test_the_cause_decides_if_the_error_gives_none(*, is_explicit: bool) -> None:
    error = raised(RuntimeError("the agent failed"), ValueError(TOO_LONG), is_explicit=is_explicit)
    assert is_context_overflow(error)


def test_the_outermost_error_with_a_cause_decides() -> None:
    error = raised(OpenAIStatusError(429, {"code": "rate_limit_exceeded"}), ValueError(TOO_LONG))
    assert not is_context_overflow(error)


def test_an_error_raised_from_none_has_no_cause() -> None:
    error = raised(RuntimeError("the agent failed"), ValueError(TOO_LONG), is_explicit=False)
    error.__suppress_context__ = True
    assert not is_context_overflow(error)


def test_a_chain_of_errors_may_be_a_cycle() -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert not is_context_overflow(first)


def test_a_cancellation_is_no_overflow() -> None:
    assert not is_context_overflow(raised(asyncio.CancelledError(), ValueError(TOO_LONG)))
    assert not is_context_overflow(KeyboardInterrupt(TOO_LONG))


def test_one_overflow_in_an_exception_group_is_enough() -> None:
    group = ExceptionGroup(
        "calls", [ValueError("other"), ExceptionGroup("", [ValueError(TOO_LONG)])]
    )
    assert is_context_overflow(group)
    assert not is_context_overflow(ExceptionGroup("calls", [ValueError("other")]))


def test_a_long_text_is_classified_quickly() -> None:
    """Patterns that look ahead do so for a few characters only."""
    hostile = "input tokens " * 40_000 + "上下文" * 40_000
    assert not is_context_overflow(hostile)
