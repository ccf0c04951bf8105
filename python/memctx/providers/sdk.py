"""Optional packages of providers: checked early, imported late, and kept from logging requests."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from memctx.errors import ConfigError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Generator

    from anthropic import AsyncAnthropic

    from memctx.providers.options import ClientOptions

_is_ours: ContextVar[bool] = ContextVar("memctx_is_ours", default=False)


def require_packages(user: str, extra: str, *packages: str) -> None:
    """Raise `ConfigError` if a package is not installed. Nothing is imported."""
    for package in packages:
        if find_spec(package) is None:
            raise ConfigError(
                f"{user} needs the package {package!r}, which is not installed: pip install 'memctx[{extra}]'"
            )


async def import_sdk(package: str) -> None:
    """Import a package in a thread, which takes seconds, before the timeout of a call starts."""
    if package in sys.modules:
        return
    import asyncio  # noqa: PLC0415 - embedders use this module without an event loop

    await asyncio.to_thread(import_module, package)
    await asyncio.to_thread(ssl_context)


@cache
def ssl_context() -> ssl.SSLContext:
    """Return the certificates of this machine, read once: they take most of the time of creating a client."""
    import httpx2  # noqa: PLC0415 - slow to import; the HTTP client of both SDKs

    return httpx2.create_ssl_context()


def new_anthropic_client(options: ClientOptions, timeout: float) -> AsyncAnthropic:
    """Return a new client of the Anthropic API without retries of its own, to be closed by the caller."""
    import anthropic  # noqa: PLC0415 - slow to import

    return anthropic.AsyncAnthropic(
        api_key=options.api_key,
        base_url=options.base_url,
        timeout=timeout,
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(verify=ssl_context()),
    )


@contextmanager
def silence_loggers(*names: str) -> Generator[None]:
    """Drop records of loggers that would log our whole requests, at any level."""
    for name in names:
        logging.getLogger(name).addFilter(_is_not_ours)  # adding it again changes nothing
    token = _is_ours.set(True)
    try:
        yield
    finally:
        _is_ours.reset(token)


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not _is_ours.get()
