"""Lazy exports: names of a package that are imported on first use."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_exports(namespace: dict[str, Any], modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package that imports each name from its module on first use.

    Functions and constructors in ``__all__`` are guarded as `checks.guard` does for eager exports.
    """
    package = str(namespace["__name__"])

    def import_name(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name])
        if modules[name].rpartition(".")[2] == name and not hasattr(module, name):
            namespace[name] = module
            return module
        namespace[name] = getattr(module, name)
        if name in namespace["__all__"]:
            from memctx import checks  # noqa: PLC0415 - importing memctx stays cheap

            checks.guard(namespace, [name])
        return namespace[name]

    return import_name
