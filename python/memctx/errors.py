"""The exceptions memctx raises, defined here once for the Python layer and the Rust core alike.

::

    MemctxError
    ├── ConfigError              a setting or an argument has a value that cannot be used
    ├── StoreError               something on disk cannot be read or written as asked
    │   ├── CorruptStoreError        its bytes are not what the format says
    │   ├── UnsupportedVersionError  a newer memctx wrote it
    │   └── StoreLockedError         another process holds it
    ├── VectorError              a vector holds something that is no number
    │   └── DimensionMismatchError   it has the wrong length
    ├── EmbeddingError           a model call that turns text into vectors failed
    ├── ExtractionError          a model call that extracts facts failed
    ├── SummaryError             a model call that summarises failed
    ├── ContextOverflowError     the model's window is too small, also after a compaction
    └── MessageShapeError        what was passed is no list of messages

Every message names the file, field, offset or value at fault and what was expected instead.
"""

__all__ = [
    "ConfigError",
    "ContextOverflowError",
    "CorruptStoreError",
    "DimensionMismatchError",
    "EmbeddingError",
    "ExtractionError",
    "MemctxError",
    "MessageShapeError",
    "StoreError",
    "StoreLockedError",
    "SummaryError",
    "UnsupportedVersionError",
    "VectorError",
]


class MemctxError(Exception):
    """The root of every exception that memctx raises on purpose."""


class ConfigError(MemctxError, ValueError):
    """A setting or an argument has a value that cannot be used."""


class StoreError(MemctxError):
    """Something on disk cannot be read or written as asked."""


class CorruptStoreError(StoreError):
    """The bytes of a file are not what its format says."""


class UnsupportedVersionError(StoreError):
    """A file has a format version this memctx does not know."""


class StoreLockedError(StoreError):
    """Another process holds the store."""


class VectorError(MemctxError, ValueError):
    """A vector holds something that is no number."""


class DimensionMismatchError(VectorError):
    """A vector has another length than the index or file it is meant for."""


class EmbeddingError(MemctxError):
    """A model call that turns text into vectors failed, or gave what are no vectors of that text.

    ``can_retry`` says that the same call may succeed later; ``retry_after`` how many seconds the model asked to be left
    alone.
    """

    def __init__(
        self, message: str, *, can_retry: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.can_retry = can_retry
        self.retry_after = retry_after


class ExtractionError(MemctxError):
    """A model call that extracts facts failed.

    ``is_final`` says that trying the same again cannot help, such as a refusal; ``is_malformed`` that there was an
    answer, but none that can be used; ``is_dead`` that no other call can succeed either, such as a key that is not
    taken; ``retry_after`` how many seconds the model asked to be left alone.
    """

    def __init__(
        self,
        message: str,
        *,
        is_final: bool = False,
        is_malformed: bool = False,
        is_dead: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.is_final = is_final
        self.is_malformed = is_malformed
        self.is_dead = is_dead
        self.retry_after = retry_after


class SummaryError(MemctxError):
    """A model call that summarises a conversation failed.

    ``is_overflow`` says that the conversation did not fit the model's window, so that less of it may; ``is_timeout``
    that no answer came in time; ``is_dead`` that no other call can succeed either, such as a key that is not taken;
    ``is_final`` that trying the same again cannot help, which all of these mean and others do too; ``retry_after`` how
    many seconds the model asked to be left alone.
    """

    def __init__(  # noqa: PLR0913 - each says another thing of the same failure
        self,
        message: str,
        *,
        is_overflow: bool = False,
        is_final: bool = False,
        is_dead: bool = False,
        is_timeout: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.is_overflow = is_overflow
        self.is_final = is_final or is_overflow or is_dead or is_timeout
        self.is_dead = is_dead
        self.is_timeout = is_timeout
        self.retry_after = retry_after


class ContextOverflowError(MemctxError):
    """The messages do not fit the model's window, and a compaction did not help.

    ``tried`` says, step by step, what was done about it. The model's own error is the cause.
    """

    def __init__(self, message: str, *, tried: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.tried = tried


class MessageShapeError(MemctxError, TypeError):
    """What was passed is no list of messages in a shape memctx knows."""
