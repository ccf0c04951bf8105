"""`retry_after_in`: when a server wants to be asked again."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def retry_after_in(headers: Mapping[str, str]) -> float | None:
    """How many seconds the server asks to be left alone."""
    milliseconds = seconds_of(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = seconds_of(value)
    if seconds is not None or value is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None


def seconds_of(value: str | None) -> float | None:
    """A number that is one, and not negative."""
    return float(value) if value and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value.strip()) else None
