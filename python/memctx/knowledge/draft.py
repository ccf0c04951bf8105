"""`Draft`: what an extractor says is a fact, before it is weighed against what is known."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

FactType: TypeAlias = Literal[
    "decision", "implementation", "config", "issue", "task_state", "architecture"
]
FACT_TYPES: tuple[FactType, ...] = get_args(FactType)
"""The six kinds of facts."""

Action: TypeAlias = Literal["add", "update", "supersede", "none", "delete"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement that may become a fact.

    >>> Draft("config", "The webhook listens on port 8443").type
    'config'
    """

    type: FactType
    content: str
    context: str | None = None
    sources: tuple[str, ...] = ()
    """The segments it was taken from."""
    action: Action | None = None
    """What the extractor says it does to what is known; None where it does not say."""
    target: str | None = None
    """The fact that the action is about."""
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    """The id it will have as a fact of its own."""
