"""Resident helper: a process that keeps memories open between the calls of short-lived programs, such as hooks.

`memctx.serve.client` asks it, and imports next to nothing. Where no helper runs, the caller does the work itself.
"""

from memctx._lazy import lazy_exports
from memctx.serve import client as client

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.serve.server import Server

__all__ = ["Server"]

# Imported on first use, because a client needs none of it.
_LATER = {"Server": "memctx.serve.server"}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)
