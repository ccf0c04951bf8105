"""Reports about settings: errors with the setting, its value and what was expected, and settings without effect."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from memctx import checks
from memctx.config.names import path_of, snake_case, suggestion
from memctx.errors import ConfigError, mask_and_shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

LONGEST_VALUE = 80
# Characters of a longer value that are searched for secrets.
MOST_MASKED = 2_000

_collector: ContextVar[list[str] | None] = ContextVar("settings_without_effect", default=None)
_logged: set[tuple[str, str]] = set()


def refused(error: ValidationError, paths: Collection[str], label: str = "") -> ConfigError:
    """Convert pydantic's error, one line for each invalid setting; ``label`` is the group that was validated."""
    return ConfigError("\n".join(sentence for _, sentence in explain(error, paths, label)))


def explain(
    error: ValidationError, paths: Collection[str], label: str = ""
) -> list[tuple[str, str]]:
    """Return the path of each invalid setting, and a sentence that names it, its value and the remedy."""
    found: list[tuple[str, str]] = []
    for detail in error.errors(include_url=False):
        path = ".".join(str(part) for part in (label, *detail["loc"]) if part != "")
        found.append((path, _sentence(detail, path, paths)))
    return found


def _sentence(detail: ErrorDetails, path: str, paths: Collection[str]) -> str:
    name = _shortened(path)
    if detail["type"] == "extra_forbidden":
        return f"{name} {_unknown(path[:LONGEST_VALUE], paths)}"
    is_group = any(each.startswith(f"{path}.") for each in paths)
    if is_group and detail["type"] == "value_error":  # settings that contradict each other
        return f"{name}: {_expectation(detail['msg'])}"
    # Masked before it is cut: half of a secret may no longer look like one.
    value = mask_and_shorten(checks.describe(detail["input"])[:MOST_MASKED])
    return f"{name} is {_shortened(value)}; {_expectation(detail['msg'])}"


def _unknown(given: str, paths: Collection[str]) -> str:
    """Return why a name was refused: it is given twice, or unknown, with a suggestion."""
    group, dot, last = given.rpartition(".")
    known = f"{group}{dot}{snake_case(last)}" if dot else path_of(given)
    if known in paths or any(path.startswith(f"{known}.") for path in paths):
        return f"is given twice: it is another spelling of {known}"
    beside = [path for path in paths if path.startswith(f"{given.partition('.')[0]}.")]
    if meant := suggestion(last, beside) or suggestion(last, paths):
        return f"is no setting; did you mean {meant}?"
    names = beside or sorted({path.partition(".")[0] for path in paths})
    return f"is no setting; expected one of {', '.join(names)}"


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


def note_without_effect(source: str, names: Iterable[str]) -> None:
    """Report settings that only OpenClaw has: to the open collector, or else once in the log."""
    collector = _collector.get()
    if collector is None:
        _log(source, names)
    else:
        collector += names


@contextmanager
def collect_without_effect(source: str) -> Generator[list[str]]:
    """Collect the names noted inside, and log them once at the end, in one line."""
    names: list[str] = []
    token = _collector.set(names)
    try:
        yield names
    finally:
        _collector.reset(token)
        names[:] = sorted(set(names))
        _log(source, names)


def _log(source: str, names: Iterable[str]) -> None:
    new = sorted({name for name in names if (source, name) not in _logged})
    _logged.update((source, name) for name in new)
    if new:
        logging.getLogger("memctx.config").warning("%s: no effect here: %s", source, ", ".join(new))
