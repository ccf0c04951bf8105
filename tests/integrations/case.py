"""`Case`: one way to hold the conversation through a framework and its adapter, in a program as users write it."""

from __future__ import annotations

import importlib
import os
import pkgutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from providers import conversation

from . import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


FRAMEWORK = os.environ.get("FRAMEWORK", "")
"""The framework whose environment this is: `make integrations` names it."""
ENVIRONMENTS = Path(__file__).parents[2] / "requirements" / "integrations"
NAMES = {path.stem for path in ENVIRONMENTS.glob("*.txt")}


def framework_of(name: str) -> str:
    """Return the framework that a name begins with: that of ``openai_agents`` is not ``openai``."""
    return max((each for each in NAMES if name.startswith(each)), key=len, default="")


@dataclass(frozen=True)
class Talk:
    """A conversation to hold, and where."""

    url: str
    """Address of the provider; those of OpenAI's API are below ``/v1``."""
    path: Path
    """Directory of the store."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Arguments for the adapter, the same for all."""
    has_memory: bool = True
    """False to hold it without the adapter."""

    @property
    def said(self) -> list[str]:
        """Everything that the person says, turn by turn."""
        return conversation.turns()


Run: TypeAlias = "Callable[[Talk], str]"
"""Holds the conversation; returns everything that the framework has in its state at the end, as text."""


@dataclass(frozen=True)
class Case:
    """A framework with one provider, streamed or not, synchronous or not."""

    name: str
    run: Run
    reasoning: bool = False
    """True if the provider answers with thinking or reasoning items."""
    more_breaks: int = 0
    """Breaks of the prefix that the framework makes itself, also without memory."""
    keeps_state: bool = True
    """False where the framework has no state of its own to compare."""


def read_log(n: int) -> str:
    """Read log number n."""
    return conversation.read_log(n)


async def aread_log(n: int) -> str:
    """Read log number n."""
    return conversation.read_log(n)


def find_cases() -> Iterator[Case]:
    """Yield the cases of the frameworks that are installed here."""
    for module in find_modules():
        yield from module.CASES


def find_modules(prefix: str = "") -> Iterator[Any]:
    """Yield the modules of cases whose frameworks are installed here."""
    for module in pkgutil.iter_modules(cases.__path__):
        try:
            if module.name.startswith(prefix):
                yield importlib.import_module(f"{cases.__name__}.{module.name}")
        except ImportError as error:
            if (error.name or "").startswith(("integrations", "providers")):
                raise
