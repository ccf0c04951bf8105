"""Descriptions of extraction errors: enough to act on, without text of the conversation."""

from __future__ import annotations

import traceback

from memctx.errors import ExtractionError, MemctxError


def words_of(error: BaseException) -> str:
    """Describe an error. Foreign ones may quote the conversation, so only their type is named."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, (MemctxError, OSError)) else name


def place_of(error: BaseException) -> str:
    """Return the origin of an error."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{type(error).__name__} in {frame.f_code.co_qualname}, line {line}"


def is_final(error: BaseException) -> bool:
    """Return True if the extractor answered, and a retry would give the same answer."""
    return isinstance(error, ExtractionError) and error.is_final


def is_malformed(error: BaseException) -> bool:
    """Return True if the extractor answered, but not usefully."""
    return isinstance(error, ExtractionError) and error.is_malformed
