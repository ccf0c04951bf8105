"""`tool_failures`: what went wrong, told to a model that no longer sees it, so that it is not tried again."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memctx.compact.scan import scanned
from memctx.compact.use import uses_of
from memctx.messages import part
from memctx.messages.block import result_field, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx._core import Conversation, Shape
    from memctx.compact.use import Key, Use

MAX_TOOL_FAILURES = 8
"""How many failures are told, the newest."""
MAX_TOOL_FAILURE_CHARS = 240
"""How many characters of one are."""
UNFLAGGED = frozenset({"openai", "responses"})
"""Shapes whose results do not say that they failed."""
ENDS = 240
_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|returned non-zero exit status)\W{0,4}(-?\d{1,10})\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\s*(?:\w*(?:error|exception|panic)\s*[:(\[]|fatal:|traceback \(most recent|\{\s*\"error\"\s*:\s*[^n\s])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed.

    >>> print(Failure("c1", "bash", "no such file", exit_code=2))
    bash (exit code 2): no such file
    """

    call_id: str
    """The id of the call; empty where there is none."""
    tool: str
    """The name of the tool."""
    text: str
    """What it said, on one line and cut short."""
    exit_code: int | None = None
    status: str | None = None

    def __str__(self) -> str:
        """The failure on one line."""
        code = None if self.exit_code is None else f"exit code {self.exit_code}"
        known = ", ".join(word for word in (self.status, code) if word)
        return f"{self.tool} ({known}): {self.text}" if known else f"{self.tool}: {self.text}"


def tool_failures(
    messages: Sequence[Any],
    shape: Shape | None = None,
    *,
    limit: int = MAX_TOOL_FAILURES,
    conversation: Conversation | None = None,
) -> tuple[Failure, ...]:
    r"""The newest failures of tools, at most ``limit``, oldest first, each call once.

    Where results do not say that they failed, those count that begin like an error or end with an exit code.

    >>> call = {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "make"}}
    >>> result = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "no rule\nexit code 2"}
    >>> talk = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    >>> [str(failure) for failure in tool_failures(talk)]
    ['bash (exit code 2): no rule exit code 2']
    """
    conversation = scanned(messages, shape, conversation)
    calls, results = uses_of(conversation)
    is_flagged = conversation.shape not in UNFLAGGED
    failed = [use for use in results if (use.is_error if is_flagged else _looks_failed(use.text))]
    if is_flagged:
        failed = [*failed, *_silent(messages, conversation, calls, results)]
        failed.sort(key=lambda use: use.place)
    once: dict[Key | int, Use] = {}
    for number, use in enumerate(failed):
        once.setdefault(use.key if use.key[1] else number, use)
    newest = list(once.values())[-limit:] if limit > 0 else []
    return tuple(_failure(use, messages[use.place]) for use in newest)


def _failure(use: Use, message: object) -> Failure:
    letter = part.unwrapped(message)
    details = part.get(letter, "details")
    code = next(
        (
            found
            for found in (part.get(details, "exitCode"), part.get(letter, "exitCode"))
            if isinstance(found, int)
        ),
        _exit_code(use.text),
    )
    text = " ".join(use.text.split()) or "no output"
    if len(text) > MAX_TOOL_FAILURE_CHARS:
        text = text[: MAX_TOOL_FAILURE_CHARS - 1].rstrip() + "…"
    return Failure(use.key[1], use.tool or "tool", text, code, part.text(details, "status"))


def _looks_failed(text: str) -> bool:
    """Whether a result reads like that of a call that failed."""
    return bool(_ERROR.match(text[:ENDS])) or bool(_exit_code(text))


def _exit_code(text: str) -> int | None:
    """The exit code that a result tells at its beginning or its end."""
    for end in (text[-ENDS:], text[:ENDS]):
        found = _EXIT.search(end)
        if found:
            return int(found[1])
    return None


def _silent(
    messages: Sequence[Any],
    conversation: Conversation,
    calls: Sequence[Use],
    results: Sequence[Use],
) -> Iterator[Use]:
    """Results that say that they failed and nothing else, of which the scanner keeps no record."""
    heard = {use.key for use in results}
    for call in calls:
        if call.key in heard:
            continue
        for place in conversation.units[call.key[0]]:
            if call.key[1] and call.key[1] in _error_ids(messages[place], conversation.shape):
                yield replace(call, place=place, text="")


def _error_ids(message: object, shape: str) -> Iterator[str | None]:
    """The ids of the calls that failed, by the results in a message."""
    letter = part.unwrapped(message)
    if part.get(letter, "isError") is True:
        yield part.text(letter, "toolCallId")
    for block in results_of(letter, shape):
        field = result_field(block, shape)
        result = part.get(block, field) if field else block
        if part.get(result, "is_error") is True or part.text(result, "status") == "error":
            yield part.text(result, "tool_use_id") or part.text(result, "toolUseId")
