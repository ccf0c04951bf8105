"""Reports about settings: errors with the setting, its value and what was expected, and settings without effect."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from memctx import checks
from memctx.config.names import path_of, snake_case, suggestion
from memctx.errors import ConfigError, mask_and_shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable

LONGEST_VALUE = 80
# Characters of a longer value that are searched for secrets.
MOST_MASKED = 2_000

_collector: ContextVar[list[str] | None] = ContextVar("settings_without_effect", default=None)
_logged: set[tuple[str, str]] = set()


class Fault:
    """A setting that is refused: its path in the group, the reason, and the given value."""

    __slots__ = ("is_unknown", "path", "reason", "value")

    def __init__(
        self, path: tuple[str, ...], reason: str, value: object, *, is_unknown: bool = False
    ) -> None:
        """Keep all of it; ``is_unknown`` is a name that the group does not have."""
        self.path = path
        self.reason = reason
        self.value = value
        self.is_unknown = is_unknown

    def inside(self, group: str) -> Fault:
        """Return the fault as one of the settings around its group."""
        return Fault((group, *self.path), self.reason, self.value, is_unknown=self.is_unknown)


def refused(faults: Iterable[Fault], paths: Collection[str], label: str = "") -> ConfigError:
    """Return the error, one line for each fault; ``label`` is the group that was validated."""
    return ConfigError("\n".join(sentence for _, sentence in explain(faults, paths, label)))


def explain(
    faults: Iterable[Fault], paths: Collection[str], label: str = ""
) -> list[tuple[str, str]]:
    """Return the path of each invalid setting, and a sentence that names it, its value and the remedy."""
    found: list[tuple[str, str]] = []
    for fault in faults:
        path = ".".join(part for part in (label, *fault.path) if part != "")
        found.append((path, _sentence(fault, path, paths)))
    return found


def _sentence(fault: Fault, path: str, paths: Collection[str]) -> str:
    name = _shortened(path)
    if fault.is_unknown:
        return f"{name} {_unknown(path[:LONGEST_VALUE], paths)}"
    is_group = any(each.startswith(f"{path}.") for each in paths)
    if is_group and isinstance(fault.value, Mapping):  # settings that contradict each other
        return f"{name}: {fault.reason}"
    # Masked before it is cut: half of a secret may no longer look like one.
    value = mask_and_shorten(checks.describe(fault.value)[:MOST_MASKED])
    return f"{name} is {_shortened(value)}; {fault.reason}"


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
