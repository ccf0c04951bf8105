"""Names of settings: dotted paths, camelCase, OpenClaw's names, and suggestions for misspelled ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

# The setting that each name of OpenClaw or its memory-context plugin means, where it is not the same.
OPENCLAW_NAMES = {
    "auto_recall_max_tokens": "recall.hard_cap_tokens",
    "auto_recall_min_score": "recall.min_score",
    "bootstrap_max_chars": "bootstrap.max_chars",
    "bootstrap_total_max_chars": "bootstrap.max_total_chars",
    "eviction_days": "disk.eviction_days",
    "hard_cap_tokens": "recall.hard_cap_tokens",
    "max_segments": "disk.max_segments",
    "memory_search": "workspace_search",
    "reserve_tokens": "trim.reply_reserve_tokens",
}


def snake_case(name: str) -> str:
    """Return a name as Python spells it.

    >>> snake_case("softThresholdTokens")
    'soft_threshold_tokens'
    """
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"_{found[0].lower()}", name)


def path_of(given: str) -> str:
    """Return the dotted path that a name of `Config` or of OpenClaw means.

    >>> path_of("autoRecallMaxTokens"), path_of("contextWindow")
    ('recall.hard_cap_tokens', 'context_window')
    """
    name = snake_case(given)
    return OPENCLAW_NAMES.get(name, name)


def collect(settings: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    """Return values by name, of each its spelling, its name and its value.

    A setting that is given twice keeps its other spelling, for the model to refuse.

    >>> collect([("max_results", "max_results", 5), ("maxResults", "max_results", 6)])
    {'max_results': 5, 'maxResults': 6}
    """
    found: dict[str, Any] = {}
    spellings: dict[str, str] = {}
    for spelling, known, value in settings:
        name = known
        if name in found and spelling == name:
            found[spellings[name]] = found[name]
        elif name in found:
            name = spelling
        spellings[name] = spelling
        found[name] = value
    return found


def by_field(settings: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """Return the settings of a group under the names of their fields; unknown names stay, for the model to refuse.

    >>> by_field({"maxResults": 5, "zzz": 1}, ["max_results"])
    {'max_results': 5, 'zzz': 1}
    """
    return collect(
        (given, name if (name := snake_case(given)) in fields else given, value)
        for given, value in settings.items()
    )


def suggestion(given: str, paths: Collection[str]) -> str | None:
    """Return the path of the setting that an unknown name is most like, with or without its group or in OpenClaw.

    >>> suggestion("durabilty", ["enabled", "disk.durability"])
    'disk.durability'
    """
    known: dict[str, str] = {path: path for path in paths}
    for path in paths:
        known.setdefault(path.rpartition(".")[2], path)
    known |= {name: path for name, path in OPENCLAW_NAMES.items() if path in paths}
    near = nearest(snake_case(given), known)
    return near and known[near]


def nearest(name: str, names: Collection[str], likeness: float = 0.6) -> str | None:
    """Return the most similar name."""
    import difflib  # noqa: PLC0415 - for misspelled names alone

    return next(iter(difflib.get_close_matches(name, names, 1, likeness)), None)
