"""Facts about LangChain's models and their answers: name, window, usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def model_name(model: object) -> str | None:
    """Return the name that the provider knows the model by; None if it has none."""
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name if isinstance(name, str) else None


def window_of(model: object) -> int | None:
    """Return the window that LangChain's profile of the model tells."""
    profile = getattr(model, "profile", None)
    window = profile.get("max_input_tokens") if isinstance(profile, dict) else None
    return window if isinstance(window, int) else None


def usage_of(messages: Iterable[object]) -> object:
    """Return the usage in an answer; None if the provider reported none."""
    found = (getattr(message, "usage_metadata", None) for message in messages)
    return next((usage for usage in found if usage), None)
