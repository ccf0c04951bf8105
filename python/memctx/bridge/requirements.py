"""`require`: the version of a framework that an adapter needs, and a helpful error without it."""

from __future__ import annotations

import re
from importlib import metadata


def require(package: str, oldest: str, *, extra: str | None = None) -> None:
    """Raise `ImportError` with the remedy unless a package is installed in a version that is new enough.

    >>> require("no-such-framework", "1.2", extra="langchain")
    Traceback (most recent call last):
    ...
    ImportError: no-such-framework is not installed; expected 1.2 or later: pip install "memctx[langchain]"
    """
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        found = None
    if found is not None and _numbers(found) >= _numbers(oldest):
        return
    problem = "is not installed" if found is None else f"is {found}"
    remedy = f'pip install "memctx[{extra}]"' if extra else f'pip install "{package}>={oldest}"'
    raise ImportError(f"{package} {problem}; expected {oldest} or later: {remedy}")


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version, without what makes it a preview."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, release.group().split("."))) if release else ()
