"""`Parameters`: the parameters of one request, checked by type and range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT = 100_000
"""Most characters of a text."""


class Parameters:
    """Parameters of a request: those of its address, or the JSON object in its body.

    >>> Parameters({"count": "20"}).integer("count", 10, at_most=50)
    20
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Wrap the parameters as they came."""
        self._given = given

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that is not blank, or the default; without one it is required."""
        value = self._given.get(name)
        if value in {None, ""} and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise ConfigError(f"{name} is {_shown(value)}; expected a text")
        if len(value) > MAX_TEXT:
            raise ConfigError(
                f"{name} has {len(value):,} characters; expected at most {MAX_TEXT:,}"
            )
        # Half of a character can be written to no file.
        return value.encode("utf-8", "replace").decode()

    def optional(self, name: str) -> str | None:
        """Return a text; None if it is missing or blank."""
        return self.text(name, "").strip() or None

    def integer(self, name: str, default: int, *, at_least: int = 0, at_most: int) -> int:
        """Return an integer within bounds, or the default."""
        value = self._given.get(name)
        if value in {None, ""}:
            return default
        try:
            if isinstance(value, bool | float):
                raise TypeError  # noqa: TRY301 - one message for all
            found = int(cast("str | int", value))
        except (TypeError, ValueError):
            raise ConfigError(f"{name} is {_shown(value)}; expected an integer") from None
        if not at_least <= found <= at_most:
            raise ConfigError(f"{name} is {found}; expected {at_least} to {at_most}")
        return found

    def number(self, name: str) -> float | None:
        """Return a finite number; None if it is missing."""
        value = self._given.get(name)
        if value in {None, ""}:
            return None
        try:
            found = math.nan if isinstance(value, bool) else float(cast("str | float", value))
        except (TypeError, ValueError):
            found = math.nan
        if not math.isfinite(found):
            raise ConfigError(f"{name} is {_shown(value)}; expected a number")
        return found

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object, empty if it is missing."""
        value: object = self._given.get(name, {})
        if not isinstance(value, dict):
            raise ConfigError(f"{name} is {_shown(value)}; expected an object")
        return cast("dict[str, Any]", value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - as much as a line shows
