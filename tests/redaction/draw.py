"""Random values in the alphabets that secrets are drawn from."""

from __future__ import annotations

import base64
import string
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL64 = ALNUM + "-_"
BASE64 = ALNUM + "+/"
BASE32 = string.ascii_uppercase + "234567"
SIGNS = ALNUM + "!@#%^*+-_=?~"


class Draw:
    """Values drawn from one generator."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def text(self, alphabet: str, low: int, high: int | None = None) -> str:
        """Return random characters of an alphabet."""
        length = low if high is None else self.rng.randint(low, high)
        return "".join(self.rng.choices(alphabet, k=length))

    def alnum(self, low: int, high: int | None = None) -> str:
        return self.text(ALNUM, low, high)

    def hex(self, low: int, high: int | None = None) -> str:
        return self.text(HEX, low, high)

    def url64(self, low: int, high: int | None = None) -> str:
        """Return letters, digits, dashes and underscores, with a letter at both ends."""
        return (
            self.alnum(1)
            + self.text(URL64, low - 2, None if high is None else high - 2)
            + self.alnum(1)
        )

    def password(self, low: int = 10, high: int = 20) -> str:
        """Return a password as a password manager makes it, with letters or digits at both ends."""
        return self.alnum(2) + self.text(SIGNS, low - 4, high - 4) + self.alnum(2)

    def base64(self, size: int) -> str:
        """Return random bytes in base64."""
        return base64.b64encode(self.rng.randbytes(size)).decode()

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def digits(self, length: int) -> str:
        return self.rng.choice("123456789") + self.text(string.digits, length - 1)

    def word(self) -> str:
        return self.rng.choice(WORDS)


WORDS = [
    "billing",
    "staging",
    "worker",
    "gateway",
    "orders",
    "search",
    "metrics",
    "backup",
    "mailer",
    "portal",
    "reports",
    "cache",
    "ledger",
    "invoice",
    "shipping",
    "catalog",
    "profile",
    "events",
    "stream",
    "archive",
]
