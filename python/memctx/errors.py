"""Exceptions of memctx, for the Python layer and the Rust core.

::

    MemctxError
    ├── ConfigError              a setting or an argument is invalid
    ├── StoreError               something on disk cannot be read or written as asked
    │   ├── CorruptStoreError        its bytes do not follow the format
    │   ├── UnsupportedVersionError  a newer memctx wrote it
    │   ├── StoreLockedError         another process holds it
    │   └── ServerError              a database server cannot or may not do what was asked
    │       ├── ServerUnavailableError   it cannot be reached now
    │       └── LateError                it did not answer in time
    ├── VectorError              a vector holds a value that is not finite
    │   └── DimensionMismatchError   it has the wrong length
    ├── EmbeddingError           a model call that turns text into vectors failed
    ├── ExtractionError          a model call that extracts facts failed
    ├── SummaryError             a model call that summarizes failed
    ├── ContextOverflowError     the model's window is too small, also after a compaction
    └── MessageFormatError        the argument is no list of known messages

Every message names the file, field, offset or value concerned and what was expected instead. Values in it are
shortened, and secrets are masked, whatever the settings: exceptions end up in logs.

Besides these, memctx raises `TypeError` for an argument of the wrong type, and lets the `OSError` of the system pass.
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "ContextOverflowError",
    "CorruptStoreError",
    "DimensionMismatchError",
    "EmbeddingError",
    "ExtractionError",
    "LateError",
    "MemctxError",
    "MessageFormatError",
    "ServerError",
    "ServerUnavailableError",
    "StoreError",
    "StoreLockedError",
    "SummaryError",
    "UnsupportedVersionError",
    "VectorError",
]


_LONGEST = 480
"""Characters of a line of a message."""
_TAIL = 160
"""Characters of them kept from the end of the line, which has the remedy."""
_MOST_LINES = 60
"""Lines of a message: one for each fault of a settings file, for example."""


def mask_and_shorten(text: str) -> str:
    """Return a text for a message: secrets masked, and the middle of long lines left out.

    >>> mask_and_shorten("password=hunter2-Qp0x")
    'password=[REDACTED:password]'
    """
    from memctx._core import Redactor  # noqa: PLC0415 - which raises these exceptions

    lines = Redactor().mask(text).text.split("\n")
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"… and {len(lines) - _MOST_LINES} lines more"]
    return "\n".join(map(_shorten, lines))


def _shorten(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    return f"{line[: _LONGEST - _TAIL]} … {line[-_TAIL:]}"


class MemctxError(Exception):
    """Base class of the exceptions of memctx."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(
            *(mask_and_shorten(each) if isinstance(each, str) else each for each in arguments)
        )


class ConfigError(MemctxError, ValueError):
    """A setting or an argument is invalid."""


class StoreError(MemctxError):
    """Something on disk cannot be read or written as asked."""


class CorruptStoreError(StoreError):
    """The bytes of a file do not follow its format."""


class UnsupportedVersionError(StoreError):
    """A file has a format version this memctx does not know."""


class StoreLockedError(StoreError):
    """Another process holds the store."""


class ServerError(StoreError):
    """A database server refuses what was asked, or has not what was expected."""


class ServerUnavailableError(ServerError):
    """A database server cannot be reached now; the same call may succeed later."""


class LateError(ServerError, TimeoutError):
    """A database server did not answer in time; what was asked may be done all the same."""


class VectorError(MemctxError, ValueError):
    """A vector holds a value that is not finite."""


class DimensionMismatchError(VectorError):
    """A vector has another length than the index or file it is meant for."""


class EmbeddingError(MemctxError):
    """A model call that turns text into vectors failed, or its response has no vectors of that text.

    ``is_retryable``: the same call may succeed later; ``retry_after``: seconds that the provider asked to wait.
    """

    def __init__(
        self, message: str, *, is_retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.is_retryable = is_retryable
        self.retry_after = retry_after


class ExtractionError(MemctxError):
    """A model call that extracts facts failed.

    ``is_retryable``: the same request may succeed later, unlike after a refusal; ``is_malformed``: the response cannot
    be used; ``is_permanent``: no request can succeed, as with an invalid key; ``retry_after``: seconds that the
    provider asked to wait.
    """

    def __init__(
        self,
        message: str,
        *,
        is_retryable: bool = True,
        is_malformed: bool = False,
        is_permanent: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.is_retryable = is_retryable
        self.is_malformed = is_malformed
        self.is_permanent = is_permanent
        self.retry_after = retry_after


class SummaryError(MemctxError):
    """A model call that summarizes a conversation failed.

    ``is_overflow``: the conversation did not fit the model's window, so a shorter one may; ``is_timeout``: no response
    came in time; ``is_permanent``: no request can succeed, as with an invalid key; ``is_retryable``: the same request
    may succeed later, which is false for all of these; ``retry_after``: seconds that the provider asked to wait.
    """

    def __init__(  # noqa: PLR0913 - properties of one failure
        self,
        message: str,
        *,
        is_overflow: bool = False,
        is_retryable: bool = True,
        is_permanent: bool = False,
        is_timeout: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.is_overflow = is_overflow
        self.is_retryable = is_retryable and not (is_overflow or is_permanent or is_timeout)
        self.is_permanent = is_permanent
        self.is_timeout = is_timeout
        self.retry_after = retry_after


class ContextOverflowError(MemctxError):
    """The messages do not fit the model's window, and a compaction did not help.

    ``tried`` lists the steps taken to recover. The model's own error is the cause.
    """

    def __init__(self, message: str, *, tried: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.tried = tried


class MessageFormatError(MemctxError, TypeError):
    """The argument is no list of messages in a known format.

    The text names the message by its index, its class and its invalid field, and says what to pass instead.
    """
