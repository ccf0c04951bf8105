"""The SDKs of model providers: optional, imported when a model is first asked, and kept from telling what they send."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from memctx.errors import ConfigError, ExtractionError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Generator

_is_ours: ContextVar[bool] = ContextVar("memctx_is_ours", default=False)


def require(package: str, user: str) -> None:
    """Complain now, and not in the background later, if a package is missing. Nothing is imported."""
    if find_spec(package) is None:
        raise ConfigError(
            f"{user} needs the package {package!r}, which is not installed: pip install 'memctx[{package}]'"
        )


async def ready(package: str) -> None:
    """Import what a call needs, which takes seconds, in a thread and before the clock of the call starts."""
    if package in sys.modules:
        return
    try:
        await asyncio.to_thread(import_module, package)
        await asyncio.to_thread(ssl_context)
    except ImportError as error:
        raise ExtractionError(f"{package} cannot be imported: {error}", is_dead=True) from error


@cache
def ssl_context() -> ssl.SSLContext:
    """The certificates of this machine, read once: that takes most of the time in which a client is made."""
    import httpx2  # noqa: PLC0415 - both SDKs stand on it

    return httpx2.create_ssl_context()


@contextmanager
def silenced(*names: str) -> Generator[None]:
    """Keep loggers that write down whole requests from doing so with ours, at whatever level they are."""
    for name in names:
        logging.getLogger(name).addFilter(_is_not_ours)  # adding it again changes nothing
    token = _is_ours.set(True)
    try:
        yield
    finally:
        _is_ours.reset(token)


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not _is_ours.get()
