"""Which host a list of messages comes from, told by the first message that only one of them writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "pi"]


def detect(messages: Sequence[Any]) -> Shape:
    """The shape of a list of messages; ``"anthropic"`` where all shapes would read it alike."""
    return _core.detect(messages)
