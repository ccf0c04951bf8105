"""Secret masking."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, final

Redaction: TypeAlias = Literal["off", "mask", "openclaw"]

@final
class Redactor:
    """Finds secrets in a text and masks them.

    ``"mask"`` writes ``[REDACTED:kind]`` in place of tokens that name themselves, of secrets in URLs, headers, key
    blocks and command lines, and of values that are named as secrets. Hashes, ids and placeholders stay. ``"openclaw"``
    applies the six rules of OpenClaw's ``memory-context`` plugin, ``"off"`` none. A lone surrogate reads as U+FFFD. May
    be shared by threads.

    >>> redactor = Redactor(patterns={"ticket": r"ACME-[0-9]{6}"})
    >>> masked = redactor.mask("ACME-123456: the db password is k3jf9slw-Qp0")
    >>> masked.text
    '[REDACTED:ticket]: the db password is [REDACTED:password]'
    >>> masked.kinds
    {'password': 1, 'ticket': 1}
    """

    def __new__(
        cls,
        mode: Redaction = "mask",
        *,
        pii: bool = False,
        patterns: Mapping[str, str] | None = None,
    ) -> Redactor:
        """Create a redactor.

        ``pii`` also masks e-mail addresses, phone numbers, and card and bank account numbers with valid check digits.
        ``patterns`` gives further kinds, each with a regular expression in the syntax of Rust's ``regex``, which knows
        no look-around and no back-references and takes time in proportion to the text.

        Raises:
            ConfigError: the mode is unknown, or a pattern is no regular expression, is too big, or matches nothing.
        """

    def mask(self, text: str) -> Masked:
        """Mask every secret in a text. Masking a masked text changes nothing."""

@final
class Masked:
    """A text without its secrets.

    >>> Redactor().mask("commit 3f2a9c81d0").kinds
    {}
    """

    @property
    def text(self) -> str:
        """The text, each secret replaced by its mask."""

    @property
    def kinds(self) -> dict[str, int]:
        """Number of masked secrets of each kind, ordered by the name of the kind."""
