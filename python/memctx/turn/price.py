"""What a prompt costs where providers cache it, in tokens at full price."""

from __future__ import annotations

# What most of those ask for that write dear and read cheap. Some read at half of this: there a change costs more.
WRITE = 1.25
READ = 0.05
# Of all that was spent, what may go into making room for something new to recall.
RETIRING_SHARE = 0.10


def of_turn(tokens: int, new: int) -> float:
    """What a turn costs of which all but the ``new`` tokens are cached."""
    return READ * (tokens - new) + WRITE * new


def of_change(tokens: int) -> float:
    """What it costs on top if so many tokens that were cached must be written again."""
    return (WRITE - READ) * tokens
