"""Error texts for invalid settings: the setting, its value, and what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from memctx import checks
from memctx.config.names import unknown
from memctx.errors import ConfigError, mask_and_shorten

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

LONGEST_VALUE = 80
# Characters of a longer value that are searched for secrets.
MOST_MASKED = 2_000


def refused(error: ValidationError, model: type[BaseModel]) -> ConfigError:
    """Convert pydantic's error, one line for each invalid setting."""
    details = error.errors(include_url=False)
    return ConfigError("\n".join(_sentence(detail, model) for detail in details))


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    if not detail["loc"]:  # settings that contradict each other
        return _expectation(detail["msg"])
    *groups, last = detail["loc"]
    name = _shortened(".".join(str(part) for part in detail["loc"]))
    if detail["type"] == "extra_forbidden":
        for group in groups:
            model = cast("type[BaseModel]", model.model_fields[str(group)].annotation)
        return f"{name} {unknown(str(last)[:LONGEST_VALUE], model.model_fields)}"
    # Masked before it is cut: half of a secret may no longer look like one.
    value = mask_and_shorten(checks.describe(detail["input"])[:MOST_MASKED])
    return f"{name} is {_shortened(value)}; {_expectation(detail['msg'])}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _expectation(message: str) -> str:
    message = message.removeprefix("Value error, ")
    expected = message.removeprefix("Input should be ")
    if expected == message:
        return message
    if expected.startswith(("greater", "less")):
        return f"expected a value {expected}"
    return f"expected {expected}"
