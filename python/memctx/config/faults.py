"""What is wrong with a setting, in one sentence: the setting, its value, and what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

LONGEST_VALUE = 80


def refused(error: ValidationError) -> ConfigError:
    """The error to raise in the place of pydantic's, one line for each setting at fault."""
    return ConfigError("\n".join(_sentence(detail) for detail in error.errors(include_url=False)))


def _sentence(detail: ErrorDetails) -> str:
    name = ".".join(str(part) for part in detail["loc"])
    if not name:  # settings that do not go together
        return _expectation(detail["msg"])
    value = repr(detail["input"])
    if len(value) > LONGEST_VALUE:
        value = f"{value[:LONGEST_VALUE]}…"
    return f"{name} is {value}; {_expectation(detail['msg'])}"


def _expectation(message: str) -> str:
    message = message.removeprefix("Value error, ")
    expected = message.removeprefix("Input should be ")
    if expected == message:
        return message
    if expected.startswith(("greater", "less")):
        return f"expected a value {expected}"
    return f"expected {expected}"
