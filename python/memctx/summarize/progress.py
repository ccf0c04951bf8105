"""Showing a host how far a summary is, whose own faults must not end it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger("memctx.summarize")


def shielded(on_text: Callable[[str], None] | None) -> Callable[[str], None] | None:
    """The host's function, which is no longer called once it has raised."""
    if on_text is None:
        return None
    listeners = [on_text]

    def show(text: str) -> None:
        for listener in listeners:
            try:
                listener(text)
            except Exception:
                logger.warning("on_text raised, and is called no more", exc_info=True)
                listeners.clear()

    return show
