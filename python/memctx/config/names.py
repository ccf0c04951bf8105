"""Names of settings: snake_case and camelCase are the same, and a misspelled name gets a suggestion."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# Settings that have another name in OpenClaw and its plugin.
OTHER_NAMES = {
    "auto_recall_max_tokens": "hard_cap_tokens",
    "bootstrap_max_chars": "workspace_max_chars",
    "bootstrap_total_max_chars": "workspace_max_total_chars",
    "memory_search": "workspace_search",
    "reserve_tokens": "reply_reserve_tokens",
}


def by_field(settings: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """Return the settings under the names of their fields.

    An unknown or repeated setting keeps its given name, for the model to refuse.

    >>> by_field({"maxSegments": 5, "zzz": 1}, ["max_segments"])
    {'max_segments': 5, 'zzz': 1}
    """
    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for given, value in settings.items():
        name = field_of(given, fields) or given
        if name in found and given == name:
            found[spelled[name]] = found[name]  # the other spelling is the one to refuse
        elif name in found:
            name = given
        spelled[name] = given
        found[name] = value
    return found


def field_of(given: str, fields: Collection[str]) -> str | None:
    """Return the field that a name means, or None.

    >>> field_of("autoRecallMaxTokens", ["hard_cap_tokens"])
    'hard_cap_tokens'
    """
    name = snake_case(given)
    if name not in fields:
        name = OTHER_NAMES.get(name, name)
    return name if name in fields else None


def unknown(given: str, fields: Collection[str]) -> str:
    """Return why a name was refused: it is given twice, or unknown, with a suggestion."""
    if known := field_of(given, fields):
        return f"is given twice: it is another spelling of {known}"
    meant = nearest(snake_case(given), fields)
    return (
        f"is no setting; did you mean {meant}?"
        if meant
        else f"is no setting; expected one of {', '.join(sorted(fields))}"
    )


def nearest(name: str, names: Collection[str], likeness: float = 0.6) -> str | None:
    """Return the most similar name."""
    return next(iter(difflib.get_close_matches(name, names, 1, likeness)), None)


def snake_case(name: str) -> str:
    """Return a name as Python spells it.

    >>> snake_case("softThresholdTokens")
    'soft_threshold_tokens'
    """
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"_{found[0].lower()}", name)
