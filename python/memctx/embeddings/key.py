"""`key_of`: the key of an API, which nothing may repeat."""

from __future__ import annotations

import os

from memctx.errors import ConfigError


def key_of(given: str | None, *variables: str, is_needed: bool = True) -> str | None:
    """The key that was given or else is in the environment, fit to be sent; None if there is none and need be none."""
    key = given or next((os.environ[name] for name in variables if os.environ.get(name)), "")
    key = key.strip()
    if not key and is_needed:
        raise ConfigError(f"there is no API key: give api_key or set {' or '.join(variables)}")
    # An HTTP client that finds out repeats the whole header.
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError("the API key has characters in it that no key has")
    return key or None
