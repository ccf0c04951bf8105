"""`later`: modules that wait for their first use, so that help and completion come at once."""

from __future__ import annotations

from importlib import import_module


class Later:
    """A module that is imported when something of it is asked for.

    >>> Later("json").dumps([1])
    '[1]'
    """

    def __init__(self, name: str) -> None:
        """``name`` is that of the module, in full."""
        self._name = name

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self._name), name)


def later(*names: str) -> tuple[Later, ...]:
    """Some modules of memctx, by their names in it."""
    return tuple(Later(f"memctx.{name}") for name in names)
