"""Checks of the settings of embedders, made without importing or loading one."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from memctx.config.embedder_names import check_choice
from memctx.errors import ConfigError


def checked_model(value: object) -> object:
    """Return a known name, an import path of an installed package, or an embedder."""
    try:
        return check_choice(value)
    except ConfigError as error:
        raise ValueError(str(error)) from None


def checked_url(value: object) -> object:
    """Return the address of a server, or None."""
    if value is None or (isinstance(value, str) and value.startswith(("http://", "https://"))):
        return value
    raise ValueError("expected an address that starts with http:// or https://")


EmbeddingUrl = Annotated[str | None, BeforeValidator(checked_url)]
