"""`is_context_overflow`: whether a call failed because the prompt was too long, whoever says so and in whatever words.

No SDK is imported: errors are read by their attributes. What speaks of rates and quotas is never an overflow, since a
shorter prompt would not help.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from memctx.messages import part

if TYPE_CHECKING:
    from collections.abc import Iterator

TOO_LARGE = 413
# What a shorter prompt does not change: keys, rights, names, time, rates, load.
OTHER_STATUSES = frozenset({401, 402, 403, 404, 407, 408, 409, 429, 503, 529})
CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "prompt_too_long",
        "request_body_too_large_after_decoding",
        "request_too_large",
        "string_above_max_length",
    }
)
OTHER_CODES = frozenset(
    {
        "authentication_error",
        "billing_error",
        "insufficient_quota",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "resource_exhausted",
        "throttlingexception",
    }
)
CLASSES = frozenset(
    {"ContextLengthExceededError", "ContextOverflowError", "ContextWindowExceededError"}
)
LONGEST = 20_000
"""How many characters of an error's text are read."""

_STATUS = r"(?:^\W*|\bstatus(?:[ _]?code)?\W{1,3}|\berror(?: code)?\W{1,3}|\bhttp(?:/[\d.]+)?\W)"
_MODEL = r"(?:the |this |your )?(?:model'?s? )?(?:(?:maximum|max|available|configured|allowed) )*"
_OVERFLOW = re.compile(
    "|".join(
        [
            r"prompt (?:is )?too long",
            r"\b(?:input|request|conversation|message)s? (?:is|are) too (?:long|large) for",
            r"\bcontext[ _](?:length|window|size|limit)[ _](?:is |was |has been )?exceeded",
            r"\b(?:exceed(?:s|ed|ing)?|overflows?) "
            + _MODEL
            + r"context[ _](?:length|window|size|limit)",
            r"\bcontext[ _](?:length|window|size) exceeds",
            r"\b(?:maximum|max) (?:context|prompt) length",
            r"\b(?:greater|longer|larger|more) than "
            + _MODEL
            + r"context[ _](?:length|window|size)",
            r"\binput (?:token count|tokens|length)\b.{0,60}?\bexceed",
            r"\binput exceeds the (?:maximum|limit)",
            r"\btoken count (?:of )?\(?[\d,]+\)? exceeds",
            r"\btokens? (?:exceeds?|exceeding|has exceeded) max_(?:seq|model)_len",
            r"\bexceeded model token limit",
            r"\btoo many (?:input|prompt) tokens",
            r"\btoo many tokens: size limit exceeded",
            r"\brange of input length should be",
            r"\breduce the length of the (?:messages|prompt|input)",
            r"\bprompt (?:has|contains) [\d,]+ tokens.{0,60}context size",
            r"\brequest_too_large\b",
            r"\brequest (?:size )?exceeds the maximum",
            r"\bmax bytes to request body",
            r"\b(?:request entity|payload|content|request body) (?:is )?too large",
            _STATUS + r"413\b",
            r"上下文.{0,6}?(?:过长|超长|太长|超出|超过|超限|溢出)",
            r"超[出过].{0,8}?上下文",
            r"(?:请|需要)压缩上下文",
            r"(?:输入|提示词|prompt)\s*(?:的|内容|文本)?\s*(?:总?长度|tokens?\s*数?量?)?\s*(?:过长|超长|太长|超出|超过|超限)",
            r"超过(?:模型)?(?:的)?最大(?:输入|上下文)?(?:长度|\s*tokens?)",
        ]
    ),
    re.IGNORECASE,
)
_OTHER = re.compile(
    "|".join(
        [
            r"\brate[ _-]?limit",
            r"\btoo many requests",
            r"\bthrottl",
            r"\btokens?[ _]per[ _](?:second|minute|min|hour|day)",
            r"\b(?:TPM|TPD|RPM|RPD)\b",
            r"\bquota\b",
            r"\bresource_exhausted\b",
            _STATUS + r"429\b",
            r"限流|频率|速率|配额|过于频繁|余额",
        ]
    ),
    re.IGNORECASE,
)


def is_context_overflow(error: BaseException | str) -> bool:
    """Whether an error, one that it was raised from, or the text of one says that the prompt was too long.

    Known are the errors of the SDKs of Anthropic, OpenAI and Google by status, code and text, and the words of many
    servers and gateways that speak like them. Of a chain of errors the outermost that tells counts: who was throttled
    after an overflow was throttled.

    >>> is_context_overflow("prompt is too long: 213462 tokens > 200000 maximum")
    True
    >>> is_context_overflow("Rate limit reached: 30000 tokens per minute")
    False
    """
    if isinstance(error, str):
        return _says(error) is True
    verdicts = (_verdict(link) for link in _chain(error))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was raised from, outermost first, as a traceback would tell it."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _verdict(error: BaseException) -> bool | None:
    """Whether an error is an overflow; None if it does not say."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return any(map(is_context_overflow, group.exceptions)) or None
    if not isinstance(error, Exception):
        return False  # somebody cancelled it
    status = _status(error)
    if status in OTHER_STATUSES:
        return False
    codes = set(_codes(error))
    if codes & OTHER_CODES:
        return False
    if codes & CODES or type(error).__name__ in CLASSES:
        return True
    verdict = _says(_text(error))
    return True if verdict is None and status == TOO_LARGE else verdict


def _says(text: str) -> bool | None:
    """Whether a text speaks of an overflow; None if it speaks of nothing known."""
    text = text[:LONGEST]
    if _OTHER.search(text):
        return False
    return True if _OVERFLOW.search(text) else None


def _status(error: Exception) -> int | None:
    """The status of the answer, wherever the SDK keeps it."""
    response = part.get(error, "response")
    metadata = part.get(response, "ResponseMetadata")
    found = (
        *(part.get(error, name) for name in ("status_code", "http_status", "code", "status")),
        part.get(response, "status_code"),
        part.get(metadata, "HTTPStatusCode"),
    )
    return next((int(value) for value in found if isinstance(value, int)), None)


def _codes(error: Exception) -> Iterator[str]:
    """All that names the cause, of the error and of the body that came with it."""
    body = part.get(error, "body")
    details = part.get(error, "details")
    response = part.get(error, "response")
    holders = [error, body, details, *(part.get(holder, "error") for holder in (body, details))]
    for holder in [*holders, part.get(response, "Error")]:
        for name in ("code", "type", "status", "error_code", "Code"):
            value = part.text(holder, name)
            if value is not None:
                yield value.lower()


def _text(error: Exception) -> str:
    """All that an error says in words."""
    parts = [str(error), part.text(error, "message")]
    parts += [str(value) for name in ("body", "details") if (value := part.get(error, name))]
    return "\n".join(text[:LONGEST] for text in parts if text)
