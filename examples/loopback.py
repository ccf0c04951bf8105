"""A provider for the examples: the real one if its key is set, else a scripted model on this machine.

The talk states a decision, fills the window of `WINDOW` tokens, and asks for the decision in the end.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from providers.api import Asked, Reply
from providers.server import Provider

WINDOW = 4_000
QUESTION = "On which port does the payment webhook listen?"
TALK = [
    "We decided that the payment webhook listens on port 8443.",
    *(
        f"Remark {n}: {'the parking lot stays closed until May, and coffee was late. ' * 12}"
        for n in range(60)
    ),
    QUESTION,
]
STORE = mkdtemp(prefix="memctx-example-")


class Model:
    """A model that knows only what it was sent."""

    def reply(self, asked: Asked, sent: str) -> Reply:
        """Return the port if it was sent."""
        del asked
        if QUESTION not in sent:
            return Reply("Noted.")
        return Reply("Port 8443." if "8443" in sent else "I do not know.")


@contextmanager
def provider(key: str, *, window: int = WINDOW) -> Iterator[str | None]:
    """Give the address of the scripted model, and a key for it; None if the environment has the real provider's key."""
    if os.environ.get(key):
        yield None
        return
    os.environ[key] = "x"
    with Provider(window=window, model=Model()) as loopback:
        yield loopback.url
    assert not loopback.refused, loopback.refused
