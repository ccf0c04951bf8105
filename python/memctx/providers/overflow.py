"""Detection of context overflows: calls that failed because the prompt was too long.

No SDK is imported: errors are read by their attributes. Errors about rates and quotas are never overflows, since a
shorter prompt would not help.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

TOO_LARGE = 413
# Causes that a shorter prompt does not change: keys, permissions, names, time, rates, load.
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
"""Characters of an error's text that are read."""

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
    """Return whether an error, one in its chain of causes, or an error text reports a prompt that was too long.

    Errors of the Anthropic, OpenAI and Google SDKs are recognized by status, code and text, those of compatible servers
    and gateways by their usual wording. The outermost error of a chain that gives a cause decides.

    >>> is_context_overflow("prompt is too long: 213462 tokens > 200000 maximum")
    True
    >>> is_context_overflow("Rate limit reached: 30000 tokens per minute")
    False
    """
    if isinstance(error, str):
        return _classify_text(error) is True
    verdicts = (_verdict(link) for link in _chain(error))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, outermost first, in the order of a traceback."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _verdict(error: BaseException) -> bool | None:
    """Return whether an error is an overflow; None if it gives no cause."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return any(map(is_context_overflow, group.exceptions)) or None
    if not isinstance(error, Exception):
        return False  # cancelled
    status = _status(error)
    if status in OTHER_STATUSES:
        return False
    codes = set(_codes(error))
    if codes & OTHER_CODES:
        return False
    if codes & CODES or type(error).__name__ in CLASSES:
        return True
    verdict = _classify_text(_text(error))
    return True if verdict is None and status == TOO_LARGE else verdict


def _classify_text(text: str) -> bool | None:
    """Return whether a text reports an overflow; None if it reports no known cause."""
    text = text[:LONGEST]
    if _OTHER.search(text):
        return False
    return True if _OVERFLOW.search(text) else None


def _status(error: Exception) -> int | None:
    """Return the HTTP status of an error, from any of the attributes that SDKs use."""
    response = _get(error, "response")
    metadata = _get(response, "ResponseMetadata")
    found = (
        *(_get(error, name) for name in ("status_code", "http_status", "code", "status")),
        _get(response, "status_code"),
        _get(metadata, "HTTPStatusCode"),
    )
    return next((int(value) for value in found if isinstance(value, int)), None)


def _codes(error: Exception) -> Iterator[str]:
    """Yield the machine-readable codes of an error and of its response body."""
    body = _get(error, "body")
    details = _get(error, "details")
    response = _get(error, "response")
    holders = [error, body, details, *(_get(holder, "error") for holder in (body, details))]
    for holder in [*holders, _get(response, "Error")]:
        for name in ("code", "type", "status", "error_code", "Code"):
            value = _get_text(holder, name)
            if value is not None:
                yield value.lower()


def _text(error: Exception) -> str:
    """Return the text of an error: its message, body and details."""
    parts = [str(error), _get_text(error, "message")]
    parts += [str(value) for name in ("body", "details") if (value := _get(error, name))]
    return "\n".join(text[:LONGEST] for text in parts if text)


def _get(holder: object, name: str) -> object:
    """Return a key of a mapping or an attribute of an object; None if it is missing."""
    if isinstance(holder, Mapping):
        return cast("Mapping[str, object]", holder).get(name)
    return getattr(holder, name, None)


def _get_text(holder: object, name: str) -> str | None:
    value = _get(holder, name)
    return value if isinstance(value, str) else None
