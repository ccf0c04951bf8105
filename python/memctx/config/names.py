"""Spelling: snake_case and camelCase are the same setting, and a misspelt one is met with the nearest."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# What the original's plugin calls the setting it has under another name here.
OTHER_NAMES = {"auto_recall_max_tokens": "hard_cap_tokens"}


def by_field(settings: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """The settings under the names of their fields; an unknown or a repeated one is an error."""
    found: dict[str, Any] = {}
    for given, value in settings.items():
        name = snake_case(given)
        name = OTHER_NAMES.get(name, name)
        if name not in fields:
            raise ConfigError(f"{given} is no setting; {_suggestion(given, fields)}")
        if name in found:
            raise ConfigError(f"{given} is given twice: it is another spelling of {name}")
        found[name] = value
    return found


def nearest(name: str, names: Collection[str], likeness: float = 0.6) -> str | None:
    """The name that was probably meant."""
    return next(iter(difflib.get_close_matches(name, names, 1, likeness)), None)


def snake_case(name: str) -> str:
    """A name as Python spells it.

    >>> snake_case("softThresholdTokens")
    'soft_threshold_tokens'
    """
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"_{found[0].lower()}", name)


def _suggestion(given: str, fields: Collection[str]) -> str:
    meant = nearest(snake_case(given), fields)
    return f"did you mean {meant}?" if meant else f"expected one of {', '.join(sorted(fields))}"
