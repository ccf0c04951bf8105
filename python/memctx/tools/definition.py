"""Records of the tool table: `Tool`, `Parameter`, and the error that a tool answers with."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.tools.call import Call

Kind: TypeAlias = Literal["string", "integer", "boolean"]
"""JSON type of an argument."""
ErrorCode: TypeAlias = Literal[
    "unknown_tool", "invalid_argument", "not_found", "changed", "unavailable", "internal"
]
"""The kind of an error: what the model got wrong, or that memory itself failed."""


class ToolError(Exception):
    """A call that cannot be answered: the problem, and the step that helps."""

    def __init__(self, code: ErrorCode, message: str, hint: str) -> None:
        """Keep the parts of the answer."""
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a tool.

    >>> Parameter("limit", "integer", "Most results.", default=8, minimum=1, maximum=50).is_required
    False
    """

    name: str
    kind: Kind
    description: str
    _: KW_ONLY
    is_required: bool = False
    default: object = None
    """The value of an argument that is missing or null."""
    choices: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    """Other words that models use for a choice, each with the choice."""
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its name, its parameters, the type of its result, and the function that answers."""

    name: str
    title: str
    description: str
    _: KW_ONLY
    parameters: tuple[Parameter, ...] = ()
    result: type[Any]
    """The `TypedDict` of the result."""
    handler: Callable[[Call, dict[str, Any]], Any]
    is_read_only: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True
    """True if a repeated call changes nothing more."""
