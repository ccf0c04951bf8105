"""What is told of an error: enough to act on, and nothing of what was said in the conversation."""

from __future__ import annotations

import traceback

from memctx.errors import ExtractionError, MemctxError


def words_of(error: BaseException) -> str:
    """The error in words. Foreign ones may quote what was said, so only their kind is told."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, (MemctxError, OSError)) else name


def place_of(error: BaseException) -> str:
    """Where an error comes from."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{type(error).__name__} in {frame.f_code.co_qualname}, line {line}"


def is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed later."""
    return not isinstance(error, ExtractionError) or error.is_retryable


def is_malformed(error: BaseException) -> bool:
    """Whether the extractor answered, but not usefully."""
    return isinstance(error, ExtractionError) and error.is_malformed
