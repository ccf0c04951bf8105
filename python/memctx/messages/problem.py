"""`validate`: what a provider would refuse before it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx._core import Shape

# Nothing is remembered and no price is asked for.
SCANNER = _core.Scanner("utf16", capacity=0)


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule of the provider that a message breaks."""

    index: int
    """The message by its place in the list."""
    code: str
    """The name of the problem, the same in every version."""
    message: str
    """The problem in words."""
    id: str | None = None
    """The id of the call or the result that it is about."""


def validate(messages: Sequence[Any], shape: Shape | None = None) -> list[Problem]:
    """What the provider would answer with a 400, in the order of the messages; nothing if it would take them.

    ``shape`` says what the messages are where that is not to be guessed. What they do not show, such as whether
    thinking is enabled, is not judged. The codes, each judged where the provider has the rule: ``orphan-result``,
    ``duplicate-result``, ``result-not-adjacent``, ``text-before-result``, ``unanswered-call`` (the calls of a running
    turn too), ``duplicate-call``, ``call-not-after-user``, ``roles-alternate``, ``first-not-user``,
    ``reasoning-without-follower``, ``empty-content``.

    >>> import memctx
    >>> messages = [
    ...     {"role": "user", "content": "Which port?"},
    ...     {"role": "tool", "tool_call_id": "c1", "content": "8443"},
    ... ]
    >>> for problem in memctx.validate(messages):
    ...     print(problem.index, problem.code, problem.message)
    1 orphan-result a tool result whose call does not stand before it (id "c1")

    Raises:
        MessageShapeError: it is no list, or something in it is no message.
        ConfigError: the shape is unknown.
    """
    return [Problem(*found) for found in _core.problems(SCANNER.scan(messages, shape))]
